// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "cugraft/cugraft.hpp"
#include "driver/call.hpp"
#include "support/foreign_calls.hpp"
#include "support/kernels.hpp"
#include "support/simulated_driver.hpp"

// What only the driver's own re-capture has: its hook, its statuses, its self-test, and the choices
// that the documentation leaves open.

namespace cugraft {
namespace {

using cugraft_sim::choice;

class NativeEngineTest : public testing::SimulatedDriverTest {
 protected:
  using SimulatedDriverTest::SimulatedDriverTest;

  void body(graph_builder& gb) {
    fill_async(gb, x_.data(), value_, 64);
    copy_async(gb, y_.data(), x_.data(), 64);
    launch(gb, {.grid = 1, .block = 32, .cooperative = cooperative_}, add_, x_, 1.0F, 16);
  }
  recapture_result again(recapture_options options = {}) {
    options.with = options.with == engine::automatic ? engine::native : options.with;
    return graph_.try_recapture(
        stream_, [&](graph_builder& gb) { body(gb); }, options);
  }
  void expect_as_before() {
    value_ = 1;
    cooperative_ = false;
    const recapture_result result = again();
    ASSERT_TRUE(result) << result.failure().message;
    EXPECT_EQ(result.report().nodes_changed(), 0U);
  }

  context context_ = context::primary(driver());
  library library_ = testing::load_kernels(context_);
  kernel add_ = library_.get_kernel("add_value");
  stream stream_{context_};
  device_buffer x_{context_, 64}, y_{context_, 64};
  std::uint32_t value_ = 1;
  bool cooperative_ = false;
  graph graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); });
};

TEST_F(NativeEngineTest, HookSeesTheDriversArguments) {
  std::vector<recapture_status> seen;
  recapture_options options;
  options.with = engine::native;
  options.on_native_mismatch = [&](CUgraphNode node, const CUgraphNodeParams_st* before,
                                   const CUgraphNodeParams_st* now, recapture_status status) {
    EXPECT_NE(node, nullptr);
    EXPECT_NE(before, now);
    EXPECT_NE(std::memcmp(before, now, 256), 0);
    seen.push_back(status);
    return hook_answer::accept;
  };
  value_ = 2;
  cooperative_ = true;
  const recapture_result result = again(options);
  ASSERT_TRUE(result);
  EXPECT_EQ(seen, (std::vector{recapture_status::eligible, recapture_status::ineligible}));
  ASSERT_EQ(result.report().nodes_changed(), 2U);
  EXPECT_EQ(result.report().changes()[0].native_status, recapture_status::eligible);
  EXPECT_EQ(result.report().changes()[0].effect, verdict::patchable);
  EXPECT_EQ(result.report().changes()[1].native_status, recapture_status::ineligible);
  EXPECT_EQ(result.report().changes()[1].effect, verdict::needs_instantiate);
}

TEST_F(NativeEngineTest, HookThatRejectsEndsTheRecapture) {
  recapture_options options;
  options.with = engine::native;
  options.on_native_mismatch = [](CUgraphNode, const CUgraphNodeParams_st*,
                                  const CUgraphNodeParams_st*,
                                  recapture_status) { return hook_answer::reject; };
  value_ = 2;
  const recapture_result result = again(options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::rejected);
  EXPECT_EQ(result.failure().code, 918);
  EXPECT_FALSE(stream_.is_capturing());
  expect_as_before();
}

struct thrown_by_hook {};

TEST_F(NativeEngineTest, ExceptionOfTheHookIsCarriedOverTheDriver) {
  recapture_options options;
  options.with = engine::native;
  options.on_native_mismatch = [](CUgraphNode, const CUgraphNodeParams_st*,
                                  const CUgraphNodeParams_st*,
                                  recapture_status) -> hook_answer { throw thrown_by_hook(); };
  value_ = 2;
  EXPECT_THROW(static_cast<void>(again(options)), thrown_by_hook);
  EXPECT_FALSE(stream_.is_capturing());
  expect_as_before();
}

