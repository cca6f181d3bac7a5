// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "copy_fill.hpp"
#include "cuda_api.hpp"
#include "operation.hpp"

namespace cugraft_sim {

struct context;

/// Makes the operation of kernel node parameters with all checks of a launch: function, dimensions,
/// shared memory, arguments. `attributes` are those that the node has or gets.
CUresult make_kernel_operation(const CUDA_KERNEL_NODE_PARAMS& parameters,
                               const std::shared_ptr<context>& where,
                               const attribute_list& attributes, kernel_operation& made);

/// Whether a kernel can have these attributes: each must be known and have a value that the driver
/// takes, and the cluster must fit the grid (912).
CUresult check_attributes(const kernel_operation& kernel);

/// The part of that which does not depend on the kernel's dimensions.
CUresult check_attribute_values(const attribute_list& attributes);

/// The part of that which does: cluster and cooperative launch.
CUresult check_attribute_fit(const kernel_operation& kernel);

/// Whether launches have attribute `id` on a driver of the set version.
bool is_launch_attribute(int id) noexcept;

/// Whether nodes have attribute `id`, which some are only for streams or launches.
bool is_node_attribute(int id) noexcept;

}  // namespace cugraft_sim
