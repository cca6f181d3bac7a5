// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "contract/engine_suite.hpp"
#include "support/foreign_calls.hpp"

// Two contexts in one graph: of one device, which a GPU shows too, and of two devices.

namespace cugraft::testing {
namespace {

// What a context holds for a test; everything goes before the context does.
struct place {
  explicit place(const context& in) : home(in) {}

  void add(stream_ref on, float value) const {
    launch(on, {.grid = 2, .block = 32}, kernel, x, value, 64);
  }

  float first() {
    copy_async(own, host.data(), x.data(), x.size());
    own.synchronize();
    return host.as<float>()[0];
  }

  context home;
  library kernels = load_kernels(home);
  cugraft::kernel kernel = kernels.get_kernel("add_value");
  stream own{home};
  stream side{home};
  device_buffer x{home, 64 * sizeof(float)};
  device_buffer y{home, 64 * sizeof(float)};
  host_buffer host{home, 64 * sizeof(float)};
};

// The same work in both contexts, beside each other.
struct two_places {
  explicit two_places(const context& a, const context& b) : here(a), there(b) {}

  void body(graph_builder& gb) {
    fill_async(gb, here.x.data(), 0, here.x.size());
    graph_builder away = gb.fork(there.own);
    fill_async(away, there.x.data(), 0, there.x.size() / parts);
    there.add(away, value);
    copy_async(is_moved ? gb.stream() : away.stream(), there.y.data(), there.x.data(),
               there.x.size() / parts);
    here.add(gb, value);
    gb.join(away);
    here.add(gb, 1);
  }

  place here, there;
  float value = 1;
  std::size_t parts = 1;
  bool is_moved = false;
};

// One suite for both fixtures below.
void follow_both(two_places& both, const recapture_options& options) {
  const auto body = [&](graph_builder& gb) { both.body(gb); };
  graph g = capture(both.here.own, body);
  ASSERT_EQ(g.node_count(), 6U);
  EXPECT_EQ(g.recapture(both.here.own, body, options).nodes_changed(), 0U);
  graph_exec e = g.instantiate();
  both.value = 4;
  both.parts = 2;
  EXPECT_EQ(g.recapture(both.here.own, body, options).nodes_changed(), 4U);
  const exec_update done = e.update({.may_instantiate = false});
  EXPECT_TRUE(done);
  EXPECT_EQ(done.nodes_patched, 4U);
  e.launch(both.here.own);
  both.here.own.synchronize();
  EXPECT_EQ(both.here.first(), 5.0F);
  EXPECT_EQ(both.there.first(), 4.0F);
  EXPECT_TRUE(e.find_kernel("add_value")->update_argument(1, 8.0F));
  EXPECT_TRUE(g.find_kernel("add_value")->update_argument(1, 16.0F));
  e.launch(both.here.own);
  both.here.own.synchronize();
  EXPECT_EQ(both.there.first(), 8.0F);
  EXPECT_TRUE(e.update({.may_instantiate = false}));
  e.launch(both.here.own);
  both.here.own.synchronize();
  EXPECT_EQ(both.there.first(), 16.0F);
}

class Contexts : public EngineSuite {
 protected:
  CUcontext current() const {
    CUcontext found = nullptr;
    try {
      found = context::current(driver()).get();
    } catch (const usage_error&) {
      found = nullptr;
    }
    return found;
  }

  foreign_calls calls_{driver()};
  context other_ = context::from_native_handle(driver(), calls_.make_context());
  two_places both_{context_, other_};
};

TEST_P(Contexts, NodesOfTwoContextsAreFollowed) { follow_both(both_, with()); }

// C071: whatever is current on the thread, before and after.
TEST_P(Contexts, C071_WhatIsCurrentStaysCurrent) {
  const CUcontext unrelated = calls_.make_context();
  EXPECT_EQ(current(), nullptr);
  follow_both(both_, with());
  EXPECT_EQ(current(), nullptr);
  for (const CUcontext each : {unrelated, other_.get(), context_.get()}) {
    const current_context set(driver(), each);
    both_.value = 1;
    both_.parts = 1;
    follow_both(both_, with());
    EXPECT_EQ(current(), each);
  }
  EXPECT_EQ(calls_.destroy(unrelated), 0);
}

TEST_P(Contexts, WhatBelongsToAnOwnedContextKeepsIt) {
  CUcontext made = calls_.make_context();
  stream kept = [&] {
    const context owned = context::from_native_handle(driver(), made);
    EXPECT_EQ(owned.ordinal(), context_.ordinal());
    return stream(owned);
  }();
  EXPECT_EQ(kept.get_context().get(), made);
  kept.synchronize();
  kept.reset();
  EXPECT_NE(calls_.destroy(made), 0);  // it went with the last that needed it
}

// A copy runs in the context of its stream; that of a node cannot be set.
TEST_P(Contexts, C070_ANodeThatMovedToAnotherContextIsNamed) {
  const auto body = [&](graph_builder& gb) {
    graph_builder away = gb.fork(both_.is_moved ? both_.here.side : both_.there.own);
    copy_async(away, both_.there.y.data(), both_.there.x.data(), 8);
    gb.join(away);
    both_.here.add(gb, both_.value);
  };
  graph g = capture(both_.here.own, body);
  both_.is_moved = true;
  both_.value = 2;
  const recapture_result result = g.try_recapture(both_.here.own, body, with());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::context);
  EXPECT_EQ(result.failure().code, 918);
  EXPECT_EQ(result.failure().nodes_matched, 0U);
  EXPECT_EQ(to_string(result.failure().found->path), "0");
  EXPECT_EQ(result.failure().message.find("node 0 (copy) moved from context "), 0U)
      << result.failure().message;
  EXPECT_EQ(g.generation(), 0U);
  both_.is_moved = false;
  both_.value = 1;
  EXPECT_EQ(g.recapture(both_.here.own, body, with()).nodes_changed(), 0U);
  both_.is_moved = true;
  EXPECT_TRUE(
      g.recapture(both_.here.own, body, {.with = engine::compare, .replace_structure = true})
          .structure_replaced());
  EXPECT_EQ(g.recapture(both_.here.own, body, with()).nodes_changed(), 0U);
}

TEST_P(Contexts, C070_AKernelThatMovedToAnotherContextIsNamed) {
  const auto body = [&](graph_builder& gb) {
    graph_builder away = gb.fork(both_.is_moved ? both_.here.side : both_.there.own);
    (both_.is_moved ? both_.here : both_.there).add(away, 1);
    gb.join(away);
    both_.here.add(gb, 1);
  };
  graph g = capture(both_.here.own, body);
  both_.is_moved = true;
  const recapture_result result = g.try_recapture(both_.here.own, body, with());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::context);
  EXPECT_EQ(result.failure().found->name, "add_value");
}

