// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "contract/memory_suite.hpp"

// What a builder allocates and frees, in captures and re-captures.

namespace cugraft::testing {
namespace {

class EngineMemory : public MemorySuite {
 public:
  using MemorySuite::cases;
};

TEST_P(EngineMemory, ARecaptureHandsOutTheGraphsAddressesInOrder) {
  std::vector<void*> first, now;
  std::vector<void*>* into = &first;
  const auto body = [&](graph_builder& gb) {
    void* const a = gb.allocate(bytes);
    void* const b = gb.allocate(2 * bytes);
    *into = {a, b};
    fill_async(gb, a, 0, bytes);
    add_to(gb, a, value_);
    copy_async(gb, b, a, bytes);
    copy_async(gb, x_.data(), b, bytes);
    gb.free(b);
    gb.free(a);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  EXPECT_EQ(run(e, x_), 1.0F);
  const auto made = simulator().calls("cuMemAllocAsync");

  into = &now;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  EXPECT_EQ(now, first);
  EXPECT_EQ(simulator().calls("cuMemAllocAsync"), made);  // an empty node stands for it
  value_ = 4;
  const change_report report = recapture(g, body);
  EXPECT_EQ(now, first);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(to_string(report.changes()[0].path), "3");
  EXPECT_EQ(report.overall(), verdict::patchable);
  EXPECT_EQ(e.update().method, update_method::patched);
  EXPECT_EQ(run(e, x_), 4.0F);
  EXPECT_EQ(run(e, x_), 4.0F);
}

TEST_P(EngineMemory, AutomaticMeansCompare) {
  graph g = make();
  const change_report report = g.recapture(stream_, [&](graph_builder& gb) { body(gb); });
  EXPECT_EQ(report.engine_used(), engine::compare);
  EXPECT_EQ(report.nodes_total(), 5U);
}

TEST_P(EngineMemory, C047_NodesAreListedBeforeTheGraphIsInstantiated) {
  graph g = capture(stream_, [&](graph_builder& gb) {
    gb.tag("kept");
    void* const kept = gb.allocate(bytes);
    gb.tag("");
    void* const freed = gb.allocate(32);
    fill_async(gb, kept, 1, bytes);
    fill_async(gb, freed, 1, 32);
    gb.free(freed);
  });
  const std::vector<graph_allocation> listed = g.allocations();
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(to_string(listed[0].path), "0");
  EXPECT_EQ(listed[0].bytes, bytes);
  EXPECT_EQ(listed[0].device, 0);
  EXPECT_FALSE(listed[0].freed_at);
  EXPECT_FALSE(listed[0].is_foreign);
  EXPECT_NE(listed[0].pointer, nullptr);
  EXPECT_EQ(listed[1].bytes, 32U);
  ASSERT_TRUE(listed[1].freed_at);
  EXPECT_EQ(to_string(*listed[1].freed_at), "4");
  EXPECT_EQ(g.find("kept")->kind(), node_kind::allocation);
  EXPECT_EQ(g.node(4).kind(), node_kind::free);
  EXPECT_TRUE(graph(driver()).allocations().empty());
  EXPECT_THROW(static_cast<void>(graph(std::move(g)), g.allocations()), usage_error);
}

TEST_P(EngineMemory, C050_AnotherSizeIsAMismatchOfItsOwn) {
  graph g = make();
  graph_exec e = g.instantiate();
  bytes_ = 2 * bytes;
  const recapture_failure failure = fail(g, [&](graph_builder& gb) {
    body(gb);
    EXPECT_FALSE(gb.has_failed());  // it shows at the end and nowhere else
  });
  EXPECT_EQ(failure.why, mismatch::allocation);
  EXPECT_EQ(failure.code, 918);
  EXPECT_EQ(failure.nodes_matched, 0U);
  EXPECT_EQ(failure.expected->kind, node_kind::allocation);
  EXPECT_EQ(failure.found->kind, node_kind::allocation);
  EXPECT_EQ(failure.message,
            "node 0 (allocation): 256 bytes to 512 bytes, and nothing in the driver gives an "
            "allocation another size; capture a new graph, or re-capture with "
            "recapture_options::replace_structure");
  bytes_ = bytes;
  value_ = 2;
  EXPECT_EQ(again(g).nodes_changed(), 1U);
  EXPECT_TRUE(e.update());
  EXPECT_EQ(run(e, x_), 2.0F);
}

TEST_P(EngineMemory, TheFirstPositionThatDiffersDecides) {
  const auto captured = [&](graph_builder& gb) {
    fill_async(gb, y_.data(), 0, 4);
    gb.free(gb.allocate(64));
    add(gb, y_, 1);
  };
  graph g = capture(stream_, captured);
  const auto failed_by = [&](auto&& body) { return fail(g, body); };
  EXPECT_EQ(failed_by([&](graph_builder& gb) {
              add(gb, y_, 1);
              gb.free(gb.allocate(65));
              add(gb, y_, 1);
            }).why,
            mismatch::node_kind);
  EXPECT_EQ(failed_by([&](graph_builder& gb) {
              fill_async(gb, y_.data(), 0, 4);
              gb.free(gb.allocate(65));
              fill_async(gb, y_.data(), 0, 4);
            }).why,
            mismatch::allocation);
  const recapture_failure more = failed_by([&](graph_builder& gb) {
    captured(gb);
    EXPECT_NE(gb.allocate(64), nullptr);
  });
  EXPECT_EQ(more.why, mismatch::node_count);
  EXPECT_EQ(more.found->kind, node_kind::allocation);
  EXPECT_EQ(failed_by([&](graph_builder& gb) {
              fill_async(gb, y_.data(), 0, 4);
              add(gb, y_, 1);
            }).why,
            mismatch::node_kind);
  EXPECT_EQ(recapture(g, captured).nodes_changed(), 0U);
}

TEST_P(EngineMemory, FreesInAnotherOrderAreAMismatch) {
  bool turned = false;
  void *a = nullptr, *b = nullptr;
  const auto body = [&](graph_builder& gb) {
    a = gb.allocate(64);
    b = gb.allocate(64);
    gb.free(turned ? b : a);
    gb.free(turned ? a : b);
  };
  graph g = capture(stream_, body);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  turned = true;
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.why, mismatch::allocation);
  EXPECT_EQ(failure.nodes_matched, 2U);
  EXPECT_EQ(failure.message,
            fmt::format("node 2 (free): memory {} to memory {}, and nothing in the driver lets a "
                        "free take other memory; capture a new graph, or re-capture with "
                        "recapture_options::replace_structure",
                        fmt::ptr(a), fmt::ptr(b)));
}

TEST_P(EngineMemory, InASessionThatFailedAddressesAreValidInsideItOnly) {
  graph g = make();
  void* placeholder = nullptr;
  const recapture_failure failure = fail(g, [&](graph_builder& gb) {
    EXPECT_NE(calls_.stream_synchronize(stream_.get()), 0);  // ends the capture
    EXPECT_NO_THROW(fill_async(gb, x_.data(), 0, 4));
    EXPECT_TRUE(gb.has_failed());
    placeholder = gb.allocate(64);
    void* const other = gb.allocate(64);
    EXPECT_NE(placeholder, nullptr);
    EXPECT_NE(placeholder, other);
    EXPECT_NE(placeholder, memory_);
    gb.free(placeholder);
    EXPECT_THROW(gb.free(placeholder), usage_error);
  });
  EXPECT_NE(failure.code, 0);
  EXPECT_THROW(
      static_cast<void>(capture(stream_, [&](graph_builder& gb) { gb.free(placeholder); })),
      usage_error);
  EXPECT_EQ(again(g).nodes_changed(), 0U);
}

TEST_P(EngineMemory, ACaptureThatFailedGivesPlaceholdersToo) {
  capture_session session = begin_capture(stream_);
  EXPECT_NE(calls_.stream_synchronize(stream_.get()), 0);
  EXPECT_NO_THROW(session.free(session.allocate(64)));
  EXPECT_THROW(static_cast<void>(session.end()), capture_error);
}

TEST_P(EngineMemory, WrongCallsSayWhatIsWrongAndHarmNothing) {
  graph g = make();
  recapture_session session = g.begin_recapture(stream_, with());
  EXPECT_THROW_MSG(session.allocate(0), usage_error,
                   "allocate: nothing to allocate for 0 bytes; leave the call out");
  EXPECT_THROW(session.free(memory_), usage_error);  // not yet
  const std::string where =
      fmt::format("the re-capture that began on stream {}", fmt::ptr(stream_.get()));
  EXPECT_THROW_MSG(session.free(x_.data()), usage_error,
                   fmt::format("free: memory {} is no allocation of {}: give what "
                               "graph_builder::allocate gave in this session",
                               fmt::ptr(x_.data()), where));
  EXPECT_THROW(session.free(nullptr), usage_error);
  body(session);
  EXPECT_THROW_MSG(session.free(memory_), usage_error,
                   fmt::format("free: memory {} was freed in {} already: a graph frees its memory "
                               "once",
                               fmt::ptr(memory_), where));
  EXPECT_EQ(session.end().nodes_changed(), 0U);
  EXPECT_THROW(session.allocate(64), usage_error);
  EXPECT_THROW(session.free(memory_), usage_error);
}

TEST_P(EngineMemory, BuildersOfForksAllocateAndFreeToo) {
  const auto body = [&](graph_builder& gb) {
    auto forks = gb.fork(2);
    void* const a = forks[0].allocate(bytes);
    void* const b = forks[1].allocate(bytes);
    fill_async(forks[0], a, 0, bytes);
    add_to(forks[0], a, value_);
    fill_async(forks[1], b, 0, bytes);
    gb.join(forks);
    copy_async(gb, x_.data(), a, bytes);
    gb.free(a);
    gb.free(b);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  value_ = 3;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 1U);
  EXPECT_EQ(e.update().method, update_method::patched);
  EXPECT_EQ(run(e, x_), 3.0F);

  const recapture_failure failure = fail(g, [&](graph_builder& gb) {
    auto forks = gb.fork(2);
    forks[0].allocate(bytes);
  });
  EXPECT_NE(failure.message, "");
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
}

TEST_P(EngineMemory, AnAllocationThatNobodyJoinedIsNamed) {
  bool joined = true;
  const auto body = [&](graph_builder& gb) {
    graph_builder side = gb.fork(side_);
    side.allocate(64);
    fill_async(gb, y_.data(), 0, 4);
    if (joined) gb.join(side);
  };
  graph g = capture(stream_, body);
  joined = false;
  const recapture_failure failure = fail(g, body);
  EXPECT_EQ(failure.why, mismatch::capture_unjoined);
  ASSERT_EQ(failure.involved.size(), 1U);
  EXPECT_EQ(failure.involved[0].kind, node_kind::allocation);
}

TEST_P(EngineMemory, CompareOnlyAndResyncLeaveAddressesAsTheyAre) {
  graph g = make();
  void* const address = memory_;
  value_ = 5;
  EXPECT_EQ(again(g, {.compare_only = true}).nodes_changed(), 1U);
  EXPECT_EQ(memory_, address);
  g.resync();
  EXPECT_EQ(g.generation(), 0U);
  EXPECT_FALSE(g.allocations()[0].is_foreign);
  EXPECT_EQ(again(g).nodes_changed(), 1U);
  EXPECT_EQ(memory_, address);
}

TEST_P(EngineMemory, C049_ManyStepsTakeNoMemory) {
  graph g = make();
  graph_exec e = g.instantiate();
  again(g);
  e.launch(stream_);
  simulator().settle();
  const std::size_t before = calls_.device_memory_in_use(context_.get());
  const auto live = simulator().live();
  for (int step = 0; step < 100; ++step) {
    value_ = static_cast<float>(step);
    again(g);
    EXPECT_TRUE(e.update({.may_instantiate = false}));
    e.launch(stream_);
  }
  EXPECT_EQ(read(x_).front(), 99.0F);
  simulator().settle();
  EXPECT_EQ(simulator().live(), live);
  EXPECT_EQ(calls_.device_memory_in_use(context_.get()), before);
}

TEST_P(EngineMemory, ForeignAllocationsInTheCaptureAreRefusedBeforeAnythingHappens) {
  CUdeviceptr memory = 0;
  graph g = capture(stream_, [&](graph_builder& gb) {
    void* const own = gb.allocate(64);
    EXPECT_EQ(calls_.mem_alloc_async(memory, 64, gb.stream().get()), 0);
    gb.free(own);
    EXPECT_EQ(calls_.mem_free_async(memory, gb.stream().get()), 0);
  });
  EXPECT_FALSE(g.allocations()[0].is_foreign);
  EXPECT_TRUE(g.allocations()[1].is_foreign);
  const auto begun = simulator().calls("cuStreamBeginCapture");
  EXPECT_THROW_MSG(
      g.begin_recapture(stream_, with()), usage_error,
      fmt::format("engine::compare does not take graph {}: node 1 (allocation) was not made by "
                  "graph_builder, and a second capture would have its memory at another address; "
                  "allocate and free through graph_builder, or capture and instantiate it anew",
                  fmt::ptr(g.get())));
  EXPECT_EQ(simulator().calls("cuStreamBeginCapture"), begun);
}

TEST_P(EngineMemory, ForeignAllocationInARecaptureIsAMismatchOfItsOwn) {
  graph g = make();
  CUdeviceptr memory = 0;
  const recapture_failure failure = fail(g, [&](graph_builder& gb) {
    EXPECT_EQ(calls_.mem_alloc_async(memory, bytes, gb.stream().get()), 0);
    fill_async(gb, y_.data(), 0, bytes);
    add(gb, y_, 1);
    copy_async(gb, x_.data(), y_.data(), bytes);
    EXPECT_EQ(calls_.mem_free_async(memory, gb.stream().get()), 0);
  });
  EXPECT_EQ(failure.why, mismatch::foreign_allocation);
  EXPECT_EQ(failure.message,
            "node 0 (allocation) was made by foreign code in the re-capture, at another address "
            "than the graph's; allocate and free it through graph_builder, or capture a new graph");
  EXPECT_EQ(again(g).nodes_changed(), 0U);
}

TEST_P(EngineMemory, AnotherCaptureGivesAGraphThatAllocatesNothing) {
  graph g = make();
  graph_exec e = g.instantiate();
  value_ = 2;
  graph other = make();
  const recapture_result result = g.try_update_from(std::move(other));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::foreign_allocation);
  EXPECT_EQ(result.failure().message,
            "node 0 (allocation) is at another address in another capture, so that a graph which "
            "allocates takes nothing from one; re-capture it, or take the other graph and "
            "instantiate that");
  EXPECT_TRUE(e.is_current());
  EXPECT_EQ(run(e, x_), 1.0F);
}

TEST_P(EngineMemory, ReplacedStructureHasMemoryOfItsOwn) {
  graph g = make();
  graph_exec e = g.instantiate();
  void* const address = memory_;
  bytes_ = 2 * bytes;
  value_ = 6;
  const change_report report = again(g, {.replace_structure = true});
  EXPECT_TRUE(report.structure_replaced());
  EXPECT_NE(memory_, address);
  EXPECT_EQ(g.allocations()[0].pointer, memory_);
  EXPECT_EQ(g.allocations()[0].bytes, 2 * bytes);
  EXPECT_EQ(run(e, x_), 1.0F);
  EXPECT_EQ(e.update().method, update_method::instantiated);  // of another graph: none in the way
  EXPECT_EQ(run(e, x_), 6.0F);

  EXPECT_TRUE(again(g, {.replace_structure = true}).structure_replaced());  // as it always is
  value_ = 7;
  EXPECT_EQ(again(g).nodes_changed(), 1U);
  EXPECT_TRUE(e.update());
  EXPECT_EQ(run(e, x_), 7.0F);
}

TEST_P(EngineMemory, RefusedCallsLeaveACaptureUnharmed) {
  capture_session session = begin_capture(stream_);
  fail_next("cuMemAllocAsync", 2);
  EXPECT_THROW(session.allocate(64), cuda_error);
  void* const memory = session.allocate(64);
  fail_next("cuMemFreeAsync", 999);
  EXPECT_THROW(session.free(memory), cuda_error);
  session.free(memory);
  EXPECT_EQ(session.end().node_count(), 2U);
}

TEST_P(EngineMemory, AStandInThatFailsEndsTheSessionWithTheDriversFailure) {
  graph g = make();
  for (const char* const function : {"cuGraphAddEmptyNode", "cuStreamUpdateCaptureDependencies"}) {
    for (const bool after_effect : {false, true}) {
      const recapture_failure failure = fail(g, [&](graph_builder& gb) {
        if (after_effect)
          fail_after_next(function, 999);
        else
          fail_next(function, 999);
        body(gb);
        EXPECT_TRUE(gb.has_failed());
      });
      EXPECT_EQ(failure.why, mismatch::driver_failure);
      EXPECT_EQ(failure.function, function);
      EXPECT_EQ(failure.code, 999);
    }
  }
  EXPECT_EQ(again(g).nodes_changed(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineMemory, ::testing::ValuesIn(EngineMemory::cases()),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