TEST_F(NativeEngineTest, HookNeedsTheEngineToBeNamed) {
  recapture_options options;
  options.on_native_mismatch = [](CUgraphNode, const CUgraphNodeParams_st*,
                                  const CUgraphNodeParams_st*,
                                  recapture_status) { return hook_answer::accept; };
  EXPECT_THROW(static_cast<void>(graph_.begin_recapture(stream_, options)), usage_error);
}

TEST_F(NativeEngineTest, FailureMayShowAtTheEndOnly) {
  simulator().set(choice::recapture_failure_shows, 1);
  const recapture_result result =
      graph_.try_recapture(stream_,
                           [&](graph_builder& gb) {
                             fill_async(gb, x_.data(), 1, 64);
                             fill_async(gb, y_.data(), 1, 64);
                             launch(gb, {.grid = 1, .block = 32}, add_, x_, 1.0F, 16);
                           },
                           {.with = engine::native});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::node_kind) << result.failure().message;
  EXPECT_EQ(result.failure().nodes_matched, 1U);
  EXPECT_EQ(result.failure().code, 918);
  EXPECT_FALSE(stream_.is_capturing());
  simulator().set(choice::recapture_failure_shows, 0);
  expect_as_before();
}

TEST_F(NativeEngineTest, EdgesAreComparedWhereTheDriverDoesNot) {
  simulator().set(choice::recapture_compares_edge_data, 1);
  bool programmatic = false;
  const auto chain = [&](graph_builder& gb) {
    launch(gb, {.grid = 1, .block = 32}, add_, x_, 1.0F, 16);
    launch(gb, {.grid = 1, .block = 32, .programmatic_serialization = programmatic}, add_, x_, 1.0F,
           16);
  };
  graph g = capture(stream_, chain);
  EXPECT_TRUE(g.try_recapture(stream_, chain, {.with = engine::native}));
  programmatic = true;
  const recapture_result result = g.try_recapture(stream_, chain, {.with = engine::native});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::edge_data);
  EXPECT_EQ(result.failure().nodes_matched, 1U);
}

TEST_F(NativeEngineTest, AHooksOwnCudaErrorIsNotTakenForTheDrivers) {
  recapture_options options;
  options.with = engine::native;
  options.on_native_mismatch = [](CUgraphNode, const CUgraphNodeParams_st*,
                                  const CUgraphNodeParams_st*, recapture_status) -> hook_answer {
    throw cuda_error(77, "of the hook", "of the hook");
  };
  value_ = 2;
  EXPECT_THROW_MSG(again(options), cuda_error, "of the hook");
  EXPECT_FALSE(stream_.is_capturing());
  expect_as_before();
}

TEST_F(NativeEngineTest, WhatCannotBeReadBackIsAFailure) {
  graph g = capture(stream_, [&](graph_builder& gb) {
    launch(gb, {.grid = 1, .block = 32}, add_, x_, 1.0F, 16);
  });
  const kernel other = library_.get_kernel("no_arguments");
  fail_next("cuGraphKernelNodeGetParams", 999);
  const recapture_result result = g.try_recapture(
      stream_, [&](graph_builder& gb) { launch(gb, {.grid = 1, .block = 32}, other); },
      {.with = engine::native});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::driver_failure);
  EXPECT_EQ(result.failure().function, "cuGraphKernelNodeGetParams");
  EXPECT_EQ(g.generation(), 0U);
  EXPECT_EQ(g.node(0).name(), "add_value");
}

TEST_F(NativeEngineTest, HookAndBodyThatBothThrow) {
  recapture_options options;
  options.with = engine::native;
  options.on_native_mismatch = [](CUgraphNode, const CUgraphNodeParams_st*,
                                  const CUgraphNodeParams_st*,
                                  recapture_status) -> hook_answer { throw thrown_by_hook(); };
  value_ = 2;
  EXPECT_THROW(static_cast<void>(graph_.try_recapture(
                   stream_,
                   [&](graph_builder& gb) {
                     body(gb);
                     throw std::runtime_error("of the body");
                   },
                   options)),
               std::runtime_error);
  EXPECT_FALSE(stream_.is_capturing());
  expect_as_before();
}

