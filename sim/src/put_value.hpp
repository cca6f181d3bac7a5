// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <span>

#include "cuda_api.hpp"

namespace cugraft_sim {

/// Writes the answer of a query whose type depends on what is asked for.
template <class Value>
CUresult put(void* to, Value value) noexcept {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  std::memcpy(to, bytes.data(), bytes.size());
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
