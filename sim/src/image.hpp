// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "cuda_api.hpp"
#include "ptx/module.hpp"

namespace cugraft_sim {

/// What loading an image came to.
struct loaded_image {
  CUresult result = CUDA_SUCCESS;
  std::string message;  ///< why it failed, as a compiler's log
  std::shared_ptr<const ptx::ptx_module> module;
};

/// Loads an image as `cuLibraryLoadData` takes it: text that ends with a null, a cubin, or a
/// container of several. Only text can be run here; for anything else the result is that of a
/// driver that finds no code for its device.
loaded_image load_image(const void* image);

}  // namespace cugraft_sim
