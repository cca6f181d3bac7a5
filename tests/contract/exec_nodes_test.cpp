// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>

#include "contract/engine_suite.hpp"
#include "support/eventually.hpp"
#include "support/expect.hpp"
#include "support/foreign_calls.hpp"

// Nodes of an executable set and switched in that executable alone.

namespace cugraft::testing {
namespace {

void count_up(void* data) { ++*static_cast<std::atomic<int>*>(data); }

class ExecNodes : public EngineSuite {
 protected:
  enum { fill, first, second, host };  // positions

  void body(graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    gb.tag("first");
    add(gb, x_, value_);
    gb.tag("");
    add(gb, x_, 2);
    gb.host_call({&count_up, &ran_});
  }

  change_report recapture_all() {
    return recapture(graph_, [&](graph_builder& gb) { body(gb); });
  }

  float held(std::size_t node) const {
    float value = 0;
    std::memcpy(&value, exec_.node(node).kernel_params().argument(1).data(), sizeof value);
    return value;
  }

  float value_ = 1;
  std::atomic<int> ran_{0};
  graph graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); });
  graph_exec exec_ = graph_.instantiate();
};

TEST_P(ExecNodes, C013_OneArgumentOfTheExecutableAloneUntilTheNextUpdate) {
  const node_update done = exec_.find_kernel("add_value")->update_argument(1, 10.0F);
  EXPECT_TRUE(done);
  EXPECT_EQ(done.rule, "kernel.arguments");
  EXPECT_EQ(held(first), 10.0F);
  EXPECT_EQ(graph_.generation(), 0U);
  EXPECT_FALSE(exec_.is_current());
  EXPECT_EQ(run(exec_, x_), 12.0F);
  EXPECT_EQ(recapture_all().nodes_changed(), 0U);  // the graph is what it was
  const exec_update back = exec_.update();
  EXPECT_EQ(back.method, update_method::patched);
  EXPECT_EQ(back.nodes_patched, 1U);
  EXPECT_TRUE(exec_.is_current());
  EXPECT_EQ(run(exec_, x_), 3.0F);
}

TEST_P(ExecNodes, C058_AnotherExecutableAndTheGraphAreUntouched) {
  graph_exec other = graph_.instantiate();
  EXPECT_TRUE(
      exec_.node(first).update({.grid = 2, .block = 32}, add_, x_, 10.0F, static_cast<int>(count)));
  EXPECT_TRUE(other.is_current());
  graph_exec made_now = graph_.instantiate();
  EXPECT_EQ(run(exec_, x_), 12.0F);
  EXPECT_EQ(run(other, x_), 3.0F);
  EXPECT_EQ(run(made_now, x_), 3.0F);
}

// The override stays what it is when the graph changes, in this node or another.
TEST_P(ExecNodes, TheGraphMovesOnBeneath) {
  exec_.node(first).update_argument(1, 10.0F);
  value_ = 4;
  EXPECT_EQ(recapture_all().nodes_changed(), 1U);
  EXPECT_EQ(run(exec_, x_), 12.0F);
  graph_.node(second).update_argument(1, 5.0F);
  EXPECT_EQ(held(second), 2.0F);
  EXPECT_EQ(run(exec_, x_), 12.0F);
  EXPECT_EQ(exec_.update().nodes_patched, 2U);
  EXPECT_EQ(run(exec_, x_), 9.0F);
}

TEST_P(ExecNodes, OfANodeThatIsBehindTheRestStaysWhatTheExecutableHolds) {
  graph_.node(first).update({.grid = 1, .block = 64}, scale_, x_, 3.0F, static_cast<int>(count));
  exec_.node(first).update_argument(1, 10.0F);
  EXPECT_EQ(exec_.node(first).kernel_params().name, "add_value");
  EXPECT_EQ(exec_.node(first).in_graph().name(), "scale");
  EXPECT_EQ(run(exec_, x_), 12.0F);
  exec_.update();
  EXPECT_EQ(run(exec_, x_), 2.0F);
}

