// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "contract/captured_suite.hpp"

// Front doors of different threads and streams are independent.

namespace cugraft::testing {
namespace {

class CapturedThreads : public CapturedSuite {};

TEST_P(CapturedThreads, TwoOnTwoStreamsInTwoThreads) {
  constexpr int steps = 60;
  clear(y_);
  stream_.synchronize();
  const auto work = [&](stream_ref on, const device_buffer& of, float value) {
    int launches = 1;
    bool breaks = false;
    captured run(
        on,
        [&](graph_builder& gb) {
          for (int i = 0; i < launches; ++i) add(gb, of, value);
          if (breaks && !gb.is_eager()) foreign_.stream_synchronize(on.get());
        },
        policy({.warm_up_runs = 2}));
    for (int step = 0; step < steps; ++step) {
      launches = 1 + step / 5 % 3;
      breaks = step % 20 == 19;
      run();
    }
    EXPECT_EQ(run.stats().eager_runs, 2U + 3);
    EXPECT_EQ(run.stats().captures, 3U);
    EXPECT_FALSE(run.stats().has_given_up);
  };
  std::jthread other([&] { work(side_, y_, 2); });
  work(stream_, x_, 1);
  other.join();
  side_.synchronize();
  EXPECT_EQ(read(x_)[0], steps * 2);
  EXPECT_EQ(read(y_)[0], steps * 4);
}

INSTANTIATE_TEST_SUITE_P(Engines, CapturedThreads, ::testing::ValuesIn(engine_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
