// SPDX-License-Identifier: Apache-2.0
#include "ptx/lexer.hpp"

#include <bit>
#include <cstdlib>
#include <string>

#include "ptx/error.hpp"

namespace cugraft_sim::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool starts_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' ||
         c == '.';
}

bool continues_word(char c) { return starts_word(c) || is_digit(c); }

class lexer {
 public:
  explicit lexer(std::string_view text) : text_(text) {}

  std::vector<token> all() {
    for (;;) {
      skip_blank();
      token next = read();
      result_.push_back(next);
      if (next.kind == token_kind::end) return std::move(result_);
    }
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw load_error(load_failure::syntax, line_, what);
  }

  void skip_blank() {
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == '\n') ++line_;
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        ++at_;
      } else if (c == '/' && peek(1) == '/') {
        while (at_ < text_.size() && peek() != '\n') ++at_;
      } else if (c == '/' && peek(1) == '*') {
        skip_block_comment();
      } else {
        return;
      }
    }
  }

  void skip_block_comment() {
    for (at_ += 2; peek() != '*' || peek(1) != '/'; ++at_) {
      if (at_ >= text_.size()) fail("a comment has no end");
      if (peek() == '\n') ++line_;
    }
    at_ += 2;
  }

  token read() {
    const std::size_t begin = at_;
    if (at_ >= text_.size()) return make(token_kind::end, begin);
    const char c = peek();
    if (is_digit(c)) return read_number();
    if (starts_word(c)) return read_word();
    if (c == '"') return read_text();
    if (std::string_view("{}()[]<>,;:@!|+-=").find(c) == std::string_view::npos)
      fail(std::string("unexpected character '") + c + "'");
    ++at_;
    return make(token_kind::punctuation, begin);
  }

  token make(token_kind kind, std::size_t begin, std::uint64_t value = 0) const {
    return {kind, text_.substr(begin, at_ - begin), value, line_};
  }

  token read_word() {
    const std::size_t begin = at_;
    for (;; ++at_) {
      // "::" belongs to a word only within an opcode (`.L1::evict_last`); one ':' ends a label.
      if (peek() == ':' && peek(1) == ':' && continues_word(peek(2))) at_ += 2;
      if (!continues_word(peek())) return make(token_kind::word, begin);
    }
  }

  token read_text() {
    const std::size_t begin = ++at_;
    for (; peek() != '"'; ++at_)
      if (at_ >= text_.size() || peek() == '\n') fail("a string has no end");
    token result = make(token_kind::text, begin);
    ++at_;
    return result;
  }

  token read_number() {
    const char mark = peek() == '0' ? static_cast<char>(peek(1) | 0x20) : '\0';
    if (mark == 'f') return read_float_bits(token_kind::real32, 8);
    if (mark == 'd') return read_float_bits(token_kind::real, 16);
    std::size_t digits = 0;
    while (is_digit(peek(digits))) ++digits;
    if (mark != 'x' && (peek(digits) == '.' || (peek(digits) | 0x20) == 'e')) return read_decimal();
    return read_integer(mark);
  }

  token read_float_bits(token_kind kind, std::size_t digits) {
    const std::size_t begin = at_;
    at_ += 2;
    std::size_t count = 0;
    while (is_hex(peek(count))) ++count;
    if (count != digits)
      fail("a floating-point constant needs " + std::to_string(digits) + " hexadecimal digits");
    const std::uint64_t bits =
        std::strtoull(std::string(text_.substr(at_, count)).c_str(), nullptr, 16);
    at_ += count;
    return make(kind, begin, bits);
  }

  token read_decimal() {
    const std::size_t begin = at_;
    const std::string rest(text_.substr(at_, 64));
    char* end = nullptr;
    const double value = std::strtod(rest.c_str(), &end);
    at_ += static_cast<std::size_t>(end - rest.c_str());
    return make(token_kind::real, begin, std::bit_cast<std::uint64_t>(value));
  }

  token read_integer(char mark) {
    const std::size_t begin = at_;
    const int base = mark == 'x' ? 16 : mark == 'b' ? 2 : peek() == '0' ? 8 : 10;
    if (base == 16 || base == 2) at_ += 2;
    const std::string rest(text_.substr(at_, 72));
    char* end = nullptr;
    const std::uint64_t value = std::strtoull(rest.c_str(), &end, base);
    if (end == rest.c_str()) fail("a number without digits");
    at_ += static_cast<std::size_t>(end - rest.c_str());
    if (peek() == 'U') ++at_;
    if (continues_word(peek())) fail("a number runs into '" + std::string(1, peek()) + "'");
    return make(token_kind::integer, begin, value);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  unsigned line_ = 1;
  std::vector<token> result_;
};

}  // namespace

std::vector<token> tokenize(std::string_view text) { return lexer(text).all(); }

}  // namespace cugraft_sim::ptx
