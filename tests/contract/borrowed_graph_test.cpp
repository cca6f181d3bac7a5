// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>

#include "contract/engine_suite.hpp"
#include "support/eventually.hpp"
#include "support/expect.hpp"
#include "support/foreign_calls.hpp"

// Graphs that other code captured, owns and edits.

namespace cugraft::testing {
namespace {

class BorrowedGraph : public EngineSuite {
 protected:
  ~BorrowedGraph() override {
    borrowed_.reset();
    if (native_ != nullptr) {
      EXPECT_EQ(calls_.destroy(native_), 0);
    }
  }

  // As other people's code does it: nothing of it goes through the library but the launch.
  void enqueue(stream_ref stream) {
    EXPECT_EQ(calls_.memset_d8(target_, filled_, x_.size(), stream.get()), 0);
    add(stream, x_, value_);
  }

  CUgraph captured_by_others() {
    calls_.begin_capture(stream_.get());
    enqueue(stream_);
    return calls_.end_capture(stream_.get());
  }

  // `native` does not take graphs whose nodes may be made by hand, and `automatic` knows.
  recapture_options options() const {
    recapture_options result;
    if (GetParam().which == engine::compare) result.with = engine::compare;
    return result;
  }

  change_report again(recapture_options options) {
    const change_report report = borrowed_.recapture(
        stream_, [&](graph_builder& gb) { enqueue(gb.stream()); }, options);
    EXPECT_EQ(report.engine_used(), engine::compare);
    return report;
  }
  change_report again() { return again(options()); }

  void edit_as_owner(unsigned char value) {
    EXPECT_EQ(calls_.set_fill(borrowed_.node(0).get(), target_, value, x_.size()), 0);
  }

  // The first byte that the owner's graph leaves behind.
  unsigned char byte_of(CUgraphExec exec) {
    EXPECT_EQ(calls_.launch(exec, stream_.get()), 0);
    read(x_);
    return host_.as<unsigned char>()[0];
  }
  unsigned char byte_of_graph() {
    const CUgraphExec exec = calls_.instantiate(native_);
    const unsigned char result = byte_of(exec);
    EXPECT_EQ(calls_.destroy(exec), 0);
    return result;
  }

