// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <stdexcept>

#include "contract/tree_cases.hpp"
#include "support/foreign_calls.hpp"

// Bodies that fail, in every way: the process, the streams and the graph are in order afterwards.

namespace cugraft::testing {
namespace {

class EngineBodies : public EngineSuite {
 protected:
  using work = std::function<void(graph_builder&)>;

  // x = 0; x += 1; if (1) { x += 10; more }; x *= 2
  work with_body(work more) {
    return [this, more](graph_builder& gb) {
      fill_async(gb, x_.data(), 0, count, 4);
      add(gb, x_, 1);
      gb.if_then(gb.create_condition(1), [&](graph_builder& body) {
        add(body, x_, 10);
        more(body);
      });
      launch(gb, {.grid = 2, .block = 32}, scale_, x_, 2.0F, static_cast<int>(count));
    };
  }

  static void nothing(graph_builder&) {}

  // Where it breaks, a plain capture and a re-capture fail for this reason, in body 0 of node 2, or
  // for `by_direct` where foreign code breaks what holds the body's streams;
  // the graph and its executable are what they were.
  recapture_failure expect_failure(const work& body, mismatch why,
                                   std::optional<mismatch> by_direct = std::nullopt) {
    breaks_ = true;
    try {
      static_cast<void>(capture(stream_, body));
      ADD_FAILURE() << "the capture succeeded";
    } catch (const capture_error& error) {
      EXPECT_EQ(error.failure().why, why) << error.what();
      expect_place(error.failure());
    }
    EXPECT_EQ(simulator().live().capturing_streams, 0U);
    breaks_ = false;
    graph g = capture(stream_, body);
    graph_exec e = g.instantiate();
    const float result = run(e, x_);
    breaks_ = is_recapture_ = true;
    recapture_failure failure = fail(g, body);
    EXPECT_EQ(failure.why, captures() ? why : by_direct.value_or(why)) << failure.message;
    expect_place(failure);
    EXPECT_EQ(simulator().live().capturing_streams, 0U);
    EXPECT_EQ(run(e, x_), result);
    breaks_ = false;
    EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
    is_recapture_ = false;
    return failure;
  }

  static void expect_place(const recapture_failure& failure) {
    EXPECT_NE(failure.message.find("body 0 of node 2"), std::string::npos) << failure.message;
  }

  // A call that a capture does not take, if it is to break.
  void synchronize(stream_ref stream) const {
    if (!breaks_) return;
    EXPECT_NE(foreign_.stream_synchronize(stream.get()), 0);
  }

  // Whether the driver captures what goes into the body that runs.
  bool is_captured() const { return !is_recapture_ || captures(); }

  // Why a re-capture fails where foreign code ended the capture of its streams.
  mismatch broken_by_others() const {
    return captures() ? mismatch::capture_invalidated : mismatch::foreign_work;
  }

  bool breaks_ = true, is_recapture_ = false;
  foreign_calls foreign_{driver()};
};

TEST_P(EngineBodies, C061_ABodyThatIsInvalidated) {
  const auto failure = expect_failure(with_body([&](graph_builder& body) {
                                        synchronize(body.stream());
                                        add(body, x_, 1);
                                        // Else the next call asks no driver.
                                        EXPECT_EQ(body.has_failed(), breaks_ && is_captured());
                                      }),
                                      mismatch::capture_invalidated, mismatch::foreign_work);
  EXPECT_EQ(failure.code, captures() ? 901 : 918);
}

TEST_P(EngineBodies, ABodyThatIsInvalidatedByItsLastCall) {
  expect_failure(with_body([&](graph_builder& body) { synchronize(body.stream()); }),
                 mismatch::capture_invalidated, mismatch::foreign_work);
}

TEST_P(EngineBodies, WorkInABodyThatIsNotJoined) {
  const auto failure = expect_failure(with_body([&](graph_builder& body) {
                                        graph_builder fork = body.fork(side_);
                                        fork.tag("lost");
                                        add(fork, y_, 1);
                                        if (!breaks_) body.join(fork);
                                      }),
                                      mismatch::capture_unjoined);
  ASSERT_EQ(failure.involved.size(), 1U);
  EXPECT_EQ(to_string(failure.involved[0].path), "2/1");
  EXPECT_EQ(failure.involved[0].tag, "lost");
}

TEST_P(EngineBodies, AnEventOfTheParentMergesTwoCaptures) {
  event ahead(context_);
  for (const bool by_foreign_code : {false, true}) {
    const auto broken = [&](graph_builder& gb) {
      fill_async(gb, x_.data(), 0, count, 4);
      add(gb, x_, 1);
      gb.stream().record(ahead);
      gb.if_then(gb.create_condition(1), [&](graph_builder& body) {
        add(body, x_, 10);
        if (!breaks_) return;
        if (!by_foreign_code) return body.stream().wait(ahead);
        EXPECT_EQ(foreign_.stream_wait_event(body.stream().get(), ahead.get(), 0), 902);
      });
      launch(gb, {.grid = 2, .block = 32}, scale_, x_, 2.0F, static_cast<int>(count));
    };
    expect_failure(broken, mismatch::capture_invalidated,
                   by_foreign_code ? mismatch::foreign_work : mismatch::capture_invalidated);
  }
}

TEST_P(EngineBodies, C062_WhatABodyMayNotHoldIsNamedAtItsClose) {
  const auto broken = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, count, 4);
    add(gb, x_, 1);
    graph_builder body = gb.if_then(gb.create_condition(1));
    add(body, x_, 10);
    body.tag("callback");
    body.host_call([] {});
    try {
      body.close();
      ADD_FAILURE() << "it was closed";
    } catch (const usage_error& refused) {
      EXPECT_EQ(std::string(refused.what()),
                "close: body 0 of node 2 holds node 2/1 (host, tag \"callback\"): a conditional "
                "body holds kernels, copies, fills, child graphs, conditional and empty nodes "
                "only; enqueue it outside of the body");
    }
    EXPECT_TRUE(body.is_building());
    launch(gb, {.grid = 2, .block = 32}, scale_, x_, 2.0F, static_cast<int>(count));
  };
  try {
    static_cast<void>(capture(stream_, broken));
    ADD_FAILURE() << "the capture succeeded";
  } catch (const capture_error& error) {
    EXPECT_EQ(error.failure().why, mismatch::driver_failure);
    expect_place(error.failure());
    EXPECT_NE(error.failure().message.find("node 2/1 (host"), std::string::npos);
  }
  graph g = capture(stream_, with_body(&nothing));
  EXPECT_EQ(fail(g, broken).why, mismatch::node_count);  // the mismatch goes first
  EXPECT_EQ(recapture(g, with_body(&nothing)).nodes_changed(), 0U);
}