TEST_F(NativeEngineTest, TheGraphStaysClosedWhileItsHookIsAsked) {
  recapture_options options;
  options.with = engine::native;
  options.on_mismatch = [&](const node_change&) {
    EXPECT_THROW(static_cast<void>(graph_.begin_recapture(stream_)), usage_error);
    EXPECT_THROW(static_cast<void>(graph_.instantiate()), usage_error);
    return hook_answer::accept;
  };
  value_ = 2;
  EXPECT_TRUE(again(options));
}

TEST_F(NativeEngineTest, WorkingCopyIsClonedOnceAndKeptInStep) {
  expect_as_before();
  const auto clones = simulator().calls("cuGraphClone");
  for (value_ = 2; value_ < 10; ++value_) ASSERT_TRUE(again());
  EXPECT_EQ(simulator().calls("cuGraphClone"), clones);
  value_ = 20;
  ASSERT_TRUE(again({.compare_only = true}));
  ASSERT_TRUE(again());
  EXPECT_EQ(simulator().calls("cuGraphClone"), clones + 1);
}

TEST_F(NativeEngineTest, AutomaticUsesItAfterItsSelfTestOnce) {
  const recapture_result result =
      graph_.try_recapture(stream_, [&](graph_builder& gb) { body(gb); });
  ASSERT_TRUE(result) << result.failure().message;
  EXPECT_EQ(result.report().engine_used(), engine::native);
  const auto clones = simulator().calls("cuGraphClone");
  ASSERT_TRUE(graph_.try_recapture(stream_, [&](graph_builder& gb) { body(gb); }));
  EXPECT_EQ(simulator().calls("cuGraphClone"), clones);
  const std::vector<engine_status> status = engines(context_);
  ASSERT_EQ(status.size(), 3U);
  EXPECT_EQ(status[0].which, engine::native);
  EXPECT_TRUE(status[0].usable && status[0].automatic);
}

TEST_F(NativeEngineTest, GraphsWithHandMadeNodesAreRefusedByName) {
  graph adopted = graph::from_native_handle(driver(), graph_.release());
  graph_ = std::move(adopted);
  const recapture_options named{.with = engine::native};
  EXPECT_THROW(static_cast<void>(graph_.begin_recapture(stream_, named)), usage_error);
  EXPECT_FALSE(stream_.is_capturing());
}

// Named, the engine works all the same on a driver that leaves the old parameters in the graph, or
// says that it cannot.
class NativeWithoutWriting : public NativeEngineTest {
 protected:
  NativeWithoutWriting() { simulator().set(choice::recapture_writes_parameters, 1); }

  std::uint32_t value_in_the_graph() {
    using get_fill = int (*)(CUgraphNode, void*);
    struct {
      std::uint64_t dst, pitch;
      unsigned value, element_size;
      std::size_t width, height;
    } fill{};
    EXPECT_EQ(reinterpret_cast<get_fill>(driver().entry_point("cuGraphMemsetNodeGetParams", 10000))(
                  graph_.node(0).get(), &fill),
              0);
    return fill.value;
  }
};

TEST_F(NativeWithoutWriting, ParametersAreAppliedAndTakenBack) {
  for (const std::uint32_t value : {2U, 1U, 2U, 2U}) {
    const bool changes = value != value_;
    value_ = value;
    const recapture_result result = again();
    ASSERT_TRUE(result) << result.failure().message;
    EXPECT_EQ(result.report().nodes_changed(), changes ? 1U : 0U);
    EXPECT_EQ(value_in_the_graph(), value);
  }
}

