// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cugraft/graph.hpp"
#include "model/byte_arena.hpp"
#include "model/structure.hpp"
#include "model/values.hpp"

namespace cugraft::model {

/// A tree of graphs: a structure, and for each node its parameters, tag and owner. Parameter bytes
/// lie in one arena and each field in a flat array, so that comparing an unchanged node allocates
/// nothing.
///
/// Thread safety: as a standard container.
class graph {
 public:
  const model::structure& structure() const noexcept { return structure_; }
  std::size_t size() const noexcept { return structure_.size(); }
  node_kind kind(std::size_t node) const noexcept { return structure_.kind(node); }

  /// Adds a node after those that are there; `value.kind` is its kind.
  void append(node_value value, std::span<const dependency> dependencies,
              std::string_view tag = {});

  /// The nodes that come are in body `body` of `parent`; see `structure::begin_level`.
  void begin_level(std::uint32_t parent, std::uint32_t body) {
    structure_.begin_level(parent, body);
  }

  /// Nodes of the root.
  std::size_t top_size() const noexcept { return structure_.level(0).count; }

  /// Whether the node's parameters are here; not those of an empty node or of an unread kind.
  bool has_parameters(std::size_t node) const noexcept { return form_of(node) != form::opaque; }

  /// A copy of what the node does.
  node_value value(std::size_t node) const;

  /// Gives the node other parameters and another owner; if it throws, the node is what it was. It
  /// does not throw after `reserve_arguments` with what the arguments grow, unless it has to copy
  /// attributes in `others`.
  /// @pre `value.kind` is the node's kind, and its parameters were read if the node's were
  void assign(std::size_t node, const node_value& value);
  void assign(std::size_t node, node_value&& value);

  /// Room for kernel arguments of `bytes` more, so that `assign` does not fail.
  void reserve_arguments(std::size_t bytes) { arguments_.reserve(bytes); }

  /// Kernel's name; empty for other kinds.
  std::string_view name(std::size_t node) const noexcept;
  std::string_view tag(std::size_t node) const noexcept { return tags_[node]; }
  void set_tag(std::size_t node, std::string tag) noexcept { tags_[node] = std::move(tag); }

  const std::shared_ptr<const void>& owner(std::size_t node) const noexcept;
  void set_owner(std::size_t node, std::shared_ptr<const void> owner) noexcept {
    owners_[node] = std::move(owner);
  }

  /// The node's kernel parameters, valid until the next `append` or `assign`.
  /// @pre the node is a kernel
  kernel_view kernel(std::size_t node) const noexcept;

  // Of a node that allocates or frees; null for others.
  const allocation_value* allocation(std::size_t node) const noexcept;
  const free_value* free(std::size_t node) const noexcept;

  const std::shared_ptr<const kernel_layout>& layout(std::size_t node) const noexcept;

  /// A kernel as a launch names it: the owner that its nodes have, and its layout.
  struct kernel_identity {
    const void* owner;
    CUfunction function;  ///< a node may have the owner of what it did before
    std::span<const kernel_parameter> parameters;
  };

  /// Whether the node is plainly what the launch would make, in a stream of `priority`, but for
  /// the grid and the arguments' values: false says nothing yet. As many `arguments` as are given
  /// are checked against the layout.
  bool relaunches(std::size_t node, const kernel_identity& kernel, const launch_config& config,
                  int priority, std::span<const detail::argument> arguments) const noexcept;

  /// Whether grid and values are the same too. @pre the launch `relaunches` the node
  bool same_launch(std::size_t node, const kernel_identity& kernel, const launch_config& config,
                   std::span<const detail::argument> arguments) const noexcept;

  /// Whether the node's dependencies are what is in `front`, in which nothing is twice. False says
  /// nothing of more than a few.
  bool follows(std::size_t node, std::span<const dependency> front) const noexcept {
    constexpr std::size_t few = 4;
    const std::span<const dependency> wanted = structure_.dependencies(node);
    if (wanted.size() != front.size() || wanted.size() > few) return false;
    if (wanted.size() == 1) return wanted.front() == front.front();
    return std::all_of(front.begin(), front.end(), [&](const dependency& each) {
      return std::find(wanted.begin(), wanted.end(), each) != wanted.end();
    });
  }

