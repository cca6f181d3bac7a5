// SPDX-License-Identifier: Apache-2.0
#include "version.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace cugraft_sim {
namespace {

constexpr std::array versions{12040, 12080, 13000, 13020, 13030, 13050};

}  // namespace

bool is_version(int version) noexcept {
  return std::ranges::find(versions, version) != versions.end();
}

int parse_version(std::string_view text) noexcept {
  int major = 0;
  int minor = 0;
  const char* const end = text.data() + text.size();
  const auto [dot, first_error] = std::from_chars(text.data(), end, major);
  if (first_error != std::errc() || dot == end || *dot != '.') return 0;
  const auto [rest, second_error] = std::from_chars(dot + 1, end, minor);
  if (second_error != std::errc() || rest != end || major > 99 || minor > 99) return 0;
  return major * 1000 + minor * 10;
}

std::string version_list() {
  std::string text;
  for (const int version : versions)
    text += (text.empty() ? "" : ", ") + std::to_string(version / 1000) + "." +
            std::to_string(version % 1000 / 10);
  return text;
}

}  // namespace cugraft_sim
