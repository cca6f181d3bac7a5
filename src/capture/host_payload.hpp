// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

#include "capture/owners.hpp"
#include "cugraft/launch.hpp"
#include "cugraft/node_params.hpp"
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

/// A host function that only the driver knows of. Its last holder may be a thread of the driver,
/// which must not call CUDA (driver rules, 6.4): the function is destroyed elsewhere.
struct detached_host_payload {
  host_payload payload;
  std::atomic<int> holders{1};
  record_list self{};  ///< owns this; made beforehand, so that letting go cannot fail
};
detached_host_payload* detach(const driver_table& table, host_function function, int holders);
void release(detached_host_payload* payload) noexcept;

/// Runs a `detached_host_payload` and gives up the driver's hold of it.
void CUDA_CB run_host_payload_once(void* payload) noexcept;

/// Whether two functions may stand for each other, see `host_function`.
bool same_host_function(const host_function& a, const host_function& b);

/// The `CUhostFn` and its data that a host function was made from; nulls for any other callable.
host_node_params plain_function_of(const host_function& function) noexcept;

/// The payload of a host node that cugraft made; null for any other.
const host_payload* payload_of(const model::graph& graph, std::size_t node) noexcept;
const host_payload* payload_of(const model::node_value& value) noexcept;

}  // namespace cugraft