  // Whether the node does the same as the given call: no allocation, no driver call. Attributes
  // count as far as both sides know them. @pre the node is of that kind
  bool same(std::size_t node, const kernel_view& launch) const noexcept;
  bool same(std::size_t node, const copy_value& copy) const noexcept;
  bool same(std::size_t node, const fill_value& fill) const noexcept;
  bool same(std::size_t node, const host_value& host) const noexcept;
  bool same(std::size_t node, const event_value& event) const noexcept;
  bool same(std::size_t node, const allocation_value& allocation) const noexcept;
  bool same(std::size_t node, const free_value& freed) const noexcept;
  bool same(std::size_t, const child_value&) const noexcept { return true; }
  bool same(std::size_t node, const conditional_value& conditional) const noexcept;
  bool same(std::size_t node, const node_value& value) const noexcept;

  /// Kinds, functions, edges and conditions at every depth, as one number of 128 bits; equal
  /// numbers mean no mismatch of structure. Valid inside one process (functions are handles).
  structure_fingerprint fingerprint() const;

 private:
  // Which of the arrays below has the node's parameters, in the order of node_value::data.
  enum class form : unsigned char {
    opaque,
    kernel,
    copy,
    fill,
    host,
    event,
    allocation,
    free,
    child,
    conditional
  };

  struct launch_shape {
    dim3 grid{}, block{};
    unsigned shared_memory_bytes = 0;
  };

  form form_of(std::size_t node) const noexcept { return forms_[node]; }
  std::uint32_t slot(std::size_t node) const noexcept { return slots_[node]; }
  std::uint32_t add_kernel(kernel_value&& kernel);
  void assign_as(std::size_t node, const node_value& value, attributes&& attributes);
  void assign_kernel(std::uint32_t slot, const kernel_value& kernel, attributes&& attributes);
  kernel_value copy_kernel(std::uint32_t slot) const;
  kernel_view view_kernel(std::uint32_t slot) const noexcept;

  model::structure structure_;
  std::vector<form> forms_;           // by node, as the next three
  std::vector<std::uint32_t> slots_;  // index in the arrays of the node's form
  std::vector<std::shared_ptr<const void>> owners_;
  std::vector<std::string> tags_;

  std::vector<CUfunction> functions_;  // by kernel slot, as the next three and the arena's entries
  std::vector<launch_shape> shapes_;
  std::vector<attributes> attributes_;
  std::vector<unsigned char> is_plain_;  // no attribute but the priority is set, and all are known
  std::vector<std::shared_ptr<const kernel_layout>> layouts_;
  byte_arena arguments_;

  std::vector<copy_value> copies_;
  std::vector<fill_value> fills_;
  std::vector<host_value> hosts_;
  std::vector<event_value> events_;
  std::vector<allocation_value> allocations_;
  std::vector<free_value> frees_;
};

/// Word by word for the usual sizes: a call costs more than the comparison.
inline bool same_bytes(const std::byte* held, const detail::argument& given) noexcept {
  const auto same_word = [&](auto word) {
    decltype(word) other = 0;
    std::memcpy(&word, held, sizeof word);
    std::memcpy(&other, given.data, sizeof other);
    return word == other;
  };
  if (given.size == 8) return same_word(std::uint64_t{});
  if (given.size == 4) return same_word(std::uint32_t{});
  return std::memcmp(held, given.data, given.size) == 0;
}

// Here, and not in the source, since each launch of a re-capture by `direct` asks.
inline bool graph::relaunches(std::size_t node, const kernel_identity& kernel,
                              const launch_config& config, int priority,
                              std::span<const detail::argument> arguments) const noexcept {
  if (form_of(node) != form::kernel || owners_[node].get() != kernel.owner) return false;
  const std::uint32_t at = slots_[node];
  if (functions_[at] != kernel.function || arguments.size() != kernel.parameters.size())
    return false;
  const launch_shape& shape = shapes_[at];
  const bool is_plain =
      is_plain_[at] != 0 && !config.cluster && !config.cooperative && config.attributes.empty();
  if (!is_plain || shape.block != config.block ||
      shape.shared_memory_bytes != config.shared_memory_bytes ||
      attributes_[at].priority != config.priority.value_or(priority))
    return false;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].size != kernel.parameters[i].size) return false;
  return true;
}

inline bool graph::same_launch(std::size_t node, const kernel_identity& kernel,
                               const launch_config& config,
                               std::span<const detail::argument> arguments) const noexcept {
  const std::uint32_t at = slots_[node];
  if (shapes_[at].grid != config.grid) return false;
  const std::byte* const bytes = arguments_[at].data();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!same_bytes(bytes + kernel.parameters[i].offset, arguments[i])) return false;
  return true;
}

}  // namespace cugraft::model
