// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <variant>

#include "cugraft/saved_graph.hpp"

namespace cugraft::cli {

/// A file that cannot be read or written, or holds something else; `what()` begins with its name.
class file_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What `render` and `diff` take: JSON of `to_json`, or a driver's dump.
using looked_at = std::variant<saved_graph, change_report>;

/// Reads a file, "-" for stdin. What it holds shows by its first character and its members.
/// @throws file_error
looked_at read_file(const std::string& name);

/// Writes to a file, or to stdout if `name` is "".
/// @throws file_error
void write_output(const std::string& name, const std::string& text);

}  // namespace cugraft::cli
