// SPDX-License-Identifier: Apache-2.0
#include "ptx/types.hpp"

#include <array>

namespace cugraft_sim::ptx {
namespace {

struct scalar_row {
  std::string_view name;
  std::size_t size;
};

constexpr std::array<scalar_row, 16> rows{{{"b8", 1},
                                           {"b16", 2},
                                           {"b32", 4},
                                           {"b64", 8},
                                           {"u8", 1},
                                           {"u16", 2},
                                           {"u32", 4},
                                           {"u64", 8},
                                           {"s8", 1},
                                           {"s16", 2},
                                           {"s32", 4},
                                           {"s64", 8},
                                           {"f16", 2},
                                           {"f32", 4},
                                           {"f64", 8},
                                           {"pred", 1}}};

static_assert(rows.size() == static_cast<std::size_t>(scalar::pred) + 1);

}  // namespace

std::optional<scalar> find_scalar(std::string_view name) noexcept {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].name == name) return static_cast<scalar>(i);
  return std::nullopt;
}

std::size_t size_of(scalar type) noexcept { return rows[static_cast<std::size_t>(type)].size; }

}  // namespace cugraft_sim::ptx
