// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "contract/engine_suite.hpp"
#include "support/eventually.hpp"
#include "support/foreign_calls.hpp"

// What only the engine `direct` has, in bodies and embedded graphs: foreign work is found where it
// is, and what did not change asks no driver.

namespace cugraft::testing {
namespace {

class DirectBodies : public EngineSuite {
 protected:
  using work = std::function<void(graph_builder&)>;

  // x = 0; if (1) { x += value; what is foreign; if (1) { x += 10; the same } }
  void body(graph_builder& gb, const work& outer = {}, const work& inner = {}) {
    fill_async(gb, x_.data(), 0, x_.size());
    gb.if_then(gb.create_condition(1), [&](graph_builder& in) {
      add(in, x_, value_);
      if (outer) outer(in);
      in.if_then(in.create_condition(1), [&](graph_builder& deep) {
        add(deep, x_, 10);
        if (inner) inner(deep);
      });
    });
  }

  // Fails for foreign work in this place, names `text`, and leaves all in order.
  void expect_found(const work& outer, const work& inner, const std::string& place,
                    const std::string& text) {
    const recapture_failure failure =
        fail(graph_, [&](graph_builder& gb) { body(gb, outer, inner); });
    EXPECT_EQ(failure.why, mismatch::foreign_work) << failure.message;
    EXPECT_EQ(failure.code, 918);
    EXPECT_NE(failure.message.find("did not go through cugraft in " + place + ": "),
              std::string::npos)
        << failure.message;
    EXPECT_NE(failure.message.find(text), std::string::npos) << failure.message;
    EXPECT_EQ(simulator().live().capturing_streams, 0U);
    value_ = 1;
    EXPECT_EQ(run(exec_, x_), 11.0F);
    EXPECT_EQ(recapture(graph_, [&](graph_builder& gb) { body(gb); }).nodes_changed(), 0U);
  }

  foreign_calls calls_{driver()};
  CUdeviceptr foreign_target_ = reinterpret_cast<CUdeviceptr>(y_.data());
  float value_ = 1;
  graph graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); });
  graph_exec exec_ = graph_.instantiate();
};

TEST_P(DirectBodies, ForeignNodesAreFoundAtEveryDepth) {
  clear(y_);
  const work foreign = [&](graph_builder& in) {
    EXPECT_EQ(calls_.memset_d8(foreign_target_, 9, 8, in.stream().get()), 0);
  };
  value_ = 5;
  expect_found(foreign, {}, "body 0 of node 1", "a node of the kind fill");
  expect_found({}, foreign, "body 0 of node 1/1", "a node of the kind fill");
  EXPECT_EQ(read(y_).front(), 0.0F);  // it ran nowhere
}

TEST_P(DirectBodies, ForeignKernelsInABodyAreNamed) {
  const work foreign = [&](graph_builder& in) {
    EXPECT_EQ(calls_.launch_kernel(add_.get(), foreign_target_, 1, 1, in.stream().get()), 0);
  };
  expect_found(foreign, {}, "body 0 of node 1", "a node of the kind kernel \"add_value\"");
}

TEST_P(DirectBodies, ForeignWaitsInABodyAreFound) {
  const event passed(context_);
  const work foreign = [&](graph_builder& in) {
    const graph_builder other = in.fork(side_);
    EXPECT_EQ(calls_.event_record(passed.get(), in.stream().get()), 0);
    EXPECT_EQ(calls_.stream_wait_event(side_.get(), passed.get(), 0), 0);
    in.join(other);
  };
  expect_found(foreign, {}, "body 0 of node 1", "waits for work that is not cugraft's");
}

