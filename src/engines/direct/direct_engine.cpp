// SPDX-License-Identifier: Apache-2.0
#include "engines/direct/direct_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "capture/failures.hpp"
#include "driver/call.hpp"
#include "engines/direct/direct_memory.hpp"
#include "engines/memory_mismatch.hpp"
#include "engines/outcome.hpp"
#include "model/memory_nodes.hpp"

namespace cugraft {
namespace {

using clock = std::chrono::steady_clock;

constexpr unsigned most_rows_of_blocks = 65535;  // grid y and z of every device so far

// It is refused by the call, in its own words.
bool has_no_blocks(dim3 grid) noexcept { return grid.x == 0 || grid.y == 0 || grid.z == 0; }

// What the driver may refuse, or what only it can write: it is asked by making the call aside.
bool needs_the_driver(const model::kernel_value& before, const model::kernel_value& now) {
  return before.function != now.function || before.block != now.block ||
         before.shared_memory_bytes != now.shared_memory_bytes || has_no_blocks(now.grid) ||
         now.grid.y > most_rows_of_blocks || now.grid.z > most_rows_of_blocks ||
         now.grid.x > 0x7fffffffU ||
         (before.grid != now.grid &&
          (now.attributes.cooperative || now.attributes.cluster || !now.attributes.others.empty()));
}

bool needs_the_driver(const model::node_value& before, const model::node_value& now) {
  if (const auto* kernel = std::get_if<model::kernel_value>(&now.data))
    return needs_the_driver(std::get<model::kernel_value>(before.data), *kernel) ||
           model::attributes_differ(before, now);
  if (const auto* fill = std::get_if<model::fill_value>(&now.data))
    return fill->height > 1 || fill->destination == 0 ||
           fill->destination % fill->element_size != 0;
  if (const auto* copy = std::get_if<model::copy_value>(&now.data))
    return copy->height > 1 || copy->source.address == 0 || copy->destination.address == 0;
  return now.kind != node_kind::host;
}

class direct_engine final : public recapture_engine, private call_comparer {
 public:
  direct_engine(std::shared_ptr<detail::graph_state> graph, attribute_check attributes)
      : graph_(std::move(graph)), attributes_(attributes) {}

  engine which() const noexcept override { return engine::direct; }

  call_result begin(CUstream stream, CUstreamCaptureMode mode) override {
    begun_ = clock::now();
    CUcontext context = nullptr;
    if (const CUresult code = graph_->table->stream_get_ctx(stream, &context); code != CUDA_SUCCESS)
      return {code, "cuStreamGetCtx"};
    context_ = context;
    memory_ = &direct_memory::of(*graph_, context);
    return memory_->held.begin(stream, mode);
  }

  CUgraph target() const noexcept override {
    return memory_ != nullptr ? memory_->held.graph() : nullptr;
  }

  bool matches_at_calls() const noexcept override { return true; }

  bool hands_out_memory() const noexcept override { return true; }

  const model::graph& expected() const noexcept override { return graph_->nodes; }

  // What it has is not captured; its tags come with the outcome.
  std::optional<std::uint32_t> position(CUgraphNode) const noexcept override { return {}; }

  call_comparer* comparer() noexcept override { return this; }

  void dropped() noexcept override {
    if (memory_ != nullptr) memory_->forget();
  }

  void applied(std::uint64_t) noexcept override {
    graph_->has_foreign_nodes = has_foreign_inside_;
    dropped();
  }

  recapture_outcome finish(detail::session_state& session) override;

 private:
  held_capture& held() noexcept override { return memory_->held; }
  held_capture& held_for_body(CUcontext context) override {
    return memory_->held_for_body(context);
  }
  call_result compare(std::uint32_t position, const node_note& note, std::string_view tag,
                      model::node_value&& now, const repetition& again) override;
  bool relaunch(std::uint32_t position, dim3 grid,
                std::span<const detail::argument> arguments) noexcept override;
  call_result note_change(std::uint32_t position, const node_note& note, std::string_view tag,
                          model::node_value&& before, model::node_value&& now,
                          const repetition& again);
  call_result compare_node(std::uint32_t position, const node_note& note, std::string_view tag,
                           model::node_value&& now, const repetition& again);
  void take_tags(std::vector<node_summary>& nodes) const;
  std::optional<recapture_failure> moved(const detail::session_state& session) const;
  recapture_failure failure_of(detail::session_state& session,
                               const detail::session_state::ended& ended,
                               std::vector<node_summary> unjoined) const;

