// SPDX-License-Identifier: Apache-2.0
#include "model/memory_nodes.hpp"

namespace cugraft::model {
namespace {

template <class Fits>
std::optional<std::uint32_t> first_node(const graph& nodes, const Fits& fits) noexcept {
  for (std::uint32_t i = 0; i < nodes.size(); ++i)
    if (fits(i)) return i;
  return std::nullopt;
}

}  // namespace

bool allows_one_executable(const graph& nodes) noexcept {
  return first_node(nodes,
                    [&](std::uint32_t i) { return is_single_executable_kind(nodes.kind(i)); })
      .has_value();
}

std::optional<std::uint32_t> first_memory_node(const graph& nodes) noexcept {
  return first_node(nodes, [&](std::uint32_t i) { return is_memory_kind(nodes.kind(i)); });
}

std::optional<std::uint32_t> first_foreign_memory_node(const graph& nodes) noexcept {
  return first_node(nodes, [&](std::uint32_t i) {
    if (const allocation_value* allocation = nodes.allocation(i)) return allocation->is_foreign;
    const free_value* freed = nodes.free(i);
    return freed != nullptr && freed->is_foreign;
  });
}

std::vector<std::uint32_t> allocation_nodes(const graph& nodes) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < nodes.size(); ++i)
    if (nodes.allocation(i) != nullptr) found.push_back(i);
  return found;
}

std::optional<std::uint32_t> free_of(const graph& nodes, std::uint32_t allocation) noexcept {
  const std::uintptr_t address = nodes.allocation(allocation)->address;
  for (std::uint32_t i = allocation + 1; i < nodes.size(); ++i) {
    const allocation_value* const again = nodes.allocation(i);
    if (again != nullptr && again->address == address) return std::nullopt;
    const free_value* const freed = nodes.free(i);
    if (freed != nullptr && freed->address == address) return i;
  }
  return std::nullopt;
}

bool leaves_memory(const graph& nodes) noexcept {
  return first_node(
             nodes,
             [&](std::uint32_t i) { return nodes.allocation(i) != nullptr && !free_of(nodes, i); })
      .has_value();
}

}  // namespace cugraft::model
