// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cugraft_sim::ptx {

enum class token_kind : std::uint8_t {
  word,         ///< name, directive or dotted opcode: `%r1`, `.reg`, `ld.param::entry.u32`
  integer,      ///< `value`
  real,         ///< bits of a double in `value`: `1.5`, `0d3FF8000000000000`
  real32,       ///< bits of a float in `value`: `0f3F800000`
  text,         ///< string without its quotes
  punctuation,  ///< one character
  end,
};

/// A piece of PTX text; `text` points into the text that was given.
struct token {
  token_kind kind = token_kind::end;
  std::string_view text;
  std::uint64_t value = 0;
  unsigned line = 0;

  bool is(char sign) const noexcept {
    return kind == token_kind::punctuation && text.front() == sign;
  }
  bool is(std::string_view name) const noexcept { return kind == token_kind::word && text == name; }
};

/// Cuts `text` into tokens, without comments; the last one is `end`.
/// @throws load_error  for a character that PTX does not know, and for open comments and strings
std::vector<token> tokenize(std::string_view text);

}  // namespace cugraft_sim::ptx
