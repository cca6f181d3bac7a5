// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

#include "model/differing_fields.hpp"
#include "model/text_forms.hpp"

namespace cugraft::model {
namespace {

// In the order of `field`.
constexpr auto field_names = std::to_array<std::string_view>({
    "argument",
    "function",
    "grid",
    "block",
    "shared_memory_bytes",
    "cluster",
    "cooperative",
    "priority",
    "attribute",
    "source",
    "destination",
    "source_kind",
    "destination_kind",
    "source_offset",
    "destination_offset",
    "source_pitch",
    "destination_pitch",
    "source_height",
    "destination_height",
    "width",
    "height",
    "depth",
    "value",
    "element_size",
    "pitch",
    "host_function",
    "user_data",
    "event",
    "address",
    "bytes",
    "device",
    "parameters",
});
static_assert(field_names.size() == static_cast<std::size_t>(field::parameters) + 1);

std::string text_of(const difference& what) {
  const std::string_view name = name_of(what.which);
  if (what.which != field::argument && what.which != field::attribute) return std::string(name);
  return fmt::format("{}[{}]", name, what.index);
}

std::string text_of_function(const kernel_value& kernel) {
  const std::string address = text_of_address(kernel.function);
  return kernel.layout == nullptr ? address : kernel.layout->name + " at " + address;
}

std::string text_of_cluster(const attributes& all) {
  const std::optional<dim3> cluster = effective_cluster(all);
  return cluster ? text_of_extents(*cluster) : "none";
}

std::string text_of_attribute(const launch_attribute* attribute) {
  if (attribute == nullptr) return "default";
  const auto used = std::find_if(attribute->value.rbegin(), attribute->value.rend(),
                                 [](std::byte byte) { return byte != std::byte{}; });
  const std::ptrdiff_t size = std::max<std::ptrdiff_t>(attribute->value.rend() - used, 4);
  return text_of_bytes(std::span(attribute->value).first(static_cast<std::size_t>(size)));
}

std::string text_of(const kernel_value& kernel, const difference& what) {
  const attributes& known = kernel.attributes;
  switch (what.which) {
    case field::function:
      return text_of_function(kernel);
    case field::grid:
      return text_of_extents(kernel.grid);
    case field::block:
      return text_of_extents(kernel.block);
    case field::shared_memory_bytes:
      return std::to_string(kernel.shared_memory_bytes);
    case field::cluster:
      return text_of_cluster(known);
    case field::cooperative:
      return known.cooperative ? "true" : "false";
    case field::priority:
      return std::to_string(known.priority);
    default:
      return text_of_attribute(find_attribute(known, what.index));
  }
}

std::string text_of_offset(const copy_operand& operand) {
  return fmt::format("({}, {}, {}, level {})", operand.x, operand.y, operand.z, operand.level);
}

std::string text_of(const copy_value& copy, const difference& what) {
  switch (what.which) {
    case field::source:
      return text_of_address(copy.source.address);
    case field::destination:
      return text_of_address(copy.destination.address);
    case field::source_kind:
      return text_of_memory_kind(copy.source.memory_kind);
    case field::destination_kind:
      return text_of_memory_kind(copy.destination.memory_kind);
    case field::source_offset:
      return text_of_offset(copy.source);
    case field::destination_offset:
      return text_of_offset(copy.destination);
    case field::source_pitch:
      return std::to_string(copy.source.pitch);
    case field::destination_pitch:
      return std::to_string(copy.destination.pitch);
    case field::source_height:
      return std::to_string(copy.source.height);
    case field::destination_height:
      return std::to_string(copy.destination.height);
    case field::width:
      return std::to_string(copy.width_bytes);
    case field::height:
      return std::to_string(copy.height);
    default:
      return std::to_string(copy.depth);
  }
}

std::string text_of(const fill_value& fill, const difference& what) {
  switch (what.which) {
    case field::destination:
      return text_of_address(fill.destination);
    case field::value:
      return text_of_fill(effective_value(fill), fill.element_size);
    case field::element_size:
      return std::to_string(fill.element_size);
    case field::width:
      return std::to_string(fill.width);
    case field::height:
      return std::to_string(fill.height);
    default:
      return std::to_string(fill.pitch);
  }
}

std::string text_of(const host_value& host, const difference& what) {
  return text_of_address(what.which == field::host_function ? host.function : host.user_data);
}

std::string text_of(const event_value& event, const difference&) {
  return text_of_address(event.event);
}

std::string text_of(const allocation_value& allocation, const difference& what) {
  if (what.which == field::address) return text_of_address(allocation.address);
  return what.which == field::bytes ? std::to_string(allocation.bytes)
                                    : std::to_string(allocation.device);
}

std::string text_of(const free_value& freed, const difference&) {
  return text_of_address(freed.address);
}

std::string text_of(const child_value&, const difference&) { return "read"; }

std::string text_of(const conditional_value& conditional, const difference&) {
  return fmt::format("condition {}", conditional.handle);
}

std::string text_of(const opaque_value&, const difference&) { return "not read"; }

std::string text_of(const node_value& node, const difference& what) {
  return std::visit(
      [&](const auto& value) -> std::string {
        using T = std::remove_cvref_t<decltype(value)>;
        if (what.which == field::parameters && !std::is_same_v<T, opaque_value>) return "read";
        return text_of(value, what);
      },
      node.data);
}

std::span<const std::byte> bytes_at(const kernel_view& launch, const parameter_place& place) {
  return launch.arguments.subspan(place.offset, place.size);
}

// In the layout of the kernel before; in that after where the parameter is new.
void describe_argument(const kernel_view& before, const kernel_view& after, field_change& result,
                       std::uint32_t index) {
  const parameter_place old_place = place_of(before, index);
  const parameter_place new_place = place_of(after, index);
  const auto old_bytes = bytes_at(before, old_place);
  const auto new_bytes = bytes_at(after, new_place);
  const auto differs = std::ranges::mismatch(old_bytes, new_bytes).in1 - old_bytes.begin();
  const auto text = [&](const parameter_place& place, std::span<const std::byte> bytes) {
    return place.exists ? text_of_argument(bytes, static_cast<std::size_t>(differs)) : "none";
  };
  const parameter_place& shown = old_place.exists ? old_place : new_place;
  result.before = text(old_place, old_bytes);
  result.after = text(new_place, new_bytes);
  result.offset = shown.offset;
  result.size = shown.size;
  result.before_bytes.assign(old_bytes.begin(), old_bytes.end());
  result.after_bytes.assign(new_bytes.begin(), new_bytes.end());
}

}  // namespace

std::string_view name_of(field which) noexcept {
  return field_names[static_cast<std::size_t>(which)];
}

field_change describe(const node_value& before, const node_value& after, const difference& what) {
  field_change result;
  result.field = text_of(what);
  if (what.which == field::argument) {
    describe_argument(view_of(std::get<kernel_value>(before.data)),
                      view_of(std::get<kernel_value>(after.data)), result, what.index);
  } else {
    result.before = text_of(before, what);
    result.after = text_of(after, what);
  }
  return result;
}

}  // namespace cugraft::model
