// SPDX-License-Identifier: Apache-2.0
#include "contract/tree_cases.hpp"
#include "support/eventually.hpp"
#include "support/foreign_calls.hpp"

// Child graphs: captured, compared at every depth, patched through the nodes inside.

namespace cugraft::testing {
namespace {

class EngineChildren : public EngineSuite {
 protected:
  graph child_of(float value, unsigned grid = 2) {
    return capture(spare_, [&](graph_builder& gb) {
      gb.tag("inner");
      add(gb, x_, value, grid);
    });
  }

  // A copy, a child of a child, and a kernel behind it.
  void nested(graph_builder& gb, float value) {
    fill_async(gb, y_.data(), 0, count, 4);
    const graph inner = child_of(value);
    const graph middle = capture(side_, [&](graph_builder& of) { of.embed(inner); });
    gb.embed(middle);
    add(gb, x_, 100);
  }

  stream spare_{context_};
};

TEST_P(EngineChildren, AChildRunsBehindTheWorkAhead) {
  const graph child = child_of(2);
  graph g = capture(stream_, [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, count, 4);
    gb.embed(child);
    launch(gb, {.grid = 2, .block = 32}, scale_, x_, 3.0F, static_cast<int>(count));
  });
  EXPECT_EQ(g.node_count(), 3U);
  EXPECT_EQ(g.node(1).kind(), node_kind::child_graph);
  const node_ref inner = g.node(node_path{{{1, 0}, {0, 0}}});
  EXPECT_EQ(inner.name(), "add_value");
  EXPECT_EQ(inner.tag(), "inner");
  EXPECT_EQ(to_string(g.find("inner")->path()), "1/0");
  EXPECT_NE(inner.get(), child.node(0).get());
  EXPECT_TRUE(child.node(0).kind() == node_kind::kernel);  // it was cloned
  EXPECT_THROW(g.node(node_path{{{0, 0}, {0, 0}}}), usage_error);
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 6.0F);
}

// Of foreign kernels inside, as of those outside.
TEST_P(EngineChildren, AttributesOfForeignKernelsAreReadAsIsAsked) {
  constexpr int sync_domain = 10;
  foreign_calls calls(driver());
  bool is_set = false;
  const auto body = [&](graph_builder& gb) {
    const graph child = capture(spare_, [&](graph_builder& of) {
      EXPECT_EQ(calls.launch_kernel(add_.get(), reinterpret_cast<CUdeviceptr>(x_.data()), 1,
                                    static_cast<int>(count), of.stream().get()),
                0);
    });
    if (is_set) {
      EXPECT_EQ(calls.set_attribute(child.node(0).get(), sync_domain, 1), 0);
    }
    gb.embed(child);
  };
  graph g = capture(stream_, body);
  const auto changed = [&](attribute_check check) {
    return g.recapture(stream_, body, with({.attributes = check}));
  };
  is_set = true;
  EXPECT_EQ(changed(attribute_check::semantic).nodes_changed(), 0U);
  const change_report report = changed(attribute_check::all);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(to_string(report.changes()[0].path), "0/0");
  EXPECT_EQ(report.changes()[0].fields[0].field, "attribute[10]");
  EXPECT_EQ(calls.attribute(g.node(node_path{{{0, 0}, {0, 0}}}).get(), sync_domain), 1);
  EXPECT_EQ(changed(attribute_check::all).nodes_changed(), 0U);
}

TEST_P(EngineChildren, UnchangedContentIsNoChange) {
  const auto body = [&](graph_builder& gb) { nested(gb, 1); };
  graph g = capture(stream_, body);
  const change_report report = recapture(g, body);
  EXPECT_EQ(report.nodes_total(), 5U);
  EXPECT_EQ(report.nodes_changed(), 0U);
  EXPECT_EQ(g.generation(), 0U);
}

