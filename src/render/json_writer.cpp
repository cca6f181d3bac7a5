// SPDX-License-Identifier: Apache-2.0
#include "render/json_writer.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace cugraft {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

constexpr unsigned byte_at(std::string_view text, std::size_t at) noexcept {
  return static_cast<unsigned char>(text[at]);
}

// Range of the second byte: it rules out overlong forms, surrogates and what is past U+10FFFF.
struct second_byte {
  unsigned least, most;
};
constexpr second_byte second_after(unsigned first) noexcept {
  switch (first) {
    case 0xe0:
      return {0xa0, 0xbf};
    case 0xed:
      return {0x80, 0x9f};
    case 0xf0:
      return {0x90, 0xbf};
    case 0xf4:
      return {0x80, 0x8f};
    default:
      return {0x80, 0xbf};
  }
}

// Length of the UTF-8 sequence at the text's begin; 0 if there is none.
std::size_t sequence_length(std::string_view text) noexcept {
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  const second_byte allowed = second_after(first);
  if (byte_at(text, 1) < allowed.least || byte_at(text, 1) > allowed.most) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((byte_at(text, i) & 0xc0U) != 0x80) return 0;
  return length;
}

std::string escaped(char symbol) {
  switch (symbol) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(symbol);
  return code < 0x20 ? fmt::format("\\u{:04x}", code) : std::string(1, symbol);
}

}  // namespace

void json_writer::string(std::string_view value) {
  text_ += '"';
  while (!value.empty()) {
    const std::size_t length = sequence_length(value);
    if (length == 1)
      text_ += escaped(value.front());
    else
      text_ += length == 0 ? replacement : value.substr(0, length);
    value.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
}

}  // namespace cugraft
