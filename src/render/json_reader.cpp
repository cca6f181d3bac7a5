// SPDX-License-Identifier: Apache-2.0
#include "render/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace cugraft {
namespace {

// Deeper than anything that is written here; more would be there to exhaust the stack.
constexpr int greatest_json_depth = 32;

bool is_digit(char symbol) noexcept { return symbol >= '0' && symbol <= '9'; }

// In a message: one line, whatever the text holds.
std::string shown(std::string_view text) {
  std::string result(text.substr(0, text.find('\n')));
  std::ranges::replace_if(
      result, [](char symbol) { return static_cast<unsigned char>(symbol) < 0x20; }, ' ');
  return "'" + result + "'";
}

void append_utf8(std::string& to, unsigned code) {
  if (code < 0x80) {
    to += static_cast<char>(code);
    return;
  }
  if (code < 0x800) {
    to += static_cast<char>(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    to += static_cast<char>(0xE0 | code >> 12);
    to += static_cast<char>(0x80 | (code >> 6 & 0x3F));
  } else {
    to += static_cast<char>(0xF0 | code >> 18);
    to += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    to += static_cast<char>(0x80 | (code >> 6 & 0x3F));
  }
  to += static_cast<char>(0x80 | (code & 0x3F));
}

}  // namespace

format_error::format_error(std::size_t line, const std::string& sentence)
    : error(fmt::format("line {}: {}", line, sentence)), line_(line) {}

std::size_t json_reader::line() const noexcept {
  const std::string_view read = text_.substr(0, at_);
  return 1 + static_cast<std::size_t>(std::ranges::count(read, '\n'));
}

void json_reader::fail(std::string_view expected) const {
  const std::string_view rest = text_.substr(std::min(at_, text_.size()));
  const std::string found =
      rest.empty() ? "the text ends" : "there is " + shown(rest.substr(0, 20));
  throw format_error(line(), fmt::format("expected {}, but {}", expected, found));
}

char json_reader::peek() {
  while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool json_reader::take(char symbol) {
  if (peek() != symbol || at_ == text_.size()) return false;
  ++at_;
  return true;
}

void json_reader::expect(char symbol, std::string_view what) {
  if (!take(symbol)) fail(what);
}

void json_reader::enter() {
  if (++depth_ > greatest_json_depth)
    throw format_error(line(),
                       fmt::format("values are nested more than {} deep, as in no file of cugraft",
                                   greatest_json_depth));
}

void json_reader::object(std::initializer_list<json_member> members) {
  expect('{', "an object");
  enter();
  read_members({members.begin(), members.size()});
  --depth_;
}

void json_reader::read_members(std::span<const json_member> members) {
  std::uint64_t seen = 0;  // by place in `members`
  for (bool first = true; !take('}'); first = false) {
    if (!first) expect(',', "a comma or the end of the object");
    const std::string name = string();
    expect(':', "a colon");
    const auto found = std::ranges::find(members, name, &json_member::name);
    if (found == members.end()) {
      skip();
      continue;
    }
    const std::uint64_t bit = std::uint64_t{1} << (found - members.begin());
    if ((seen & bit) != 0) fail(fmt::format("one member \"{}\" only", name));
    seen |= bit;
    found->read();
  }
  for (std::size_t i = 0; i < members.size(); ++i)
    if ((seen >> i & 1) == 0 && !members[i].optional)
      throw format_error(
          line(),
          fmt::format("expected a member \"{}\" in the object that ends here", members[i].name));
}

void json_reader::array(const std::function<void()>& element) {
  expect('[', "an array");
  enter();
  for (bool first = true; !take(']'); first = false) {
    if (!first) expect(',', "a comma or the end of the array");
    element();
  }
  --depth_;
}

std::string json_reader::string() {
  expect('"', "a string");
  std::string result;
  for (;;) {
    if (at_ == text_.size()) fail("the end of a string");
    const char symbol = text_[at_];
    if (static_cast<unsigned char>(symbol) < 0x20) fail("the end of a string");
    ++at_;
    if (symbol == '"') return result;
    if (symbol == '\\')
      escape(result);
    else
      result += symbol;
  }
}

void json_reader::escape(std::string& result) {
  constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
  const char name = at_ < text_.size() ? text_[at_] : '\0';
  if (const std::size_t index = names.find(name); index != names.npos) {
    ++at_;
    result += values[index];
    return;
  }
  if (name != 'u') fail("an escape sequence of JSON");
  ++at_;
  unsigned code = code_unit();
  if (code >= 0xD800 && code < 0xDC00) {
    if (text_.substr(at_, 2) != "\\u") fail("the second half of a surrogate pair");
    at_ += 2;
    const unsigned low = code_unit();
    if (low < 0xDC00 || low >= 0xE000) fail("the second half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code < 0xE000) {
    fail("the first half of a surrogate pair ahead of this");
  }
  append_utf8(result, code);
}

unsigned json_reader::code_unit() {
  const std::string_view four = text_.substr(at_, 4);
  unsigned result = 0;
  const auto [end, failure] = std::from_chars(four.data(), four.data() + four.size(), result, 16);
  if (four.size() != 4 || failure != std::errc() || end != four.data() + 4)
    fail("four hexadecimal digits");
  at_ += 4;
  return result;
}

std::string_view json_reader::digits() {
  peek();
  std::size_t end = at_;
  if (end < text_.size() && text_[end] == '-') ++end;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  const bool is_whole =
      end == text_.size() || std::string_view(".eE").find(text_[end]) == text_.npos;
  return is_whole ? text_.substr(at_, end - at_) : std::string_view();
}

std::uint64_t json_reader::unsigned_number(std::uint64_t greatest) {
  const std::string_view text = digits();
  std::uint64_t result = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size() ||
      result > greatest)
    fail(fmt::format("a whole number from 0 to {}", greatest));
  at_ += text.size();
  return result;
}

std::int64_t json_reader::number() {
  const std::string_view text = digits();
  std::int64_t result = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size())
    fail("a whole number of 64 bits");
  at_ += text.size();
  return result;
}

bool json_reader::boolean() {
  peek();
  for (const bool value : {true, false}) {
    const std::string_view name = value ? "true" : "false";
    if (!text_.substr(at_).starts_with(name)) continue;
    at_ += name.size();
    return value;
  }
  fail("true or false");
}

bool json_reader::null() {
  peek();
  if (!text_.substr(at_).starts_with("null")) return false;
  at_ += 4;
  return true;
}

std::vector<std::byte> json_reader::bytes() {
  const json_reader before = *this;
  const std::string text = string();
  std::vector<std::byte> result(text.size() / 2);
  for (std::size_t i = 0; i < result.size(); ++i) {
    unsigned value = 0;
    const char* const from = text.data() + 2 * i;
    if (std::from_chars(from, from + 2, value, 16).ptr != from + 2)
      before.fail("hexadecimal digits");
    result[i] = static_cast<std::byte>(value);
  }
  if (text.size() % 2 != 0) before.fail("an even number of hexadecimal digits");
  return result;
}

void json_reader::skip() {
  const char next = peek();
  if (next == '{') {
    object({});
  } else if (next == '[') {
    array([this] { skip(); });
  } else if (next == '"') {
    string();
  } else if (next == 't' || next == 'f') {
    boolean();
  } else if (!null()) {
    double value = 0;
    const std::string_view rest = text_.substr(at_);
    const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (failure != std::errc() || !(next == '-' || is_digit(next))) fail("a value");
    at_ += static_cast<std::size_t>(end - rest.data());
  }
}

void json_reader::finish() {
  if (peek(); at_ != text_.size()) fail("the end of the text");
}

}  // namespace cugraft