TEST_P(ExecNodes, AnOverrideThatTheGraphCatchesUpWithCostsNothing) {
  exec_.node(first).update_argument(1, 10.0F);
  value_ = 10;
  recapture_all();
  EXPECT_TRUE(exec_.is_current());
  EXPECT_EQ(exec_.update().driver_calls, 0U);
  EXPECT_EQ(run(exec_, x_), 12.0F);
}

TEST_P(ExecNodes, OverridesAreTakenBackWholeAndByANewExecutable) {
  exec_.node(first).update_argument(1, 10.0F);
  EXPECT_EQ(exec_.update({.force = update_method::whole}).method, update_method::whole);
  EXPECT_EQ(run(exec_, x_), 3.0F);
  exec_.node(first).update_argument(1, 10.0F);
  EXPECT_EQ(exec_.update({.force = update_method::instantiated}).method,
            update_method::instantiated);
  EXPECT_EQ(run(exec_, x_), 3.0F);
  EXPECT_EQ(held(first), 1.0F);
}

TEST_P(ExecNodes, ResyncLeavesWhatTheExecutableHolds) {
  foreign_calls calls(driver());
  exec_.node(first).update_argument(1, 10.0F);
  graph_.resync();
  EXPECT_EQ(graph_.generation(), 0U);
  EXPECT_EQ(run(exec_, x_), 12.0F);
  EXPECT_EQ(calls.set_fill(graph_.node(fill).get(), reinterpret_cast<CUdeviceptr>(x_.data()), 0x40,
                           x_.size()),
            0);
  graph_.resync();
  EXPECT_EQ(graph_.generation(), 1U);
  EXPECT_EQ(run(exec_, x_), 12.0F);
  EXPECT_EQ(exec_.update().nodes_patched, 2U);
  EXPECT_FLOAT_EQ(run(exec_, x_), 6.0039215F);
}

TEST_P(ExecNodes, FillsHostFunctionsAndCopiesAreSet) {
  graph g = capture(stream_, [&](graph_builder& gb) {
    copy_async(gb, x_.data(), y_.data(), x_.size());
    body(gb);
  });
  graph_exec e = g.instantiate();
  EXPECT_EQ(e.node(0).update(copy_node_params::of_row(y_.data(), x_.data(), 8)).rule, "copy.size");
  EXPECT_EQ(e.node(0).copy_params().source.address, x_.data());
  fill_node_params filled = e.node(1).fill_params();
  filled.destination = y_.data();
  EXPECT_EQ(e.node(1).update(filled).rule, "fill.1d");
  std::atomic<int> other{0};
  EXPECT_EQ(e.node(4).update({&count_up, &other}).rule, "host.function");
  EXPECT_EQ(e.node(4).host_params().user_data, &other);
  EXPECT_EQ(run(e, x_), 3.0F);
  EXPECT_EQ(other, 1);
  EXPECT_EQ(ran_, 0);
  EXPECT_EQ(e.update().nodes_patched, 3U);
  run(e, x_);
  EXPECT_EQ(ran_, 1);
}

TEST_P(ExecNodes, EventsAreSet) {
  event one(context_), another(context_);
  graph g = capture(stream_, [&](graph_builder& gb) { gb.stream().record_external(one); });
  graph_exec e = g.instantiate();
  EXPECT_EQ(e.node(0).update(another).rule, "event.event");
  EXPECT_EQ(e.node(0).event(), another.get());
  EXPECT_EQ(g.node(0).event(), one.get());
  e.launch(stream_);
  stream_.synchronize();
}

