// SPDX-License-Identifier: Apache-2.0
#include "render/picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cugraft/render.hpp"
#include "render/dot_reader.hpp"
#include "unit/render/samples.hpp"
#include "unit/render/saved_samples.hpp"

namespace cugraft {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* evil = "</script><script>alert(1)</script>";

saved_graph evil_graph() {
  auto state = sample_state();
  state->nodes.set_tag(0, std::string(evil) + "\"]; n0 [URL=\"x\\");
  return saved_graph_of(state);
}

// The block that the page's script reads.
nlohmann::json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">", end = "</script>";
  const std::size_t from = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(from, page.find(end, from) - from));
}

TEST(PictureTest, ForksAndJoinsHaveLanes) {
  const picture drawn = picture_of(*sample_state(), nullptr);
  const auto place = [&](std::size_t box) {
    return std::pair(drawn.boxes[box].lane, drawn.boxes[box].row);
  };
  EXPECT_EQ(place(0), std::pair(0U, 0U));
  EXPECT_EQ(place(1), std::pair(0U, 1U));
  EXPECT_NE(drawn.boxes[2].lane, 0U);
  EXPECT_EQ(drawn.boxes[2].row, 1U);
  EXPECT_EQ(place(3), std::pair(0U, 2U));
  ASSERT_EQ(drawn.levels.size(), 4U);
  EXPECT_EQ(drawn.levels[3].title, "body 1 of 8");
}

TEST(PictureTest, NoTwoNodesShareAPlace) {
  const picture drawn = picture_of(*sample_state(), nullptr);
  for (const picture_level& level : drawn.levels) {
    std::set<std::pair<unsigned, unsigned>> seen;
    for (std::uint32_t i = level.first; i < level.first + level.count; ++i) {
      EXPECT_TRUE(seen.emplace(drawn.boxes[i].lane, drawn.boxes[i].row).second) << i;
      EXPECT_LT(drawn.boxes[i].lane, level.lanes);
      EXPECT_LT(drawn.boxes[i].row, level.rows);
      for (const std::uint32_t from : drawn.boxes[i].from)
        EXPECT_LT(drawn.boxes[from].row, drawn.boxes[i].row);
    }
  }
}

TEST(HtmlTest, ThePageHasEveryNodeAndChange) {
  model::kernel_value changed = model::scale_kernel();
  model::set_argument(changed, 1, 2.0F);
  const change_report report = compare(sample_graph(), sample_graph(changed)).report();
  const nlohmann::json data = data_of(to_html(sample_graph(), report));
  EXPECT_EQ(data["nodes"].size(), 12U);
  EXPECT_EQ(data["nodes"][0]["change"], 0);
  EXPECT_TRUE(data["nodes"][1]["change"].is_null());
  EXPECT_EQ(data["report"], nlohmann::json::parse(to_json(report)));
  EXPECT_EQ(data["rules"].size(), update_rules().size());
}

TEST(HtmlTest, AReportShowsItsChangedNodes) {
  const nlohmann::json data = data_of(to_html(sample_report()));
  ASSERT_EQ(data["nodes"].size(), 2U);
  EXPECT_EQ(data["whole"], false);
  EXPECT_EQ(data["levels"][1]["title"], "inside of 5[1]");
}

TEST(HtmlTest, ANameCannotEndTheDataOrLoadAnything) {
  const std::string page = to_html(evil_graph()), plain = to_html(sample_graph());
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  const auto scripts = [](const std::string& text) {
    std::size_t count = 0;
    for (auto at = text.find("<script"); at != text.npos; at = text.find("<script", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(scripts(page), scripts(plain));
  EXPECT_THAT(std::string(data_of(page)["nodes"][0]["tag"]), HasSubstr(evil));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* const loads : {" src=", " href=", "@import", "url(", "fetch(", "innerHTML"})
    EXPECT_THAT(page, Not(HasSubstr(loads)));
}

TEST(DotTest, ANameCannotEndItsString) {
  EXPECT_THAT(to_dot(evil_graph()),
              HasSubstr("alert(1)</script>\\\"]; n0 [URL=\\\"x\\\\\\ngrid (64, 1, 1)"));
}

TEST(DotTest, WhatWasDrawnIsDot) {
  EXPECT_EQ(read_dot(to_dot(evil_graph())).nodes.size(), 12U);
  EXPECT_EQ(read_dot(to_dot(evil_graph())).edges.size(), 5U);
  EXPECT_EQ(read_dot(to_dot(sample_report())).nodes.size(), 2U);
}

}  // namespace
}  // namespace cugraft
