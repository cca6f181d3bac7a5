// SPDX-License-Identifier: Apache-2.0
#include "cugraft/saved_graph.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "cugraft/cugraft.hpp"
#include "support/kernels.hpp"
#include "support/simulated_driver.hpp"

// Saved from real graphs of the simulated driver.

namespace cugraft {
namespace {

class SavedFromGraphTest : public testing::SimulatedDriverTest {
 protected:
  static constexpr int count = 16;

  void body(graph_builder& gb) {
    gb.keep(owner_);
    fill_async(gb, x_.data(), 0, x_.size());
    gb.tag("add");
    launch(gb, {.grid = grid_, .block = 32}, add_, x_, value_, count);
    gb.tag("");
    graph_builder side = gb.fork(side_);
    copy_async(side, y_.data(), x_.data(), 32);
    gb.host_call([] {});
    gb.join(side);
    gb.if_then(gb.create_condition(1), [this](graph_builder& inner) {
      launch(inner, {.grid = 1, .block = 32}, add_, x_, value_, count);
    });
  }

  graph captured() {
    return capture(stream_, [this](graph_builder& gb) { body(gb); });
  }

  std::string dump(const graph& graph) {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / ("cugraft_saved_" + std::to_string(::getpid()));
    const auto print = reinterpret_cast<int (*)(CUgraph, const char*, unsigned)>(
        driver().entry_point("cuGraphDebugDotPrint", 11030));
    EXPECT_EQ(print(graph.get(), file.c_str(), 1), 0);
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    std::filesystem::remove(file);
    return text.str();
  }

  context context_ = context::primary(driver());
  library library_ = testing::load_kernels(context_);
  kernel add_ = library_.get_kernel("add_value");
  stream stream_{context_}, side_{context_};
  device_buffer x_{context_, 64}, y_{context_, 64};
  unsigned grid_ = 1;
  float value_ = 1;
  std::shared_ptr<int> owner_ = std::make_shared<int>(1);
};

TEST_F(SavedFromGraphTest, WhatIsReadBackIsTheGraph) {
  const graph made = captured();
  const saved_graph read = saved_graph::load(to_json(made));
  EXPECT_EQ(read.size(), 6U);
  EXPECT_EQ(to_text(read), to_text(made));
  EXPECT_EQ(to_dot(read), to_dot(made));
  EXPECT_EQ(to_html(read), to_html(made));
}

TEST_F(SavedFromGraphTest, C073_ADumpHoldsNodesEdgesAndTheirKinds) {
  const graph made = capture(stream_, [this](graph_builder& gb) {
    for (int i = 0; i < 5; ++i)
      launch(gb, {.grid = 2, .block = 64, .programmatic_serialization = i == 3}, add_, x_, value_,
             count);
  });
  const auto times = [](const std::string& text, std::string_view what) {
    int found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++found;
    return found;
  };
  const std::string json = to_json(made), dot = to_dot(made), text = to_text(made);
  EXPECT_EQ(times(json, "\"from_port\""), 4);  // one for each edge
  EXPECT_EQ(times(json, "\"type\":1"), 1);
  EXPECT_EQ(times(dot, " -> "), 4);
  EXPECT_EQ(times(dot, "[style=dashed]"), 1);
  for (const std::string* const dump : {&json, &dot, &text}) {
    EXPECT_GE(times(*dump, "add_value"), 5);
    EXPECT_GE(times(*dump, "grid"), 5);
    EXPECT_GE(times(*dump, "block"), 5);
  }
}

TEST_F(SavedFromGraphTest, ADifferenceOfFilesIsTheReportOfTheReCapture) {
  graph made = captured();
  const saved_graph before(made);
  grid_ = 2;
  value_ = 5;
  const change_report report =
      made.recapture(stream_, [this](graph_builder& gb) { body(gb); }, {.with = engine::compare});
  const change_report found = compare(before, saved_graph(made)).report();
  ASSERT_EQ(found.nodes_changed(), report.nodes_changed());
  for (const node_change& change : found.changes()) {
    const auto same = std::ranges::find(report.changes(), change.path, &node_change::path);
    ASSERT_NE(same, report.changes().end());
    EXPECT_EQ(change.rule, same->rule);
    EXPECT_EQ(change.tag, same->tag);
    ASSERT_EQ(change.fields.size(), same->fields.size());
    for (std::size_t i = 0; i < change.fields.size(); ++i)
      EXPECT_EQ(change.fields[i].after, same->fields[i].after);
  }
}

TEST_F(SavedFromGraphTest, ItKeepsNothingAlive) {
  const std::weak_ptr<int> watched = owner_;
  graph made = captured();
  const saved_graph saved(made);
  owner_.reset();
  made.close();
  stream_.synchronize();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(saved.size(), 6U);
}

TEST_F(SavedFromGraphTest, AnEmptyGraphObjectIsRefused) {
  graph made = captured();
  const graph taken = std::move(made);
  EXPECT_THROW(to_json(made), usage_error);
  EXPECT_THROW(to_html(made), usage_error);
}

TEST_F(SavedFromGraphTest, TheDriversDumpHasTheSameStructure) {
  const saved_graph before = saved_graph::load_dot(dump(captured()));
  EXPECT_EQ(before.size(), 6U);
  grid_ = 2;
  const change_report report = compare(before, saved_graph::load_dot(dump(captured()))).report();
  ASSERT_EQ(report.nodes_changed(), 1U) << to_text(report);
  EXPECT_EQ(report.changes()[0].rule, "kernel.grid");
  EXPECT_EQ(report.changes()[0].name, "add_value");
}

}  // namespace
}  // namespace cugraft
