// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "cuda_api.hpp"

namespace cugraft_sim {

/// What a driver function returns: anything but success ends the program with the function's name.
inline void check(CUresult result, const char* function) {
  if (result != CUDA_SUCCESS)
    throw std::runtime_error(std::string(function) + " gave " + std::to_string(result));
}

/// The functions of a driver library, each of which throws where the driver's gives no success.
class driver_functions {
 public:
  explicit driver_functions(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) throw std::runtime_error(dlerror());
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types)   \
  member##_ = reinterpret_cast<decltype(member##_)>(dlsym(library_, symbol)); \
  if (!member##_) throw std::runtime_error(std::string("there is no ") + (symbol));
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
  }

#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types) \
  template <class... Arguments>                                             \
  void member(Arguments... arguments) const {                               \
    check(member##_(arguments...), name);                                   \
  }
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION

 private:
  void* library_;
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types) \
  CUresult(*member##_) types = nullptr;
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
};

}  // namespace cugraft_sim
