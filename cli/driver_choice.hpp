// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "cugraft/driver.hpp"

namespace cugraft::cli {

/// Which driver a command line asks for.
struct driver_options {
  std::string which;  ///< "sim", "system" or a path; "" leaves the choice to the tool
  std::string
      sim_version;  ///< what the simulated driver claims to be, as "13.3"; "" for its default
};

/// A loaded driver, and why it is this one.
struct chosen_driver {
  cugraft::driver driver;
  bool simulated = false;  ///< it is the file that is installed beside the tool
  std::string why;         ///< half a sentence
  std::string missing;     ///< why the system's driver was passed over; "" if it was not
};

/// Loads what `options` ask for. Without a wish: the system's driver if it loads and has a device,
/// else the simulated one, which a wish for a version of it asks for as well.
/// @throws error, unsupported_error, cuda_error  as `driver::load`
chosen_driver choose_driver(const driver_options& options);

/// The simulated driver installed beside the tool.
/// @throws error  if there is none
std::filesystem::path simulated_driver_path();

/// A driver version as people write it: 13030 is "13.3".
std::string version_text(int version);

}  // namespace cugraft::cli
