// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <system_error>

namespace cugraft::cli {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& what) {
  const int code = errno;
  throw file_error(name + ": " + what +
                   (code == 0 ? "" : ": " + std::generic_category().message(code)));
}

std::string content(const std::string& name) {
  std::ostringstream result;
  errno = 0;
  if (name == "-") {
    result << std::cin.rdbuf();
    return std::move(result).str();
  }
  std::ifstream file(name, std::ios::binary);
  if (!file) fail(name, "cannot be opened");
  // Reading nothing sets the fail bit, of an empty file too.
  if (file.peek() != std::ifstream::traits_type::eof()) result << file.rdbuf();
  if (file.bad() || result.bad() || errno != 0) fail(name, "cannot be read");
  return std::move(result).str();
}

// A report has changes, a graph has nodes; the reader says what is wrong with anything else.
bool is_report(const std::string& json) {
  return json.find("\"changes\"") < json.find("\"nodes\"");
}

looked_at read(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) throw format_error(1, "expected JSON or DOT, but there is nothing");
  if (text[first] != '{') return saved_graph::load_dot(text);
  if (is_report(text)) return load_report(text);
  return saved_graph::load(text);
}

}  // namespace

looked_at read_file(const std::string& name) {
  const std::string text = content(name);
  try {
    return read(text);
  } catch (const format_error& failure) {
    throw file_error(name + ": " + failure.what());
  }
}

void write_output(const std::string& name, const std::string& text) {
  errno = 0;
  std::FILE* const file = name.empty() ? stdout : std::fopen(name.c_str(), "wb");
  const std::string shown = name.empty() ? "stdout" : name;
  if (file == nullptr) fail(shown, "cannot be written");
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool ended = name.empty() ? std::fflush(file) == 0 : std::fclose(file) == 0;
  if (!written || !ended) fail(shown, "cannot be written");
}

}  // namespace cugraft::cli