// What the rules say an executable does not take is not asked of the driver.
TEST_P(ExecNodes, WhatAnExecutableDoesNotTakeIsRefused) {
  const auto before = simulator().calls("cuGraphExecKernelNodeSetParams");
  const node_update refused = exec_.node(first).update({.grid = 2, .block = 32, .cluster = dim3(2)},
                                                       add_, x_, value_, static_cast<int>(count));
  EXPECT_FALSE(refused);
  EXPECT_EQ(refused.effect, verdict::needs_instantiate);
  EXPECT_EQ(refused.rule, "kernel.cluster");
  EXPECT_EQ(refused.code, 0);
  EXPECT_EQ(simulator().calls("cuGraphExecKernelNodeSetParams"), before);
  graph g = capture(stream_, [&](graph_builder& gb) {
    EXPECT_EQ(foreign_calls(driver()).memcpy_d2d(reinterpret_cast<CUdeviceptr>(x_.data()),
                                                 reinterpret_cast<CUdeviceptr>(y_.data()),
                                                 x_.size(), gb.stream().get()),
              0);
  });
  graph_exec e = g.instantiate();
  const node_update kind =
      e.node(0).update(copy_node_params::of_row(x_.data(), host_.data(), x_.size()));
  EXPECT_FALSE(kind);
  EXPECT_EQ(kind.rule, "copy.memory_kind");
  EXPECT_TRUE(exec_.is_current());
  EXPECT_TRUE(e.is_current());
}

TEST_P(ExecNodes, WhatTheDriverRefusesIsAnAnswer) {
  simulator().plan({.function = "cuGraphExecKernelNodeSetParams", .nth = 1, .code = 1});
  const node_update refused = exec_.node(first).update_argument(1, 10.0F);
  EXPECT_FALSE(refused);
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.function, "cuGraphExecKernelNodeSetParams");
  EXPECT_EQ(refused.effect, verdict::patchable);
  EXPECT_TRUE(exec_.is_current());
  EXPECT_EQ(held(first), 1.0F);
  EXPECT_EQ(run(exec_, x_), 3.0F);
}

// Neither the new value nor the old is taken: the old one is set before the next launch.
TEST_P(ExecNodes, WhatCouldNotBePutBackIsPutBackBeforeALaunch) {
  const std::string setter = "cuGraphExecKernelNodeSetParams";
  simulator().plan({.function = setter, .code = 1, .after_effect = true});
  simulator().plan({.function = setter, .nth = 2, .code = 999});
  EXPECT_EQ(exec_.node(first).update_argument(1, 10.0F).code, 1);
  EXPECT_EQ(simulator().faults_hit(), 2U);
  EXPECT_EQ(held(first), 1.0F);
  EXPECT_EQ(run(exec_, x_), 3.0F);
  simulator().plan({.function = setter, .code = 1, .after_effect = true});
  simulator().plan({.function = setter, .nth = 2, .code = 999});
  EXPECT_FALSE(exec_.node(first).update_argument(1, 10.0F));
  EXPECT_TRUE(exec_.node(first).update_argument(1, 20.0F));
  EXPECT_EQ(run(exec_, x_), 22.0F);
}

TEST_P(ExecNodes, ASwitchThatCouldNotBePutBackIsPutBackBeforeALaunch) {
  const std::string setter = "cuGraphNodeSetEnabled";
  for (const bool off : {true, false}) {
    simulator().clear_faults();
    simulator().plan({.function = setter, .code = 999, .after_effect = true});
    simulator().plan({.function = setter, .nth = 2, .code = 999});
    exec_node_ref node = exec_.node(first);
    EXPECT_THROW(off ? node.disable() : node.enable(), cuda_error);
    EXPECT_EQ(simulator().faults_hit(), 2U);
    EXPECT_EQ(run(exec_, x_), off ? 3.0F : 2.0F);
    if (off) node.disable();
  }
  EXPECT_FALSE(exec_.node(first).is_enabled());
}

