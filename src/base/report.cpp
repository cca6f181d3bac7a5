// SPDX-License-Identifier: Apache-2.0
#include "base/report.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <exception>

#include "base/result_names.hpp"
#include "cugraft/error.hpp"

namespace cugraft {
namespace {

constexpr int success = 0;
constexpr int deinitialized = 4;  // objects that live until the process ends meet it

void print(std::string_view sentence) noexcept {
  std::fprintf(stderr, "cugraft: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
}

std::atomic<report_function> current{&print};

}  // namespace

report_function set_report_function(report_function function) noexcept {
  return current.exchange(function != nullptr ? function : &print, std::memory_order_acq_rel);
}

std::string failure_text(int result, std::string_view function,
                         std::initializer_list<object> objects) {
  std::string text = fmt::format("{} failed", function);
  std::string_view separator = " for ";
  for (const object& object : objects) {
    if (object.kind == nullptr) continue;
    text += separator;
    text += identify(object);
    separator = ", ";
  }
  return text + ": " + result_text(result);
}

void report(std::string_view sentence) noexcept {
  current.load(std::memory_order_acquire)(sentence);
}

void report_failure(int result, const char* function, object object) noexcept {
  if (result == success || result == deinitialized) return;
  try {
    report(failure_text(result, function, {object}));
  } catch (const std::exception&) {
    report("a driver call failed, and there was no memory to say which");
  }
}

}  // namespace cugraft
