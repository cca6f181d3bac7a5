// SPDX-License-Identifier: Apache-2.0
#include "colours.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace cugraft::cli {
namespace {

constexpr std::pair<std::string_view, std::string_view> colours[] = {
    {"needs_instantiate", "\x1b[31m"}, {"whole_update", "\x1b[33m"}, {"patchable", "\x1b[32m"}};

// no-color.org: set and not empty.
bool wants_colours() {
  const char* const refused = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return (refused == nullptr || *refused == '\0') && !is_dumb;
}

// Only the verdict ahead of " by ", which text forms have once a line.
void colour_line(std::string& line) {
  for (const auto& [word, colour] : colours) {
    const std::size_t at = line.find(": " + std::string(word) + " by ");
    if (at == line.npos) continue;
    line.insert(at + 2 + word.size(), "\x1b[0m");
    line.insert(at + 2, colour);
    return;
  }
}

}  // namespace

std::string for_terminal(std::string text) {
  if (isatty(STDOUT_FILENO) == 0) return text;
  std::ranges::replace_if(
      text,
      [](unsigned char symbol) { return symbol != '\n' && (symbol < 0x20 || symbol == 0x7f); },
      '?');
  if (!wants_colours()) return text;
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    std::string line = text.substr(at, end - at);
    colour_line(line);
    result += line;
    at = end;
  }
  return result;
}

}  // namespace cugraft::cli
