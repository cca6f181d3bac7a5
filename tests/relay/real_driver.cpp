// SPDX-License-Identifier: Apache-2.0
#include "relay/real_driver.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace cugraft_relay {
namespace {

std::string path_of_driver() {
  const char* const asked = std::getenv("CUGRAFT_RELAY_DRIVER");
  return asked != nullptr && *asked != '\0' ? asked : "libcuda.so.1";
}

template <class Function>
void find_symbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    throw std::runtime_error(path_of_driver() + " is no CUDA driver: it has no function " + name);
}

// Absent is success with a null pointer, and a driver refuses versions above its own (driver rules,
// 1.1).
template <class Slot>
void find_listed(const real_driver& driver, const char* name, int version, Slot& slot) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status{};
  if (version > driver.version ||
      driver.get_proc_address(name, &address, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM,
                              &status) != CUDA_SUCCESS)
    address = nullptr;
  slot = reinterpret_cast<Slot>(address);
}

real_driver load() {
  void* const library = dlopen(path_of_driver().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw std::runtime_error(std::string("the relay has no driver to pass calls on to: ") +
                             dlerror() + "; set CUGRAFT_RELAY_DRIVER to the path of one");
  real_driver driver;
  find_symbol(library, "cuGetProcAddress_v2", driver.get_proc_address);
  find_symbol(library, "cuDriverGetVersion", driver.driver_get_version);
  if (driver.driver_get_version(&driver.version) != CUDA_SUCCESS)
    throw std::runtime_error(path_of_driver() + " does not tell its version");
  const real_driver by_symbol = driver;
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types) \
  find_listed(by_symbol, name, version, driver.member);
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
  return driver;
}

}  // namespace

const real_driver& real() {
  static const auto* const driver = new real_driver(load());  // its threads outlive main()
  return *driver;
}

void* real_address(function_id id) {
  static const std::array<void*, cugraft_sim::function_count> addresses{{
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types) \
  reinterpret_cast<void*>(real().member),
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
  }};
  return addresses[static_cast<std::size_t>(id)];
}

}  // namespace cugraft_relay
