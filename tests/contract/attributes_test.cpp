// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "contract/engine_suite.hpp"
#include "support/foreign_calls.hpp"

// Launch attributes of kernels that cugraft did not launch, as far as attribute_check has them
// read.

namespace cugraft::testing {
namespace {

constexpr int sync_domain = 10;
constexpr int link_scheduling = 16;  // is set, and not read back (13.0)

class Attributes : public EngineSuite {
 protected:
  CUgraph captured(float value, const kernel& function) {
    calls_.begin_capture(stream_.get());
    launch(stream_, {.grid = 2, .block = 32}, function, x_, value, static_cast<int>(count));
    return calls_.end_capture(stream_.get());
  }

  // Another capture of the same launch, of which one attribute was set.
  change_report update(attribute_check check, int attribute = 0, float value = 1) {
    const CUgraph other = captured(value, add_);
    if (attribute != 0) {
      const graph view = graph::borrow(driver(), other);
      EXPECT_EQ(calls_.set_attribute(view.node(0).get(), attribute, 1), 0);
    }
    const change_report report = graph_.update_from(other, {.attributes = check});
    EXPECT_EQ(calls_.destroy(other), 0);
    return report;
  }

  foreign_calls calls_{driver()};
  graph graph_ = capture(stream_, [&](graph_builder& gb) {
    const struct {
      void* x;
      float value;
      int count;
    } arguments{x_.data(), 1, static_cast<int>(count)};
    EXPECT_EQ(calls_.launch_packed(add_.get(), 2, 32, gb.stream().get(),
                                   std::as_bytes(std::span(&arguments, 1))),
              0);
  });
  graph_exec exec_ = graph_.instantiate();
};

TEST_P(Attributes, AllSeesWhatSemanticDoesNotRead) {
  EXPECT_EQ(update(attribute_check::all).nodes_changed(), 0U);
  EXPECT_EQ(update(attribute_check::none, sync_domain).nodes_changed(), 0U);
  EXPECT_EQ(update(attribute_check::semantic, sync_domain).nodes_changed(), 0U);
  const change_report report = update(attribute_check::all, sync_domain);
  ASSERT_EQ(report.nodes_changed(), 1U);
  ASSERT_EQ(report.changes()[0].fields.size(), 1U);
  EXPECT_EQ(report.changes()[0].fields[0].field, "attribute[10]");
  EXPECT_EQ(report.changes()[0].rule, "kernel.attribute");
  EXPECT_EQ(calls_.attribute(graph_.node(0).get(), sync_domain), 1);
  EXPECT_EQ(exec_.update().method, update_method::instantiated);
  EXPECT_EQ(update(attribute_check::all, sync_domain).nodes_changed(), 0U);
  EXPECT_EQ(update(attribute_check::all).nodes_changed(), 1U);
  EXPECT_EQ(calls_.attribute(graph_.node(0).get(), sync_domain), 0);
}

// A value from before the attributes were read has the attributes of its time.
TEST_P(Attributes, AnExecutableThatIsBehindLearnsThemToo) {
  EXPECT_EQ(update(attribute_check::semantic, 0, 2).nodes_changed(), 1U);
  EXPECT_EQ(update(attribute_check::all, sync_domain, 2).nodes_changed(), 1U);
  const exec_update followed = exec_.update();
  EXPECT_EQ(followed.method, update_method::instantiated);
  ASSERT_EQ(followed.refused.size(), 1U);
  EXPECT_EQ(followed.refused[0].rule, "kernel.attribute");
}

TEST_P(Attributes, WhatTheDriverDoesNotLetReadIsNotGuessed) {
  if (GetParam().version >= 13000) {
    EXPECT_EQ(update(attribute_check::all, link_scheduling).nodes_changed(), 0U);
  }
  const CUgraph other = captured(1, scale_);
  const change_report report = graph_.update_from(other, {.attributes = attribute_check::all});
  EXPECT_EQ(calls_.destroy(other), 0);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(report.changes()[0].rule, "kernel.function.foreign");
}

// C053: what the launch of another function has beside what can be read, nobody knows.
TEST_P(Attributes, C053_AForeignLaunchOfAnotherFunctionIsMarked) {
  graph made = capture(stream_, [&](graph_builder& gb) { add(gb, x_, 1); });
  const CUgraph other = captured(1, scale_);
  const change_report report = made.update_from(other, {.attributes = attribute_check::all});
  EXPECT_EQ(calls_.destroy(other), 0);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(report.changes()[0].rule, "kernel.function.foreign");
}

// What cugraft launched it knows whole; a node without an attribute reads back the driver's
// default.
TEST_P(Attributes, ForeignLaunchesCompareWithThoseOfCugraft) {
  launch_attribute domain{.id = sync_domain};
  domain.value[0] = std::byte{1};
  std::span<const launch_attribute> attributes;
  graph made = capture(stream_, [&](graph_builder& gb) {
    launch(gb, {.grid = 2, .block = 32, .attributes = attributes}, add_, x_, 1.0F,
           static_cast<int>(count));
  });
  const auto with_foreign = [&] {
    const CUgraph other = captured(1, add_);
    const change_report report = made.update_from(other, {.attributes = attribute_check::all});
    EXPECT_EQ(calls_.destroy(other), 0);
    return report.nodes_changed();
  };
  EXPECT_EQ(with_foreign(), 0U);
  attributes = {&domain, 1};
  made.recapture(
      stream_,
      [&](graph_builder& gb) {
        launch(gb, {.grid = 2, .block = 32, .attributes = attributes}, add_, x_, 1.0F,
               static_cast<int>(count));
      },
      with({.attributes = attribute_check::all}));
  EXPECT_EQ(with_foreign(), 1U);
  EXPECT_EQ(with_foreign(), 0U);
}

TEST_P(Attributes, WhatTheOwnerOfABorrowedGraphSetIsSeen) {
  const CUgraph native = captured(1, add_);
  {
    graph borrowed = graph::borrow(driver(), native);
    const auto foreign = [&] {
      const CUgraph other = captured(1, add_);
      const change_report report =
          borrowed.update_from(other, {.attributes = attribute_check::all});
      EXPECT_EQ(calls_.destroy(other), 0);
      return report.nodes_changed();
    };
    EXPECT_EQ(foreign(), 0U);
    borrowed.recapture(stream_, [&](graph_builder& gb) { add(gb, x_, 1); });  // tells its context
    EXPECT_EQ(calls_.set_attribute(borrowed.node(0).get(), sync_domain, 1), 0);
    EXPECT_EQ(foreign(), 1U);
    EXPECT_EQ(calls_.attribute(borrowed.node(0).get(), sync_domain), 0);
  }
  EXPECT_EQ(calls_.destroy(native), 0);
}

INSTANTIATE_TEST_SUITE_P(Engines, Attributes, ::testing::ValuesIn(all_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