TEST_P(EngineBodies, AnExceptionInABodyLeavesUnchanged) {
  const auto broken = with_body([](graph_builder&) { throw std::runtime_error("mine"); });
  EXPECT_THROW(static_cast<void>(capture(stream_, broken)), std::runtime_error);
  EXPECT_EQ(simulator().live().capturing_streams, 0U);
  graph g = capture(stream_, with_body(&nothing));
  graph_exec e = g.instantiate();
  EXPECT_THROW(static_cast<void>(g.recapture(stream_, broken, with())), std::runtime_error);
  EXPECT_FALSE(g.last_failure().has_value());
  EXPECT_EQ(simulator().live().capturing_streams, 0U);
  EXPECT_EQ(run(e, x_), 22.0F);
  EXPECT_EQ(recapture(g, with_body(&nothing)).nodes_changed(), 0U);
}

TEST_P(EngineBodies, AbandonedWithBodiesOpen) {
  graph g = capture(stream_, with_body(&nothing));
  graph_exec e = g.instantiate();
  {
    capture_session session = begin_capture(stream_);
    graph_builder outer = session.if_then(session.create_condition(1));
    add(outer, x_, 1);
    graph_builder inner = outer.while_loop(outer.create_condition(1));
    add(inner, x_, 1);
    session.abandon();
    EXPECT_FALSE(inner.is_building());
    EXPECT_THROW(add(inner, x_, 1), usage_error);
    EXPECT_THROW(inner.close(), usage_error);
  }
  {
    recapture_session session = g.begin_recapture(stream_, with());
    graph_builder outer = session.if_then(session.create_condition(1));
    add(outer, x_, 1);
  }
  EXPECT_EQ(simulator().live().capturing_streams, 0U);
  EXPECT_EQ(run(e, x_), 22.0F);
  EXPECT_EQ(recapture(g, with_body(&nothing)).nodes_changed(), 0U);
}

TEST_P(EngineBodies, TheParentFailsWhileABodyIsOpen) {
  graph g = capture(stream_, with_body(&nothing));
  graph_exec e = g.instantiate();
  const auto broken = [&](graph_builder& gb) {
    fill_async(gb, x_.data(), 0, count, 4);
    add(gb, x_, 1);
    gb.if_then(gb.create_condition(1), [&](graph_builder& body) {
      EXPECT_NE(foreign_.stream_synchronize(stream_.get()), 0);
      add(gb, x_, 5);
      EXPECT_EQ(body.has_failed(), is_captured());
      add(body, x_, 10);
    });
  };
  is_recapture_ = false;
  EXPECT_THROW(static_cast<void>(capture(stream_, broken)), capture_error);
  EXPECT_EQ(simulator().live().capturing_streams, 0U);
  is_recapture_ = true;
  const recapture_failure failure = fail(g, broken);
  EXPECT_EQ(failure.why, broken_by_others()) << failure.message;
  EXPECT_EQ(simulator().live().capturing_streams, 0U);
  EXPECT_EQ(run(e, x_), 22.0F);
  EXPECT_EQ(recapture(g, with_body(&nothing)).nodes_changed(), 0U);
}

TEST_P(EngineBodies, AStreamOfABodyIsDestroyed) {
  graph g = capture(stream_, with_body(&nothing));
  recapture_session session = g.begin_recapture(stream_, with());
  graph_builder body = session.if_then(session.create_condition(1));
  {
    const stream spare(context_);
    add(body.fork(spare), y_, 1);
  }
  EXPECT_FALSE(session.is_building());
  EXPECT_FALSE(body.is_building());
  EXPECT_THROW(session.end(), usage_error);
  EXPECT_EQ(simulator().live().capturing_streams, 0U);
  EXPECT_EQ(recapture(g, with_body(&nothing)).nodes_changed(), 0U);
}