  current_context current_{driver(), context_.get()};
  foreign_calls calls_{driver()};
  CUdeviceptr target_ = reinterpret_cast<CUdeviceptr>(x_.data());
  unsigned char filled_ = 0;
  float value_ = 0;
  CUgraph native_ = captured_by_others();
  graph borrowed_ = graph::borrow(driver(), native_);
};

TEST_P(BorrowedGraph, IsReadAndRecaptured) {
  EXPECT_TRUE(borrowed_.is_borrowed());
  EXPECT_FALSE(borrowed_.is_lost());
  EXPECT_EQ(borrowed_.get(), native_);
  EXPECT_EQ(borrowed_.node_count(), 2U);
  EXPECT_EQ(borrowed_.node(1).name(), "add_value");
  EXPECT_EQ(borrowed_.generation(), 0U);
  EXPECT_EQ(again().nodes_changed(), 0U);
  EXPECT_EQ(borrowed_.generation(), 1U);  // cugraft keeps the kernel from now on
  EXPECT_EQ(again().nodes_changed(), 0U);
  EXPECT_EQ(borrowed_.generation(), 1U);
  graph_exec exec = borrowed_.instantiate();
  value_ = 3;
  const change_report report = again();
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(report.changes()[0].fields[0].field, "argument[1]");
  EXPECT_EQ(borrowed_.generation(), 2U);
  EXPECT_EQ(exec.update().nodes_patched, 1U);
  EXPECT_EQ(run(exec, x_), 3.0F);
}

TEST_P(BorrowedGraph, IsNeverDestroyed) {
  const std::size_t graphs = simulator().live().graphs;
  graph moved = std::move(borrowed_);
  EXPECT_FALSE(borrowed_.is_borrowed());
  moved.close();
  EXPECT_FALSE(moved);
  { const graph passing = graph::borrow(driver(), native_); }
  graph::borrow(driver(), native_).reset();
  EXPECT_EQ(simulator().live().graphs, graphs);
  EXPECT_EQ(byte_of_graph(), 0);
}

TEST_P(BorrowedGraph, WhatItsOwnerEditedIsSeenByTheNextRecapture) {
  graph_exec exec = borrowed_.instantiate();
  edit_as_owner(7);
  EXPECT_EQ(again().nodes_changed(), 1U);  // back to what is captured
  EXPECT_TRUE(exec.is_current());
  edit_as_owner(7);
  filled_ = 7;
  EXPECT_EQ(again().nodes_changed(), 0U);
  EXPECT_FALSE(exec.is_current());
  EXPECT_EQ(exec.update({.may_instantiate = false}).nodes_patched, 1U);
  EXPECT_EQ(byte_of(exec.get()), 7);
}

// Else the executable would run values that nobody knows of.
TEST_P(BorrowedGraph, WhatItsOwnerEditedIsSeenByWhateverCopiesTheGraph) {
  graph_exec whole = borrowed_.instantiate();
  graph_exec anew = borrowed_.instantiate();
  edit_as_owner(7);
  graph_exec made = borrowed_.instantiate();
  EXPECT_TRUE(whole.update({.force = update_method::whole}));
  EXPECT_TRUE(anew.update({.force = update_method::instantiated}));
  for (graph_exec* const each : {&whole, &anew, &made}) {
    EXPECT_TRUE(each->is_current());
    EXPECT_EQ(byte_of(each->get()), 7);
  }
  EXPECT_EQ(again().nodes_changed(), 1U);
  for (graph_exec* const each : {&whole, &anew, &made}) {
    EXPECT_EQ(each->update({.may_instantiate = false}).nodes_patched, 1U);
    EXPECT_EQ(byte_of(each->get()), 0);
  }
}

TEST_P(BorrowedGraph, AnotherStructureByItsOwnerIsSeenToo) {
  graph_exec exec = borrowed_.instantiate();
  ASSERT_EQ(calls_.add_empty_node(native_), 0);
  EXPECT_EQ(borrowed_.node_count(), 2U);
  const recapture_result result = borrowed_.try_recapture(
      stream_, [&](graph_builder& gb) { enqueue(gb.stream()); }, options());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::node_count);
  EXPECT_EQ(borrowed_.node_count(), 3U);
  const exec_update refused = exec.update({.may_instantiate = false});
  ASSERT_EQ(refused.refused.size(), 1U);
  EXPECT_EQ(refused.refused[0].rule, "graph.structure");
  EXPECT_EQ(exec.update().method, update_method::instantiated);
}

TEST_P(BorrowedGraph, CompareOnlyAndHooksTouchNothing) {
  filled_ = 9;
  recapture_options only = options();
  only.compare_only = true;
  EXPECT_EQ(again(only).nodes_changed(), 1U);
  recapture_options rejecting = options();
  rejecting.on_mismatch = [](const node_change&) { return hook_answer::reject; };
  EXPECT_FALSE(borrowed_.try_recapture(
      stream_, [&](graph_builder& gb) { enqueue(gb.stream()); }, rejecting));
  EXPECT_EQ(byte_of_graph(), 0);
}

TEST_P(BorrowedGraph, WhatIsItsOwnersToDoIsRefused) {
  const std::string graph_text = fmt::format("graph {}", fmt::ptr(native_));
  const std::string in_place = "recapture_options: in_place may lose the graph, and " + graph_text +
                               " is borrowed: leave in_place out";
  const std::string replace =
      "recapture_options: replace_structure puts another graph in the place of " + graph_text +
      ", which is borrowed: leave replace_structure out, and have the owner capture anew where the "
      "structure changes";
  EXPECT_THROW_MSG(borrowed_.begin_recapture(stream_, with({.in_place = true})), usage_error,
                   in_place);
  EXPECT_THROW_MSG(borrowed_.begin_recapture(stream_, {.replace_structure = true}), usage_error,
                   replace);
  const CUgraph other = captured_by_others();
  EXPECT_THROW_MSG(borrowed_.update_from(other, {.in_place = true}), usage_error, in_place);
  EXPECT_THROW_MSG(borrowed_.update_from(other, {.replace_structure = true}), usage_error, replace);
  EXPECT_EQ(calls_.destroy(other), 0);
  EXPECT_FALSE(stream_.is_capturing());
  EXPECT_EQ(again().nodes_changed(), 0U);
}

TEST_P(BorrowedGraph, NativeDoesNotTakeWhatMayBeMadeByHand) {
  if (GetParam().version < 13030) {
    EXPECT_THROW(static_cast<void>(borrowed_.begin_recapture(stream_, {.with = engine::native})),
                 unsupported_error);
    return;
  }
  EXPECT_THROW_MSG(
      borrowed_.begin_recapture(stream_, {.with = engine::native}), usage_error,
      fmt::format(
          "engine::native does not take graph {}: the graph holds nodes that may be made by "
          "hand: what an added node does in the driver's re-capture is not documented; use "
          "engine::compare",
          fmt::ptr(native_)));
}

TEST_P(BorrowedGraph, NullIsRefused) {
  EXPECT_THROW_MSG(graph::borrow(driver(), nullptr), usage_error,
                   "graph::borrow: the handle is null: give a graph");
}

TEST_P(BorrowedGraph, OneSessionAtATime) {
  recapture_session session = borrowed_.begin_recapture(stream_, options());
  EXPECT_THROW(static_cast<void>(borrowed_.begin_recapture(side_, options())), usage_error);
  EXPECT_THROW(borrowed_.resync(), usage_error);
  EXPECT_THROW(static_cast<void>(borrowed_.release()), usage_error);
  EXPECT_THROW(static_cast<void>(borrowed_.instantiate()), usage_error);
  enqueue(session.stream());
  EXPECT_EQ(session.end().nodes_changed(), 0U);
}

TEST_P(BorrowedGraph, TakesTheParametersOfAnotherGraph) {
  graph_exec exec = borrowed_.instantiate();
  filled_ = 5;
  const CUgraph other = captured_by_others();
  EXPECT_EQ(borrowed_.update_from(other).nodes_changed(), 1U);
  edit_as_owner(6);
  EXPECT_EQ(borrowed_.update_from(other).nodes_changed(), 1U);  // read afresh
  EXPECT_THROW(borrowed_.update_from(graph::borrow(driver(), native_)), usage_error);
  EXPECT_EQ(calls_.destroy(other), 0);
  EXPECT_EQ(exec.update().nodes_patched, 1U);
  EXPECT_EQ(byte_of(exec.get()), 5);
}

// It stays its owner's: what foreign code attached to it is kept by a clone.
TEST_P(BorrowedGraph, ABorrowedSourceMayBeDestroyedAtReturn) {
  std::atomic<int> destroyed = 0;
  graph_exec exec = borrowed_.instantiate();
  filled_ = 5;
  const CUgraph other = captured_by_others();
  calls_.attach_user_object(other, destroyed);
  graph source = graph::borrow(driver(), other);
  EXPECT_EQ(calls_.set_fill(source.node(0).get(), target_, 8, x_.size()), 0);
  EXPECT_EQ(borrowed_.update_from(std::move(source)).nodes_changed(), 1U);
  EXPECT_EQ(calls_.destroy(other), 0);
  EXPECT_TRUE(exec.update());
  EXPECT_EQ(byte_of(exec.get()), 8);  // read afresh as well
  simulator().settle();
  EXPECT_EQ(destroyed, 0);
  exec.reset();
  borrowed_.reset();
  EXPECT_TRUE(eventually([&] { return destroyed == 1; }));
}

class BorrowedOwners : public BorrowedGraph {
 protected:
  CUgraph with_host_function() {
    calls_.begin_capture(side_.get());
    host_call(side_, [] {});
    return calls_.end_capture(side_.get());
  }

