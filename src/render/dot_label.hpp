// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "model/saved_state.hpp"

namespace cugraft {

/// What the label of a node in a driver's dump says.
struct dumped_node {
  node_kind kind{-1};                   ///< `kind -1` where the label does not say
  std::optional<std::uint64_t> number;  ///< the node's id in its graph
  shown_node shown;
};

/// Reads a label as drivers write it: lines, or a record of tables in braces and bars. `line` is
/// that of the node, for messages.
/// @throws format_error  if braces are nested too deep or do not match
dumped_node read_label(std::string_view label, std::size_t line);

}  // namespace cugraft