// The values are in, and the switch that a whole-graph update may have moved is set at the launch.
TEST_P(ExecNodes, ASwitchThatFailsAfterAnUpdateIsSetBeforeALaunch) {
  exec_.node(first).disable();
  value_ = 5;
  recapture_all();
  fail_next("cuGraphNodeSetEnabled", 999);
  EXPECT_THROW(exec_.update({.force = update_method::whole}), cuda_error);
  EXPECT_TRUE(exec_.is_current());
  EXPECT_EQ(run(exec_, x_), 2.0F);
  exec_.node(first).enable();
  EXPECT_EQ(run(exec_, x_), 7.0F);
}

TEST_P(ExecNodes, AnExecutableOfWhichASwitchFailsIsNotMade) {
  exec_.node(first).disable();
  const CUgraphExec native = exec_.get();
  fail_next("cuGraphNodeSetEnabled", 999);
  EXPECT_THROW(exec_.update({.force = update_method::instantiated}), cuda_error);
  EXPECT_EQ(exec_.get(), native);
  EXPECT_EQ(run(exec_, x_), 2.0F);
}

TEST_P(ExecNodes, OwnersOfOverridesLiveUntilTheLastLaunch) {
  std::weak_ptr<int> watched[2];
  const auto set = [&](std::weak_ptr<int>& watch) {
    auto owned = std::make_shared<int>(1);
    watch = owned;
    EXPECT_TRUE(exec_.node(host).update([kept = std::move(owned)] { static_cast<void>(*kept); }));
  };
  set(watched[0]);
  exec_.launch(stream_);
  set(watched[1]);
  exec_.launch(stream_);
  stream_.synchronize();
  exec_.launch(stream_);
  EXPECT_TRUE(eventually([&] { return watched[0].expired(); }));
  EXPECT_FALSE(watched[1].expired());
  exec_.update();
  exec_.launch(stream_);
  stream_.synchronize();
  exec_.launch(stream_);
  EXPECT_TRUE(eventually([&] { return watched[1].expired(); }));
  stream_.synchronize();
  EXPECT_EQ(ran_, 2);
}

TEST_P(ExecNodes, OwnersOfOverridesGoWithTheExecutable) {
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = owned;
  exec_.node(host).update([kept = std::move(owned)] { static_cast<void>(*kept); });
  exec_.launch(stream_);
  exec_.reset();
  stream_.synchronize();
  EXPECT_TRUE(eventually([&] { return watched.expired(); }));
}

TEST_P(ExecNodes, ReferencesOutliveTheExecutableWithoutHarm) {
  const exec_node_ref empty;
  EXPECT_THROW(empty.kernel_params(), usage_error);
  exec_node_ref node = exec_.node(first);
  graph_exec moved = std::move(exec_);
  EXPECT_TRUE(node.update_argument(1, 10.0F));
  EXPECT_EQ(run(moved, x_), 12.0F);
  moved.reset();
  EXPECT_THROW(node.update_argument(1, 1.0F), usage_error);
  EXPECT_THROW(node.disable(), usage_error);
  EXPECT_THROW(moved.node(first), usage_error);
  EXPECT_THROW(moved.find_kernel("add_value"), usage_error);
}

TEST_P(ExecNodes, NodesAreOfTheExecutablesGraph) {
  const graph other = capture(stream_, [&](graph_builder& gb) { body(gb); });
  EXPECT_THROW(exec_.node(other.node(0)), usage_error);
  EXPECT_THROW(exec_.node(4), usage_error);
  EXPECT_THROW(exec_.node(node_path{{{1, 0}, {0, 0}}}), usage_error);
  EXPECT_THROW(exec_.node(node_path{}), usage_error);
  EXPECT_EQ(exec_.node(graph_.node(first)).in_graph().get(), graph_.node(first).get());
}

