// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/values.hpp"

namespace cugraft::model {

class graph;

/// The fields that the report names; docs/report.md has the table.
enum class field : std::uint8_t {
  argument,  // index: the parameter
  function,  // of a kernel
  grid,
  block,
  shared_memory_bytes,
  cluster,
  cooperative,
  priority,
  attribute,  // index: the driver's id
  source,     // address
  destination,
  source_kind,
  destination_kind,
  source_offset,  // x, y, z, level
  destination_offset,
  source_pitch,
  destination_pitch,
  source_height,
  destination_height,
  width,
  height,
  depth,
  value,
  element_size,
  pitch,
  host_function,
  user_data,
  event,
  address,  // of an allocation
  bytes,
  device,
  parameters,  // all of them: those of one side were not read
};

/// As in `field_change::field`, without an index: the enumerator's name.
std::string_view name_of(field which) noexcept;

struct difference {
  field which = field::argument;
  std::uint32_t index = 0;
  friend bool operator==(const difference&, const difference&) = default;
};

/// Fields that differ, in the order of `field`, arguments by index. Normalised first: pitches and
/// heights that mean nothing for one row, attributes that one side does not know.
/// @pre both values are of one kind
std::vector<difference> differences(const node_value& before, const node_value& after);

/// Whether launch attributes are among them.
bool attributes_differ(const node_value& before, const node_value& after);

/// Text and bytes of one difference.
field_change describe(const node_value& before, const node_value& after, const difference& what);

/// How an executable was instantiated, as far as rules depend on it.
struct exec_traits {
  bool node_priority = false;
};

struct judgement {
  verdict effect = verdict::unchanged;
  const update_rule* rule = nullptr;  ///< the row that decided; null for `unchanged`
};

/// What an executable can do about the change: the strictest rule of all fields that differ.
judgement judge(const node_value& before, const node_value& after, const exec_traits& traits = {});

/// The same where the change is to what a node of `graph` does. @pre both are of one kind
judgement judge(const node_value& before, const graph& graph, std::size_t node,
                const exec_traits& traits);

}  // namespace cugraft::model
