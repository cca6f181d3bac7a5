// SPDX-License-Identifier: Apache-2.0
#include "model/differing_fields.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace cugraft::model {
namespace {

// Ids of CUlaunchAttributeID whose default is not all zero.
constexpr unsigned cluster_scheduling_id = 5;
constexpr unsigned sync_domain_map_id = 9;  // default to domain 0, remote to 1
constexpr unsigned shared_memory_carveout_id = 14;

bool is_default(const launch_attribute& attribute) noexcept {
  std::array<std::byte, 64> value{};
  if (attribute.id == sync_domain_map_id) value[1] = std::byte{1};
  if (attribute.id == shared_memory_carveout_id) std::fill_n(value.begin(), 4, std::byte{0xff});
  return attribute.value == value;
}

void differing_attributes(const std::vector<launch_attribute>& before,
                          const std::vector<launch_attribute>& after, difference_sink found) {
  auto a = before.begin();
  auto b = after.begin();
  while (a != before.end() || b != after.end()) {
    if (b == after.end() || (a != before.end() && a->id < b->id)) {
      if (!is_default(*a)) found(field::attribute, a->id);
      ++a;
    } else if (a == before.end() || b->id < a->id) {
      if (!is_default(*b)) found(field::attribute, b->id);
      ++b;
    } else {
      if (a->value != b->value) found(field::attribute, a->id);
      ++a, ++b;
    }
  }
}

// What a node without the attribute reads back as, which may be another value than that by which a
// launch asks for the default: an H200 gives "spread" as the cluster scheduling policy, and no
// preferred carveout as 0.
bool reads_as_default(const launch_attribute& attribute) noexcept {
  std::array<std::byte, 64> value{};
  if (attribute.id == cluster_scheduling_id) value[0] = std::byte{1};
  return is_default(attribute) ||
         ((attribute.id == cluster_scheduling_id || attribute.id == shared_memory_carveout_id) &&
          attribute.value == value);
}

// One side, or both, was read back: what the driver did not let read of it is in no list.
void differing_read_attributes(const attributes& read, const attributes& other,
                               difference_sink found) {
  for (const launch_attribute& each : read.others) {
    const auto same_id = std::ranges::find(other.others, each.id, &launch_attribute::id);
    const bool differs = same_id != other.others.end()
                             ? same_id->value != each.value
                             : other.known_to == known::everything && !reads_as_default(each);
    if (differs) found(field::attribute, each.id);
  }
}

std::uint32_t parameter_count(const kernel_view& launch) noexcept {
  if (launch.layout == nullptr) return launch.arguments.empty() ? 0 : 1;
  return static_cast<std::uint32_t>(launch.layout->parameters.size());
}

bool same_argument(const kernel_view& before, const kernel_view& after, std::uint32_t index) {
  const parameter_place a = place_of(before, index);
  const parameter_place b = place_of(after, index);
  if (a.exists != b.exists || a.size != b.size) return false;
  return a.size == 0 || std::memcmp(before.arguments.data() + a.offset,
                                    after.arguments.data() + b.offset, a.size) == 0;
}

// Bytes between parameters mean nothing: only where the blocks differ it is asked which
// parameter does.
void differing_arguments(const kernel_view& before, const kernel_view& after, bool one_layout,
                         difference_sink found) {
  const std::size_t bytes = before.arguments.size();
  const bool same_bytes =
      bytes == after.arguments.size() &&
      (bytes == 0 || std::memcmp(before.arguments.data(), after.arguments.data(), bytes) == 0);
  if (one_layout && same_bytes) return;
  if (one_layout && before.layout != nullptr) {
    for (std::uint32_t i = 0; const kernel_parameter& each : before.layout->parameters) {
      if (std::memcmp(before.arguments.data() + each.offset, after.arguments.data() + each.offset,
                      each.size) != 0)
        found(field::argument, i);
      ++i;
    }
    return;
  }
  const std::uint32_t count = std::max(parameter_count(before), parameter_count(after));
  for (std::uint32_t i = 0; i < count; ++i)
    if (!same_argument(before, after, i)) found(field::argument, i);
}

constexpr bool is_array(const copy_operand& operand) noexcept {
  return operand.memory_kind == memory_kind_array;
}

// In linear memory offsets only move the address.
constexpr std::uintptr_t first_byte(const copy_operand& operand) noexcept {
  return operand.address + operand.x + operand.pitch * (operand.y + operand.height * operand.z);
}

bool same_place(const copy_operand& a, const copy_operand& b) noexcept {
  if (is_array(a) != is_array(b)) return false;
  if (!is_array(a)) return first_byte(a) == first_byte(b) && a.level == b.level;
  return a.address == b.address && a.x == b.x && a.y == b.y && a.z == b.z && a.level == b.level;
}

// "Unified" leaves it to the address which memory is meant, so it says the same as either kind.
bool same_memory_kind(const copy_operand& a, const copy_operand& b) noexcept {
  if (a.memory_kind == b.memory_kind) return true;
  if (is_array(a) || is_array(b)) return false;
  return a.memory_kind == memory_kind_unified || b.memory_kind == memory_kind_unified;
}

struct operand_fields {
  field address, kind, offset, pitch, height;
};
constexpr operand_fields source_fields{field::source, field::source_kind, field::source_offset,
                                       field::source_pitch, field::source_height};
constexpr operand_fields destination_fields{field::destination, field::destination_kind,
                                            field::destination_offset, field::destination_pitch,
                                            field::destination_height};

// Which fields of an operand count as different.
struct operand_difference {
  bool address = false, kind = false, offset = false, pitch = false, height = false;
};

operand_difference compare(const copy_operand& a, const copy_operand& b, bool rows, bool planes) {
  const bool moved = !same_place(a, b);
  const bool linear = !is_array(a) || !is_array(b);
  operand_difference result;
  result.kind = !same_memory_kind(a, b);
  result.address = moved && a.address != b.address;
  result.offset = moved && (a.x != b.x || a.y != b.y || a.z != b.z || a.level != b.level);
  const bool by_plane = planes || (moved && (a.z != 0 || b.z != 0));
  const bool by_row = rows || by_plane || (moved && (a.y != 0 || b.y != 0));
  result.pitch = linear && by_row && a.pitch != b.pitch;
  result.height = linear && by_plane && a.height != b.height;
  return result;
}

constexpr std::size_t at_least_one(std::size_t extent) noexcept { return extent == 0 ? 1 : extent; }

}  // namespace

