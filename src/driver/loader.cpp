// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/version_text.hpp"
#include "cugraft/error.hpp"
#include "driver/call.hpp"
#include "driver/table.hpp"

namespace cugraft {
namespace {

constexpr int required = -1;  // beside the features as numbers, for the `need` column of the list

constexpr int need_of(int need) noexcept { return need; }
constexpr int need_of(feature need) noexcept { return static_cast<int>(need); }

struct function {
  const char* name;
  int version;
  int need;
};

struct loaded {
  void* handle;
  std::unique_ptr<const driver_table> table;
};

/// Tables live as long as the process: objects of static storage use theirs until the very end.
struct registry {
  std::mutex mutex;
  std::vector<loaded> drivers;
};

registry& all_drivers() {
  static auto* const instance = new registry;
  return *instance;
}

/// Gives the library back unless the load succeeds.
struct closer {
  void operator()(void* handle) const noexcept { dlclose(handle); }
};

using library_handle = std::unique_ptr<void, closer>;

library_handle open(const std::filesystem::path& library) {
  library_handle handle(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (handle) return handle;
  const char* reason = dlerror();
  throw error(
      fmt::format("the CUDA driver {} cannot be loaded: {}; install the NVIDIA driver, or "
                  "set CUGRAFT_DRIVER to the path of one",
                  library.string(), reason != nullptr ? reason : "no reason given"));
}

std::filesystem::path path_of(void* handle, const std::filesystem::path& asked) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map->l_name == nullptr || *map->l_name == '\0')
    return asked;
  return map->l_name;
}

template <class Function>
Function symbol(void* handle, const char* name) noexcept {
  return reinterpret_cast<Function>(dlsym(handle, name));
}

int version_of(void* handle, const std::filesystem::path& path) {
  const auto get_version = symbol<CUresult (*)(int*)>(handle, "cuDriverGetVersion");
  if (get_version == nullptr)
    throw error(
        fmt::format("{} is no CUDA driver: it has no function cuDriverGetVersion; set "
                    "CUGRAFT_DRIVER to the path of one",
                    path.string()));
  int version = 0;
  check(get_version(&version), "cuDriverGetVersion");
  return version;
}

[[noreturn]] void refuse_incomplete(const driver_table& table, const function& missing) {
  throw error(
      fmt::format("the CUDA driver {} has no function {}, which every driver from CUDA {} "
                  "on has; this one says that it is {}: repair its installation",
                  table.path.string(), missing.name, version_text(missing.version),
                  version_text(table.version)));
}

/// Fills one slot, or leaves the stub there. The version asked for is the one whose signature the
/// list has; a driver refuses a version above its own (driver rules, 1.1).
template <class Slot>
void fill(driver_table& table, Slot& slot, const function& wanted) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status{};
  const CUresult result =
      table.get_proc_address(wanted.name, &address, std::min(wanted.version, table.version),
                             CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status);
  // Absent is success with a null pointer (driver rules, 1.1).
  if (result == CUDA_SUCCESS && address != nullptr && wanted.version <= table.version) {
    slot = reinterpret_cast<Slot>(address);
  } else if (wanted.need == required) {
    refuse_incomplete(table, wanted);
  } else {
    table.features.reset(static_cast<std::size_t>(wanted.need));
  }
}

void fill_all(driver_table& table) {
  using enum feature;
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, parameters) \
  fill(table, table.member, {name, version, need_of(need)});
#include "driver/functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
}

/// All that the version promises; `fill` takes away what turns out to lack a function.
std::bitset<feature_count> features_of(int version) noexcept {
  std::bitset<feature_count> features;
  for (std::size_t i = 0; i < feature_count; ++i)
    features[i] = required_version(static_cast<feature>(i)) <= version;
  return features;
}

std::unique_ptr<const driver_table> make_table(void* handle, const std::filesystem::path& asked) {
  auto table = std::make_unique<driver_table>();
  table->path = path_of(handle, asked);
  table->version = version_of(handle, table->path);
  if (table->version < minimum_version)
    throw unsupported_error("cugraft", minimum_version, table->version, {});
  table->features = features_of(table->version);
  table->get_proc_address =
      symbol<decltype(table->get_proc_address)>(handle, "cuGetProcAddress_v2");
  if (table->get_proc_address == nullptr)
    refuse_incomplete(*table, {"cuGetProcAddress", 12000, required});
  fill_all(*table);
  check(table->init(0), "cuInit");
  return table;
}

}  // namespace

const driver_table& load_table(const std::filesystem::path& library) {
  registry& known = all_drivers();
  const std::lock_guard lock(known.mutex);
  library_handle handle = open(library);
  // The dynamic linker gives one handle to one file (device and inode), whatever path led to it.
  for (const loaded& driver : known.drivers)
    if (driver.handle == handle.get()) return *driver.table;
  known.drivers.reserve(known.drivers.size() + 1);
  auto table = make_table(handle.get(), library);
  return *known.drivers.emplace_back(loaded{handle.release(), std::move(table)}).table;
}

}  // namespace cugraft