  // @return what says whether the host function that a re-capture brought in is still kept
  std::weak_ptr<int> bring_in(graph& into) {
    auto owned = std::make_shared<int>(0);
    std::weak_ptr<int> watched = owned;
    into.recapture(
        stream_, [&](graph_builder& gb) { gb.host_call([owned] { ++*owned; }); }, options());
    return watched;
  }
};

TEST_P(BorrowedOwners, WhatARecaptureBroughtInIsKeptByTheGraphThatBorrows) {
  const CUgraph others = with_host_function();
  graph borrowed = graph::borrow(driver(), others);
  const std::weak_ptr<int> watched = bring_in(borrowed);
  const CUgraphExec exec = calls_.instantiate(others);
  EXPECT_EQ(calls_.launch(exec, stream_.get()), 0);
  stream_.synchronize();
  ASSERT_FALSE(watched.expired());
  EXPECT_EQ(*watched.lock(), 1);
  EXPECT_EQ(calls_.destroy(exec), 0);
  EXPECT_EQ(calls_.destroy(others), 0);
  borrowed.reset();
  EXPECT_TRUE(eventually([&] { return watched.expired(); }));
}

TEST_P(BorrowedOwners, ReleaseLeavesThemWithTheOwnersGraph) {
  const CUgraph others = with_host_function();
  graph borrowed = graph::borrow(driver(), others);
  const std::weak_ptr<int> watched = bring_in(borrowed);
  EXPECT_EQ(borrowed.release(), others);
  EXPECT_FALSE(borrowed);
  const CUgraphExec exec = calls_.instantiate(others);
  EXPECT_EQ(calls_.destroy(others), 0);
  EXPECT_EQ(calls_.launch(exec, stream_.get()), 0);
  stream_.synchronize();
  ASSERT_FALSE(watched.expired());
  EXPECT_EQ(*watched.lock(), 1);
  EXPECT_EQ(calls_.destroy(exec), 0);
  EXPECT_TRUE(eventually([&] { return watched.expired(); }));
}

TEST_P(BorrowedOwners, ReleaseOfAGraphThatBroughtNothingInTouchesNothing) {
  const CUgraph others = captured_by_others();
  const std::uint64_t before = simulator().calls("cuGraphRetainUserObject");
  EXPECT_EQ(graph::borrow(driver(), others).release(), others);
  EXPECT_EQ(simulator().calls("cuGraphRetainUserObject"), before);
  EXPECT_EQ(calls_.destroy(others), 0);
}

// Launches through `extra` have the layout that the driver tells of, and compare by their bytes.
TEST_P(BorrowedGraph, PackedLaunchesCompareByTheirBytes) {
  struct packed {
    CUdeviceptr x;
    float value;
    int count;
  } arguments{target_, 2.0F, static_cast<int>(count)};
  std::array<std::byte, sizeof(packed)> bytes{};
  const auto packed_launch = [&](stream_ref stream) {
    std::memcpy(bytes.data(), &arguments, sizeof arguments);
    EXPECT_EQ(calls_.launch_packed(add_.get(), 2, 32, stream.get(), bytes), 0);
  };
  calls_.begin_capture(stream_.get());
  packed_launch(stream_);
  const CUgraph others = calls_.end_capture(stream_.get());
  graph borrowed = graph::borrow(driver(), others);
  graph_exec exec = borrowed.instantiate();
  const auto both = [&](auto&& body) { return borrowed.recapture(stream_, body, options()); };
  EXPECT_EQ(both([&](graph_builder& gb) { packed_launch(gb.stream()); }).nodes_changed(), 0U);
  EXPECT_EQ(both([&](graph_builder& gb) { add(gb, x_, 2); }).nodes_changed(), 0U);
  arguments.value = 4;
  const change_report report = both([&](graph_builder& gb) { packed_launch(gb.stream()); });
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(report.changes()[0].fields[0].field, "argument[1]");
  EXPECT_EQ(exec.update().nodes_patched, 1U);
  EXPECT_EQ(run(exec, x_), 4.0F);
  borrowed.reset();
  EXPECT_EQ(calls_.destroy(others), 0);
}

TEST_P(BorrowedGraph, ForeignAllocationsAreRefusedBeforeTheCaptureBegins) {
  CUdeviceptr memory = 0;
  calls_.begin_capture(side_.get());
  EXPECT_EQ(calls_.mem_alloc_async(memory, 64, side_.get()), 0);
  EXPECT_EQ(calls_.mem_free_async(memory, side_.get()), 0);
  const CUgraph others = calls_.end_capture(side_.get());
  {
    graph borrowed = graph::borrow(driver(), others);
    EXPECT_EQ(borrowed.node(0).kind(), node_kind::allocation);
    graph_exec exec = borrowed.instantiate();
    EXPECT_THROW_MSG(
        borrowed.begin_recapture(stream_, options()), usage_error,
        fmt::format("engine::compare does not take graph {}: node 0 (allocation) was not made by "
                    "graph_builder, and a second capture would have its memory at another address; "
                    "allocate and free through graph_builder, or capture and instantiate it anew",
                    fmt::ptr(others)));
    EXPECT_TRUE(exec.is_current());  // nothing was touched
    EXPECT_FALSE(stream_.is_capturing());
    exec.launch(stream_);
    stream_.synchronize();
  }
  EXPECT_EQ(calls_.destroy(others), 0);
}

// The owner gets its graph back whole, at the latest when it is given back.
TEST_P(BorrowedGraph, WhatCouldNotBePutBackIsPutBackAtTheEnd) {
  filled_ = 5;
  value_ = 5;
  const auto leave_damage = [&] {
    simulator().plan({.function = "cuGraphKernelNodeSetParams", .nth = 1, .code = 999});
    simulator().plan(
        {.function = "cuGraphMemsetNodeSetParams", .nth = 2, .code = 999, .from_then_on = true});
    EXPECT_FALSE(borrowed_.try_recapture(
        stream_, [&](graph_builder& gb) { enqueue(gb.stream()); }, options()));
  };
  leave_damage();
  simulator().clear_faults();
  borrowed_.reset();
  EXPECT_EQ(byte_of_graph(), 0);

  borrowed_ = graph::borrow(driver(), native_);
  leave_damage();
  EXPECT_THROW(borrowed_.close(), cuda_error);
  EXPECT_FALSE(borrowed_);
  EXPECT_TRUE(take_reports().empty());
  simulator().clear_faults();

  filled_ = 0;
  borrowed_ = graph::borrow(driver(), native_);
  again();
  filled_ = 5;
  value_ = 6;
  leave_damage();
  borrowed_.reset();
  ASSERT_EQ(take_reports().size(), 1U);
  simulator().clear_faults();
}

INSTANTIATE_TEST_SUITE_P(Engines, BorrowedGraph, ::testing::ValuesIn(all_cases()), &case_name);
INSTANTIATE_TEST_SUITE_P(Engines, BorrowedOwners, ::testing::ValuesIn(all_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
