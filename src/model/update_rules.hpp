// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cugraft/change_report.hpp"

namespace cugraft::model {

/// Rows of the table of update rules, the most telling first: of several rows that fit equally
/// strict, the first names the change.
enum class rule_row : unsigned char {
  graph_structure,  ///< of executables, never of a node
  exec_unknown,     ///< the same
  exec_origin,      ///< the same
  exec_single,      ///< the same
  opaque,
  kernel_cluster,
  kernel_cooperative,
  kernel_priority_in_use,
  kernel_attribute,
  kernel_function_foreign,
  kernel_function,
  kernel_grid,
  kernel_block,
  kernel_shared_memory,
  kernel_arguments,
  kernel_priority,
  copy_2d,
  copy_memory_kind,
  copy_size,
  copy_address,
  fill_rows,
  fill_2d_shape,
  fill_2d_value,
  fill_1d,
  host_function,
  event_event,
  memory_fixed,
};

const update_rule& rule(rule_row row) noexcept;

}  // namespace cugraft::model
