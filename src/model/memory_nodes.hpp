// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/graph.hpp"

// What allocation and free nodes of a graph mean for the whole of it (driver rules, 6.2).

namespace cugraft::model {

/// Whether nodes of the kind allow their graph one executable at a time and no clone.
constexpr bool is_single_executable_kind(node_kind kind) noexcept {
  return kind == node_kind::allocation || kind == node_kind::free || kind == node_kind::conditional;
}

constexpr bool is_memory_kind(node_kind kind) noexcept {
  return kind == node_kind::allocation || kind == node_kind::free;
}

bool allows_one_executable(const graph& nodes) noexcept;

/// The first node that allocates or frees; empty if there is none.
std::optional<std::uint32_t> first_memory_node(const graph& nodes) noexcept;

/// The first such node that cugraft's calls did not make.
std::optional<std::uint32_t> first_foreign_memory_node(const graph& nodes) noexcept;

/// The nodes that allocate, in creation order.
std::vector<std::uint32_t> allocation_nodes(const graph& nodes);

/// The node that frees what node `allocation` allocates. Two allocations of which one is freed
/// before the other is made may have one address (driver rules, 6.1).
std::optional<std::uint32_t> free_of(const graph& nodes, std::uint32_t allocation) noexcept;

/// Whether a launch leaves memory that the graph allocates.
bool leaves_memory(const graph& nodes) noexcept;

}  // namespace cugraft::model
