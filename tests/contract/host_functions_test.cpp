// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <optional>

#include "contract/engine_suite.hpp"
#include "support/eventually.hpp"
#include "support/foreign_calls.hpp"

// Host functions of others, and what keeps cugraft's own alive through whole-graph updates.

namespace cugraft::testing {
namespace {

class HostFunctions : public EngineSuite {
 protected:
  foreign_calls calls_{driver()};
};

void count_up(void* data) { ++*static_cast<std::atomic<int>*>(data); }
void count_by_ten(void* data) { *static_cast<std::atomic<int>*>(data) += 10; }

// What foreign code does, on engines that record it.
class ForeignHostFunctions : public HostFunctions {};

// Function and data are the driver's values; nobody owns what they point to.
TEST_P(ForeignHostFunctions, ThoseOfForeignCodeAreComparedByValue) {
  std::atomic<int> first{0}, second{0};
  std::atomic<int>* data = &first;
  void (*function)(void*) = &count_up;
  const auto body = [&](graph_builder& gb) {
    EXPECT_EQ(calls_.launch_host(function, data, gb.stream().get()), 0);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  EXPECT_EQ(g.node(0).host_params().function, &count_up);
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  data = &second;
  const change_report moved = recapture(g, body);
  ASSERT_EQ(moved.nodes_changed(), 1U);
  ASSERT_EQ(moved.changes()[0].fields.size(), 1U);
  EXPECT_EQ(moved.changes()[0].fields[0].field, "user_data");
  function = &count_by_ten;
  const change_report other = recapture(g, body);
  ASSERT_EQ(other.nodes_changed(), 1U);
  EXPECT_EQ(other.changes()[0].fields[0].field, "host_function");
  e.launch(stream_);
  EXPECT_EQ(e.update().method, update_method::patched);
  e.launch(stream_);
  stream_.synchronize();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 10);
}

TEST_P(HostFunctions, WhatIsThrownThatIsNoExceptionEndsInTheReport) {
  graph g = capture(stream_, [](graph_builder& gb) { gb.host_call([] { throw 7; }); });
  graph_exec e = g.instantiate();
  e.launch(stream_);
  stream_.synchronize();
  EXPECT_EQ(take_reports(),
            std::vector<std::string>{"a host function threw something that is no std::exception"});
}

// The driver's whole-graph update replaces what the executable refers to (driver facts, User
// objects and attributes): what it runs from then on lives on without the graph, and what it ran
// before goes behind its last launch.
TEST_P(HostFunctions, OwnersGoThroughWholeGraphUpdates) {
  std::atomic<int> ran{0};
  std::weak_ptr<int> watched[2];
  std::shared_ptr<int> owner;
  const auto body = [&](graph_builder& gb) {
    gb.host_call([&ran, kept = owner] { ran += *kept; });
  };
  const auto renew = [&](int which) {
    owner = std::make_shared<int>(which == 0 ? 1 : 10);
    watched[which] = owner;
  };
  renew(0);
  std::optional<graph> g = capture(stream_, body);
  graph_exec e = g->instantiate();
  e.launch(stream_);
  renew(1);
  EXPECT_EQ(recapture(*g, body).nodes_changed(), 1U);
  owner.reset();
  EXPECT_EQ(e.update({.force = update_method::whole}).method, update_method::whole);
  g.reset();
  e.launch(stream_);
  stream_.synchronize();
  EXPECT_EQ(ran, 11);
  e.launch(stream_);  // sees that the launch behind the update is done
  EXPECT_TRUE(eventually([&] { return watched[0].expired(); }));
  EXPECT_FALSE(watched[1].expired());
  stream_.synchronize();
  EXPECT_EQ(ran, 21);
  e.reset();
  EXPECT_TRUE(eventually([&] { return watched[1].expired(); }));
}

INSTANTIATE_TEST_SUITE_P(Engines, ForeignHostFunctions, ::testing::ValuesIn(capturing_cases()),
                         &case_name);
INSTANTIATE_TEST_SUITE_P(Engines, HostFunctions, ::testing::ValuesIn(all_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
