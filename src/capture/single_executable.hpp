// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/executable.hpp"

// Graphs that allow one executable at a time: the driver answers a second instantiation with 801
// (driver rules, 6.2; driver facts, Setters).

namespace cugraft {

/// @throws usage_error  if the graph allows one executable and has it
void refuse_second_executable(const detail::graph_state& graph);

/// Whether the driver would refuse another executable in the place of this one: of such a graph the
/// old one has to be destroyed first, and there may be no further one.
bool is_in_the_way(const executable& exec, bool destroy_first);

/// The driver refused a launch: throws what it said and, where memory that the last launch left may
/// be the reason, what to do.
[[noreturn]] void throw_launch_failure(const executable& exec, stream_ref stream, CUresult result);

}  // namespace cugraft
