// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>
#include <vector>

#include "contract/engine_suite.hpp"
#include "support/expect.hpp"

// Launch attributes, and what they make of edges and events.

namespace cugraft::testing {
namespace {

// Ids of CUlaunchAttributeID.
constexpr unsigned access_policy_window = 1, cooperative = 2, cluster_dimension = 4,
                   programmatic_serialization = 6, programmatic_event = 7, launch_priority = 8,
                   sync_domain_map = 9, sync_domain = 10, completion_event = 12,
                   device_updatable = 13;

template <class T>
launch_attribute attribute(unsigned id, const T& value) {
  launch_attribute made{.id = id};
  std::memcpy(made.value.data(), &value, sizeof value);
  return made;
}

class LaunchAttributes : public EngineSuite {
 protected:
  // CUaccessPolicyWindow
  struct window {
    void* base = nullptr;
    std::size_t bytes = 0;
    float hit_ratio = 0;
    int hit = 0, miss = 0;
  };

  void launch_with(stream_ref on, const std::vector<launch_attribute>& attributes,
                   launch_config config = {.grid = 2, .block = 32}) {
    config.attributes = attributes;
    launch(on, config, add_, x_, 1.0F, static_cast<int>(count));
  }

  // The change between a launch with the one and a launch with the others.
  node_change change(const std::vector<launch_attribute>& before,
                     const std::vector<launch_attribute>& after) {
    const std::vector<launch_attribute>* now = &before;
    const auto body = [&](graph_builder& gb) { launch_with(gb, *now); };
    graph g = capture(stream_, body);
    graph_exec e = g.instantiate();
    EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
    now = &after;
    const change_report report = recapture(g, body);
    if (report.nodes_changed() != 1) {
      ADD_FAILURE() << report.nodes_changed() << " changes";
      return {};
    }
    const exec_update refused = e.update({.may_instantiate = false});
    EXPECT_EQ(static_cast<bool>(refused), report.changes()[0].effect < verdict::needs_instantiate);
    EXPECT_TRUE(e.update());
    EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
    return report.changes()[0];
  }

  void expect_change(const node_change& change, const std::string& field, const std::string& rule) {
    ASSERT_EQ(change.fields.size(), 1U);
    EXPECT_EQ(change.fields[0].field, field);
    EXPECT_EQ(change.rule, rule);
  }
};

TEST_P(LaunchAttributes, EachIsComparedAndNamed) {
  const window small{x_.data(), 64, 1, 2, 1}, large{x_.data(), 128, 1, 2, 1};
  expect_change(
      change({attribute(access_policy_window, small)}, {attribute(access_policy_window, large)}),
      "attribute[1]", "kernel.attribute");
  expect_change(change({}, {attribute(sync_domain, 1)}), "attribute[10]", "kernel.attribute");
  const unsigned char swapped[2] = {1, 0};
  expect_change(change({}, {attribute(sync_domain_map, swapped)}), "attribute[9]",
                "kernel.attribute");
}

// What has a member of its own is the same by its id.
TEST_P(LaunchAttributes, MembersAndIdsSayTheSame) {
  struct {
    unsigned x = 2, y = 1, z = 1;
  } two;
  bool by_id = false;
  const auto body = [&](graph_builder& gb) {
    if (by_id)
      launch_with(gb, {attribute(cluster_dimension, two), attribute(launch_priority, -1)});
    else
      launch_with(gb, {}, {.grid = 2, .block = 32, .cluster = dim3(2), .priority = -1});
  };
  graph g = capture(stream_, body);
  by_id = true;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  expect_change(change({}, {attribute(cluster_dimension, two)}), "cluster", "kernel.cluster");
  expect_change(change({}, {attribute(cooperative, 1)}), "cooperative", "kernel.cooperative");
  expect_change(change({}, {attribute(launch_priority, -1)}), "priority", "kernel.priority");
}

// C079: without the attribute the edge is another one.
TEST_P(LaunchAttributes, C079_AnotherKindOfEdgeNamesBothEnds) {
  bool programmatic = true, by_id = false;
  const auto body = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, 4);
    launch_with(gb, {});
    if (by_id)
      launch_with(gb, {attribute(programmatic_serialization, programmatic ? 1 : 0)});
    else
      launch_with(gb, {}, {.grid = 2, .block = 32, .programmatic_serialization = programmatic});
  };
  graph g = capture(stream_, body);
  by_id = true;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  if (is_other(cugraft_sim::choice::recapture_compares_edge_data)) return;
  programmatic = false;
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.why, mismatch::edge_data);
  ASSERT_EQ(failure.involved.size(), 1U);
  EXPECT_EQ(to_string(failure.involved[0].path), "1");
  EXPECT_EQ(failure.expected->path.steps[0].node, 2U);
  EXPECT_NE(failure.message.find("by another kind of edge from node 1, kernel \"add_value\""),
            std::string::npos)
      << failure.message;
}

// Only the driver makes the edges of such events: not on engines that do not ask it.
class LaunchEvents : public LaunchAttributes {};

// The event of a launch is recorded behind the kernel, whoever waits for it.
TEST_P(LaunchEvents, EventsOfLaunchesMakeProgrammaticEdges) {
  const event block_event(context_), done_event(context_);
  struct {
    CUevent event;
    int flags = 0, at_block_start = 0;
  } programmatic{block_event.get()};
  struct {
    CUevent event;
    int flags = 0;
  } completion{done_event.get()};
  float value = 1;
  bool plain = false, breaks = false;
  const auto body = [&](graph_builder& gb) {
    if (breaks) copy_async(gb, y_.data(), x_.data(), 4);
    if (plain) {
      launch_with(gb, {});
      gb.stream().record(block_event);
      gb.stream().record(done_event);
    } else {
      launch_with(gb, {attribute(programmatic_event, programmatic),
                       attribute(completion_event, completion)});
    }
    side_.wait(block_event);
    add(side_, y_, value);
    gb.stream().wait(done_event);
    const auto forks = gb.fork(1);
    gb.join(forks);
    gb.stream().wait(side_);
    add(gb, x_, value);
  };
  graph g = capture(stream_, body);
  ASSERT_EQ(g.node_count(), 3U);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  value = 2;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 2U);
  if (!is_other(cugraft_sim::choice::recapture_compares_edge_data)) {
    plain = true;
    EXPECT_EQ(fail(g, body).why, mismatch::edge_data);
    plain = false;
  }
  breaks = true;  // behind a mismatch events go on being tracked
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.nodes_matched, 0U);
  breaks = false;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 3.0F);
}

// What the driver would give back, cugraft cannot: it says so before the driver is called.
TEST_P(LaunchAttributes, KernelsThatTheDeviceUpdatesAreRefused) {
  capture_session session = begin_capture(stream_);
  EXPECT_THROW_MSG(
      launch_with(session, {attribute(device_updatable, 1)}), usage_error,
      "kernel \"add_value\": launch attribute 13 makes a node that the device updates, and gives "
      "its handle back, which a launch of cugraft cannot; such a node takes no part in updates "
      "either (driver rules, 1.4): launch it by cuLaunchKernelEx");
  launch_with(session, {});
  EXPECT_EQ(session.end().node_count(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Engines, LaunchEvents, ::testing::ValuesIn(capturing_cases()), &case_name);
INSTANTIATE_TEST_SUITE_P(Engines, LaunchAttributes, ::testing::ValuesIn(all_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
