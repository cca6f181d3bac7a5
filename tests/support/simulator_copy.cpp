// SPDX-License-Identifier: Apache-2.0
#include "support/simulator_copy.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>

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

  fs::path make_copy() {
    const std::lock_guard lock(mutex_);
    fs::path copy = path_ / fmt::format("libcugraft_sim_{}.so", ++count_);
    fs::copy_file(CUGRAFT_SIM_LIBRARY, copy);
    return copy;
  }

 private:
  std::mutex mutex_;
  fs::path path_;
  int count_ = 0;
};

fs::path make_copy() {
  static copies_folder folder;
  return folder.make_copy();
}

cugraft_sim::simulator* control_of(const fs::path& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  void* const function = dlsym(handle, cugraft_sim::control_symbol);
  if (function == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<cugraft_sim::control_function>(function)();
}

}  // namespace

simulator_copy::simulator_copy(int version) : path_(make_copy()), control_(control_of(path_)) {
  control_->set_version(version);
}

simulator_copy& simulator_copy::shared(int version) {
  static std::mutex mutex;
  static std::map<int, std::unique_ptr<simulator_copy>> copies;
  const std::lock_guard lock(mutex);
  auto& copy = copies[version];
  if (copy == nullptr) copy = std::make_unique<simulator_copy>(version);
  return *copy;
}

}  // namespace cugraft::testing