// What held the streams of the one that failed holds those of the next.
TEST_P(DirectBodies, ABodyThatCannotBeHeldAnyMoreLeavesTheNextOneAlone) {
  const auto two = [&](graph_builder& gb, const work& first) {
    for (int i = 0; i < 2; ++i)
      gb.if_then(gb.create_condition(1), [&](graph_builder& in) {
        add(in, x_, 1);
        if (i == 0 && first) first(in);
      });
  };
  graph g = capture(stream_, [&](graph_builder& gb) { two(gb, {}); });
  const recapture_failure failure = fail(g, [&](graph_builder& gb) {
    two(gb, [&](graph_builder& in) {
      EXPECT_EQ(calls_.memset_d8(foreign_target_, 9, 8, in.stream().get()), 0);
      fail_next("cuStreamBeginCapture", 1);
    });
  });
  EXPECT_EQ(failure.why, mismatch::foreign_work) << failure.message;
  EXPECT_EQ(simulator().live().capturing_streams, 0U);
  EXPECT_EQ(recapture(g, [&](graph_builder& gb) { two(gb, {}); }).nodes_changed(), 0U);
}

TEST_P(DirectBodies, ABodyThatForeignCodeEndsIsFound) {
  const work foreign = [&](graph_builder& in) { calls_.end_and_begin_capture(in.stream().get()); };
  expect_found(foreign, {}, "body 0 of node 1", "was ended");
}

TEST_P(DirectBodies, ABodyThatForeignWorkIsInRunsOnceMoreWithCompare) {
  int runs = 0;
  const change_report report = graph_.recapture(
      stream_,
      [&](graph_builder& gb) {
        value_ = 3;
        body(gb, [&](graph_builder& in) {
          if (++runs > 1) return;
          EXPECT_EQ(calls_.memset_d8(foreign_target_, 9, 8, in.stream().get()), 0);
        });
      },
      with({.may_rerun_body = true}));
  EXPECT_EQ(report.engine_used(), engine::compare);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(report.nodes_changed(), 1U);
  exec_.update();
  EXPECT_EQ(run(exec_, x_), 13.0F);
}

TEST_P(DirectBodies, WhatIsUnchangedInNodesAsksNoDriver) {
  const auto calls = [&](int nodes) {
    const auto many = [&](graph_builder& on) {
      for (int i = 0; i < nodes; ++i) add(on, x_, 1);
    };
    const graph child = capture(side_, many);
    const auto all = [&](graph_builder& gb) {
      gb.if_then(gb.create_condition(1), [&](graph_builder& in) {
        many(in);
        in.embed(child);
      });
      gb.embed(child);
    };
    graph g = capture(stream_, all);
    recapture(g, all);  // the first makes what is kept
    simulator().start_log();
    EXPECT_EQ(recapture(g, all).nodes_changed(), 0U);
    return simulator().take_log().size();
  };
  EXPECT_EQ(calls(4), calls(400));
}

// Its captures are kept, one for each body that is open at one time.
TEST_P(DirectBodies, BodiesOneAfterTheOtherShareWhatHoldsTheirStreams) {
  const auto graphs_of = [&](int bodies) {
    const auto many = [&](graph_builder& gb) {
      for (int i = 0; i < bodies; ++i)
        gb.if_then(gb.create_condition(1), [&](graph_builder& in) { add(in, x_, 1); });
    };
    graph g = capture(stream_, many);
    const auto before = simulator().live().graphs;
    EXPECT_EQ(recapture(g, many).nodes_changed(), 0U);
    return simulator().live().graphs - before;
  };
  EXPECT_EQ(graphs_of(1), 2U);
  EXPECT_EQ(graphs_of(20), 2U);
}

// The child is gone when its kernel's attributes are copied into the graph.
TEST_P(DirectBodies, AttributesInAnEmbeddedGraphAreTakenOver) {
  int priority = 0;
  const auto all = [&](graph_builder& gb) {
    const graph child = capture(side_, [&](graph_builder& of) {
      launch(of, {.grid = 2, .block = 32, .priority = priority}, add_, x_, 1.0F,
             static_cast<int>(count));
    });
    const graph middle = capture(side_, [&](graph_builder& of) { of.embed(child); });
    gb.if_then(gb.create_condition(1), [&](graph_builder& in) { in.embed(middle); });
  };
  graph g = capture(stream_, all);
  priority = -1;
  const change_report report = recapture(g, all);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(to_string(report.changes()[0].path), "0/0/0/0");
  constexpr int priority_attribute = 8;  // CU_LAUNCH_ATTRIBUTE_PRIORITY
  const node_ref inner = g.node(report.changes()[0].path);
  EXPECT_EQ(calls_.attribute(inner.get(), priority_attribute), -1);
  EXPECT_EQ(recapture(g, all).nodes_changed(), 0U);
}