// What one side does not know is taken as equal: it was not asked for (attribute_check).
void differing_fields(const attributes& before, const attributes& after, difference_sink found) {
  const known both = std::min(before.known_to, after.known_to);
  if (both == known::nothing) return;
  if (effective_cluster(before) != effective_cluster(after)) found(field::cluster);
  if (before.cooperative != after.cooperative) found(field::cooperative);
  if (before.priority != after.priority) found(field::priority);
  if (both == known::everything) return differing_attributes(before.others, after.others, found);
  if (both == known::readable)
    differing_read_attributes(before.known_to == known::readable ? before : after,
                              before.known_to == known::readable ? after : before, found);
}

parameter_place place_of(const kernel_view& launch, std::uint32_t index) noexcept {
  if (index >= parameter_count(launch)) return {};
  if (launch.layout == nullptr) return {0, launch.arguments.size(), true};
  const kernel_parameter& parameter = launch.layout->parameters[index];
  return {parameter.offset, parameter.size, true};
}

std::optional<dim3> effective_cluster(const attributes& all) noexcept {
  return all.cluster && all.cluster->x == 0 ? std::nullopt : all.cluster;
}

const launch_attribute* find_attribute(const attributes& all, std::uint32_t id) noexcept {
  const auto found = std::ranges::find(all.others, id, &launch_attribute::id);
  return found == all.others.end() || is_default(*found) ? nullptr : &*found;
}

