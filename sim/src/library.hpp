// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda_api.hpp"
#include "cugraft_sim/control.hpp"
#include "ptx/module.hpp"

namespace cugraft_sim {

struct context;

/// An entry of a loaded image, without a context.
struct kernel {
  CUkernel handle = nullptr;
  CUlibrary owner = nullptr;
  std::string name;
  std::shared_ptr<const ptx::ptx_module> module;
  const ptx::entry* entry = nullptr;
  kernel_body body;                                ///< runs in the entry's place if it is not empty
  std::map<const context*, CUfunction> functions;  ///< made so far
};

/// The variables of an image in one context.
class global_block {
 public:
  explicit global_block(const ptx::ptx_module& of);

  std::byte* data() const noexcept { return bytes_.get(); }

 private:
  struct aligned_delete {
    std::size_t alignment;
    void operator()(std::byte* bytes) const noexcept;
  };

  std::unique_ptr<std::byte, aligned_delete> bytes_;
};

struct library {
  CUlibrary handle = nullptr;
  std::shared_ptr<const ptx::ptx_module> module;
  std::vector<CUkernel> kernels;
  std::map<const context*, std::shared_ptr<global_block>> globals;
};

/// A kernel in a context, which is what is launched. Whoever holds one can run it, also after its
/// library was unloaded.
struct function {
  CUfunction handle = nullptr;
  std::shared_ptr<const kernel> code;
  std::shared_ptr<context> owner;
  std::shared_ptr<global_block> globals;
  int max_dynamic_shared_bytes = 48 * 1024;  ///< more must be asked for by cuFuncSetAttribute
  std::map<CUfunction_attribute, int> set_attributes;
};

/// Forgets the functions and variables that a context has of all libraries.
void forget_code_of(const context& gone);

/// The function of this handle, which may be a CUkernel that was cast (driver-rules 1.3): then the
/// one for `where`. INVALID_HANDLE where there is none.
CUresult find_function(CUfunction handle, const std::shared_ptr<context>& where,
                       std::shared_ptr<function>& found);

}  // namespace cugraft_sim
