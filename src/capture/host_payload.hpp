// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

#include "cugraft/launch.hpp"
#include "driver/table.hpp"
#include "model/graph.hpp"

namespace cugraft {

/// A host function at the address that the driver's node carries.
struct host_payload {
  host_function function;
};

/// The function of every host node that cugraft makes; its data is a `host_payload`. An exception
/// of the host function ends in the report function.
void CUDA_CB run_host_payload(void* payload) noexcept;

/// A host function that runs once. The caller and the driver hold it: a call may enqueue it and
/// give an error all the same.
struct shared_host_payload {
  host_payload payload;
  std::atomic<int> holders{2};
};
void release(shared_host_payload* payload) noexcept;

/// Runs a `shared_host_payload` and gives up the driver's hold of it.
void CUDA_CB run_host_payload_once(void* payload) noexcept;

/// Whether two functions may stand for each other, see `host_function`.
bool same_host_function(const host_function& a, const host_function& b);

/// The payload of a host node that cugraft made; null for any other.
const host_payload* payload_of(const model::graph& graph, std::size_t node) noexcept;
const host_payload* payload_of(const model::node_value& value) noexcept;

}  // namespace cugraft
