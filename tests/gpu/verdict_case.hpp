// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "cugraft/cugraft.hpp"
#include "support/foreign_calls.hpp"

namespace cugraft::testing {

/// What the cases work with: one context of the driver under test.
struct stage {
  stage();

  driver driver_;
  context context_;
  current_context current_;  ///< as the setters of kernels need it
  library library_;
  library clusters_;
  stream stream_;
  device_buffer out_, in_, other_;  ///< of 64 words; `out_` is what is looked at
  host_buffer host_;
  event first_, second_;
  foreign_calls foreign_;

  static constexpr std::size_t bytes = 256;

  /// The words of `out_`, which is cleared first, after a launch of `exec`.
  std::vector<int> run(const std::function<void()>& launch);
};

/// A change of one node, and the rule that is to decide it.
struct verdict_case {
  std::string rule;
  std::string change;
  /// Records the node, as it is before or after the change.
  std::function<void(stage&, graph_builder&, bool after)> record;
  /// Whether a launch shows the difference.
  bool is_visible = true;
  instantiate_options options{};
};

void PrintTo(const verdict_case& shown, std::ostream* out);

std::vector<verdict_case> kernel_cases();
std::vector<verdict_case> copy_and_fill_cases();
std::vector<verdict_case> other_cases();

/// What one way of bringing the change into an executable came to.
struct verdict_outcome {
  int code = 0;    ///< CUresult
  int result = 0;  ///< CUgraphExecUpdateResult, of the whole-graph call
  bool taken = false;
  bool visible = true;

  std::string text() const;
};

struct verdict_row {
  std::string rule;
  verdict predicted = verdict::unchanged;
  std::vector<int> before, after;  ///< of executables made from either
  verdict_outcome setter;          ///< the executable's setter for the node
  verdict_outcome whole;           ///< `cuGraphExecUpdate` from the graph, its node set
  verdict_outcome recaptured;      ///< the same from a capture of its own
  bool updated_as_asked = false;   ///< `graph_exec::update` gave an executable that does the change
};

/// Makes the change in each of these ways, and launches.
verdict_row observe(const verdict_case& tried);

}  // namespace cugraft::testing
