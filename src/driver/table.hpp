// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <filesystem>

#include "base/access.hpp"
#include "cugraft/driver.hpp"
#include "driver/cuda_api.hpp"
#include "driver/features.hpp"

namespace cugraft {
namespace detail {

/// Stands in a slot whose function the driver does not have, so that a call there is an error and
/// no jump to null.
template <class... Parameters>
CUresult absent(Parameters...) noexcept {
  return newer::error_call_requires_newer_driver;
}

/// The functions of one loaded driver. Filled once, whole, by the loader; immutable and shared by
/// all threads from then on.
struct driver_table {
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, parameters) \
  CUresult(*member) parameters = absent;
#include "driver/functions.def"
#undef CUGRAFT_DRIVER_FUNCTION

  int version = 0;
  std::filesystem::path path;
  std::bitset<feature_count> features;
};

}  // namespace detail

using detail::driver_table;

inline const driver_table& table_of(const driver_table& table) noexcept { return table; }

[[noreturn, gnu::cold]] void refuse_empty_handle();

/// The table of a driver, a stream or an event.
/// @throws usage_error  if the handle is empty: work of a stream that was moved from must not end
///                      on the null stream
template <class Handle>
const driver_table& table_of(const Handle& handle) {
  const driver_table* table = detail::access::table(handle);
  if (table == nullptr) [[unlikely]]
    refuse_empty_handle();
  return *table;
}

/// The driver of a table.
inline driver driver_of(const driver_table& table) noexcept {
  return detail::access::make<driver>(table);
}

/// The base name of the function in `slot`, which is a member of `table`.
const char* function_name(const driver_table& table, const void* slot) noexcept;

/// The table of the driver in `library`, loaded on the first request.
/// @throws error, unsupported_error, cuda_error  as `driver::load`
const driver_table& load_table(const std::filesystem::path& library);

}  // namespace cugraft
