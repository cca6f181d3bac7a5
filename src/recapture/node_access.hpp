// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "capture/graph_state.hpp"

namespace cugraft {

/// Where the node of a reference is in its graph, which others may have made smaller meanwhile.
/// @throws usage_error  if it is no longer there, or `graph` is null
std::uint32_t index_in(const std::shared_ptr<detail::graph_state>& graph, const node_path& path);

/// See `graph::find_kernel`.
std::optional<std::uint32_t> kernel_index(const detail::graph_state& graph, std::string_view name,
                                          std::size_t occurrence);

}  // namespace cugraft
