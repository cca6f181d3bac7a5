// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "cugraft/recapture.hpp"

namespace cugraft {
namespace {

using std::chrono::microseconds;

captured_stats measured(std::int64_t eager_us) {
  captured_stats stats;
  stats.calls = 14;
  stats.body_runs = 15;
  stats.eager_runs = 4;
  stats.captures = 1;
  stats.recaptures = 9;
  stats.patched = 8;
  stats.whole_updates = 1;
  stats.instantiations = 1;
  stats.cache_hits = 9;
  stats.cache_misses = 1;
  stats.executables = 1;
  stats.nodes = 20;
  stats.bytes = 320;
  stats.times.capture = {1, microseconds(60)};
  stats.times.recapture = {10, microseconds(200)};
  stats.times.instantiate = {1, microseconds(41)};
  stats.times.update = {9, microseconds(45)};
  stats.times.launch = {10, microseconds(50)};
  stats.times.eager = {4, microseconds(4 * eager_us)};
  stats.times.cached_call = {9, microseconds(270)};
  return stats;
}

TEST(CapturedStatsTest, WithoutCallsNothingIsKnown) {
  const captured_stats stats;
  EXPECT_EQ(stats.graph_call(), microseconds(0));
  EXPECT_EQ(stats.eager_call(), microseconds(0));
  EXPECT_FALSE(stats.break_even());
}

TEST(CapturedStatsTest, BreakEvenIsWhereTheGainHasPaidForCaptureAndInstantiation) {
  EXPECT_EQ(measured(50).graph_call(), microseconds(30));
  EXPECT_EQ(measured(50).break_even(), 6U);  // 101 us at 20 us a call
  EXPECT_EQ(measured(131).break_even(), 1U);
  EXPECT_FALSE(measured(30).break_even());
  EXPECT_FALSE(measured(10).break_even());
}

TEST(CapturedStatsTest, TextSaysWhatWasDoneAndWhetherItIsWorthIt) {
  captured_stats stats = measured(50);
  stats.broken_captures = 1;
  stats.last_failure.emplace().message = "the capture was broken";
  EXPECT_EQ(to_text(stats),
            "14 calls, 15 runs of the body: 9 re-captures, 1 captures, 4 eager\n"
            "executables: 8 patched, 1 updated whole, 1 instantiated\n"
            "cache: 9 hits, 1 misses, 0 evictions; it holds 1 executables of 20 nodes, with 320 "
            "bytes of arguments and allocations\n"
            "  capture             1 times,       60.0 us each\n"
            "  re-capture         10 times,       20.0 us each\n"
            "  instantiate         1 times,       41.0 us each\n"
            "  update              9 times,        5.0 us each\n"
            "  launch             10 times,        5.0 us each\n"
            "  eager               4 times,       50.0 us each\n"
            "1 captures broke\n"
            "last failure: the capture was broken\n"
            "worth a graph? yes, from 6 calls of one structure on: a call takes the host 30.0 us "
            "by graph and 50.0 us eager\n");
  stats = measured(10);
  stats.has_given_up = true;
  EXPECT_NE(to_text(stats).find("4 eager (given up)\n"), std::string::npos);
  EXPECT_NE(to_text(stats).find("worth a graph? not for the host: "), std::string::npos);
}

}  // namespace
}  // namespace cugraft
