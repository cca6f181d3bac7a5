// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capture/graph_state.hpp"

namespace cugraft {

/// A change of what cugraft knows of a graph, made ready before the driver's graph is touched:
/// taking it cannot fail any more. Without `commit` nothing has changed.
class graph_edit {
 public:
  /// The graph must outlive the edit. @param values  how many nodes get another value, at most
  explicit graph_edit(detail::graph_state& graph, std::size_t values = 0) : graph_(graph) {
    values_.reserve(values);
    saved_.reserve(values * graph.executables.size());
  }
  graph_edit(const graph_edit&) = delete;
  graph_edit& operator=(const graph_edit&) = delete;
  ~graph_edit();

  /// The node does `after` from now on, which must outlive the edit; executables that held `before`
  /// go on holding it.
  void set_value(std::uint32_t node, const model::node_value& before,
                 const model::node_value& after);

  /// Executables that held `before` go on holding it.
  void save_for_executables(std::uint32_t node, const model::node_value& before);

  /// The node does what it did, for another owner.
  void set_owner(std::uint32_t node, std::shared_ptr<const void> owner);

  void set_tag(std::uint32_t node, std::string tag);

  /// What keeps alive what the nodes point to, with all values and owners that were set.
  void renew_record(owner_list kept, std::shared_ptr<const void> foreign);

  /// The same owners as before, and beside them what foreign code attached.
  /// @pre no owner was set that is another
  void renew_foreign(std::shared_ptr<const void> foreign);

  void commit() noexcept;

 private:
  detail::graph_state& graph_;
  std::vector<std::pair<std::uint32_t, const model::node_value*>> values_;
  std::vector<std::pair<std::uint32_t, model::node_value>> copies_;  // whose copying may fail
  std::vector<std::pair<std::uint32_t, std::shared_ptr<const void>>> owners_;
  std::vector<std::pair<std::uint32_t, std::string>> tags_;
  record_ptr record_;
  std::vector<std::pair<exec_values*, std::uint32_t>> saved_;  // forgotten without `commit`
  std::size_t argument_bytes_ = 0;
};

}  // namespace cugraft
