// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "contract/engine_suite.hpp"
#include "support/foreign_calls.hpp"

namespace cugraft::testing {

/// A body that adds to a buffer, in as many launches as a test wants, for each engine.
class CapturedSuite : public EngineSuite {
 protected:
  CapturedSuite() { clear(x_); }

  captured_policy policy(captured_policy policy = {}) const {
    policy.recapture = with(std::move(policy.recapture));
    if (policy.retries == 0) policy.recapture.with = engine::automatic;  // it means compare
    return policy;
  }

  /// `expected_` is what the buffer holds when all calls have run this once.
  void body(graph_builder& gb) {
    ++runs_;
    for (int i = 0; i < launches_; ++i) add(gb, x_, value_);
    if (breaks_ && !gb.is_eager()) foreign_.stream_synchronize(gb.stream().get());
  }

  captured front(captured_policy given = {}) {
    return captured(
        stream_, [this](graph_builder& gb) { body(gb); }, policy(std::move(given)));
  }

  void step(captured& run) {
    run();
    expected_ += value_ * static_cast<float>(launches_);
    EXPECT_FALSE(stream_.is_capturing());
  }

  void expect_result() { EXPECT_EQ(read(x_), std::vector<float>(count, expected_)); }

  /// How often the body runs in a call that meets a structure that is not the last one.
  std::uint64_t runs_for_another_structure() const {
    return GetParam().which == engine::compare ? 1U : 2U;
  }

  foreign_calls foreign_{driver()};
  int launches_ = 2;
  float value_ = 1;
  bool breaks_ = false;
  std::uint64_t runs_ = 0;
  float expected_ = 0;
};

}  // namespace cugraft::testing
