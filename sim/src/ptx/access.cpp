// SPDX-License-Identifier: Apache-2.0
#include "ptx/access.hpp"

#include <array>
#include <charconv>
#include <string>
#include <string_view>

namespace cugraft_sim::ptx {
namespace {

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

std::string_view name_of(space where) {
  switch (where) {
    case space::shared:
      return "shared ";
    case space::local:
      return "local ";
    case space::param:
      return "parameter ";
    case space::constant:
      return "constant ";
    default:
      return "";
  }
}

}  // namespace

std::byte* find_global(launch_state& launch, std::uint64_t address, std::size_t size, access how) {
  const auto globals = reinterpret_cast<std::uintptr_t>(launch.how->globals);
  const std::size_t globals_size = launch.code->initial_globals.size();
  memory_range range{globals, globals + globals_size, true};
  if (globals == 0 || address < range.begin || address >= range.end)
    range = launch.global->find(address);
  if (address < range.begin || address >= range.end || size > range.end - address) return nullptr;
  if (how == access::write && !range.writable) return nullptr;
  launch.recent[launch.next_recent] = range;
  launch.next_recent = (launch.next_recent + 1) % launch.recent.size();
  return reinterpret_cast<std::byte*>(address);
}

const instruction* access_failed(thread& t, const instruction* at, space where,
                                 std::uint64_t address, std::size_t size) {
  const bool misaligned = (address & (size - 1)) != 0;
  std::string text = misaligned ? "misaligned " : "illegal ";
  text.append(name_of(where)).append("address ").append(hexadecimal(address));
  text.append(" (").append(std::to_string(size)).append(" bytes)");
  return fail(t, at, misaligned ? outcome::misaligned_address : outcome::illegal_address, text);
}

}  // namespace cugraft_sim::ptx
