// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cugraft/saved_graph.hpp"

namespace cugraft {

/// A member that an object may have; `read` reads its value.
struct json_member {
  std::string_view name;
  std::function<void()> read;
  bool optional = false;
};

/// Reads JSON value by value, in one pass and without a tree, so that memory is bounded by what the
/// caller keeps. Each function reads a value of its type, or throws `format_error` with the line,
/// what was expected and what is there.
class json_reader {
 public:
  /// `text` has to outlive it.
  explicit json_reader(std::string_view text) noexcept : text_(text) {}

  /// Reads an object whose members may come in any order. Others are skipped: a writer of the same
  /// version may have more to say.
  void object(std::initializer_list<json_member> members);

  /// Reads an array; `element` reads each.
  void array(const std::function<void()>& element);

  std::string string();
  std::uint64_t unsigned_number(std::uint64_t greatest = UINT64_MAX);
  std::int64_t number();
  bool boolean();

  /// Whether the value is null, which is read then; anything else is left for the next call.
  bool null();

  /// An even number of hexadecimal digits.
  std::vector<std::byte> bytes();

  /// Reads a value of any kind.
  void skip();

  /// Nothing may follow the value.
  void finish();

  std::size_t line() const noexcept;

  /// @throws format_error  that says what was expected where the reader is
  [[noreturn]] void fail(std::string_view expected) const;

 private:
  char peek();
  bool take(char symbol);
  void expect(char symbol, std::string_view what);
  void enter();
  std::string_view digits();
  void escape(std::string& result);
  unsigned code_unit();
  void read_members(std::span<const json_member> members);

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace cugraft
