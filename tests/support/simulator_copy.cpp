// SPDX-License-Identifier: Apache-2.0
#include "support/simulator_copy.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace cugraft::testing {
namespace {

namespace fs = std::filesystem;

/// Holds the copies. They are removed when the process ends and not before: the file system could
/// give the number of a removed file to the next copy, which the dynamic linker would take for it.
class copies_folder {
 public:
  copies_folder() {
    std::string name = (fs::temp_directory_path() / "cugraft-sim-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder like " + name);
    path_ = name;
  }
  copies_folder(const copies_folder&) = delete;
  copies_folder& operator=(const copies_folder&) = delete;
  ~copies_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  fs::path make_copy(const fs::path& library) {
    const std::lock_guard lock(mutex_);
    fs::path copy = path_ / fmt::format("{}_{}.so", library.stem().string(), ++count_);
    fs::copy_file(library, copy);
    return copy;
  }

 private:
  std::mutex mutex_;
  fs::path path_;
  int count_ = 0;
};

fs::path named_or(const char* variable, const char* built) {
  const char* const named = std::getenv(variable);
  return named != nullptr ? named : built;
}

fs::path make_copy(const driver_source& source) {
  static copies_folder folder;
  return folder.make_copy(source.real.empty()
                              ? named_or("CUGRAFT_SIM_LIBRARY", CUGRAFT_SIM_LIBRARY)
                              : named_or("CUGRAFT_RELAY_LIBRARY", CUGRAFT_RELAY_LIBRARY));
}

template <class Function>
Function symbol_of(const fs::path& library, const char* name) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  void* const function = dlsym(handle, name);
  if (function == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<Function>(function);
}

}  // namespace

int version_of_driver(const std::string& library) {
  int version = 0;
  if (symbol_of<int (*)(int*)>(library, "cuDriverGetVersion")(&version) != 0)
    throw std::runtime_error(library + " does not tell its version");
  return version;
}

simulator_copy::simulator_copy(int version) : simulator_copy(driver_source{version, {}}) {}

simulator_copy::simulator_copy(const driver_source& source)
    : path_(make_copy(source)),
      control_(symbol_of<cugraft_sim::control_function>(path_, cugraft_sim::control_symbol)()) {
  if (source.real.empty()) {
    control_->set_version(source.version);
    control_->set_device_count(source.devices);
  } else {
    setenv("CUGRAFT_RELAY_DRIVER", source.real.c_str(), 1);  // read at the first call
  }
}

simulator_copy& simulator_copy::shared(const driver_source& source) {
  static std::mutex mutex;
  static std::map<std::pair<int, std::string>, std::unique_ptr<simulator_copy>> copies;
  const std::lock_guard lock(mutex);
  auto& copy = copies[{source.version, source.real}];
  if (copy == nullptr) copy = std::make_unique<simulator_copy>(source);
  return *copy;
}

}  // namespace cugraft::testing
