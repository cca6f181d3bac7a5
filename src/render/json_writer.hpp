// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cugraft {

/// Writes one JSON value without white space. `member` and `element` find by argument what to do
/// with a value: a function `write(json_writer&, const T&)` beside T.
class json_writer {
 public:
  /// The finished text.
  std::string take() { return std::move(text_); }

  /// Writes an object whose members `fill` adds.
  template <class F>
  void object(F&& fill) {
    open('{');
    fill();
    close('}');
  }

  /// Writes an array of all of `elements`.
  template <class T>
  void array(std::span<const T> elements) {
    open('[');
    for (const T& element : elements) {
      separate();
      write(*this, element);
    }
    close(']');
  }

  /// Writes an array whose elements `fill` adds by `element`.
  template <class F>
  void list(F&& fill) {
    open('[');
    fill();
    close(']');
  }

  template <class T>
  void element(const T& value) {
    separate();
    write(*this, value);
  }

  /// A member whose value `fill` writes.
  template <class F>
  void member_by(std::string_view name, F&& fill) {
    separate();
    string(name);
    text_ += ':';
    fill();
  }

  template <class T>
  void member(std::string_view name, const T& value) {
    separate();
    string(name);
    text_ += ':';
    write(*this, value);
  }

  /// What is JSON already.
  void raw(std::string_view json) { text_ += json; }

  void null() { text_ += "null"; }
  void boolean(bool value) { text_ += value ? "true" : "false"; }
  void number(std::uint64_t value) { text_ += std::to_string(value); }
  void number(std::int64_t value) { text_ += std::to_string(value); }

  /// What is no UTF-8 is replaced, byte by byte, by U+FFFD, so that the result always parses.
  void string(std::string_view value);

 private:
  void open(char bracket) {
    text_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    text_ += bracket;
    first_ = false;
  }
  void separate() {
    if (!first_) text_ += ',';
    first_ = false;
  }

  std::string text_;
  bool first_ = true;  // no comma before the next member or element
};

inline void write(json_writer& out, std::same_as<bool> auto value) { out.boolean(value); }

template <std::integral T>
requires(!std::same_as<T, bool>) void write(json_writer& out, T value) {
  if constexpr (std::is_signed_v<T>)
    out.number(std::int64_t{value});
  else
    out.number(std::uint64_t{value});
}

inline void write(json_writer& out, std::string_view value) { out.string(value); }
inline void write(json_writer& out, const std::string& value) { out.string(value); }

template <class T>
void write(json_writer& out, const std::optional<T>& value) {
  value ? write(out, *value) : out.null();
}

template <class T>
void write(json_writer& out, std::span<T> values) {
  out.array(values);
}

template <class T>
void write(json_writer& out, const std::vector<T>& values) {
  out.array(std::span(values));
}

}  // namespace cugraft
