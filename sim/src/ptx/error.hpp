// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace cugraft_sim::ptx {

/// What kept PTX text from loading.
enum class load_failure {
  syntax,       ///< the text is not PTX, or names something that it does not declare
  unsupported,  ///< an instruction or directive that the interpreter lacks
  unresolved,   ///< a call of an external function that has no hook
};

/// PTX text that cannot be loaded; `what()` begins with "line N: ".
class load_error : public std::runtime_error {
 public:
  load_error(load_failure reason, unsigned line, const std::string& text)
      : std::runtime_error("line " + std::to_string(line) + ": " + text),
        reason_(reason),
        line_(line) {}

  load_failure reason() const noexcept { return reason_; }
  unsigned line() const noexcept { return line_; }

 private:
  load_failure reason_;
  unsigned line_;
};

}  // namespace cugraft_sim::ptx
