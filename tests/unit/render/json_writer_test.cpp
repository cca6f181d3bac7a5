// SPDX-License-Identifier: Apache-2.0
#include "render/json_writer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

namespace cugraft {
namespace {

std::string text_of(const auto& value) {
  json_writer out;
  write(out, value);
  return out.take();
}

TEST(JsonWriterTest, Scalars) {
  EXPECT_EQ(text_of(true), "true");
  EXPECT_EQ(text_of(false), "false");
  EXPECT_EQ(text_of(-1), "-1");
  EXPECT_EQ(text_of(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(text_of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text_of(std::optional<int>(5)), "5");
  EXPECT_EQ(text_of(std::optional<int>()), "null");
}

TEST(JsonWriterTest, ObjectsAndArraysNest) {
  json_writer out;
  out.object([&] {
    out.member("a", std::vector<int>{1, 2});
    out.member("b", std::vector<std::vector<int>>{{}, {3}});
    out.member("c", std::optional<bool>());
  });
  EXPECT_EQ(out.take(), R"({"a":[1,2],"b":[[],[3]],"c":null})");
}

TEST(JsonWriterTest, EscapesWhatMustBe) {
  EXPECT_EQ(text_of(std::string("a\"b\\c\nd\te\rf")), R"("a\"b\\c\nd\te\u000df")");
  EXPECT_EQ(text_of(std::string("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\x7f\"");
  EXPECT_EQ(text_of(std::string("/\u00e9\u20ac\U0001f600")), "\"/\u00e9\u20ac\U0001f600\"");
}

TEST(JsonWriterTest, ReplacesWhatIsNoUtf8) {
  const auto replaced = [](std::string_view bytes) { return text_of(std::string(bytes)); };
  EXPECT_EQ(replaced("a\xff"), "\"a\ufffd\"");
  EXPECT_EQ(replaced("\xc3"), "\"\ufffd\"");                                // cut short
  EXPECT_EQ(replaced("\xc3("), "\"\ufffd(\"");                              // not continued
  EXPECT_EQ(replaced("\x80"), "\"\ufffd\"");                                // a continuation alone
  EXPECT_EQ(replaced("\xc0\x80"), "\"\ufffd\ufffd\"");                      // overlong
  EXPECT_EQ(replaced("\xe0\x80\x80"), "\"\ufffd\ufffd\ufffd\"");            // overlong
  EXPECT_EQ(replaced("\xed\xa0\x80"), "\"\ufffd\ufffd\ufffd\"");            // a surrogate
  EXPECT_EQ(replaced("\xf4\x90\x80\x80"), "\"\ufffd\ufffd\ufffd\ufffd\"");  // past U+10FFFF
  EXPECT_EQ(replaced("\xe2\x82\xac\xe2\x82"), "\"\u20ac\ufffd\ufffd\"");
}

RC_GTEST_PROP(JsonWriterPropertyTest, AnyBytesParse, (const std::string& bytes)) {
  const auto parsed = nlohmann::json::parse(text_of(bytes));
  RC_ASSERT(parsed.is_string());
  const auto dumped =
      nlohmann::json(bytes).dump(-1, ' ', false, nlohmann::json::error_handler_t::ignore);
  if (nlohmann::json::parse(dumped) == bytes) RC_ASSERT(parsed == bytes);
}

}  // namespace
}  // namespace cugraft
