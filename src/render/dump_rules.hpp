// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "model/saved_state.hpp"

namespace cugraft {

/// The change from one node of a dump to another of its kind, without a path; empty where nothing
/// differs but what differs from run to run. A field whose rule is not known counts as `opaque`.
std::optional<node_change> compare_dumped(node_kind kind, const shown_node& before,
                                          const shown_node& after,
                                          const comparison_options& options);

}  // namespace cugraft
