// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "cugraft/native.hpp"
#include "model/values.hpp"

namespace cugraft {

/// Which values an executable holds, told as the difference from its graph: the old value of each
/// node that the graph changed since the executable's last update.
struct exec_values {
  /// The driver's executable; null while there is none.
  CUgraphExec handle = nullptr;

  /// By node, in creation order. One old value serves all executables that were in step.
  std::map<std::uint32_t, std::shared_ptr<const model::node_value>> old;

  /// The graph's structure is no longer what the executable was instantiated from.
  bool structure_changed = false;

  /// What the executable was instantiated from, if that is no longer the graph's.
  std::shared_ptr<const void> former_graph{};

  /// Saves what the executable holds for `node`, unless an older value is there already: then
  /// false.
  bool save(std::uint32_t node, const std::shared_ptr<const model::node_value>& value) {
    return old.try_emplace(node, value).second;
  }
};

}  // namespace cugraft