TEST_P(EngineChildren, AnInnerNodeIsPatchedByItsOwnHandle) {
  float value = 1;
  const auto body = [&](graph_builder& gb) { nested(gb, value); };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 101.0F);
  const CUgraphNode inner = g.find("inner")->get();
  value = 5;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  const node_change& change = report.changes()[0];
  EXPECT_EQ(to_string(change.path), "1/0/0");
  EXPECT_EQ(change.tag, "inner");
  EXPECT_EQ(change.name, "add_value");
  EXPECT_EQ(change.effect, verdict::patchable);
  EXPECT_EQ(change.node, inner);
  EXPECT_EQ(run(e, x_), 101.0F);
  const exec_update update = e.update();
  EXPECT_EQ(update.method, update_method::patched);
  EXPECT_EQ(update.nodes_patched, 1U);
  EXPECT_EQ(run(e, x_), 105.0F);
  EXPECT_EQ(g.find("inner")->get(), inner);
  graph_exec later = g.instantiate();
  EXPECT_EQ(run(later, x_), 105.0F);
}

TEST_P(EngineChildren, OtherContentIsAMismatchWithItsPath) {
  bool longer = false;
  const auto body = [&](graph_builder& gb) {
    add(gb, x_, 1);
    const graph child = capture(side_, [&](graph_builder& of) {
      add(of, x_, 1);
      if (longer) fill_async(of, y_.data(), 0, count, 4);
    });
    gb.embed(child);
    add(gb, x_, 1);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  longer = true;
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.why, mismatch::node_count);
  EXPECT_FALSE(failure.expected.has_value());
  ASSERT_TRUE(failure.found.has_value());
  EXPECT_EQ(to_string(failure.found->path), "1/1");
  EXPECT_EQ(failure.found->kind, node_kind::fill);
  EXPECT_NE(failure.message.find("node count 1 to 2, first difference at 1/1"), std::string::npos)
      << failure.message;
  EXPECT_EQ(run(e, x_), 3.0F);
  longer = false;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
}

TEST_P(EngineChildren, C064_EqualContentAtAnotherDepthIsExplained) {
  bool deeper = true;
  const auto body = [&](graph_builder& gb) {
    const graph inner = child_of(1);
    const graph middle = capture(side_, [&](graph_builder& of) { of.embed(inner); });
    gb.embed(deeper ? middle : inner);
  };
  graph g = capture(stream_, body);
  deeper = false;
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.why, mismatch::depth);
  ASSERT_TRUE(failure.expected && failure.found);
  EXPECT_EQ(to_string(failure.expected->path), "0/0");
  EXPECT_EQ(failure.expected->kind, node_kind::child_graph);
  EXPECT_EQ(failure.found->name, "add_value");
  EXPECT_NE(failure.message.find("in another nesting of child graphs or bodies"),
            std::string::npos);
}

TEST_P(EngineChildren, WhatTheContentNeedsLivesWithTheParent) {
  std::optional<graph> g;
  const auto alive = std::make_shared<int>(7);
  {
    const graph child = capture(side_, [&](graph_builder& of) {
      of.keep(alive);
      of.host_call([alive] { static_cast<void>(*alive); });
    });
    g = capture(stream_, [&](graph_builder& gb) { gb.embed(child); });
  }
  EXPECT_GE(alive.use_count(), 3);
  graph_exec e = g->instantiate();
  e.launch(stream_);
  stream_.synchronize();
  e.reset();
  g.reset();
  simulator().settle();
  EXPECT_TRUE(eventually([&] { return alive.use_count() == 1; }));  // a worker may release it
}

// What it allocates is at another address in each capture, and no driver moves that.
TEST_P(EngineChildren, AChildThatAllocatesIsAnotherEachTime) {
  if (!driver().supports(feature::child_graph_move)) return;
  const auto body = [&](graph_builder& gb) {
    graph child = capture(side_, [&](graph_builder& of) {
      void* const memory = of.allocate(64);
      fill_async(of, memory, 1, 64);
      of.free(memory);
    });
    gb.embed(std::move(child));
  };
  graph g = capture(stream_, body);
  try {
    static_cast<void>(g.begin_recapture(stream_, with()));
    ADD_FAILURE() << "it was not refused";
  } catch (const usage_error& refused) {
    EXPECT_NE(std::string(refused.what()).find("node 0/0"), std::string::npos) << refused.what();
  }
  EXPECT_FALSE(stream_.is_capturing());
}

TEST_P(EngineChildren, AReportAsksTheHookOfInnerNodes) {
  float value = 1;
  const auto body = [&](graph_builder& gb) { nested(gb, value); };
  graph g = capture(stream_, body);
  value = 2;
  const recapture_failure failure =
      fail(g, body, {.on_mismatch = [](const node_change&) { return hook_answer::reject; }});
  EXPECT_EQ(failure.why, mismatch::rejected);
  EXPECT_EQ(to_string(failure.found->path), "1/0/0");
}

