// SPDX-License-Identifier: Apache-2.0
#include "render/dot_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "cugraft/saved_graph.hpp"

namespace cugraft {
namespace {

// Deeper than drivers go; more would be there to exhaust the stack.
constexpr int greatest_dot_depth = 64;

struct token {
  enum kind { end, punctuation, id } what = end;
  std::string text;  // of an id: its value, of punctuation the symbol or "->"
  bool quoted = false;
  std::size_t line = 1;
};

bool is_name(char symbol) noexcept {
  const auto code = static_cast<unsigned char>(symbol);
  return std::isalnum(code) != 0 || symbol == '_' || code >= 0x80;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

class dot_lexer {
 public:
  explicit dot_lexer(std::string_view text) noexcept : text_(text) {}

  token next() {
    skip_blank();
    token result;
    result.line = line_;
    if (at_ == text_.size()) return result;
    const char symbol = text_[at_];
    if (symbol == '"') return quoted(std::move(result));
    if (symbol == '<') return angled(std::move(result));
    if (text_.substr(at_, 2) == "->" || text_.substr(at_, 2) == "--") {
      result.what = token::punctuation;
      result.text = take(2);
      return result;
    }
    if (is_name(symbol) || symbol == '.' || symbol == '-') return word(std::move(result));
    if (std::string_view("{}[];,=:+").find(symbol) == std::string_view::npos)
      throw format_error(line_,
                         fmt::format("expected a statement of DOT, but there is the byte 0x{:02x}",
                                     static_cast<unsigned char>(symbol)));
    result.what = token::punctuation;
    result.text = take(1);
    return result;
  }

 private:
  std::string take(std::size_t count) {
    const std::string_view result = text_.substr(at_, count);
    line_ += static_cast<std::size_t>(std::ranges::count(result, '\n'));
    at_ += result.size();
    return std::string(result);
  }

  bool at_line_begin() const noexcept { return at_ == 0 || text_[at_ - 1] == '\n'; }

  void skip_blank() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (std::isspace(static_cast<unsigned char>(rest.front())) != 0) {
        take(1);
      } else if (rest.starts_with("//") || (rest.front() == '#' && at_line_begin())) {
        take(std::min(rest.find('\n'), rest.size()));
      } else if (rest.starts_with("/*")) {
        const std::size_t end = rest.find("*/", 2);
        if (end == rest.npos)
          throw format_error(line_, "expected the end of the comment that begins here");
        take(end + 2);
      } else {
        return;
      }
    }
  }

  // Escapes stay as they are: what they mean depends on the attribute. A quote that is escaped does
  // not end the string, and a line may go on behind a backslash.
  token quoted(token result) {
    result.what = token::id;
    result.quoted = true;
    std::size_t end = at_ + 1;
    for (; end < text_.size() && text_[end] != '"'; ++end)
      if (text_[end] == '\\' && end + 1 < text_.size()) ++end;
    if (end >= text_.size())
      throw format_error(line_,
                         "expected the end of the string that begins here, but the text ends");
    result.text = text_.substr(at_ + 1, end - at_ - 1);
    take(end + 1 - at_);
    return result;
  }

  token angled(token result) {
    result.what = token::id;
    result.quoted = true;
    std::size_t depth = 0, end = at_;
    do {
      if (end == text_.size())
        throw format_error(line_, "expected a '>' for the '<' here, but the text ends");
      if (text_[end] == '<') ++depth;
      if (text_[end] == '>') --depth;
      ++end;
    } while (depth != 0);
    result.text = text_.substr(at_, end - at_);
    take(end - at_);
    return result;
  }

  token word(token result) {
    result.what = token::id;
    std::size_t end = at_ + 1;
    const bool is_number =
        !is_name(text_[at_]) || std::isdigit(static_cast<unsigned char>(text_[at_])) != 0;
    while (end < text_.size() && (is_name(text_[end]) || (is_number && text_[end] == '.'))) ++end;
    result.text = take(end - at_);
    return result;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
};

class dot_parser {
 public:
  explicit dot_parser(std::string_view text) : lexer_(text) { advance(); }

