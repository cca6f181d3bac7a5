// SPDX-License-Identifier: Apache-2.0
#include "cugraft/error.hpp"

#include <fmt/format.h>

#include "base/result_names.hpp"
#include "base/version_text.hpp"

namespace cugraft {
namespace {

std::string unsupported_text(std::string_view asked, int required, int found,
                             std::string_view instead) {
  if (required == 0) return fmt::format("{}: {}", asked, instead);
  std::string text =
      fmt::format("{} needs a driver of CUDA {} or newer; ", asked, version_text(required));
  // A driver that is new enough can lack a function still, if its installation is a mixture.
  text += found < required ? fmt::format("this one has {}: update the driver", version_text(found))
                           : fmt::format("this one has {} but lacks it: repair its installation",
                                         version_text(found));
  return instead.empty() ? text : fmt::format("{}, or {}", text, instead);
}

}  // namespace

unsupported_error::unsupported_error(std::string_view asked, int required, int found,
                                     std::string_view instead)
    : error(unsupported_text(asked, required, found, instead)),
      asked_(asked),
      instead_(instead),
      required_(required),
      found_(found) {}

const std::string& unsupported_error::asked() const noexcept { return asked_; }
const std::string& unsupported_error::instead() const noexcept { return instead_; }
int unsupported_error::required_version() const noexcept { return required_; }
int unsupported_error::found_version() const noexcept { return found_; }

cuda_error::cuda_error(int code, std::string_view function, const std::string& sentence)
    : error(sentence), code_(code), function_(function) {}

int cuda_error::code() const noexcept { return code_; }

std::string_view cuda_error::code_name() const noexcept {
  const result_name* known = find_result_name(code_);
  return known != nullptr ? known->name : "unknown";
}

const std::string& cuda_error::function() const noexcept { return function_; }

}  // namespace cugraft
