// SPDX-License-Identifier: Apache-2.0
#include "contract/engine_suite.hpp"

// What a re-capture reports and applies when the structure is the same.

namespace cugraft::testing {
namespace {

std::vector<std::string> fields_of(const node_change& change) {
  std::vector<std::string> names;
  for (const field_change& field : change.fields) names.push_back(field.field);
  return names;
}

using names = std::vector<std::string>;

TEST_P(EngineSuite, UnchangedRecaptureTouchesNothing) {
  const auto body = [&](graph_builder& gb) {
    add(gb, x_, 1);
    fill_async(gb, y_.data(), 0, count, 4);
    copy_async(gb, y_.data(), x_.data(), x_.size());
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  const auto setters = simulator().calls("cuGraphKernelNodeSetParams") +
                       simulator().calls("cuGraphMemsetNodeSetParams") +
                       simulator().calls("cuGraphMemcpyNodeSetParams");

  const change_report report = recapture(g, body);

  EXPECT_EQ(report.nodes_total(), 3U);
  EXPECT_EQ(report.nodes_changed(), 0U);
  EXPECT_EQ(report.overall(), verdict::unchanged);
  EXPECT_EQ(report.generation(), 0U);
  EXPECT_TRUE(e.is_current());
  EXPECT_EQ(simulator().calls("cuGraphKernelNodeSetParams") +
                simulator().calls("cuGraphMemsetNodeSetParams") +
                simulator().calls("cuGraphMemcpyNodeSetParams"),
            setters);
}

TEST_P(EngineSuite, C011_ChangedArgumentIsOneChangeAndOnePatch) {
  float value = 1;
  const auto body = [&](graph_builder& gb) {
    add(gb, x_, value);
    fill_async(gb, y_.data(), 7, y_.size());
    launch(gb, {.grid = 2, .block = 32}, scale_, x_, 3.0F, static_cast<int>(count));
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 3.0F);
  value = 2;

  const change_report report = recapture(g, body);

  ASSERT_EQ(report.nodes_changed(), 1U);
  const node_change change = report.changes()[0];
  EXPECT_EQ(to_string(change.path), "0");
  EXPECT_EQ(change.kind, node_kind::kernel);
  EXPECT_EQ(change.name, "add_value");
  EXPECT_EQ(change.effect, verdict::patchable);
  EXPECT_EQ(change.node, g.node(0).get());
  ASSERT_EQ(fields_of(change), names{"argument[1]"});
  const field_change field = change.fields[0];
  EXPECT_EQ(field.offset, 8U);
  EXPECT_EQ(field.size, 4U);
  float before = 0, after = 0;
  std::memcpy(&before, field.before_bytes.data(), sizeof before);
  std::memcpy(&after, field.after_bytes.data(), sizeof after);
  EXPECT_EQ(before, 1.0F);
  EXPECT_EQ(after, 2.0F);
  EXPECT_NE(find_update_rule(change.rule), nullptr);

  EXPECT_FALSE(e.is_current());
  EXPECT_EQ(run(e, x_), 3.0F);  // until the update it runs what it held
  const exec_update update = e.update();
  EXPECT_TRUE(update.up_to_date);
  EXPECT_EQ(update.method, update_method::patched);
  EXPECT_EQ(update.nodes_patched, 1U);
  EXPECT_EQ(update.driver_calls, 1U);
  EXPECT_EQ(run(e, x_), 6.0F);
  EXPECT_EQ(g.generation(), 1U);
  EXPECT_EQ(e.generation(), 1U);
}

TEST_P(EngineSuite, C019_GridBlockAndSharedMemoryAreSeparateFields) {
  launch_config config{.grid = 4, .block = 16};
  const auto body = [&](graph_builder& gb) {
    launch(gb, config, add_, x_, 1.0F, static_cast<int>(count));
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  config.grid = 1;
  EXPECT_EQ(fields_of(recapture(g, body).changes()[0]), names{"grid"});
  config.block = 32;
  config.shared_memory_bytes = 256;
  EXPECT_EQ(fields_of(recapture(g, body).changes()[0]), (names{"block", "shared_memory_bytes"}));
  EXPECT_EQ(e.update().method, update_method::patched);
  clear(x_);
  e.launch(stream_);
  const std::vector<float> x = read(x_);
  EXPECT_EQ(x[31], 1.0F);
  EXPECT_EQ(x[32], 0.0F);
}

TEST_P(EngineSuite, C059_StateIsPerNodeNotPerFunction) {
  float middle = 10;
  const auto body = [&](graph_builder& gb) {
    add(gb, x_, 1);
    add(gb, x_, middle);
    add(gb, x_, 100);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  middle = 20;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(to_string(report.changes()[0].path), "1");
  e.update();
  EXPECT_EQ(run(e, x_), 121.0F);
}

TEST_P(EngineSuite, C095_CopiesAndFillsChangeAddressSizeAndValue) {
  const device_buffer* destination = &y_;
  std::size_t bytes = x_.size();
  std::uint32_t value = 1;
  const auto body = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), value, bytes);
    copy_async(gb, destination->data(), x_.data(), bytes);
  };
  device_buffer other(context_, x_.size());
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  destination = &other;
  value = 2;
  change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 2U);
  EXPECT_EQ(fields_of(report.changes()[0]), names{"value"});
  EXPECT_EQ(fields_of(report.changes()[1]), names{"destination"});
  bytes = 8;
  report = recapture(g, body);
  EXPECT_EQ(fields_of(report.changes()[0]), names{"width"});
  EXPECT_EQ(fields_of(report.changes()[1]), names{"width"});
  EXPECT_EQ(e.update().nodes_patched, 2U);
  clear(other);
  e.launch(stream_);
  const auto* const bytes_read = reinterpret_cast<const unsigned char*>(host_.as<float>());
  read(other);
  EXPECT_EQ(bytes_read[7], 2);
  EXPECT_EQ(bytes_read[8], 0);
}

TEST_P(EngineSuite, KernelMayBeReplacedByOneWithAnotherLayout) {
  bool other = false;
  const auto body = [&](graph_builder& gb) {
    if (other)
      launch(gb, {.grid = 1, .block = 32}, saxpy_, x_, y_, 2.0F, count);
    else
      add(gb, x_, 1);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  const auto fingerprint = g.fingerprint();
  other = true;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(g.node(0).name(), "saxpy");
  EXPECT_NE(g.fingerprint(), fingerprint);
  EXPECT_EQ(e.update().method, update_method::patched);
  fill_async(stream_, y_.data(), 0x40400000, count, 4);  // 3.0
  EXPECT_EQ(run(e, x_), 6.0F);
}

TEST_P(EngineSuite, ExternalEventsMayBeReplaced) {
  const event first(context_), second(context_);
  event_ref used = first;
  const auto body = [&](graph_builder& gb) {
    gb.stream().wait_external(used);
    add(gb, x_, 1);
    gb.stream().record_external(used);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  EXPECT_EQ(g.node(0).kind(), node_kind::event_wait);
  EXPECT_EQ(g.node(2).kind(), node_kind::event_record);
  used = second;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 2U);
  EXPECT_EQ(fields_of(report.changes()[0]), names{"event"});
  EXPECT_EQ(e.update().nodes_patched, 2U);
}

TEST_P(EngineSuite, ForksAndJoinsOfAllKindsAreMatched) {
  const event fork(context_), join(context_);
  float inner = 1;
  const auto body = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    auto forks = gb.fork(2);
    add(forks[0], x_, inner);
    fill_async(forks[1], y_.data(), 0, 4);
    auto nested = forks[1].fork(1);
    copy_async(nested[0], y_.data(), host_.data(), 8);
    forks[1].join(nested);
    gb.join(forks);
    graph_builder side = gb.fork(side_);
    fill_async(side, y_.data(), 1, 4);
    gb.join(side);
    gb.stream().record(fork);
    side_.wait(fork);
    add(side_, y_, 1);
    side_.record(join);
    gb.stream().wait(join);
    add(gb, x_, 1);
  };
  graph g = capture(stream_, body);
  EXPECT_EQ(g.node_count(), 7U);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  graph_exec e = g.instantiate();
  inner = 5;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 1U);
  e.update();
  e.launch(stream_);
  EXPECT_EQ(read(x_).front(), 6.0F);
}

