// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "function_facts.hpp"
#include "relay/relayed.hpp"

// The symbols by which a loader starts: all else it asks `cuGetProcAddress` for.

namespace cugraft_relay {
namespace {

// Where the function of this relay begins.
void* relayed_address(function_id id);

bool is_hidden(function_id id) {
  const std::lock_guard lock(the_calls().mutex);
  return the_calls().books.is_hidden(id);
}

}  // namespace

guarded_books& the_calls() noexcept {
  static auto* const instance = new guarded_books;  // threads of the driver outlive main()
  return *instance;
}

// What the driver gives is replaced where it is the form in the list. Other functions and other
// forms of these are the driver's own, neither counted nor failed.
template <>
struct effect<function_id::get_proc_address> {
  template <class Function>
  static CUresult run(Function function, const char* name, void** found, int version,
                      cuuint64_t flags, CUdriverProcAddressQueryResult* status) {
    const CUresult result = function(name, found, version, flags, status);
    if (result != CUDA_SUCCESS || *found == nullptr) return result;
    const auto id = cugraft_sim::find_function_id(name);
    if (!id || *found != real_address(*id)) return result;
    *found = is_hidden(*id) ? nullptr : relayed_address(*id);
    if (*found == nullptr && status != nullptr) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return result;
  }
};

namespace {

void* relayed_address(function_id id) {
  static const std::array<void*, cugraft_sim::function_count> addresses{{
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types) \
  reinterpret_cast<void*>(&relayed<function_id::member, &real_driver::member>::call),
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
  }};
  return addresses[static_cast<std::size_t>(id)];
}

}  // namespace

__attribute__((visibility("default"))) CUresult driver_get_version(int* version) __asm__(
    "cuDriverGetVersion");
CUresult driver_get_version(int* version) {
  return relayed<function_id::driver_get_version, &real_driver::driver_get_version>::call(version);
}

__attribute__((visibility("default"))) CUresult get_proc_address(
    const char* name, void** found, int version, cuuint64_t flags,
    CUdriverProcAddressQueryResult* status) __asm__("cuGetProcAddress_v2");
CUresult get_proc_address(const char* name, void** found, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
  return relayed<function_id::get_proc_address, &real_driver::get_proc_address>::call(
      name, found, version, flags, status);
}

}  // namespace cugraft_relay