TEST_P(EngineBodies, BothFail) {
  graph g = capture(stream_, with_body(&nothing));
  graph_exec e = g.instantiate();
  const auto broken = with_body([&](graph_builder& body) {
    EXPECT_NE(foreign_.stream_synchronize(body.stream().get()), 0);
    EXPECT_NE(foreign_.stream_synchronize(stream_.get()), 0);
  });
  EXPECT_THROW(static_cast<void>(capture(stream_, broken)), capture_error);
  EXPECT_EQ(fail(g, broken).why, broken_by_others());
  EXPECT_EQ(simulator().live().capturing_streams, 0U);
  EXPECT_EQ(run(e, x_), 22.0F);
}

// A session that has failed goes on tracking: what comes later in bodies is compared too, and
// runs nowhere.
TEST_P(EngineBodies, AFailedSessionTracksBodies) {
  bool breaks = false, other = false;
  const auto body = [&](graph_builder& gb) {
    add(gb, x_, 1);
    if (breaks) static_cast<void>(foreign_.stream_synchronize(stream_.get()));
    add(gb, x_, 1);
    gb.if_then(gb.create_condition(1), [&](graph_builder& of) {
      add(of, x_, 1);
      of.if_then(of.create_condition(1), [&](graph_builder& deep) {
        deep.tag("deep");
        if (other)
          fill_async(deep, x_.data(), 1, count, 4);
        else
          add(deep, x_, 1);
      });
    });
  };
  graph g = capture(stream_, body);
  clear(x_);
  breaks = true;
  EXPECT_EQ(fail(g, body).why, broken_by_others());
  other = true;
  breaks = captures();  // else that explains whatever came behind it
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.why, mismatch::node_kind) << failure.message;
  EXPECT_EQ(to_string(failure.found->path), "2/1/0");
  EXPECT_EQ(failure.found->tag, "deep");
  EXPECT_EQ(read(x_).front(), 0.0F);
  breaks = other = false;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
}

TEST_P(EngineBodies, BodiesThatAreOpenAtTheEndAreCompleted) {
  const auto body = [&](graph_builder& gb) {
    graph_builder outer = gb.if_then(gb.create_condition(1));
    add(outer, x_, 1);
    graph_builder inner = outer.if_then(outer.create_condition(1));
    add(inner, x_, 10);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 11.0F);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
}

TEST_P(EngineBodies, MisuseDoesNoHarm) {
  graph g = capture(stream_, [&](graph_builder& gb) {
    EXPECT_THROW(gb.close(), usage_error);
    const condition made = gb.create_condition(1);
    EXPECT_THROW(static_cast<void>(gb.if_then(condition{made.handle + 99})), usage_error);
    EXPECT_THROW(static_cast<void>(gb.switch_case(made, 0)), usage_error);
    graph_builder outer = gb.if_then(made);
    EXPECT_THROW(static_cast<void>(gb.if_then(made)), usage_error);  // it is used
    graph_builder inner = outer.if_then(outer.create_condition(1));
    graph_builder fork = inner.fork(1)[0];
    add(fork, x_, 1);
    EXPECT_THROW(fork.close(), usage_error);
    EXPECT_THROW(outer.close(), usage_error);  // the inner one is open
    EXPECT_THROW(gb.join(inner), usage_error);
    inner.join(fork);
    inner.close();
    EXPECT_THROW(inner.close(), usage_error);
    EXPECT_THROW(add(inner, x_, 1), usage_error);
    outer.close();
  });
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 1.0F);
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineBodies, ::testing::ValuesIn(tree_cases({12040, 13030})),
                         &case_name);

// The driver's own call does not know such nodes: another structure, whichever engine it is.
class EngineUnknownNodes : public EngineSuite {};

TEST_P(EngineUnknownNodes, AConditionWhereThereWasNoneIsAMismatch) {
  graph g = capture(stream_, [&](graph_builder& gb) {
    add(gb, x_, 1);
    add(gb, x_, 2);
  });
  graph_exec e = g.instantiate();
  const recapture_failure failure = fail(g, [&](graph_builder& gb) {
    add(gb, x_, 1);
    gb.if_then(gb.create_condition(1), [&](graph_builder& of) { add(of, x_, 2); });
  });
  EXPECT_EQ(failure.why, mismatch::depth);  // the same kernels, one of them in a body
  EXPECT_EQ(failure.nodes_matched, 1U);
  EXPECT_EQ(failure.found->kind, node_kind::conditional);
  const graph child =
      capture(side_, [&](graph_builder& gb) { fill_async(gb, x_.data(), 1, 4, 4); });
  EXPECT_EQ(fail(g, [&](graph_builder& gb) { gb.embed(child); }).why, mismatch::node_kind);
  EXPECT_EQ(run(e, x_), 3.0F);
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineUnknownNodes, ::testing::ValuesIn(engine_cases()),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