// Design: the context of others' copies is the session's, unless that spans several.
TEST_P(Contexts, CopiesOfForeignCodeInASessionOfTwoContextsAreRefused) {
  bool is_foreign = true;
  const auto body = [&](graph_builder& gb) {
    graph_builder away = gb.fork(both_.there.own);
    both_.there.add(away, 1);
    gb.join(away);
    if (!is_foreign) return fill_async(gb, both_.here.x.data(), 0, 8);
    EXPECT_EQ(calls_.memset_d8(reinterpret_cast<CUdeviceptr>(both_.here.x.data()), 0, 8,
                               gb.stream().get()),
              0);
  };
  graph g = capture(both_.here.own, body);
  for (is_foreign = false;; is_foreign = true) {
    const recapture_result result = g.try_recapture(both_.here.own, body, with());
    ASSERT_FALSE(result);
    const bool is_seen = captures() || !is_foreign;
    EXPECT_EQ(result.failure().why, is_seen ? mismatch::unknown_node : mismatch::foreign_work);
    EXPECT_EQ(result.failure().nodes_matched, 1U);
    if (is_foreign) break;
  }
  is_foreign = false;
  graph ours = capture(both_.here.own, body);
  EXPECT_EQ(ours.recapture(both_.here.own, body, with()).nodes_changed(), 0U);
}

TEST_P(Contexts, GraphsFromElsewhereCompareTheirContextsWhereTheyAreKnown) {
  const auto body = [&](graph_builder& gb) { both_.body(gb); };
  graph g = capture(both_.here.own, body);
  both_.value = 3;
  EXPECT_EQ(g.update_from(capture(both_.here.own, body)).nodes_changed(), 2U);
  const CUgraph third = capture(both_.here.own, body).release();
  const recapture_result unknown = g.try_update_from(third);
  EXPECT_EQ(calls_.destroy(third), 0);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.failure().why, mismatch::unknown_node);
  g.resync();
  EXPECT_EQ(g.recapture(both_.here.own, body, with()).nodes_changed(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Engines, Contexts, ::testing::ValuesIn(all_cases()), &case_name);

// The simulated driver with two devices.
class TwoDevices : public SimulatedDriverTest, public ::testing::WithParamInterface<engine_case> {
 protected:
  TwoDevices() : SimulatedDriverTest(driver_source{GetParam().version, {}, 2}) {}

  recapture_options with() const { return {.with = GetParam().which}; }

  context first_ = context::primary(driver(), 0);
  context second_ = context::primary(driver(), 1);
  two_places both_{first_, second_};
};

TEST_P(TwoDevices, NodesOfTwoDevicesAreFollowed) { follow_both(both_, with()); }

TEST_P(TwoDevices, C070_ANodeThatMovedToAnotherDeviceIsNamed) {
  const auto body = [&](graph_builder& gb) {
    both_.here.add(gb, 1);
    graph_builder away = gb.fork(both_.is_moved ? both_.here.side : both_.there.own);
    (both_.is_moved ? both_.here : both_.there).add(away, 1);
    gb.join(away);
  };
  graph g = capture(both_.here.own, body);
  both_.is_moved = true;
  const recapture_result result = g.try_recapture(both_.here.own, body, with());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::context);
  EXPECT_EQ(result.failure().nodes_matched, 1U);
  EXPECT_EQ(result.failure().found->name, "add_value");
}

std::vector<engine_case> simulated_cases() {
  return has_real_driver() ? std::vector<engine_case>() : engine_cases();
}

INSTANTIATE_TEST_SUITE_P(Engines, TwoDevices, ::testing::ValuesIn(simulated_cases()), &case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TwoDevices);

}  // namespace
}  // namespace cugraft::testing
