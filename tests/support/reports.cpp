// SPDX-License-Identifier: Apache-2.0
#include "support/reports.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <utility>

namespace cugraft::testing {
namespace {

// The report function has no object of its own, so what it takes down is global.
std::mutex mutex;
std::vector<std::string> collected;

void collect(std::string_view sentence) noexcept {
  const std::lock_guard lock(mutex);
  collected.emplace_back(sentence);
}

}  // namespace

report_collector::report_collector() : former_(set_report_function(&collect)) { take(); }

report_collector::~report_collector() { set_report_function(former_); }

std::vector<std::string> report_collector::take() {
  const std::lock_guard lock(mutex);
  return std::exchange(collected, {});
}

void report_collector::expect_none() {
  for (const std::string& sentence : take()) ADD_FAILURE() << "unread report: " << sentence;
}

}  // namespace cugraft::testing