  dot_graph read() {
    if (is_keyword("strict")) advance();
    if (!is_keyword("digraph")) fail("digraph");
    advance();
    result_.clusters.push_back(now_.what == token::id ? advance().text : std::string());
    statements(0);
    if (now_.what != token::end) fail("the end of the text");
    return std::move(result_);
  }

 private:
  token advance() {
    token result = std::move(now_);
    now_ = lexer_.next();
    return result;
  }

  bool is(std::string_view symbol) const {
    return now_.what == token::punctuation && now_.text == symbol;
  }

  bool take(std::string_view symbol) {
    if (!is(symbol)) return false;
    advance();
    return true;
  }

  bool is_keyword(std::string_view word) const {
    return now_.what == token::id && !now_.quoted && same_word(now_.text, word);
  }

  [[noreturn]] void fail(std::string_view expected) const {
    const std::string found =
        now_.what == token::end ? "the text ends" : "there is '" + now_.text.substr(0, 20) + "'";
    throw format_error(now_.line, fmt::format("expected {}, but {}", expected, found));
  }

  void statements(std::size_t cluster) {
    if (!take("{")) fail("'{'");
    if (++depth_ > greatest_dot_depth)
      throw format_error(now_.line,
                         fmt::format("expected subgraphs up to {} deep", greatest_dot_depth));
    while (!take("}")) {
      if (now_.what == token::end) fail("'}'");
      statement(cluster);
      while (take(";")) {
      }
    }
    --depth_;
  }

  void statement(std::size_t cluster) {
    if (is_keyword("graph") || is_keyword("node") || is_keyword("edge")) {
      advance();
      if (!is("[")) fail("'['");
      attributes();
    } else if (is_keyword("subgraph") || is("{")) {
      subgraph();
    } else {
      node_or_edge(cluster);
    }
  }

  void subgraph() {
    std::string id;
    if (!is("{")) {
      advance();
      if (now_.what == token::id) id = advance().text;
    }
    result_.clusters.push_back(std::move(id));
    statements(result_.clusters.size() - 1);
    if (is("->")) fail("a node at the end of an edge, not a subgraph");
  }

  void node_or_edge(std::size_t cluster) {
    const std::size_t line = now_.line;
    std::string first = id("a statement");
    if (take("=")) {
      id("a value");
      return;
    }
    std::vector<std::size_t> chain{node(std::move(first), cluster, line)};
    while (take("->")) {
      if (is_keyword("subgraph") || is("{")) fail("a node at the end of an edge, not a subgraph");
      const std::size_t at = now_.line;
      chain.push_back(node(id("a node"), cluster, at));
    }
    if (is("--")) fail("'->', since the graph is directed");
    dot_attributes all;
    if (is("[")) all = attributes();
    for (std::size_t i = 1; i < chain.size(); ++i)
      result_.edges.push_back({chain[i - 1], chain[i], line, all});
    if (chain.size() == 1) result_.nodes[chain.front()].attributes.merge(all);
  }

  // An id, strings that are joined by '+' as one.
  std::string id(std::string_view expected) {
    if (now_.what != token::id) fail(expected);
    token result = advance();
    while (result.quoted && take("+")) {
      if (now_.what != token::id || !now_.quoted) fail("a string behind '+'");
      result.text += advance().text;
    }
    return std::move(result.text);
  }

  std::size_t node(std::string name, std::size_t cluster, std::size_t line) {
    while (take(":")) id("a port");
    const auto [found, is_new] = places_.try_emplace(name, result_.nodes.size());
    if (is_new) result_.nodes.push_back({std::move(name), cluster, line, {}});
    return found->second;
  }

  dot_attributes attributes() {
    dot_attributes result;
    while (take("[")) {
      while (!take("]")) {
        std::string name = id("the name of an attribute or ']'");
        result.insert_or_assign(std::move(name), take("=") ? id("a value") : "true");
        if (!take(",")) take(";");
      }
    }
    return result;
  }

  dot_lexer lexer_;
  token now_;
  dot_graph result_;
  std::unordered_map<std::string, std::size_t> places_;
  int depth_ = 0;
};

}  // namespace

dot_graph read_dot(std::string_view text) { return dot_parser(text).read(); }

}  // namespace cugraft
