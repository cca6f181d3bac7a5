// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/error.hpp"
#include "ptx/lexer.hpp"

namespace cugraft_sim::ptx {

/// A place in the tokens of a text, with the small questions that a parser asks.
class cursor {
 public:
  explicit cursor(std::vector<token> tokens) : tokens_(std::move(tokens)) {}

  const token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }

  const token& next() {
    const token& result = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return result;
  }

  unsigned line() const { return peek().line; }
  bool at_end() const { return peek().kind == token_kind::end; }

  /// Takes the next token if it is `what`, a sign or a word.
  template <class What>
  bool accept(What what) {
    if (!peek().is(what)) return false;
    next();
    return true;
  }

  void expect(char sign) {
    if (!accept(sign)) fail(std::string("expected '") + sign + "'" + found());
  }

  std::string_view expect_word() {
    if (peek().kind != token_kind::word) fail("expected a name" + found());
    return next().text;
  }

  std::uint64_t expect_integer() {
    if (peek().kind != token_kind::integer) fail("expected a number" + found());
    return next().value;
  }

  /// An integer with an optional minus sign.
  std::int64_t expect_signed() {
    const bool negative = accept('-');
    const std::uint64_t value = expect_integer();
    return static_cast<std::int64_t>(negative ? 0 - value : value);
  }

  /// Debug lines (`.loc`, `.file`) have no semicolon; they end with their line.
  void skip_line() {
    for (const unsigned line = this->line(); !at_end() && this->line() == line;) next();
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw load_error(load_failure::syntax, line(), what);
  }

  [[noreturn]] void unsupported(std::string_view what, std::string_view name) const {
    throw load_error(load_failure::unsupported, line(),
                     "unsupported " + std::string(what) + " '" + std::string(name) + "'");
  }

 private:
  std::string found() const {
    return at_end() ? ", found the end" : ", found '" + std::string(peek().text) + "'";
  }

  std::vector<token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace cugraft_sim::ptx
