// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "cuda_api.hpp"

namespace cugraft_sim {

class memory_pool;
struct stream;

/// What allocations and releases ask first of a stream that captures: they make a node.
CUresult capture_alloc(stream& on, const memory_pool& pool, std::size_t size, CUdeviceptr* address);
CUresult capture_free(stream& on, CUdeviceptr address);

}  // namespace cugraft_sim
