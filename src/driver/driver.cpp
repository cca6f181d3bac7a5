// SPDX-License-Identifier: Apache-2.0
#include "cugraft/driver.hpp"

#include <algorithm>
#include <string>

#include "base/environment.hpp"
#include "cugraft/error.hpp"
#include "driver/call.hpp"

namespace cugraft {

driver::driver(const detail::driver_table& table) noexcept : table_(&table) {}

driver driver::load() { return load(driver_from_environment().value_or("libcuda.so.1")); }

driver driver::load(const std::filesystem::path& library) { return driver(load_table(library)); }

int driver::version() const noexcept { return table_->version; }

bool driver::supports(feature feature) const noexcept {
  return table_->features[static_cast<std::size_t>(feature)];
}

void driver::require(feature feature, std::string_view instead) const {
  if (!supports(feature))
    throw unsupported_error(feature_text(feature), required_version(feature), version(), instead);
}

void* driver::entry_point(std::string_view name, int version) const {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status{};
  const std::string symbol(name);
  call(*table_, &driver_table::get_proc_address, symbol.c_str(), &address,
       std::min(version, table_->version), CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status);
  return address;
}

int driver::device_count() const {
  int count = 0;
  call(*table_, &driver_table::device_get_count, &count);
  return count;
}

const std::filesystem::path& driver::path() const noexcept { return table_->path; }

}  // namespace cugraft