TEST_P(EngineChildren, ReplacedStructureKnowsTheContent) {
  bool longer = false;
  float value = 1;
  const auto body = [&](graph_builder& gb) {
    const graph child = child_of(value);
    gb.embed(child);
    if (longer) gb.embed(child);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  longer = true;
  // Where nothing is captured that could be the graph, the body runs once more by `compare`.
  const recapture_options replacing{.may_rerun_body = !captures(), .replace_structure = true};
  EXPECT_TRUE(g.recapture(stream_, body, with(replacing)).structure_replaced());
  EXPECT_EQ(e.update().method, update_method::instantiated);
  EXPECT_EQ(run(e, x_), 2.0F);
  value = 3;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 2U);
  EXPECT_TRUE(e.update());
  EXPECT_EQ(run(e, x_), 6.0F);
}

TEST_P(EngineChildren, AGraphOfOthersIsReadAtEveryDepth) {
  float value = 1;
  const auto body = [&](graph_builder& gb) { nested(gb, value); };
  graph owned = capture(stream_, body);
  graph g = graph::borrow(driver(), owned.get());
  EXPECT_EQ(g.node(node_path{{{1, 0}, {0, 0}, {0, 0}}}).name(), "add_value");
  value = 4;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(to_string(report.changes()[0].path), "1/0/0");
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 104.0F);
}

TEST_P(EngineChildren, UpdateFromTakesInnerValuesOver) {
  graph g = capture(stream_, [&](graph_builder& gb) { nested(gb, 1); });
  const CUgraph other = capture(stream_, [&](graph_builder& gb) { nested(gb, 6); }).release();
  graph_exec e = g.instantiate();
  const change_report report = g.update_from(other);
  EXPECT_EQ(foreign_calls(driver()).destroy(other), 0);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(to_string(report.changes()[0].path), "1/0/0");
  EXPECT_TRUE(e.update());
  EXPECT_EQ(run(e, x_), 106.0F);
}

TEST_P(EngineChildren, ResyncSeesEditsInside) {
  graph g = capture(stream_, [&](graph_builder& gb) {
    const graph child =
        capture(side_, [&](graph_builder& of) { fill_async(of, x_.data(), 0, x_.size()); });
    gb.embed(child);
    add(gb, x_, 1);
  });
  graph_exec e = g.instantiate();
  const node_ref inner = g.node(node_path{{{0, 0}, {0, 0}}});
  ASSERT_EQ(foreign_calls(driver()).set_fill(inner.get(), reinterpret_cast<CUdeviceptr>(x_.data()),
                                             0, 16),
            0);
  g.resync();
  EXPECT_EQ(g.generation(), 1U);
  EXPECT_FALSE(e.is_current());
  EXPECT_EQ(e.update().nodes_patched, 1U);
}

// The driver's own call takes nodes of stream calls only.
TEST_P(EngineChildren, AutomaticComparesWhatNativeDoesNotTake) {
  const auto body = [&](graph_builder& gb) { nested(gb, 1); };
  graph g = capture(stream_, body);
  EXPECT_EQ(g.recapture(stream_, body).engine_used(), engine::compare);
  recapture_options native;
  native.with = engine::native;
  if (!driver().supports(feature::recapture_to_graph)) return;
  EXPECT_THROW(static_cast<void>(g.begin_recapture(stream_, native)), usage_error);
}

TEST_P(EngineChildren, MisuseDoesNoHarm) {
  const graph child = child_of(1);
  graph g = capture(stream_, [&](graph_builder& gb) {
    gb.embed(child);
    graph gone = child_of(1);
    const graph taken = std::move(gone);
    EXPECT_THROW(gb.embed(gone), usage_error);  // NOLINT(bugprone-use-after-move): what it is about
    gb.embed(taken);
  });
  EXPECT_EQ(g.node_count(), 2U);
  recapture_session session = g.begin_recapture(stream_, with());
  EXPECT_THROW(session.embed(g), usage_error);  // it is open
  session.abandon();
  EXPECT_THROW(session.embed(child), usage_error);  // it is over
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineChildren,
                         ::testing::ValuesIn(tree_cases({12040, 12080, 13000, 13030})), &case_name);

}  // namespace
}  // namespace cugraft::testing
