// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "cuda_api.hpp"
#include "operation.hpp"

namespace cugraft_sim {

/// How many bytes of its value attribute `id` uses.
std::size_t attribute_size(int id) noexcept;

/// The value that a kernel has, also where it was never set.
CUlaunchAttributeValue attribute_of(const kernel_operation& kernel, int id) noexcept;

/// Whether the driver tells the value of attribute `id` of a node (facts: some can only be set).
bool is_readable_attribute(int id) noexcept;

bool is_cooperative(const kernel_operation& kernel) noexcept;
int priority_of(const kernel_operation& kernel) noexcept;

/// Sets an attribute; only the bytes that it uses are taken.
void set_attribute(kernel_operation& of, int id, const CUlaunchAttributeValue& value);

/// Whether all attributes of two kernels have the same values, set or not.
bool same_attributes(const kernel_operation& left, const kernel_operation& right);

}  // namespace cugraft_sim
