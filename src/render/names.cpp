// SPDX-License-Identifier: Apache-2.0
#include "render/names.hpp"

#include "model/names.hpp"

namespace cugraft {

std::string_view name_of(update_method method) noexcept {
  switch (method) {
    case update_method::automatic:
      return "automatic";
    case update_method::none:
      return "none";
    case update_method::patched:
      return "patched";
    case update_method::whole:
      return "whole";
    case update_method::instantiated:
      return "instantiated";
  }
  return "unknown";
}

std::string text_with_path(const node_summary& node) {
  return to_string(node.path) + ' ' + text_of(node);
}

}  // namespace cugraft
