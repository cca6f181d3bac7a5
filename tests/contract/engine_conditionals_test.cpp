// SPDX-License-Identifier: Apache-2.0
#include "contract/tree_cases.hpp"
#include "support/foreign_calls.hpp"

// Conditional nodes: bodies captured by themselves and put in place, compared at every depth, and
// patched through the nodes inside.

namespace cugraft::testing {
namespace {

class EngineConditionals : public EngineSuite {
 protected:
  // x = 0; if (1) { x += value; if (1) x += inner; } x *= 2
  void nested(graph_builder& gb) {
    fill_async(gb, x_.data(), 0, count, 4);
    gb.if_then(gb.create_condition(1), [&](graph_builder& body) {
      body.tag("outer");
      add(body, x_, value_);
      body.if_then(body.create_condition(1), [&](graph_builder& deep) {
        deep.tag("deep");
        add(deep, x_, inner_);
      });
      body.tag("");
    });
    launch(gb, {.grid = 2, .block = 32}, scale_, x_, 2.0F, static_cast<int>(count));
  }

  graph captured_nested() {
    return capture(stream_, [&](graph_builder& gb) { nested(gb); });
  }

  float value_ = 1, inner_ = 10;
};

TEST_P(EngineConditionals, BodiesRunAsTheConditionSays) {
  graph g = captured_nested();
  EXPECT_EQ(g.node_count(), 3U);
  EXPECT_EQ(g.node(1).kind(), node_kind::conditional);
  EXPECT_EQ(to_string(g.find("outer")->path()), "1/0");
  EXPECT_EQ(to_string(g.find("deep")->path()), "1/1/0");
  EXPECT_EQ(g.find("deep")->name(), "add_value");
  EXPECT_EQ(g.node(2).dependencies()[0].path(), g.node(1).path());
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 22.0F);
}

TEST_P(EngineConditionals, ABodyThatIsNotWantedDoesNotRun) {
  graph g = capture(stream_, [&](graph_builder& gb) {
    gb.if_then(gb.create_condition(0), [&](graph_builder& body) { add(body, x_, 1); });
    add(gb, x_, 10);
  });
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 10.0F);
}

TEST_P(EngineConditionals, UnchangedBodiesAreNoChange) {
  graph g = captured_nested();
  const change_report report = recapture(g, [&](graph_builder& gb) { nested(gb); });
  EXPECT_EQ(report.nodes_total(), 6U);
  EXPECT_EQ(report.nodes_changed(), 0U);
  EXPECT_EQ(g.generation(), 0U);
}

TEST_P(EngineConditionals, NodesInBodiesArePatched) {
  graph g = captured_nested();
  graph_exec e = g.instantiate();
  const CUgraphNode deep = g.find("deep")->get();
  inner_ = 20;
  const change_report report = recapture(g, [&](graph_builder& gb) { nested(gb); });
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(to_string(report.changes()[0].path), "1/1/0");
  EXPECT_EQ(report.changes()[0].tag, "deep");
  EXPECT_EQ(report.changes()[0].node, deep);
  EXPECT_EQ(run(e, x_), 22.0F);
  const exec_update update = e.update();
  EXPECT_EQ(update.method, update_method::patched);
  EXPECT_EQ(run(e, x_), 42.0F);
  inner_ = 10;
  value_ = 2;
  EXPECT_EQ(recapture(g, [&](graph_builder& gb) { nested(gb); }).nodes_changed(), 2U);
  EXPECT_EQ(e.update({.force = update_method::whole}).method, update_method::whole);
  EXPECT_EQ(run(e, x_), 24.0F);
}

TEST_P(EngineConditionals, ConditionsAreHandedOutAgain) {
  std::vector<std::uint64_t> handles;
  const auto body = [&](graph_builder& gb) {
    for (int i = 0; i < 3; ++i) {
      const condition made = gb.create_condition(1);
      handles.push_back(made.handle);
      gb.if_then(made, [&](graph_builder& of) { add(of, x_, 1); });
    }
  };
  graph g = capture(stream_, body);
  const std::vector<std::uint64_t> first = std::exchange(handles, {});
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  EXPECT_EQ(handles, first);
}

TEST_P(EngineConditionals, AChangedDefaultValueIsRefused) {
  unsigned value = 1;
  const auto body = [&](graph_builder& gb) {
    add(gb, x_, 1);
    gb.if_then(gb.create_condition(value), [&](graph_builder& of) { add(of, x_, 10); });
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  value = 0;
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.why, mismatch::conditional);
  EXPECT_EQ(failure.nodes_matched, 1U);
  EXPECT_EQ(to_string(failure.expected->path), "1");
  EXPECT_EQ(run(e, x_), 11.0F);
}

