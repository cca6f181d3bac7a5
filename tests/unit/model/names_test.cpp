// SPDX-License-Identifier: Apache-2.0
#include "model/names.hpp"

#include <gtest/gtest.h>

namespace cugraft {
namespace {

TEST(NamesTest, Paths) {
  EXPECT_EQ(to_string(node_path{}), "");
  EXPECT_EQ(to_string(node_path{{{5}}}), "5");
  EXPECT_EQ(to_string(node_path{{{5}, {2}}}), "5/2");
  EXPECT_EQ(to_string(node_path{{{5, 1}, {2}}}), "5[1]/2");
  EXPECT_EQ(to_string(node_path{{{5, 1}, {2, 3}, {0}}}), "5[1]/2[3]/0");
}

TEST(NamesTest, KindsOfNodes) {
  std::string all;
  for (int kind = 0; kind < 14; ++kind) all += to_string(node_kind{kind}) + ' ';
  EXPECT_EQ(all,
            "kernel copy fill host child_graph empty event_wait event_record semaphore_signal "
            "semaphore_wait allocation free batch_memory_op conditional ");
  EXPECT_EQ(to_string(node_kind{18}), "kind 18");
  EXPECT_EQ(to_string(node_kind{14}), "kind 14");
  EXPECT_EQ(to_string(node_kind{-1}), "kind -1");
}

TEST(NamesTest, Verdicts) {
  EXPECT_EQ(to_string(verdict::unchanged), "unchanged");
  EXPECT_EQ(to_string(verdict::patchable), "patchable");
  EXPECT_EQ(to_string(verdict::whole_update), "whole_update");
  EXPECT_EQ(to_string(verdict::needs_instantiate), "needs_instantiate");
}

TEST(NamesTest, Engines) {
  EXPECT_EQ(to_string(engine::automatic), "automatic");
  EXPECT_EQ(to_string(engine::native), "native");
  EXPECT_EQ(to_string(engine::compare), "compare");
  EXPECT_EQ(to_string(engine::direct), "direct");
}

TEST(NamesTest, StatusesOfTheDriver) {
  EXPECT_EQ(name_of(recapture_status::eligible), "eligible");
  EXPECT_EQ(name_of(recapture_status::ineligible), "ineligible");
  EXPECT_EQ(name_of(recapture_status::error), "error");
}

TEST(NamesTest, Mismatches) {
  std::string all;
  for (int why = 0; why <= static_cast<int>(mismatch::driver_failure); ++why)
    all += std::string(name_of(static_cast<mismatch>(why))) + ' ';
  EXPECT_EQ(all,
            "node_count node_kind node_order dependencies edge_data depth allocation conditional "
            "context rejected foreign_work foreign_allocation foreign_condition unknown_node "
            "capture_invalidated capture_unjoined driver_failure ");
}

}  // namespace
}  // namespace cugraft
