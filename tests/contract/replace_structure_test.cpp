// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <stdexcept>

#include "contract/engine_suite.hpp"
#include "support/eventually.hpp"
#include "support/foreign_calls.hpp"

// Another structure takes the graph's place, where that is asked for.

namespace cugraft::testing {
namespace {

class ReplaceStructure : public EngineSuite {
 protected:
  void body(graph_builder& gb) const {
    for (int i = 0; i < launches_; ++i) {
      gb.tag("launch " + std::to_string(i));
      add(gb, x_, value_);
    }
  }

  graph captured() {
    return capture(stream_, [&](graph_builder& gb) { body(gb); });
  }

  recapture_result replace(recapture_options options = {}) {
    options.replace_structure = true;
    return graph_.try_recapture(
        stream_, [&](graph_builder& gb) { body(gb); }, options);
  }

  std::size_t graphs_alive() const { return simulator().live().graphs; }

  int launches_ = 2;
  float value_ = 1;
  graph graph_ = captured();
  graph_exec exec_ = graph_.instantiate();
};

TEST_P(ReplaceStructure, TheGraphIsWhatWasCaptured) {
  const CUgraph before = graph_.get();
  launches_ = 3;
  const change_report report = replace().report();
  EXPECT_TRUE(report.structure_replaced());
  EXPECT_EQ(report.engine_used(), engine::compare);  // `automatic`, also where there is native
  EXPECT_EQ(report.overall(), verdict::needs_instantiate);
  EXPECT_EQ(report.nodes_total(), 3U);
  EXPECT_EQ(report.nodes_changed(), 0U);
  EXPECT_EQ(report.generation(), 1U);
  EXPECT_EQ(graph_.generation(), 1U);
  EXPECT_NE(graph_.get(), before);
  EXPECT_EQ(graph_.node_count(), 3U);
  ASSERT_TRUE(graph_.find("launch 2"));
  EXPECT_FALSE(graph_.last_failure());
}

TEST_P(ReplaceStructure, ExecutablesRunWhatTheyHoldUntilTheyAreInstantiatedAnew) {
  graph_exec other = graph_.instantiate();
  const std::size_t graphs = graphs_alive();
  launches_ = 3;
  ASSERT_TRUE(replace());
  EXPECT_EQ(graphs_alive(), graphs + 1);  // the old one, for two executables
  EXPECT_FALSE(exec_.is_current());
  EXPECT_EQ(run(exec_, x_), 2);

  const exec_update refused = exec_.update({.may_instantiate = false});
  EXPECT_FALSE(refused.up_to_date);
  ASSERT_EQ(refused.refused.size(), 1U);
  EXPECT_EQ(refused.refused[0].rule, "graph.structure");
  EXPECT_EQ(run(exec_, x_), 2);

  EXPECT_EQ(exec_.update().method, update_method::instantiated);
  EXPECT_EQ(run(exec_, x_), 3);
  EXPECT_TRUE(exec_.is_current());
  EXPECT_EQ(graphs_alive(), graphs + 1);
  other.close();
  EXPECT_EQ(graphs_alive(), graphs);
}

TEST_P(ReplaceStructure, WithoutExecutablesTheOldGraphGoesAtOnce) {
  exec_.close();
  const std::size_t graphs = graphs_alive();
  launches_ = 1;
  ASSERT_TRUE(replace());
  EXPECT_EQ(graphs_alive(), graphs);
}

TEST_P(ReplaceStructure, TheSameStructureIsPatchedAsEver) {
  const CUgraph before = graph_.get();
  value_ = 4;
  const change_report report = replace().report();
  EXPECT_FALSE(report.structure_replaced());
  EXPECT_EQ(report.nodes_changed(), 2U);
  EXPECT_EQ(graph_.get(), before);
  EXPECT_EQ(exec_.update().method, update_method::patched);
  EXPECT_EQ(run(exec_, x_), 8);
}

TEST_P(ReplaceStructure, WhatReplacedItIsRecapturedByTheEngine) {
  launches_ = 3;
  ASSERT_TRUE(replace());
  ASSERT_EQ(exec_.update().method, update_method::instantiated);
  value_ = 2;
  const change_report report = recapture(graph_, [&](graph_builder& gb) { body(gb); });
  EXPECT_EQ(report.nodes_changed(), 3U);
  EXPECT_EQ(exec_.update().nodes_patched, 3U);
  EXPECT_EQ(run(exec_, x_), 6);
}

TEST_P(ReplaceStructure, ToAndFroSeveralTimesBetweenUpdates) {
  const std::size_t graphs = graphs_alive();
  for (const int launches : {0, 5, 1, 2}) {
    launches_ = launches;
    ASSERT_TRUE(replace());
  }
  EXPECT_EQ(graphs_alive(), graphs + 1);  // what the executable came from, and nothing between
  EXPECT_EQ(run(exec_, x_), 2);
  EXPECT_EQ(exec_.update().method, update_method::instantiated);
  EXPECT_EQ(graphs_alive(), graphs);
  EXPECT_EQ(run(exec_, x_), 2);
}

TEST_P(ReplaceStructure, APatchBeforeItStaysInTheExecutable) {
  value_ = 5;
  recapture(graph_, [&](graph_builder& gb) { body(gb); });  // not carried into the executable
  launches_ = 3;
  ASSERT_TRUE(replace());
  EXPECT_EQ(run(exec_, x_), 2);
  exec_.update();
  EXPECT_EQ(run(exec_, x_), 15);
}

TEST_P(ReplaceStructure, OwnersLiveAsLongAsTheyAreNeeded) {
  auto first = std::make_shared<int>(1), second = std::make_shared<int>(2);
  const std::weak_ptr<int> old_owner = first, new_owner = second;
  const auto with = [&](std::shared_ptr<int> owner) {
    return [this, owner = std::move(owner)](graph_builder& gb) {
      body(gb);
      gb.keep(owner);
    };
  };
  graph kept = capture(stream_, with(std::move(first)));
  graph_exec exec = kept.instantiate();
  exec.launch(stream_);
  launches_ = 3;
  ASSERT_TRUE(kept.recapture(stream_, with(std::move(second)), {.replace_structure = true})
                  .structure_replaced());
  EXPECT_FALSE(old_owner.expired());  // the executable needs it
  exec.update();
  stream_.synchronize();
  exec.launch(stream_);
  stream_.synchronize();
  EXPECT_TRUE(eventually([&] { return old_owner.expired(); }));
  EXPECT_FALSE(new_owner.expired());
  exec.close();
  kept.close();
  EXPECT_TRUE(eventually([&] { return new_owner.expired(); }));
}

TEST_P(ReplaceStructure, ForeignWorkBecomesPartOfTheGraph) {
  const foreign_calls foreign(driver());
  const auto with_foreign = [&](graph_builder& gb) {
    body(gb);
    foreign.memset_d8(reinterpret_cast<CUdeviceptr>(y_.data()), 7, y_.size(), gb.stream().get());
  };
  EXPECT_TRUE(
      graph_.recapture(stream_, with_foreign, {.replace_structure = true}).structure_replaced());
  EXPECT_EQ(graph_.node(2).kind(), node_kind::fill);
  EXPECT_EQ(recapture(graph_, with_foreign, {.with = engine::compare}).nodes_changed(), 0U);
}

TEST_P(ReplaceStructure, ABrokenCaptureReplacesNothing) {
  const CUgraph before = graph_.get();
  launches_ = 3;
  fail_next("cuStreamEndCapture", 901);
  const recapture_result result = replace();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::capture_invalidated);
  EXPECT_EQ(graph_.get(), before);
  EXPECT_EQ(graph_.node_count(), 2U);
  EXPECT_EQ(run(exec_, x_), 2);
}

TEST_P(ReplaceStructure, AnExceptionOutOfTheBodyReplacesNothing) {
  const CUgraph before = graph_.get();
  launches_ = 3;
  EXPECT_THROW(static_cast<void>(graph_.try_recapture(stream_,
                                                      [&](graph_builder& gb) {
                                                        body(gb);
                                                        throw std::runtime_error("half way");
                                                      },
                                                      {.replace_structure = true})),
               std::runtime_error);
  simulator().plan({.function = "cuLaunchKernelEx", .nth = 3});
  EXPECT_THROW(static_cast<void>(replace()), cuda_error);
  EXPECT_EQ(graph_.get(), before);
  EXPECT_EQ(graph_.node_count(), 2U);
  EXPECT_EQ(graph_.generation(), 0U);
  EXPECT_FALSE(stream_.is_capturing());
  EXPECT_EQ(run(exec_, x_), 2);
}

// The calls that capture and read fail in turn: the graph is the old one or the new one.
TEST_P(ReplaceStructure, OldOrNewWhateverFails) {
  for (const char* const function :
       {"cuGraphGetNodes", "cuGraphNodeGetType", "cuGraphNodeGetDependencies",
        "cuGraphKernelNodeGetParams", "cuStreamGetCaptureInfo", "cuStreamEndCapture",
        "cuStreamBeginCapture", "cuLaunchKernelEx"}) {
    std::size_t hits = 0;
    for (unsigned nth = 1; nth <= 8; ++nth) {
      SCOPED_TRACE(std::string(function) + " " + std::to_string(nth));
      graph tried = captured();
      graph_exec exec = tried.instantiate();
      const CUgraph before = tried.get();
      launches_ = 3;
      simulator().plan({.function = function, .nth = nth});
      bool replaced = false;
      try {
        replaced = static_cast<bool>(tried.try_recapture(
            stream_, [&](graph_builder& gb) { body(gb); }, {.replace_structure = true}));
      } catch (const cuda_error& thrown) {
        EXPECT_EQ(thrown.code(), 999);
      }
      hits += simulator().faults_hit();
      simulator().clear_faults();
      EXPECT_EQ(tried.get() != before, replaced);
      EXPECT_EQ(tried.node_count(), replaced ? 3U : 2U);
      EXPECT_EQ(run(exec, x_), 2);
      EXPECT_TRUE(exec.update().up_to_date);
      EXPECT_EQ(run(exec, x_), replaced ? 3 : 2);
      launches_ = 2;
      take_reports();
    }
    EXPECT_GT(hits, 0U) << function;
  }
}

TEST_P(ReplaceStructure, ContradictionsAreRefused) {
  EXPECT_THROW_MSG(replace({.compare_only = true}), usage_error,
                   "recapture_options: replace_structure puts another graph in the place of this "
                   "one, and compare_only touches nothing; choose one");
  EXPECT_THROW_MSG(replace({.with = engine::native}), usage_error,
                   "recapture_options: replace_structure takes what was captured, which "
                   "engine::native does not have; use engine::compare, or may_rerun_body with a "
                   "body");
  EXPECT_THROW(static_cast<void>(graph_.try_update_from(captured(), {.replace_structure = true})),
               usage_error);
  EXPECT_EQ(run(exec_, x_), 2);
}

INSTANTIATE_TEST_SUITE_P(Engines, ReplaceStructure,
                         ::testing::Values(engine_case{engine::compare, 12040},
                                           engine_case{engine::compare, 13030}),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