  std::shared_ptr<detail::graph_state> graph_;
  attribute_check attributes_;  // of foreign kernels in graphs that are embedded
  direct_memory* memory_ = nullptr;
  CUcontext context_ = nullptr;      ///< of the session
  bool has_foreign_inside_ = false;  ///< nodes that others made, in graphs that were embedded
  clock::time_point begun_;
  recapture_outcome outcome_;
  std::vector<std::pair<std::uint32_t, CUcontext>> contexts_;  // of nodes not of the session's own
};

// The change of a node, as the driver has it where it was asked.
call_result direct_engine::note_change(std::uint32_t position, const node_note& note,
                                       std::string_view tag, model::node_value&& before,
                                       model::node_value&& now, const repetition& again) {
  CUgraphNode aside = nullptr;
  // What is embedded, a driver has taken: only its attributes may have to be copied.
  const bool is_embedded = note.node != nullptr;
  const bool is_asked = is_embedded ? model::attributes_differ(before, now)
                                    : !note.memory && needs_the_driver(before, now);
  if (is_asked) {
    const CUcontext context = is_embedded ? context_ : note.context;
    if (const call_result asked = memory_->capture_aside(again, context, &aside); !asked.ok())
      return asked;
    if (now.kind == node_kind::copy || now.kind == node_kind::fill) {
      layout_cache none(*graph_->table);
      now.data = read_node(*graph_->table, aside, none, attribute_check::none).data;
      if (graph_->nodes.same(position, now)) return {};
    }
  }
  add_change(outcome_, *graph_, position, tag, std::move(before), std::move(now)).attributes_from =
      aside;
  return {};
}

// A call that throws counts as not made, and may come again.
call_result direct_engine::compare(std::uint32_t position, const node_note& note,
                                   std::string_view tag, model::node_value&& now,
                                   const repetition& again) {
  const std::size_t tags = outcome_.tags.size(), contexts = contexts_.size();
  try {
    return compare_node(position, note, tag, std::move(now), again);
  } catch (...) {
    outcome_.tags.resize(tags);
    contexts_.resize(contexts);
    throw;
  }
}

// The change is noted last.
call_result direct_engine::compare_node(std::uint32_t position, const node_note& note,
                                        std::string_view tag, model::node_value&& now,
                                        const repetition& again) {
  if (note.context != context_) contexts_.emplace_back(position, note.context);
  if (graph_->nodes.tag(position) != tag) outcome_.tags.emplace_back(position, tag);
  auto* const kernel = std::get_if<model::kernel_value>(&now.data);
  if (note.node != nullptr && kernel != nullptr &&
      kernel->attributes.known_to != model::known::everything)
    kernel->attributes = read_attributes(*graph_->table, note.node, attributes_);
  if (graph_->nodes.same(position, now)) {
    note_owner(*graph_, position, &note, outcome_);
  } else {
    model::node_value before = graph_->nodes.value(position);
    if (!now.owner) now.owner = before.owner;
    if (!same_payload(before, now))
      if (const call_result asked =
              note_change(position, note, tag, std::move(before), std::move(now), again);
          !asked.ok())
        return asked;
  }
  return {};
}

bool direct_engine::relaunch(std::uint32_t position, dim3 grid,
                             std::span<const detail::argument> arguments) noexcept {
  try {
    model::node_value before = graph_->nodes.value(position);
    model::node_value now = before;
    auto& kernel = std::get<model::kernel_value>(now.data);
    kernel.grid = grid;
    for (std::size_t i = 0; const kernel_parameter& parameter : kernel.layout->parameters)
      std::memcpy(kernel.arguments.data() + parameter.offset, arguments[i++].data, parameter.size);
    if (needs_the_driver(std::get<model::kernel_value>(before.data), kernel)) return false;
    add_change(outcome_, *graph_, position, graph_->nodes.tag(position), std::move(before),
               std::move(now));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

recapture_outcome direct_engine::finish(detail::session_state& session) {
  bool is_whole = false;
  std::vector<node_summary> unjoined;
  try {
    session.complete_bodies();
    session.observe();
    is_whole = !session.failure() && !session.has_failed() && session.is_whole();
    if (!session.failure()) unjoined = session.leaves_unjoined();
  } catch (...) {  // for want of memory
    session.end();
    dropped();
    throw;
  }
  const auto compare_begun = clock::now();
  const auto ended = session.end();
  outcome_.timing.capture = compare_begun - begun_;
  if (!is_whole || !unjoined.empty() || !ended.result.ok())
    outcome_.failure = failure_of(session, ended, std::move(unjoined));
  else if (spans_contexts(*graph_, session))
    outcome_.failure = moved(session);
  // Calls in bodies come between those of the nodes ahead of them.
  if (!std::ranges::is_sorted(outcome_.changes, {}, &raw_change::position))
    std::ranges::sort(outcome_.changes, {}, &raw_change::position);
  has_foreign_inside_ = session.has_foreign_inside();
  if (!session.foreign_owners().empty())
    outcome_.foreign_owner = std::make_shared<const owner_list>(session.foreign_owners());
  outcome_.timing.compare = clock::now() - compare_begun;
  return std::move(outcome_);
}

// Nodes that no call of the slow way made are of the session's own context.
std::optional<recapture_failure> direct_engine::moved(const detail::session_state& session) const {
  std::vector<CUcontext> contexts(graph_->nodes.size(), session.context());
  for (const auto& [position, context] : contexts_) contexts[position] = context;
  return context_failure(*graph_, contexts, engine::direct);
}

// Nodes that matched are named by the graph; their tags are those that they have now.
void direct_engine::take_tags(std::vector<node_summary>& nodes) const {
  for (node_summary& each : nodes) {
    const auto position = graph_->nodes.structure().position_of(each.path);
    for (const auto& [node, tag] : outcome_.tags)
      if (position == node) each.tag = tag;
  }
}

// Foreign work explains a mismatch; a mismatch goes before any other failure of the session.
recapture_failure direct_engine::failure_of(detail::session_state& session,
                                            const detail::session_state::ended& ended,
                                            std::vector<node_summary> unjoined) const {
  session.note_found_tree();
  const auto differs = first_mismatch(*graph_, session);
  const bool is_foreign = session.failure() && session.failure()->why == mismatch::foreign_work;
  if (differs && !is_foreign && !ended_early(session, *differs))
    return session_mismatch(*graph_, session, *differs, engine::direct, "");
  session_failure cause = session.failure().value_or(failed_end(ended.result));
  if (!session.failure() && ended.result.ok())
    cause = failed_end({CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "cuStreamEndCapture"});
  take_tags(unjoined);
  take_tags(cause.unjoined);
  if (is_foreign) unjoined = session.foreign_work();
  recapture_failure failure =
      describe_failure(session, cause, summary_at(*graph_, session.matched()), std::move(unjoined));
  failure.used = engine::direct;
  return failure;
}

engine_status direct_status(const context&) {
  return {.which = engine::direct, .usable = true, .automatic = false, .why = {}};
}

bool is_in_child_graph(const model::structure& nodes, std::size_t node) {
  while (true) {
    const std::uint32_t parent = nodes.level(nodes.level_of(node)).parent;
    if (parent == model::level::no_parent) return false;
    if (nodes.kind(parent) == node_kind::child_graph) return true;
    node = parent;
  }
}

// Whether it is compared by a call of cugraft's, or with a graph that is embedded.
bool is_comparable(const model::graph& nodes, std::size_t node) {
  return nodes.has_parameters(node) ||
         (nodes.kind(node) == node_kind::empty && is_in_child_graph(nodes.structure(), node));
}

// Null where it takes the node.
const char* refusal_of(const model::graph& nodes, std::size_t node) {
  if (model::is_memory_kind(nodes.kind(node)) && is_in_child_graph(nodes.structure(), node))
    return " in a child graph, whose memory is at another address in each capture; allocate and "
           "free through graph_builder, or capture and instantiate it anew";
  if (!is_comparable(nodes, node)) return ", which no call of cugraft's makes; use engine::compare";
  return nullptr;
}

// Of all nodes: nothing is put into words before one is refused.
std::string direct_refusal(const detail::graph_state& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (const char* const why = refusal_of(graph.nodes, i))
      return fmt::format("node {} is of the kind {}{}",
                         to_string(graph.nodes.structure().path_of(i)),
                         to_string(graph.nodes.kind(i)), why);
  return {};
}

std::unique_ptr<recapture_engine> make_direct(std::shared_ptr<detail::graph_state> graph,
                                              const recapture_options& options) {
  return std::make_unique<direct_engine>(std::move(graph), options.attributes);
}

}  // namespace

engine_info direct_engine_info() {
  return {engine::direct, &direct_status, &direct_refusal, &make_direct};
}

}  // namespace cugraft
