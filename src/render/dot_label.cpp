// SPDX-License-Identifier: Apache-2.0
#include "render/dot_label.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>
#include <vector>

namespace cugraft {
namespace {

constexpr int greatest_label_depth = 16;

constexpr std::pair<std::string_view, node_kind> kind_words[] = {
    {"KERNEL", node_kind::kernel},
    {"MEMCPY", node_kind::copy},
    {"MEMSET", node_kind::fill},
    {"HOST", node_kind::host},
    {"GRAPH", node_kind::child_graph},
    {"CHILD_GRAPH", node_kind::child_graph},
    {"EMPTY", node_kind::empty},
    {"EVENT_WAIT", node_kind::event_wait},
    {"WAIT_EVENT", node_kind::event_wait},
    {"EVENT_RECORD", node_kind::event_record},
    {"EXT_SEMAS_SIGNAL", node_kind::semaphore_signal},
    {"EXT_SEMAS_WAIT", node_kind::semaphore_wait},
    {"MEM_ALLOC", node_kind::allocation},
    {"MEM_FREE", node_kind::free},
    {"BATCH_MEM_OP", node_kind::batch_memory_op},
    {"CONDITIONAL", node_kind::conditional},
};

// A cell of a record: text, or cells.
struct cell {
  std::string text;
  std::vector<cell> cells;
  bool is_text() const noexcept { return cells.empty(); }
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// Cells by '|', lines and braces. A backslash takes a brace or a bar its meaning; with n, l or r it
// ends a line.
class label_reader {
 public:
  label_reader(std::string_view text, std::size_t line) : text_(text), line_(line) {}

  std::vector<cell> read() {
    std::vector<cell> result = cells();
    if (at_ < text_.size()) fail("a '{' for each '}' in the label");
    return result;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw format_error(line_, fmt::format("expected {} of this node", expected));
  }

  std::vector<cell> cells() {
    if (++depth_ > greatest_label_depth) fail("fewer braces in the label");
    std::vector<cell> result;
    std::string text;
    const auto end_cell = [&] {
      if (const std::string_view all = trimmed(text); !all.empty())
        result.push_back({std::string(all), {}});
      text.clear();
    };
    for (; at_ < text_.size() && text_[at_] != '}'; ++at_) {
      const char symbol = text_[at_];
      if (symbol == '\\' && at_ + 1 < text_.size()) {
        const char next = text_[++at_];
        if (next == 'n' || next == 'l' || next == 'r')
          end_cell();
        else if (next != '\n')  // a line that goes on
          text += next;
      } else if (symbol == '{') {
        end_cell();
        ++at_;
        cell inner{{}, cells()};
        if (at_ == text_.size()) fail("a '}' for each '{' in the label");
        if (!inner.cells.empty()) result.push_back(std::move(inner));
      } else if (symbol == '|' || symbol == '\n') {
        end_cell();
      } else {
        text += symbol;
      }
    }
    end_cell();
    --depth_;
    return result;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_;
  int depth_ = 0;
};

class label_fields {
 public:
  explicit label_fields(dumped_node& result) : result_(result) {}

  void add(const std::vector<cell>& cells, const std::string& title = {}) {
    if (is_pair(cells)) {
      add(joined(title, cells[0].text), cells[1].text);
      return;
    }
    std::string own = title;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const cell& each = cells[i];
      if (each.is_text()) {
        const bool is_title =
            i + 1 < cells.size() && !cells[i + 1].is_text() && !is_known(each.text);
        is_title ? void(own = joined(title, each.text)) : line(title, each.text);
      } else if (i + 1 < cells.size() && is_row(each) && is_row(cells[i + 1]) &&
                 each.cells.size() == cells[i + 1].cells.size()) {
        for (std::size_t column = 0; column < each.cells.size(); ++column)
          add(joined(own, each.cells[column].text), cells[i + 1].cells[column].text);
        ++i;
      } else {
        add(each.cells, own);
      }
    }
  }

 private:
  static bool is_row(const cell& of) {
    return !of.is_text() && std::ranges::all_of(of.cells, &cell::is_text);
  }
  static bool is_pair(const std::vector<cell>& cells) {
    return cells.size() == 2 && cells[0].is_text() && cells[1].is_text() &&
           !is_known(cells[0].text);
  }
  static bool is_known(std::string_view text) {
    return std::ranges::find(kind_words, text, [](const auto& word) { return word.first; }) !=
           std::end(kind_words);
  }
  static std::string joined(const std::string& title, const std::string& name) {
    return title.empty() ? name : title + '.' + name;
  }