// What foreign code attached to an embedded graph lives as long as the values that came of it.
TEST_P(DirectBodies, ObjectsOfAForeignChildLiveOn) {
  std::atomic<int> destroyed{0};
  float value = 1;
  const auto all = [&](graph_builder& gb) {
    const graph child = capture(side_, [&](graph_builder& of) {
      calls_.launch_kernel(add_.get(), reinterpret_cast<CUdeviceptr>(x_.data()), value,
                           static_cast<int>(count), of.stream().get());
      if (value > 1) calls_.attach_user_object(of.stream().get(), destroyed);
    });
    gb.if_then(gb.create_condition(1), [&](graph_builder& in) { in.embed(child); });
  };
  std::optional<graph> g = capture(stream_, all);
  graph_exec e = g->instantiate();
  value = 2;
  EXPECT_EQ(recapture(*g, all).nodes_changed(), 1U);
  EXPECT_EQ(destroyed, 0);
  EXPECT_TRUE(e.update());
  EXPECT_EQ(run(e, x_), 2.0F);
  e.reset();
  g.reset();
  EXPECT_TRUE(eventually([&] { return destroyed == 1; }));
}

TEST_P(DirectBodies, AnUnchangedForeignChildIsNoNewGeneration) {
  const auto all = [&](graph_builder& gb) {
    const graph child = capture(side_, [&](graph_builder& of) {
      calls_.launch_kernel(add_.get(), reinterpret_cast<CUdeviceptr>(x_.data()), 1,
                           static_cast<int>(count), of.stream().get());
    });
    gb.embed(child);
  };
  graph g = capture(stream_, all);
  const std::uint64_t generation = g.generation();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(recapture(g, all).nodes_changed(), 0U);
    EXPECT_EQ(g.generation(), generation);
  }
}

// No call of cugraft's makes an empty node, but a graph that is embedded may have one.
TEST_P(DirectBodies, EmptyNodesOfAChildAreCompared) {
  bool has_more = false;
  const auto all = [&](graph_builder& gb) {
    graph child = capture(side_, [&](graph_builder& of) { add(of, x_, value_); });
    EXPECT_EQ(calls_.add_empty_node(child.get()), 0);
    if (has_more) {
      EXPECT_EQ(calls_.add_empty_node(child.get()), 0);
    }
    child.resync();
    gb.embed(child);
  };
  graph g = capture(stream_, all);
  value_ = 4;
  const change_report report = recapture(g, all);
  EXPECT_EQ(report.nodes_total(), 3U);
  EXPECT_EQ(report.nodes_changed(), 1U);
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 4.0F);
  has_more = true;
  const recapture_failure failure = fail(g, all);
  EXPECT_EQ(failure.why, mismatch::node_count);
  EXPECT_EQ(to_string(failure.found->path), "0/2");
}

TEST_P(DirectBodies, NothingIsLeftOfBodiesThatAreNeverClosed) {
  const auto live = simulator().live();
  {
    recapture_session session = graph_.begin_recapture(stream_, with());
    fill_async(session, x_.data(), 0, x_.size());
    graph_builder outer = session.if_then(session.create_condition(1));
    add(outer, x_, 7);
    graph_builder inner = outer.if_then(outer.create_condition(1));
    graph_builder fork = inner.fork(side_);
    add(fork, y_, 1);
    session.abandon();
    EXPECT_FALSE(fork.is_building());
  }
  EXPECT_EQ(simulator().live().capturing_streams, 0U);
  EXPECT_EQ(simulator().live().graphs, live.graphs);
  EXPECT_EQ(run(exec_, x_), 11.0F);
  value_ = 2;
  EXPECT_EQ(recapture(graph_, [&](graph_builder& gb) { body(gb); }).nodes_changed(), 1U);
  exec_.update();
  EXPECT_EQ(run(exec_, x_), 12.0F);
}

INSTANTIATE_TEST_SUITE_P(Engines, DirectBodies, ::testing::ValuesIn(direct_cases({12040, 13030})),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