TEST_P(EngineConditionals, AnotherKindOfConditionIsRefused) {
  bool loops = false;
  const auto body = [&](graph_builder& gb) {
    const condition made = gb.create_condition(0);
    graph_builder of = loops ? gb.while_loop(made) : gb.if_then(made);
    add(of, x_, 1);
    of.close();
  };
  graph g = capture(stream_, body);
  loops = true;
  EXPECT_EQ(fail(g, body).why, mismatch::conditional);
}

TEST_P(EngineConditionals, ConditionsInAnotherOrderAreRefused) {
  bool turned = false;
  const auto body = [&](graph_builder& gb) {
    const condition first = gb.create_condition(1), second = gb.create_condition(1);
    gb.if_then(turned ? second : first, [&](graph_builder& of) { add(of, x_, 1); });
    gb.if_then(turned ? first : second, [&](graph_builder& of) { add(of, x_, 1); });
  };
  graph g = capture(stream_, body);
  turned = true;
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.why, mismatch::conditional);
  EXPECT_EQ(to_string(failure.expected->path), "0");
}

TEST_P(EngineConditionals, OtherWorkInABodyIsAMismatchWithItsPath) {
  bool more = false;
  const auto body = [&](graph_builder& gb) {
    gb.if_then(gb.create_condition(1), [&](graph_builder& of) {
      add(of, x_, 1);
      of.if_then(of.create_condition(1), [&](graph_builder& deep) {
        if (more) fill_async(deep, x_.data(), 0, count, 4);
        add(deep, x_, 1);
      });
    });
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  more = true;
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.why, mismatch::node_kind);
  EXPECT_EQ(to_string(failure.expected->path), "0/1/0");
  EXPECT_EQ(failure.expected->name, "add_value");
  EXPECT_EQ(failure.found->kind, node_kind::fill);
  EXPECT_EQ(run(e, x_), 2.0F);
  more = false;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
}

TEST_P(EngineConditionals, ForksAndForeignWorkInABody) {
  unsigned char byte = 1;
  const foreign_calls foreign(driver());
  const auto body = [&](graph_builder& gb) {
    gb.if_then(gb.create_condition(1), [&](graph_builder& of) {
      auto forks = of.fork(2);
      add(forks[0], x_, 1);
      EXPECT_EQ(foreign.memset_d8(reinterpret_cast<CUdeviceptr>(y_.data()), byte, 16,
                                  forks[1].stream().get()),
                0);
      of.join(forks);
      launch(of, {.grid = 2, .block = 32}, scale_, x_, 3.0F, static_cast<int>(count));
    });
  };
  graph g = capture(stream_, body);
  EXPECT_EQ(g.node(node_path{{{0, 0}, {2, 0}}}).dependencies().size(), 2U);
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 3.0F);
  byte = 2;
  if (!captures()) {
    const recapture_failure failure = fail(g, body);
    EXPECT_EQ(failure.why, mismatch::foreign_work) << failure.message;
    EXPECT_NE(failure.message.find("in body 0 of node 0: "), std::string::npos) << failure.message;
    ASSERT_EQ(failure.involved.size(), 1U);
    EXPECT_EQ(failure.involved[0].kind, node_kind::fill);
    EXPECT_EQ(run(e, x_), 3.0F);
    return;
  }
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(to_string(report.changes()[0].path), "0/1");
  EXPECT_TRUE(e.update());
  EXPECT_EQ(run(e, x_), 3.0F);
}

TEST_P(EngineConditionals, AChildGraphInABody) {
  float value = 5;
  const auto body = [&](graph_builder& gb) {
    const graph child = capture(side_, [&](graph_builder& of) { add(of, x_, value); });
    gb.if_then(gb.create_condition(1), [&](graph_builder& of) { of.embed(child); });
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 5.0F);
  value = 6;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(to_string(report.changes()[0].path), "0/0/0");
  EXPECT_TRUE(e.update());
  EXPECT_EQ(run(e, x_), 6.0F);
}

TEST_P(EngineConditionals, ElseAndSwitch) {
  if (!driver().supports(feature::conditional_switch)) {
    EXPECT_THROW(
        static_cast<void>(capture(
            stream_, [&](graph_builder& gb) { auto two = gb.if_else(gb.create_condition()); })),
        unsupported_error);
    EXPECT_FALSE(stream_.is_capturing());
    return;
  }
  float value = 1;
  const auto body = [&](graph_builder& gb) {
    auto [yes, no] = gb.if_else(gb.create_condition(0));
    add(yes, x_, 1);
    add(no, x_, value);
    yes.close();
    no.close();
    auto cases = gb.switch_case(gb.create_condition(2), 3);
    for (graph_builder& each : cases) {
      add(each, x_, value_ *= 10);
      each.close();
    }
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 1001.0F);
  value = 2;
  value_ = 1;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(to_string(report.changes()[0].path), "0[1]/0");
  EXPECT_TRUE(e.update());
  EXPECT_EQ(run(e, x_), 1002.0F);
}