TEST_F(NativeWithoutWriting, WhatHasToBeReadFromTheCopyIsAFailure) {
  cooperative_ = true;
  const recapture_result attributes = again();
  ASSERT_FALSE(attributes);
  EXPECT_EQ(attributes.failure().why, mismatch::driver_failure);
  EXPECT_NE(attributes.failure().message.find("did not write the change of node 2"),
            std::string::npos)
      << attributes.failure().message;
  cooperative_ = false;
  add_ = library_.get_kernel("scale");  // another function: its layout is not known to the graph
  EXPECT_FALSE(again());
}

TEST_F(NativeWithoutWriting, AnyAttributeCounts) {
  launch_attribute domain{.id = 10};  // memory synchronisation domain
  const auto with_domain = [&](graph_builder& gb) {
    launch(gb, {.grid = 1, .block = 32, .attributes = {&domain, 1}}, add_, x_, 1.0F, 16);
  };
  graph g = capture(stream_, with_domain);
  domain.value[0] = std::byte{1};
  EXPECT_FALSE(g.try_recapture(stream_, with_domain, {.with = engine::native}));
  simulator().set(choice::recapture_writes_parameters, 0);
  EXPECT_EQ(g.recapture(stream_, with_domain, {.with = engine::native}).nodes_changed(), 1U);
}

TEST_F(NativeEngineTest, ForeignNodesAreCountedInTheOrderOfTheirCallsToo) {
  simulator().set(choice::get_nodes_order, 1);
  const testing::foreign_calls calls(driver());
  const auto foreign = [&](graph_builder& gb) {
    for (std::size_t i = 0; i < 3; ++i)
      calls.memset_d8(reinterpret_cast<CUdeviceptr>(x_.as<char>() + 8 * i), 1, 8,
                      gb.stream().get());
  };
  graph g = capture(stream_, foreign);
  EXPECT_TRUE(g.node(0).dependencies().empty());
  EXPECT_EQ(g.recapture(stream_, foreign, {.with = engine::native}).nodes_changed(), 0U);
}

// The order of cuGraphGetNodes is documented nowhere.
TEST_F(NativeEngineTest, NodesAreCountedInTheOrderOfTheirCalls) {
  simulator().set(choice::get_nodes_order, 1);
  graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); });
  EXPECT_EQ(graph_.node(0).kind(), node_kind::fill);
  EXPECT_EQ(graph_.node(2).kind(), node_kind::kernel);
  value_ = 2;
  const recapture_result result = again();
  ASSERT_TRUE(result) << result.failure().message;
  ASSERT_EQ(result.report().nodes_changed(), 1U);
  EXPECT_EQ(result.report().changes()[0].path, (node_path{{{0, 0}}}));
  graph_.resync();
  EXPECT_EQ(graph_.node(0).kind(), node_kind::fill);
  EXPECT_TRUE(engines(context_)[0].automatic) << engines(context_)[0].why;
}

// An attribute that changes alone need not call back: cugraft knows its own launches.
TEST_F(NativeEngineTest, AttributeChangesAreFoundWithoutACallback) {
  simulator().set(choice::recapture_reports_attributes, 1);
  int priority = 0;
  const auto prioritised = [&](graph_builder& gb) {
    launch(gb, {.grid = 1, .block = 32, .priority = priority}, add_, x_, 1.0F, 16);
  };
  graph g = capture(stream_, prioritised);
  priority = -1;
  const change_report report = g.recapture(stream_, prioritised, {.with = engine::native});
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_FALSE(report.changes()[0].native_status);
}

class OldDriverTest : public NativeEngineTest {
 protected:
  OldDriverTest() : NativeEngineTest(13000) {}
};

TEST_F(OldDriverTest, VersionGateIsOneClearError) {
  try {
    static_cast<void>(graph_.begin_recapture(stream_, {.with = engine::native}));
    ADD_FAILURE() << "no error";
  } catch (const unsupported_error& error) {
    EXPECT_EQ(error.required_version(), 13030);
    EXPECT_EQ(error.found_version(), 13000);
    EXPECT_STREQ(error.what(),
                 "native re-capture needs a driver of CUDA 13.3 or newer; this one has 13.0: "
                 "update the driver, or use engine::compare, which works from 12.4 on");
  }
  EXPECT_FALSE(stream_.is_capturing());
  EXPECT_FALSE(engines(context_)[0].usable);
}