void differing_fields(const kernel_view& before, const kernel_view& after, difference_sink found) {
  const bool one_layout = same_layout(before.layout, after.layout);
  differing_arguments(before, after, one_layout, found);
  if (before.function != after.function || !one_layout) found(field::function);
  if (before.grid != after.grid) found(field::grid);
  if (before.block != after.block) found(field::block);
  if (before.shared_memory_bytes != after.shared_memory_bytes) found(field::shared_memory_bytes);
  static const attributes defaults;
  differing_fields(before.attributes ? *before.attributes : defaults,
                   after.attributes ? *after.attributes : defaults, found);
}

void differing_fields(const copy_value& before, const copy_value& after, difference_sink found) {
  const bool planes = at_least_one(before.depth) > 1 || at_least_one(after.depth) > 1;
  const bool rows = planes || before.height > 1 || after.height > 1;
  const auto source = compare(before.source, after.source, rows, planes);
  const auto destination = compare(before.destination, after.destination, rows, planes);
  const auto both = [&](bool operand_difference::*differs, field operand_fields::*name) {
    if (source.*differs) found(source_fields.*name);
    if (destination.*differs) found(destination_fields.*name);
  };
  both(&operand_difference::address, &operand_fields::address);
  both(&operand_difference::kind, &operand_fields::kind);
  both(&operand_difference::offset, &operand_fields::offset);
  both(&operand_difference::pitch, &operand_fields::pitch);
  both(&operand_difference::height, &operand_fields::height);
  if (before.width_bytes != after.width_bytes) found(field::width);
  if (at_least_one(before.height) != at_least_one(after.height)) found(field::height);
  if (at_least_one(before.depth) != at_least_one(after.depth)) found(field::depth);
}

void differing_fields(const fill_value& before, const fill_value& after, difference_sink found) {
  if (before.destination != after.destination) found(field::destination);
  if (before.width != after.width) found(field::width);
  if (at_least_one(before.height) != at_least_one(after.height)) found(field::height);
  if (effective_value(before) != effective_value(after)) found(field::value);
  if (before.element_size != after.element_size) found(field::element_size);
  const bool rows = has_rows(before) || has_rows(after);
  if (rows && before.pitch != after.pitch) found(field::pitch);
}

void differing_fields(const host_value& before, const host_value& after, difference_sink found) {
  if (before.function != after.function) found(field::host_function);
  if (before.user_data != after.user_data) found(field::user_data);
}

void differing_fields(const event_value& before, const event_value& after, difference_sink found) {
  if (before.event != after.event) found(field::event);
}

void differing_fields(const allocation_value& before, const allocation_value& after,
                      difference_sink found) {
  if (before.address != after.address) found(field::address);
  if (before.bytes != after.bytes) found(field::bytes);
  if (before.device != after.device) found(field::device);
}

void differing_fields(const free_value& before, const free_value& after, difference_sink found) {
  if (before.address != after.address) found(field::address);
}

// What a session may not change (`mismatch::conditional`), and what others may have made anew.
void differing_fields(const conditional_value& before, const conditional_value& after,
                      difference_sink found) {
  if (before != after) found(field::parameters);
}

void differing_fields(const node_value& before, const node_value& after, difference_sink found) {
  if (before.data.index() != after.data.index()) return found(field::parameters);
  std::visit(
      [&](const auto& value) {
        using T = std::remove_cvref_t<decltype(value)>;
        const T& other = std::get<T>(after.data);
        if constexpr (std::is_same_v<T, kernel_value>)
          differing_fields(view_of(value), view_of(other), found);
        else if constexpr (!std::is_same_v<T, opaque_value> && !std::is_same_v<T, child_value>)
          differing_fields(value, other, found);
      },
      before.data);
}

}  // namespace cugraft::model
