// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "cugraft/driver.hpp"
#include "cugraft_sim/control.hpp"

namespace cugraft::testing {

/// The version of the simulated driver where a test does not say another.
inline constexpr int default_version = 13030;

/// The driver that a test has of its own.
struct driver_source {
  int version = default_version;  ///< of a simulated driver
  std::string real;  ///< unless empty, the file of a real driver, which a relay stands before
  int devices = 1;   ///< of a simulated driver
};

/// The version that the driver in the file `library` says it is.
/// @throws std::runtime_error  if it cannot be loaded, or is no driver
int version_of_driver(const std::string& library);

/// A simulated driver of its own: a copy of the library under another path, because one loaded file
/// is one driver. It stays loaded until the process ends, as every driver does. Or a copy of the
/// relay (tests/relay), by which a real driver gets the part of the control that needs no
/// simulation; what else is asked of it throws std::logic_error.
///
/// The libraries are those of the build, or the files that the environment variables
/// `CUGRAFT_SIM_LIBRARY` and `CUGRAFT_RELAY_LIBRARY` name.
class simulator_copy {
 public:
  explicit simulator_copy(int version = default_version);
  explicit simulator_copy(const driver_source& source);
  simulator_copy(const simulator_copy&) = delete;
  simulator_copy& operator=(const simulator_copy&) = delete;

  /// The copy that the tests of this process share.
  static simulator_copy& shared(const driver_source& source);
  static simulator_copy& shared(int version) { return shared(driver_source{version, {}}); }

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
