// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "cugraft/driver.hpp"
#include "cugraft_sim/control.hpp"

namespace cugraft::testing {

/// The version of the simulated driver where a test does not say another.
inline constexpr int default_version = 13030;

/// A simulated driver of its own: a copy of the library under another path, because one loaded file
/// is one driver. It stays loaded until the process ends, as every driver does.
class simulator_copy {
 public:
  explicit simulator_copy(int version = default_version);
  simulator_copy(const simulator_copy&) = delete;
  simulator_copy& operator=(const simulator_copy&) = delete;

  /// The copy of `version` that the tests of this process share.
  static simulator_copy& shared(int version);

  /// To be set up before the first `load`.
  cugraft_sim::simulator& control() const noexcept { return *control_; }
  const std::filesystem::path& path() const noexcept { return path_; }

  /// Through the library's own loader, as any driver.
  driver load() const { return driver::load(path_); }

 private:
  std::filesystem::path path_;
  cugraft_sim::simulator* control_;
};

}  // namespace cugraft::testing
