// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cugraft/error.hpp"

namespace cugraft::testing {

/// Takes the place of the report function while it lives. One at a time.
class report_collector {
 public:
  report_collector();
  report_collector(const report_collector&) = delete;
  report_collector& operator=(const report_collector&) = delete;
  ~report_collector();

  /// What was reported since the last call.
  std::vector<std::string> take();

  /// Expects that nothing is unread.
  void expect_none();

 private:
  report_function former_;
};

}  // namespace cugraft::testing
