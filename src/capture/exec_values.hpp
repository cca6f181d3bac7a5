// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "capture/old_values.hpp"
#include "cugraft/native.hpp"

namespace cugraft {

/// Which values an executable holds, told as the difference from its graph: the old value of each
/// node that the graph changed since the executable's last update.
struct exec_values {
  /// The driver's executable; null while there is none.
  CUgraphExec handle = nullptr;

  old_values old;

  /// The graph's structure is no longer what the executable was instantiated from.
  bool structure_changed = false;

  /// What the executable was instantiated from, if that is no longer the graph's.
  std::shared_ptr<const void> former_graph{};
};

}  // namespace cugraft