TEST_P(ExecNodes, NodesAreSwitchedOffAndOn) {
  EXPECT_TRUE(exec_.node(first).is_enabled());
  exec_.node(first).disable();
  exec_.node(first).disable();
  EXPECT_FALSE(exec_.node(first).is_enabled());
  EXPECT_TRUE(exec_.is_current());
  EXPECT_EQ(run(exec_, x_), 2.0F);
  exec_.node(first).update_argument(1, 10.0F);  // for when it is on again
  EXPECT_EQ(run(exec_, x_), 2.0F);
  exec_.node(first).enable();
  EXPECT_EQ(run(exec_, x_), 12.0F);
  EXPECT_THROW(exec_.node(host).disable(), usage_error);
  EXPECT_THROW(exec_.node(host).is_enabled(), usage_error);
}

// Whether a node runs is no value of the graph: updates of each kind leave it.
TEST_P(ExecNodes, SwitchesStayThroughUpdates) {
  exec_.node(first).disable();
  for (const update_method how :
       {update_method::patched, update_method::whole, update_method::instantiated}) {
    value_ += 1;
    recapture_all();
    EXPECT_EQ(exec_.update({.force = how}).method, how);
    EXPECT_FALSE(exec_.node(first).is_enabled());
    EXPECT_EQ(run(exec_, x_), 2.0F);
  }
  graph_exec other = graph_.instantiate();
  EXPECT_EQ(run(other, x_), 6.0F);
  exec_.node(first).enable();
  EXPECT_EQ(run(exec_, x_), 6.0F);
}

TEST_P(ExecNodes, SwitchesGoWithTheNodesOfAnotherStructure) {
  exec_.node(first).disable();
  const auto longer = [&](graph_builder& gb) {
    body(gb);
    add(gb, x_, 3);
  };
  graph_.recapture(stream_, longer, {.with = engine::compare, .replace_structure = true});
  EXPECT_THROW(exec_.node(first).enable(), usage_error);
  EXPECT_EQ(exec_.node(first).update_argument(1, 2.0F).rule, "graph.structure");
  EXPECT_EQ(run(exec_, x_), 2.0F);  // what it was made from
  EXPECT_EQ(exec_.update().method, update_method::instantiated);
  EXPECT_TRUE(exec_.node(first).is_enabled());
  EXPECT_EQ(run(exec_, x_), 6.0F);
}

TEST_P(ExecNodes, WhatAnOwnerSwitchedOffStaysOffWhenAnAdoptedOneIsMadeAnew) {
  std::optional<graph_exec> adopted;
  {
    graph_exec made = graph_.instantiate();
    made.node(first).disable();
    const CUgraphExec native = made.release();
    adopted = graph_exec::adopt(driver(), native, graph_);
  }
  EXPECT_FALSE(adopted->node(first).is_enabled());
  EXPECT_EQ(adopted->update({.force = update_method::instantiated}).method,
            update_method::instantiated);
  EXPECT_FALSE(adopted->node(first).is_enabled());
  EXPECT_EQ(run(*adopted, x_), 2.0F);
}

TEST_P(ExecNodes, BorrowedExecutablesAreSetToo) {
  foreign_calls calls(driver());
  const current_context current(driver(), context_.get());
  const CUgraphExec native = calls.instantiate(graph_.get());
  {
    graph_exec borrowed = graph_exec::borrow(driver(), native, graph_);
    EXPECT_TRUE(borrowed.node(first).update_argument(1, 10.0F));
    borrowed.node(second).disable();
    clear(x_);
    EXPECT_EQ(calls.launch(native, stream_.get()), 0);
    EXPECT_EQ(read(x_).front(), 10.0F);
    EXPECT_TRUE(borrowed.update());
    borrowed.node(second).enable();
    EXPECT_EQ(run(borrowed, x_), 3.0F);
  }
  graph_exec unknown = graph_exec::borrow(driver(), native, graph_, held_values::unknown);
  EXPECT_EQ(unknown.node(first).update_argument(1, 10.0F).rule, "exec.unknown");
  unknown.reset();
  EXPECT_EQ(calls.destroy(native), 0);
}

INSTANTIATE_TEST_SUITE_P(Engines, ExecNodes, ::testing::ValuesIn(all_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