TEST_P(EngineSuite, C076_WideFanOutAndFanIn) {
  std::uint32_t last = 1;
  const auto body = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, 4);
    auto forks = gb.fork(300);
    for (std::size_t i = 0; i < forks.size(); ++i)
      fill_async(forks[i], y_.data(), i == 299 ? last : 0, 4);
    gb.join(forks);
    fill_async(gb, x_.data(), 1, 4);
  };
  graph g = capture(stream_, body);
  // The stream's own last node, and all forks: redundant edges are kept (driver facts, Order).
  EXPECT_EQ(g.node(301).dependencies().size(), 301U);
  last = 2;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(to_string(report.changes()[0].path), "300");
}

TEST_P(EngineSuite, EmptyCapturesAndGraphsAreFine) {
  const auto nothing = [](graph_builder&) {};
  graph captured = capture(stream_, nothing);
  EXPECT_EQ(captured.node_count(), 0U);
  EXPECT_EQ(recapture(captured, nothing).nodes_total(), 0U);
  graph made(driver());
  EXPECT_EQ(recapture(made, nothing).nodes_changed(), 0U);
  graph_exec e = captured.instantiate();
  e.launch(stream_);
  stream_.synchronize();
}

TEST_P(EngineSuite, CompareOnlyTouchesNothing) {
  float value = 1;
  const auto body = [&](graph_builder& gb) { add(gb, x_, value); };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  value = 2;
  const change_report report = recapture(g, body, {.compare_only = true});
  EXPECT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(g.generation(), 0U);
  EXPECT_TRUE(e.is_current());
  graph_exec other = g.instantiate();
  EXPECT_EQ(run(other, x_), 1.0F);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 1U);  // still to be applied
}

