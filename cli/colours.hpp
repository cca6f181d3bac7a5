// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cugraft::cli {

/// The text with its verdicts coloured if stdout is a terminal and NO_COLOR is not set, else as it
/// is. Control characters of names are replaced there, so that no file writes to the terminal.
std::string for_terminal(std::string text);

}  // namespace cugraft::cli
