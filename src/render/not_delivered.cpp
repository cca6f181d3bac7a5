// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "cugraft/render.hpp"

namespace cugraft {
namespace {

[[noreturn]] void refuse(const std::string& function) {
  throw not_implemented_error(
      function + " is not delivered yet: it comes with the pictures and the front door");
}

}  // namespace

std::string to_dot(const change_report&) { refuse("to_dot"); }
std::string to_svg(const change_report&) { refuse("to_svg"); }
std::string to_html(const change_report&) { refuse("to_html"); }
std::string to_text(const graph&) { refuse("to_text of a graph"); }
std::string to_json(const graph&) { refuse("to_json of a graph"); }
std::string to_dot(const graph&) { refuse("to_dot"); }
std::string to_svg(const graph&) { refuse("to_svg"); }
std::string to_html(const graph&) { refuse("to_html"); }

}  // namespace cugraft
