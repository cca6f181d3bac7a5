// SPDX-License-Identifier: Apache-2.0
#include "recapture/choose_engine.hpp"

#include <algorithm>
#include <string>

#include "base/identify.hpp"
#include "capture/failures.hpp"
#include "model/memory_nodes.hpp"

namespace cugraft {
namespace {

constexpr const char* instead_of_native = "use engine::compare, which works from 12.4 on";

void refuse_contradictions(const recapture_options& options) {
  if (options.in_place && options.compare_only)
    throw usage_error(
        "recapture_options: in_place lets the driver work on the graph itself, and compare_only "
        "touches nothing; choose one");
  if (options.replace_structure && options.compare_only)
    throw usage_error(
        "recapture_options: replace_structure puts another graph in the place of this one, and "
        "compare_only touches nothing; choose one");
  if (options.replace_structure && !options.may_rerun_body && options.with != engine::automatic &&
      options.with != engine::compare)
    throw usage_error(
        "recapture_options: replace_structure takes what was captured, which engine::" +
        std::string(to_string(options.with)) +
        " does not have; use engine::compare, or may_rerun_body with a body");
  if (options.on_native_mismatch && options.with != engine::native)
    throw usage_error(
        "recapture_options: on_native_mismatch takes the driver's own arguments, which only "
        "engine::native has; name that engine, or use on_mismatch");
}

void refuse_owners_part(const detail::graph_state& graph, const recapture_options& options) {
  if (options.in_place)
    throw usage_error("recapture_options: in_place may lose the graph, and " +
                      identify(graph.handle) + " is borrowed: leave in_place out");
  if (options.replace_structure)
    throw usage_error(
        "recapture_options: replace_structure puts another graph in the place of " +
        identify(graph.handle) +
        ", which is borrowed: leave replace_structure out, and have the owner capture "
        "anew where the structure changes");
}

const engine_info& find(const std::vector<engine_info>& engines, engine which) {
  return *std::find_if(engines.begin(), engines.end(),
                       [&](const engine_info& each) { return each.which == which; });
}

std::unique_ptr<recapture_engine> make_native(const engine_info& native,
                                              const std::shared_ptr<detail::graph_state>& graph,
                                              const recapture_options& options) {
  driver_of(*graph->table).require(feature::recapture_to_graph, instead_of_native);
  const auto refusal_of = options.in_place ? native.refusal_in_place : native.refusal;
  if (const std::string refusal = refusal_of(*graph); !refusal.empty())
    throw usage_error("engine::native does not take " + identify(graph->handle) + ": " + refusal);
  return native.make(graph, options);
}

void refuse_foreign_conditions(const detail::graph_state& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (graph.nodes.kind(i) == node_kind::conditional && !graph.nodes.has_parameters(i))
      throw usage_error(identify(graph.handle) + " cannot be compared: node " +
                        to_string(graph.nodes.structure().path_of(i)) +
                        " is a conditional node that cugraft did not make, and what it was made "
                        "with cannot be read back; capture the graph with graph_builder, or "
                        "capture and instantiate it anew");
}

std::unique_ptr<recapture_engine> make_direct(const engine_info& direct,
                                              const std::shared_ptr<detail::graph_state>& graph,
                                              const recapture_options& options) {
  refuse_foreign_conditions(*graph);
  if (const std::string refusal = direct.refusal(*graph); !refusal.empty())
    throw usage_error("engine::direct does not take " + identify(graph->handle) + ": " + refusal);
  return direct.make(graph, options);
}

bool native_takes(const engine_info& native, const detail::graph_state& graph, stream_ref stream) {
  return driver_of(*graph.table).supports(feature::recapture_to_graph) &&
         native.refusal(graph).empty() && native.status(stream.get_context()).automatic;
}

void refuse_foreign_memory(const detail::graph_state& graph) {
  const auto node = model::first_foreign_memory_node(graph.nodes);
  if (!node) return;
  throw usage_error(
      "engine::compare does not take " + identify(graph.handle) + ": " +
      describe_node(summary_of(graph.nodes, *node)) +
      " was not made by graph_builder, and a second capture would have its memory at another "
      "address; allocate and free through graph_builder, or capture and instantiate it anew");
}

}  // namespace

void refuse_unreadable(const detail::graph_state& graph) {
  refuse_foreign_conditions(graph);
  const std::vector<engine_info> engines = registered_engines();
  if (const std::string refusal = find(engines, engine::compare).refusal(graph); !refusal.empty())
    throw not_implemented_error("no delivered engine takes " + identify(graph.handle) + ": " +
                                refusal + "; capture and instantiate it anew");
}

void refuse_options(const detail::graph_state& graph, const recapture_options& options) {
  if (graph.is_borrowed) refuse_owners_part(graph, options);
}

engine engine_of(const detail::graph_state& graph, stream_ref stream,
                 const recapture_options& options) {
  if (options.with != engine::automatic) return options.with;
  const std::vector<engine_info> engines = registered_engines();
  return native_takes(find(engines, engine::native), graph, stream) ? engine::native
                                                                    : engine::compare;
}

std::unique_ptr<recapture_engine> choose_engine(const std::shared_ptr<detail::graph_state>& graph,
                                                stream_ref stream,
                                                const recapture_options& options) {
  refuse_contradictions(options);
  refuse_options(*graph, options);
  if (options.in_place && options.with != engine::native)
    throw usage_error(
        "recapture_options: in_place lets the driver work on the graph itself, as engine::native "
        "alone does; name that engine, or leave in_place out: engine::compare takes what builders "
        "allocated");
  const std::vector<engine_info> engines = registered_engines();
  const engine_info& native = find(engines, engine::native);
  const bool is_native = options.with == engine::native ||
                         (options.with == engine::automatic && !options.replace_structure &&
                          native_takes(native, *graph, stream));
  if (is_native) return make_native(native, graph, options);
  if (options.with == engine::direct)
    return make_direct(find(engines, engine::direct), graph, options);
  if (!options.replace_structure) {  // else it need not be read
    refuse_unreadable(*graph);
    refuse_foreign_memory(*graph);
  }
  return find(engines, engine::compare).make(graph, options);
}

}  // namespace cugraft
