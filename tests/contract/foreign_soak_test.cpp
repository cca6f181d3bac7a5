// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <atomic>
#include <deque>
#include <future>
#include <optional>

#include "contract/engine_suite.hpp"
#include "support/eventually.hpp"
#include "support/foreign_calls.hpp"

// Many re-captures in which foreign code takes part, and attaches user objects to what it captures
// into: their destructors run neither before the last launch that can use them nor never, and
// nothing grows.

namespace cugraft::testing {
namespace {

class ForeignSoak : public EngineSuite {
 protected:
  static constexpr int steps = CUGRAFT_SOAK_STEPS;
  static constexpr int steps_before = 1000;

  static std::size_t memory_in_use() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }

  void body(graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    const auto target = reinterpret_cast<CUdeviceptr>(y_.data());
    EXPECT_EQ(calls_.memset_d8(target, static_cast<unsigned char>(step_), 8, gb.stream().get()), 0);
    add(gb, x_, static_cast<float>(step_));
    calls_.attach_user_object(gb.stream().get(), destroyed_[static_cast<std::size_t>(step_)]);
  }

  int destroyed(int step) const { return destroyed_[static_cast<std::size_t>(step)]; }

  // One more generation, in graph and executable.
  void advance() {
    ++step_;
    graph_->recapture(
        stream_, [&](graph_builder& gb) { body(gb); }, with());
    EXPECT_TRUE(exec_->update());
  }

  // A launch that waits is the last that uses the objects of this generation.
  void advance_behind_a_launch() {
    std::promise<void> gate;
    const int used = step_;
    host_call(stream_, [opened = gate.get_future().share()] { opened.wait(); });
    exec_->launch(stream_);
    advance();
    advance();
    EXPECT_EQ(destroyed(used), 0) << "a launch that has not run needs it";
    gate.set_value();
    stream_.synchronize();
    EXPECT_EQ(run(*exec_, x_), static_cast<float>(step_));
  }

  void settle() {
    for (int i = 0; i < 2; ++i) {  // the second lets go of what the launches before it needed
      exec_->launch(stream_);
      stream_.synchronize();
    }
    simulator().settle();
  }

  std::deque<std::atomic<int>> destroyed_ =
      std::deque<std::atomic<int>>(steps_before + 2 * steps + 1);
  int step_ = 0;
  foreign_calls calls_{driver()};
  std::optional<graph> graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); });
  std::optional<graph_exec> exec_ = graph_->instantiate();
};

TEST_P(ForeignSoak, C028_UserObjectsGoWithTheirLastLaunch) {
  for (int i = 0; i < steps_before; ++i) advance();
  settle();
  const std::size_t memory_before = memory_in_use();
  const std::size_t objects_before = simulator().live().user_objects;
  const std::size_t graphs_before = simulator().live().graphs;
  while (step_ < steps_before + steps) {
    advance();
    if (step_ % 500 == 0) advance_behind_a_launch();
  }
  settle();
  EXPECT_TRUE(eventually([&] { return simulator().live().user_objects <= objects_before; }));
  EXPECT_EQ(simulator().live().graphs, graphs_before);
  // The smallest block left a step would be 320 000 bytes (as in C028 of cugraft's own work).
  EXPECT_TRUE(eventually([&] { return memory_in_use() <= memory_before + 200'000; }))
      << memory_in_use() << " bytes, before " << memory_before;
  EXPECT_EQ(destroyed(step_), 0) << "the executable holds it";
  exec_.reset();
  graph_.reset();
  EXPECT_TRUE(eventually([&] { return destroyed(step_) == 1; }));
  simulator().settle();
  for (int i = 0; i <= step_; ++i) ASSERT_EQ(destroyed(i), 1) << "of re-capture " << i;
}

INSTANTIATE_TEST_SUITE_P(Engines, ForeignSoak, ::testing::ValuesIn(compare_cases({12040})),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
