// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <functional>
#include <map>
#include <stdexcept>

#include "contract/memory_suite.hpp"

// `recapture_options::in_place`: the driver works on the graph itself, and a failure loses it.

namespace cugraft::testing {
namespace {

using cugraft_sim::choice;

class InPlace : public MemorySuite {
 public:
  static std::vector<engine_case> cases() {
    if (has_real_driver()) {
      std::vector<engine_case> real = engine_cases();
      std::erase_if(real, [](const engine_case& each) { return each.which != engine::native; });
      return real;
    }
    return {{engine::native, 13030},
            {engine::native, 13050},
            {engine::native, 13030, choice::recapture_failure_shows},
            {engine::native, 13030, choice::recapture_writes_parameters},
            {engine::native, 13030, choice::recapture_reports_attributes},
            {engine::native, 13030, choice::get_nodes_order}};
  }

 protected:
  change_report in_place(graph& g) { return again(g, {.in_place = true}); }

  template <class Body>
  recapture_failure lose(graph& g, Body&& body, recapture_options options = {}) {
    options.in_place = true;
    const recapture_failure failure = fail(g, body, std::move(options));
    EXPECT_TRUE(failure.graph_lost);
    EXPECT_TRUE(g.is_lost());
    return failure;
  }

  // Nothing but destroying is left of the graph, and its executable goes on.
  void expect_lost(graph& g, graph_exec& e, float value) {
    EXPECT_TRUE(g);
    EXPECT_TRUE(g.is_lost());
    const std::vector<std::function<void()>> uses{
        [&] { static_cast<void>(g.node_count()); },
        [&] { static_cast<void>(g.node(0)); },
        [&] { static_cast<void>(g.find("tag")); },
        [&] { static_cast<void>(g.fingerprint()); },
        [&] { static_cast<void>(g.generation()); },
        [&] { static_cast<void>(g.allocations()); },
        [&] { static_cast<void>(g.get()); },
        [&] { static_cast<void>(g.release()); },
        [&] { g.resync(); },
        [&] { static_cast<void>(g.instantiate()); },
        [&] { static_cast<void>(g.begin_recapture(stream_)); },
        [&] { static_cast<void>(g.try_update_from(graph(driver()))); },
        [&] { static_cast<void>(e.update()); }};
    for (const auto& use : uses) EXPECT_THROW(use(), graph_lost_error);
    EXPECT_TRUE(g.last_failure());
    EXPECT_EQ(run(e, x_), value);
    EXPECT_EQ(run(e, x_), value);
    EXPECT_NO_THROW(g.close());
    EXPECT_EQ(run(e, x_), value);
  }
};

TEST_P(InPlace, AddressesStayAndChangesAreTakenOver) {
  graph g = make();
  graph_exec e = g.instantiate();
  const CUgraph native = g.get();
  void* const address = memory_;
  EXPECT_EQ(in_place(g).nodes_changed(), 0U);
  value_ = 4;
  const change_report report = in_place(g);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(report.changes()[0].fields[0].field, "argument[1]");
  EXPECT_EQ(memory_, address);
  EXPECT_EQ(g.get(), native);
  EXPECT_FALSE(g.is_lost());
  EXPECT_EQ(run(e, x_), 1.0F);  // executables stay as they are
  EXPECT_EQ(e.update().method, update_method::patched);
  EXPECT_EQ(run(e, x_), 4.0F);
  e.close();
  graph_exec fresh = g.instantiate();
  EXPECT_EQ(run(fresh, x_), 4.0F);
}

TEST_P(InPlace, TakesTheAllocationsOfForeignCodeToo) {
  CUdeviceptr memory = 0;
  std::vector<CUdeviceptr> seen;
  const auto body = [&](graph_builder& gb) {
    EXPECT_EQ(calls_.mem_alloc_async(memory, bytes, gb.stream().get()), 0);
    seen.push_back(memory);
    fill_async(gb, reinterpret_cast<void*>(memory), 0, bytes);
    add_to(gb, reinterpret_cast<void*>(memory), value_);
    copy_async(gb, x_.data(), reinterpret_cast<void*>(memory), bytes);
    EXPECT_EQ(calls_.mem_free_async(memory, gb.stream().get()), 0);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  value_ = 3;
  EXPECT_EQ(recapture(g, body, {.in_place = true}).nodes_changed(), 1U);
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_TRUE(e.update());
  EXPECT_EQ(run(e, x_), 3.0F);
}

TEST_P(InPlace, EnginesMayTakeTurns) {
  graph g = make();
  graph_exec e = g.instantiate();
  for (int step = 1; step <= 4; ++step) {
    value_ = static_cast<float>(step);
    if (step % 2 == 0)
      in_place(g);
    else
      g.recapture(stream_, [&](graph_builder& gb) { body(gb); });  // by compare
    e.update({.may_instantiate = false});
    EXPECT_EQ(run(e, x_), value_);
  }
}

TEST_P(InPlace, EqualHostFunctionsStayTheGraphsOwn) {
  int ran = 0;
  const auto body = [&](graph_builder& gb) {
    gb.host_call([at = &ran] { ++*at; });
    gb.free(gb.allocate(64));
  };
  graph g = capture(stream_, body);
  EXPECT_EQ(recapture(g, body, {.in_place = true}).nodes_changed(), 0U);
  graph_exec e = g.instantiate();
  e.launch(stream_);
  stream_.synchronize();
  EXPECT_EQ(ran, 1);
}

TEST_P(InPlace, AnotherSizeLosesTheGraph) {
  graph g = make();
  graph_exec e = g.instantiate();
  bytes_ = 2 * bytes;
  const recapture_failure failure = lose(g, [&](graph_builder& gb) { body(gb); });
  EXPECT_EQ(failure.why, mismatch::allocation);
  EXPECT_EQ(failure.nodes_matched, 0U);
  EXPECT_EQ(failure.message,
            "node 0 (allocation): 256 bytes to 512 bytes, and nothing in the driver gives an "
            "allocation another size; capture a new graph, or re-capture with "
            "recapture_options::replace_structure");
  expect_lost(g, e, 1);
}

TEST_P(InPlace, AnotherStructureLosesTheGraph) {
  graph g = make();
  graph_exec e = g.instantiate();
  const recapture_failure failure =
      lose(g, [&](graph_builder& gb) { fill_async(gb, x_.data(), 0, 4); });
  EXPECT_EQ(failure.why, mismatch::node_kind);
  expect_lost(g, e, 1);
}

TEST_P(InPlace, AHookThatRejectsLosesTheGraph) {
  graph g = make();
  graph_exec e = g.instantiate();
  value_ = 2;
  const recapture_failure failure =
      lose(g, [&](graph_builder& gb) { body(gb); },
           {.on_mismatch = [](const node_change&) { return hook_answer::reject; }});
  EXPECT_EQ(failure.why, mismatch::rejected);
  EXPECT_EQ(failure.message,
            "the change of node 2 (kernel \"add_value\") was rejected by the mismatch hook; the "
            "graph is lost, because the driver worked in place: destroy it");
  expect_lost(g, e, 1);
}

TEST_P(InPlace, ASetterThatFailsLosesTheGraph) {
  graph g = make();
  graph_exec e = g.instantiate();
  value_ = 2;
  const recapture_failure failure = lose(g, [&](graph_builder& gb) {
    body(gb);
    fail_next("cuGraphKernelNodeSetParams", 999);
  });
  EXPECT_EQ(failure.function, "cuGraphKernelNodeSetParams");
  EXPECT_NE(failure.message.find("the graph is lost"), std::string::npos);
  expect_lost(g, e, 1);
}

TEST_P(InPlace, ASessionThatIsGivenUpLosesTheGraph) {
  graph g = make();
  graph_exec e = g.instantiate();
  EXPECT_THROW(g.recapture(
                   stream_,
                   [&](graph_builder& gb) {
                     gb.allocate(bytes);
                     throw std::runtime_error("the body's");
                   },
                   with({.in_place = true})),
               std::runtime_error);
  EXPECT_TRUE(g.is_lost());
  EXPECT_FALSE(stream_.is_capturing());
  EXPECT_THROW(g.node_count(), graph_lost_error);
  EXPECT_EQ(run(e, x_), 1.0F);
}

TEST_P(InPlace, AnExceptionOfTheErrorSaysThatTheGraphIsLost) {
  graph g = make();
  bytes_ = 1;
  try {
    again(g, {.in_place = true});
    ADD_FAILURE() << "no error";
  } catch (const recapture_error& error) {
    EXPECT_TRUE(error.graph_lost());
    EXPECT_EQ(error.reason(), mismatch::allocation);
  }
}

TEST_P(InPlace, ABeginThatTheDriverRefusesLosesNothing) {
  graph g = make();
  fail_next("cuStreamBeginRecaptureToGraph", 801);
  EXPECT_THROW(in_place(g), capture_error);
  EXPECT_FALSE(g.is_lost());
  EXPECT_EQ(in_place(g).nodes_changed(), 0U);
  fail_after_next("cuStreamBeginRecaptureToGraph", 999);
  EXPECT_THROW(in_place(g), capture_error);
  EXPECT_TRUE(g.is_lost());
  EXPECT_FALSE(stream_.is_capturing());
}

TEST_P(InPlace, ContradictionsAreRefused) {
  graph g = make();
  EXPECT_THROW(again(g, {.compare_only = true, .in_place = true}), usage_error);
  const std::string named =
      "recapture_options: in_place lets the driver work on the graph itself, as engine::native "
      "alone does; name that engine, or leave in_place out: engine::compare takes what builders "
      "allocated";
  recapture_options options{.in_place = true};
  EXPECT_THROW_MSG(g.begin_recapture(stream_, options), usage_error, named);
  options.with = engine::compare;
  EXPECT_THROW_MSG(g.begin_recapture(stream_, options), usage_error, named);
  EXPECT_THROW_MSG(g.update_from(graph(driver()), {.in_place = true}), usage_error,
                   "update_from makes no re-capture in place: leave in_place out");
  graph empty_node = capture(stream_, [&](graph_builder& gb) { fill_async(gb, x_.data(), 0, 4); });
  EXPECT_EQ(calls_.add_empty_node(empty_node.get()), 0);
  empty_node.resync();
  EXPECT_THROW(again(empty_node, {.in_place = true}), usage_error);
  EXPECT_FALSE(g.is_lost());
  EXPECT_EQ(in_place(g).nodes_changed(), 0U);
}

// Whatever call fails: the graph is lost or as it should be, and its executable launches.
TEST_P(InPlace, EveryCallMayFail) {
  std::map<std::string, unsigned> all;
  {
    graph g = make();
    value_ = 2;
    simulator().start_log();
    in_place(g);
    for (const cugraft_sim::call& call : simulator().take_log()) ++all[call.function];
  }
  EXPECT_TRUE(all.contains("cuStreamBeginRecaptureToGraph"));
  std::size_t lost = 0;
  for (const auto& [function, calls] : all) {
    for (unsigned nth = 1; nth <= calls; ++nth) {
      for (const bool after_effect : {false, true}) {
        SCOPED_TRACE(fmt::format("{} call {}{}", function, nth, after_effect ? " after" : ""));
        const world_check world(simulator());
        {
          value_ = 1;
          graph g = make();
          graph_exec e = g.instantiate();
          value_ = 2;
          simulator().plan(
              {.function = function, .nth = nth, .code = 999, .after_effect = after_effect});
          bool worked = false;
          try {
            in_place(g);
            worked = true;
          } catch (const cuda_error&) {
          }
          simulator().clear_faults();
          EXPECT_FALSE(stream_.is_capturing());
          EXPECT_FALSE(worked && g.is_lost());
          if (g.is_lost()) ++lost;
          EXPECT_EQ(run(e, x_), 1.0F);
          if (!g.is_lost()) {
            in_place(g);
            EXPECT_TRUE(e.update());
            EXPECT_EQ(run(e, x_), 2.0F);
          }
          simulator().settle();
        }
        take_reports();
        world.expect_unchanged();
      }
    }
  }
  EXPECT_GT(lost, 10U);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(InPlace);  // a real driver before 13.3 has none
INSTANTIATE_TEST_SUITE_P(Engines, InPlace, ::testing::ValuesIn(InPlace::cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