TEST_P(EngineSuite, C052_ClusterSizeNeedsANewExecutable) {
  library clusters = load_kernels(context_, "cluster");
  const kernel write = clusters.get_kernel("write_cluster_size");
  unsigned size = 1;
  const auto body = [&](graph_builder& gb) {
    launch(gb, {.grid = 4, .block = 1, .cluster = size}, write, x_);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  size = 2;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(report.changes()[0].effect, verdict::needs_instantiate);
  EXPECT_EQ(fields_of(report.changes()[0]), names{"cluster"});

  const exec_update refused = e.update({.may_instantiate = false});
  EXPECT_FALSE(refused);
  ASSERT_EQ(refused.refused.size(), 1U);
  EXPECT_EQ(refused.refused[0].rule, "kernel.cluster");
  EXPECT_FALSE(e.update({.may_instantiate = false, .force = update_method::whole}));
  const CUgraphExec old = e.get();

  EXPECT_EQ(e.update().method, update_method::instantiated);
  EXPECT_NE(e.get(), old);
  clear(x_);
  e.launch(stream_);
  read(x_);
  EXPECT_EQ(host_.as<int>()[0], 2);
}

TEST_P(EngineSuite, C082_PriorityMattersOnlyToExecutablesThatUseIt) {
  int priority = 0;
  const auto body = [&](graph_builder& gb) {
    launch(gb, {.grid = 2, .block = 32, .priority = priority}, add_, x_, 1.0F,
           static_cast<int>(count));
  };
  graph g = capture(stream_, body);
  graph_exec plain = g.instantiate(), prioritised = g.instantiate({.use_node_priority = true});
  priority = -1;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(fields_of(report.changes()[0]), names{"priority"});
  EXPECT_EQ(plain.update().method, update_method::patched);
  EXPECT_EQ(prioritised.update().method, update_method::instantiated);
}

TEST_P(EngineSuite, TagsNameNodesAndSurvive) {
  float value = 1;
  const auto body = [&](graph_builder& gb) {
    gb.tag("first");
    add(gb, x_, value);
    gb.tag("");
    fill_async(gb, y_.data(), 0, 4);
  };
  graph g = capture(stream_, body);
  ASSERT_TRUE(g.find("first"));
  EXPECT_EQ(to_string(g.find("first")->path()), "0");
  EXPECT_EQ(g.node(1).tag(), "");
  value = 2;
  EXPECT_EQ(recapture(g, body).changes()[0].tag, "first");
  EXPECT_EQ(g.node(0).tag(), "first");
}

}  // namespace
}  // namespace cugraft::testing