TEST_F(OldDriverTest, AutomaticTakesCompare) {
  const change_report report = graph_.recapture(stream_, [&](graph_builder& gb) { body(gb); });
  EXPECT_EQ(report.engine_used(), engine::compare);
}

// Of a foreign launch only some attributes are known: the others are no reason to doubt the driver.
TEST_F(NativeEngineTest, AttributesThatNobodyKnowsAreNotAskedFor) {
  launch_attribute domain{.id = 10};  // memory synchronisation domain
  domain.value[0] = std::byte{1};
  graph g = capture(stream_, [&](graph_builder& gb) {
    launch(gb, {.grid = 1, .block = 32, .priority = 0, .attributes = {&domain, 1}}, add_, x_, 1.0F,
           16);
  });
  const auto foreign = [&](graph_builder& gb) {
    CUlaunchAttribute attributes[2] = {};
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    attributes[0].value.priority = -1;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
    attributes[1].value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 32;
    config.blockDimY = config.blockDimZ = 1;
    config.hStream = gb.stream().get();
    config.attrs = attributes;
    config.numAttrs = 2;
    void* x = x_.data();
    float value = 1;
    int count = 16;
    void* arguments[] = {&x, &value, &count};
    EXPECT_EQ(table_of(driver()).launch_kernel_ex(&config, add_.get(), arguments, nullptr),
              CUDA_SUCCESS);
  };
  const recapture_result result = g.try_recapture(stream_, foreign, {.with = engine::native});
  ASSERT_TRUE(result) << result.failure().message;
  EXPECT_EQ(result.report().nodes_changed(), 1U);
}

// A node that moved to another context can take no place in the graph (R7). Foreign code makes it,
// since cugraft's own calls stay on the session's streams.
TEST(NativeEngineOnTwoDevices, TheStatusErrorIsAFailureThatNamesTheNode) {
  const testing::simulator_copy copy;
  copy.control().set_device_count(2);
  const driver driver = copy.load();
  const context here = context::primary(driver, 0), there = context::primary(driver, 1);
  const stream main(here), side(here), far_side(there);
  const device_buffer x(here, 64), far_x(there, 64);
  const event fork(here), join(here), far_join(there);
  const testing::foreign_calls calls(driver);
  bool is_far = true;
  const auto body = [&](graph_builder& gb) {
    const CUstream onto = is_far ? far_side.get() : side.get();
    const CUevent done = is_far ? far_join.get() : join.get();
    const void* const target = is_far ? far_x.data() : x.data();
    fill_async(gb, x.as<char>() + 32, 0, 32);
    EXPECT_EQ(calls.event_record(fork.get(), gb.stream().get()), 0);
    EXPECT_EQ(calls.stream_wait_event(onto, fork.get(), 0), 0);
    calls.memset_d8(reinterpret_cast<CUdeviceptr>(target), 1, 8, onto);
    calls.event_record(done, onto);
    calls.stream_wait_event(gb.stream().get(), done, 0);
  };
  graph g = capture(main, body);
  EXPECT_EQ(g.recapture(main, body, {.with = engine::native}).nodes_changed(), 0U);
  is_far = false;
  const recapture_result result = g.try_recapture(main, body, {.with = engine::native});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::driver_failure);
  EXPECT_EQ(result.failure().code, 918);
  ASSERT_TRUE(result.failure().expected);
  EXPECT_EQ(to_string(result.failure().expected->path), "1");
  EXPECT_NE(result.failure().message.find("the driver gave this node the status error"),
            std::string::npos)
      << result.failure().message;
  EXPECT_FALSE(main.is_capturing());
  is_far = true;
  EXPECT_EQ(g.recapture(main, body, {.with = engine::native}).nodes_changed(), 0U);
}

}  // namespace
}  // namespace cugraft