TEST_P(EngineConditionals, AKernelSetsTheConditionOfALoop) {
  CUGRAFT_NEEDS_SIMULATOR();  // of the device runtime's function; a GPU needs its library linked in
  const library setters = load_kernels(context_, "condition");
  const kernel count_down = setters.get_kernel("count_down");
  device_buffer counter(context_, sizeof(int));
  const auto body = [&](graph_builder& gb) {
    fill_async(gb, counter.data(), 3, 1, 4);
    const condition more = gb.create_condition(1);
    gb.while_loop(more, [&](graph_builder& of) {
      add(of, x_, value_);
      launch(of, {}, count_down, more, counter);
    });
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 3.0F);
  value_ = 2;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 1U);
  EXPECT_TRUE(e.update());
  EXPECT_EQ(run(e, x_), 6.0F);
}

// The condition lies between two streams (C083).
TEST_P(EngineConditionals, C083_AConditionalNodeBesideAnotherStream) {
  const auto body = [&](graph_builder& gb) {
    add(gb, x_, 1);
    graph_builder side = gb.fork(side_);
    add(side, y_, 1);
    gb.if_then(gb.create_condition(1), [&](graph_builder& of) { add(of, x_, 10); });
    add(gb, x_, 100);
    gb.join(side);
    launch(gb, {.grid = 2, .block = 32}, scale_, x_, 2.0F, static_cast<int>(count));
  };
  graph g = capture(stream_, body);
  EXPECT_EQ(g.node(2).kind(), node_kind::conditional);
  EXPECT_EQ(g.node(3).dependencies()[0].path(), g.node(2).path());
  EXPECT_EQ(g.node(4).dependencies().size(), 2U);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 222.0F);
}

TEST_P(EngineConditionals, OneExecutableAtATime) {
  graph g = captured_nested();
  graph_exec e = g.instantiate();
  EXPECT_THROW(static_cast<void>(g.instantiate()), usage_error);
  const exec_update refused = e.update({.force = update_method::instantiated});
  ASSERT_EQ(refused.refused.size(), 1U);
  EXPECT_EQ(refused.refused[0].rule, "exec.single");
  EXPECT_EQ(run(e, x_), 22.0F);
  EXPECT_EQ(e.update({.destroy_first = true, .force = update_method::instantiated}).method,
            update_method::instantiated);
  EXPECT_EQ(run(e, x_), 22.0F);
  e.reset();
  graph_exec another = g.instantiate();
  EXPECT_EQ(run(another, x_), 22.0F);
}

TEST_P(EngineConditionals, ReplacedStructureKnowsTheBodies) {
  graph g = capture(stream_, [&](graph_builder& gb) { add(gb, x_, 1); });
  const auto body = [&](graph_builder& gb) { nested(gb); };
  // Where nothing is captured that could be the graph, the body runs once more by `compare`.
  const recapture_options replacing{.may_rerun_body = !captures(), .replace_structure = true};
  EXPECT_TRUE(g.recapture(stream_, body, with(replacing)).structure_replaced());
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 22.0F);
  value_ = 2;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 1U);
  EXPECT_TRUE(e.update());
  EXPECT_EQ(run(e, x_), 24.0F);
}

TEST_P(EngineConditionals, ResyncKeepsTheBodies) {
  graph g = captured_nested();
  graph_exec e = g.instantiate();
  g.resync();
  EXPECT_EQ(g.generation(), 0U);
  EXPECT_TRUE(e.is_current());
  value_ = 3;
  EXPECT_EQ(recapture(g, [&](graph_builder& gb) { nested(gb); }).nodes_changed(), 1U);
  EXPECT_TRUE(e.update());
  EXPECT_EQ(run(e, x_), 26.0F);
}

// What others made cannot be read back.
TEST_P(EngineConditionals, ForeignConditionsAreRefusedBeforeTheCapture) {
  graph owned = captured_nested();
  graph g = graph::borrow(driver(), owned.get());
  int runs = 0;
  try {
    g.recapture(
        stream_, [&](graph_builder&) { ++runs; }, with());
    ADD_FAILURE() << "it was not refused";
  } catch (const usage_error& refused) {
    EXPECT_NE(std::string(refused.what()).find("node 1 is a conditional node"), std::string::npos)
        << refused.what();
  }
  EXPECT_EQ(runs, 0);
  EXPECT_FALSE(stream_.is_capturing());
  EXPECT_THROW(static_cast<void>(capture(stream_, [&](graph_builder& gb) { gb.embed(owned); })),
               usage_error);
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineConditionals,
                         ::testing::ValuesIn(tree_cases({12040, 12080, 13000, 13030})), &case_name);

}  // namespace
}  // namespace cugraft::testing
