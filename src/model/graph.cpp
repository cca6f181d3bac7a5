// SPDX-License-Identifier: Apache-2.0
#include "model/graph.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

#include "model/differing_fields.hpp"

namespace cugraft::model {
namespace {

// So that the push_back that follows cannot throw.
template <class T>
void make_room(std::vector<T>& elements) {
  if (elements.size() == elements.capacity()) elements.reserve(2 * elements.size() + 8);
}

template <class T>
std::uint32_t add(std::vector<T>& elements, const T& element) {
  elements.push_back(element);
  return static_cast<std::uint32_t>(elements.size() - 1);
}

bool plainly_same(const attributes& a, const attributes& b) noexcept {
  return a.others.empty() && b.others.empty() && a.cluster == b.cluster &&
         a.cooperative == b.cooperative && a.priority == b.priority;
}

bool is_plain(const attributes& all) noexcept {
  return all.known_to == known::everything && !all.cluster && !all.cooperative &&
         all.others.empty();
}

// The usual case in one glance: nothing changed. False says nothing yet.
bool plainly_same(const kernel_view& a, const kernel_view& b) noexcept {
  return a.function == b.function && a.layout == b.layout && a.grid == b.grid &&
         a.block == b.block && a.shared_memory_bytes == b.shared_memory_bytes &&
         a.arguments.size() == b.arguments.size() &&
         (a.arguments.empty() ||
          std::memcmp(a.arguments.data(), b.arguments.data(), a.arguments.size()) == 0) &&
         b.attributes != nullptr && plainly_same(*a.attributes, *b.attributes);
}

}  // namespace

// Slots come first: if anything throws, one that no node names is left over, which does no harm.
void graph::append(node_value value, std::span<const dependency> dependencies,
                   std::string_view tag) {
  std::string own_tag(tag);
  const auto slot = std::visit(
      [this](auto&& data) -> std::uint32_t {
        using T = std::remove_cvref_t<decltype(data)>;
        if constexpr (std::is_same_v<T, kernel_value>) return add_kernel(std::move(data));
        if constexpr (std::is_same_v<T, copy_value>) return add(copies_, data);
        if constexpr (std::is_same_v<T, fill_value>) return add(fills_, data);
        if constexpr (std::is_same_v<T, host_value>) return add(hosts_, data);
        if constexpr (std::is_same_v<T, event_value>) return add(events_, data);
        if constexpr (std::is_same_v<T, allocation_value>) return add(allocations_, data);
        if constexpr (std::is_same_v<T, free_value>) return add(frees_, data);
        return 0;
      },
      std::move(value.data));
  make_room(forms_);
  make_room(slots_);
  make_room(owners_);
  make_room(tags_);
  structure_.append(value.kind, dependencies);
  if (const auto* conditional = std::get_if<conditional_value>(&value.data))
    structure_.set_condition(size() - 1, *conditional);

  forms_.push_back(static_cast<form>(value.data.index()));
  slots_.push_back(slot);
  owners_.push_back(std::move(value.owner));
  tags_.push_back(std::move(own_tag));
}

std::uint32_t graph::add_kernel(kernel_value&& kernel) {
  make_room(functions_);
  make_room(shapes_);
  make_room(attributes_);
  make_room(is_plain_);
  make_room(layouts_);
  arguments_.append(kernel.arguments);

  functions_.push_back(kernel.function);
  shapes_.push_back({kernel.grid, kernel.block, kernel.shared_memory_bytes});
  is_plain_.push_back(is_plain(kernel.attributes) ? 1 : 0);
  attributes_.push_back(std::move(kernel.attributes));
  layouts_.push_back(std::move(kernel.layout));
  return static_cast<std::uint32_t>(functions_.size() - 1);
}

void graph::assign(std::size_t node, const node_value& value) {
  const auto* const kernel = std::get_if<kernel_value>(&value.data);
  assign_as(node, value, kernel != nullptr ? attributes(kernel->attributes) : attributes());
}

void graph::assign(std::size_t node, node_value&& value) {
  auto* const kernel = std::get_if<kernel_value>(&value.data);
  assign_as(node, value, kernel != nullptr ? std::move(kernel->attributes) : attributes());
}

void graph::assign_as(std::size_t node, const node_value& value, attributes&& attributes) {
  const std::uint32_t at = slot(node);
  std::visit(
      [&](const auto& data) {
        using T = std::remove_cvref_t<decltype(data)>;
        if constexpr (std::is_same_v<T, kernel_value>)
          assign_kernel(at, data, std::move(attributes));
        if constexpr (std::is_same_v<T, copy_value>) copies_[at] = data;
        if constexpr (std::is_same_v<T, fill_value>) fills_[at] = data;
        if constexpr (std::is_same_v<T, host_value>) hosts_[at] = data;
        if constexpr (std::is_same_v<T, event_value>) events_[at] = data;
        if constexpr (std::is_same_v<T, allocation_value>) allocations_[at] = data;
        if constexpr (std::is_same_v<T, free_value>) frees_[at] = data;
      },
      value.data);
  if (owners_[node] != value.owner) owners_[node] = value.owner;
}

void graph::assign_kernel(std::uint32_t slot, const kernel_value& kernel, attributes&& attributes) {
  arguments_.assign(slot, kernel.arguments);  // the only part that can fail

  functions_[slot] = kernel.function;
  shapes_[slot] = {kernel.grid, kernel.block, kernel.shared_memory_bytes};
  is_plain_[slot] = is_plain(attributes) ? 1 : 0;
  attributes_[slot] = std::move(attributes);
  if (layouts_[slot] != kernel.layout) layouts_[slot] = kernel.layout;
}

kernel_value graph::copy_kernel(std::uint32_t slot) const {
  const launch_shape& shape = shapes_[slot];
  const std::span<const std::byte> bytes = arguments_[slot];
  return {functions_[slot],          layouts_[slot],    shape.grid,           shape.block,
          shape.shared_memory_bytes, attributes_[slot], argument_bytes(bytes)};
}

kernel_view graph::view_kernel(std::uint32_t slot) const noexcept {
  const launch_shape& shape = shapes_[slot];
  return {functions_[slot],          layouts_[slot].get(), shape.grid,      shape.block,
          shape.shared_memory_bytes, &attributes_[slot],   arguments_[slot]};
}

node_value graph::value(std::size_t node) const {
  node_value result{kind(node), {}, owners_[node]};
  const std::uint32_t at = slot(node);
  switch (form_of(node)) {
    case form::opaque:
      break;
    case form::kernel:
      result.data = copy_kernel(at);
      break;
    case form::copy:
      result.data = copies_[at];
      break;
    case form::fill:
      result.data = fills_[at];
      break;
    case form::host:
      result.data = hosts_[at];
      break;
    case form::event:
      result.data = events_[at];
      break;
    case form::allocation:
      result.data = allocations_[at];
      break;
    case form::free:
      result.data = frees_[at];
      break;
    case form::child:
      result.data = child_value{};
      break;
    case form::conditional:
      result.data = *structure_.condition(node);
      break;
  }
  return result;
}

std::string_view graph::name(std::size_t node) const noexcept {
  if (form_of(node) != form::kernel) return {};
  const kernel_layout* layout = layouts_[slot(node)].get();
  return layout == nullptr ? std::string_view() : layout->name;
}

const std::shared_ptr<const void>& graph::owner(std::size_t node) const noexcept {
  return owners_[node];
}

kernel_view graph::kernel(std::size_t node) const noexcept { return view_kernel(slot(node)); }

const std::shared_ptr<const kernel_layout>& graph::layout(std::size_t node) const noexcept {
  return layouts_[slot(node)];
}

bool graph::same(std::size_t node, const kernel_view& launch) const noexcept {
  const kernel_view own = kernel(node);
  return plainly_same(own, launch) || same_value(own, launch);
}

bool graph::same(std::size_t node, const copy_value& copy) const noexcept {
  return same_value(copies_[slot(node)], copy);
}

bool graph::same(std::size_t node, const fill_value& fill) const noexcept {
  return same_value(fills_[slot(node)], fill);
}

bool graph::same(std::size_t node, const host_value& host) const noexcept {
  return same_value(hosts_[slot(node)], host);
}

bool graph::same(std::size_t node, const event_value& event) const noexcept {
  return same_value(events_[slot(node)], event);
}

bool graph::same(std::size_t node, const allocation_value& allocation) const noexcept {
  return same_value(allocations_[slot(node)], allocation);
}

bool graph::same(std::size_t node, const free_value& freed) const noexcept {
  return same_value(frees_[slot(node)], freed);
}

const allocation_value* graph::allocation(std::size_t node) const noexcept {
  return form_of(node) == form::allocation ? &allocations_[slot(node)] : nullptr;
}

const free_value* graph::free(std::size_t node) const noexcept {
  return form_of(node) == form::free ? &frees_[slot(node)] : nullptr;
}

bool graph::same(std::size_t node, const conditional_value& conditional) const noexcept {
  return *structure_.condition(node) == conditional;
}

bool graph::same(std::size_t node, const node_value& value) const noexcept {
  if (static_cast<form>(value.data.index()) != form_of(node)) return false;
  return std::visit(
      [this, node](const auto& data) {
        using T = std::remove_cvref_t<decltype(data)>;
        if constexpr (std::is_same_v<T, opaque_value>)
          return true;
        else if constexpr (std::is_same_v<T, kernel_value>)
          return same(node, view_of(data));
        else
          return same(node, data);
      },
      value.data);
}

}  // namespace cugraft::model
