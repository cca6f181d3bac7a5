// SPDX-License-Identifier: Apache-2.0
#include "cugraft/change_report.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "model/report_state.hpp"
#include "support/expect.hpp"
#include "unit/model/samples.hpp"

namespace cugraft {
namespace {

using model::node_of;
using model::scale_kernel;

raw_change change_at(std::vector<node_step> steps) {
  raw_change result;
  result.path.steps = std::move(steps);
  model::kernel_value after = scale_kernel();
  model::set_argument(after, 1, 2.0F);
  result.before = node_of(scale_kernel());
  result.after = node_of(after);
  result.tag = "layer 0";
  result.native_status = recapture_status::eligible;
  result.node = model::handle<CUgraphNode>(0x7);
  result.judgement = model::judge(result.before, result.after);
  return result;
}

change_report report_of(std::vector<raw_change> changes) {
  auto state = std::make_shared<detail::report_state>();
  state->used = engine::native;
  state->nodes_total = 14;
  state->raw = std::move(changes);
  state->overall = verdict::patchable;
  state->generation = 3;
  state->timing = {std::chrono::nanoseconds(1), std::chrono::nanoseconds(2),
                   std::chrono::nanoseconds(3)};
  return detail::report_state::make(std::move(state));
}

TEST(ChangeReportTest, GivesWhatItsStateHolds) {
  const change_report report = report_of({change_at({{5}})});
  EXPECT_EQ(report.engine_used(), engine::native);
  EXPECT_EQ(report.nodes_total(), 14U);
  EXPECT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(report.overall(), verdict::patchable);
  EXPECT_FALSE(report.structure_replaced());
  EXPECT_EQ(report.generation(), 3U);
  EXPECT_EQ(report.timing().capture.count(), 1);
  EXPECT_EQ(report.timing().compare.count(), 2);
  EXPECT_EQ(report.timing().apply.count(), 3);
}

TEST(ChangeReportTest, FormatsEachChange) {
  const change_report report = report_of({change_at({{5}})});
  ASSERT_EQ(report.changes().size(), 1U);
  const node_change& change = report.changes()[0];
  EXPECT_EQ(to_string(change.path), "5");
  EXPECT_EQ(change.kind, node_kind::kernel);
  EXPECT_EQ(change.name, "scale");
  EXPECT_EQ(change.tag, "layer 0");
  EXPECT_EQ(change.effect, verdict::patchable);
  EXPECT_EQ(change.rule, "kernel.arguments");
  EXPECT_EQ(change.native_status, recapture_status::eligible);
  EXPECT_EQ(change.node, model::handle<CUgraphNode>(0x7));
  ASSERT_EQ(change.fields.size(), 1U);
  EXPECT_EQ(change.fields[0].field, "argument[1]");
}

TEST(ChangeReportTest, ChangesComeInOrderOfTheirPaths) {
  const change_report report =
      report_of({change_at({{7}}), change_at({{5, 1}, {0}}), change_at({{5}, {3}}),
                 change_at({{5}}), change_at({{0}})});
  std::vector<std::string> paths;
  for (const node_change& change : report.changes()) paths.push_back(to_string(change.path));
  EXPECT_EQ(paths, (std::vector<std::string>{"0", "5", "5/3", "5[1]/0", "7"}));
}

TEST(ChangeReportTest, IsFormattedOnceForAllCopiesAndThreads) {
  const change_report report = report_of({change_at({{1}}), change_at({{2}})});
  const change_report copy = report;
  const node_change* seen[4] = {};
  {
    std::vector<std::jthread> threads;
    for (auto& place : seen)
      threads.emplace_back([&copy, &place] { place = copy.changes().data(); });
  }
  for (const node_change* place : seen) EXPECT_EQ(place, report.changes().data());
}

TEST(ChangeReportTest, ATemporaryGivesItsChangesAway) {
  std::vector<std::string> rules;
  for (const node_change& change : report_of({change_at({{1}})}).changes())
    rules.push_back(change.rule);
  EXPECT_EQ(rules, std::vector<std::string>{"kernel.arguments"});
}

TEST(ChangeReportTest, ADefaultReportIsEmpty) {
  const change_report report;
  EXPECT_EQ(report.engine_used(), engine::automatic);
  EXPECT_EQ(report.nodes_total(), 0U);
  EXPECT_EQ(report.nodes_changed(), 0U);
  EXPECT_TRUE(report.changes().empty());
  EXPECT_EQ(report.overall(), verdict::unchanged);
}

recapture_failure sample_failure() {
  recapture_failure failure;
  failure.why = mismatch::node_kind;
  failure.function = "cuStreamEndCapture";
  failure.message = "first difference at 1: copy vs fill";
  failure.graph_lost = true;
  return failure;
}

TEST(RecaptureErrorTest, IsItsFailure) {
  const recapture_error error(sample_failure());
  EXPECT_STREQ(error.what(), "first difference at 1: copy vs fill");
  EXPECT_EQ(error.code(), 918);
  EXPECT_EQ(error.code_name(), "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE");
  EXPECT_EQ(error.function(), "cuStreamEndCapture");
  EXPECT_EQ(error.reason(), reason::node_kind);
  EXPECT_TRUE(error.graph_lost());
  EXPECT_EQ(error.failure().message, "first difference at 1: copy vs fill");
}

TEST(RecaptureResultTest, OfAReport) {
  recapture_result result(report_of({}));
  EXPECT_TRUE(result);
  EXPECT_EQ(result.report().generation(), 3U);
  EXPECT_THROW_MSG(result.failure(), usage_error,
                   "recapture_result::failure of a re-capture that did not fail: ask first");
  EXPECT_EQ(std::move(result).report().generation(), 3U);
}

TEST(RecaptureResultTest, OfAFailure) {
  recapture_result result(sample_failure());
  EXPECT_FALSE(result);
  EXPECT_EQ(result.failure().why, mismatch::node_kind);
  EXPECT_THROW_MSG(result.report(), recapture_error, "first difference at 1: copy vs fill");
  EXPECT_THROW_MSG(std::move(result).report(), recapture_error,
                   "first difference at 1: copy vs fill");
}

}  // namespace
}  // namespace cugraft