  // A line without a name: what the node is, its id, a launch, "grid 8 1 1", or something else.
  void line(const std::string& title, const std::string& text) {
    const auto kind =
        std::ranges::find(kind_words, text, [](const auto& word) { return word.first; });
    if (kind != std::end(kind_words) && result_.kind == node_kind{-1}) {
      result_.kind = kind->second;
    } else if (const std::size_t launch = text.find("<<<"); launch != text.npos) {
      add_launch(text, launch);
    } else if (text == "ID") {
      // The head of the cells that follow.
    } else if (is_extents(text)) {
      add_extents(text);
    } else if (!result_.number && is_number(text)) {
      result_.number = number(text);
    } else if (result_.kind == node_kind::kernel && result_.shown.name.empty() && title.empty()) {
      result_.shown.name = text;
    } else if (const std::size_t blank = text.find_first_of(" :");
               blank != text.npos && blank > 0 &&
               std::isalpha(static_cast<unsigned char>(text[0])) != 0) {
      add(joined(title, text.substr(0, blank)),
          std::string(trimmed(std::string_view(text).substr(blank + 1))));
    } else {
      add(joined(title, "text"), text);
    }
  }

  static bool is_extents(std::string_view text) {
    return std::isdigit(static_cast<unsigned char>(text.front())) != 0 &&
           text.find(" x ") != text.npos;
  }

  // "64 x 1 x 1" of a copy, "100 x 1 of 7" of a fill.
  void add_extents(std::string_view text) {
    if (const std::size_t value = text.find(" of "); value != text.npos) {
      add("value", std::string(text.substr(value + 4)));
      text = text.substr(0, value);
    }
    for (const char* const name : {"width", "height", "depth"}) {
      const std::size_t end = std::min(text.find(" x "), text.size());
      if (end != 0) add(name, std::string(text.substr(0, end)));
      text.remove_prefix(std::min(end + 3, text.size()));
    }
  }

  // name<<<grid, block, shared>>>, commas inside of braces or parentheses aside.
  void add_launch(std::string_view text, std::size_t begin) {
    if (result_.kind == node_kind{-1}) result_.kind = node_kind::kernel;
    result_.shown.name = trimmed(text.substr(0, begin));
    std::string_view inside = text.substr(begin + 3);
    inside = inside.substr(0, inside.rfind(">>>"));
    constexpr std::string_view names[] = {"grid", "block", "shared"};
    std::size_t part = 0, from = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= inside.size() && part < std::size(names); ++i) {
      const char symbol = i < inside.size() ? inside[i] : ',';
      if (symbol == '(') ++depth;
      if (symbol == ')') --depth;
      if (symbol != ',' || (depth > 0 && i < inside.size())) continue;
      add(std::string(names[part++]), std::string(trimmed(inside.substr(from, i - from))));
      from = i + 1;
    }
    if (from < inside.size()) add("launch", std::string(trimmed(inside.substr(from))));
  }

  void add(const std::string& name, const std::string& text) {
    if (name == "ID" && !result_.number) result_.number = number(text);
    if (const std::size_t launch = text.find("<<<"); launch != text.npos) {
      add_launch(text, launch);
      return;
    }
    std::string own = name;
    for (int copy = 2; !names_.insert(own).second; ++copy) own = fmt::format("{}[{}]", name, copy);
    result_.shown.fields.push_back({std::move(own), text});
  }

  static bool is_number(std::string_view text) {
    return std::isdigit(static_cast<unsigned char>(text.front())) != 0 &&
           (std::ranges::all_of(text, [](unsigned char each) { return std::isdigit(each) != 0; }) ||
            text.find("(topoId") != text.npos);
  }
  static std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t result = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (failure != std::errc()) return std::nullopt;
    return result;
  }

  dumped_node& result_;
  std::set<std::string> names_;
};

}  // namespace

dumped_node read_label(std::string_view label, std::size_t line) {
  dumped_node result;
  std::vector<cell> cells = label_reader(label, line).read();
  if (cells.size() == 1 && !cells.front().is_text()) cells = std::move(cells.front().cells);
  label_fields(result).add(cells);
  return result;
}

}  // namespace cugraft
