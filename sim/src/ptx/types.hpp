// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cugraft_sim::ptx {

/// The fundamental types of PTX that the interpreter knows.
enum class scalar : std::uint8_t {
  b8,
  b16,
  b32,
  b64,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f32,
  f64,
  pred,
};

/// The type that `name` ("u32", without the dot) stands for.
std::optional<scalar> find_scalar(std::string_view name) noexcept;

/// Bytes in memory; 1 for `pred`, which has none.
std::size_t size_of(scalar type) noexcept;

constexpr bool is_float(scalar type) noexcept {
  return type == scalar::f16 || type == scalar::f32 || type == scalar::f64;
}

constexpr bool is_signed(scalar type) noexcept { return type >= scalar::s8 && type <= scalar::s64; }

/// Where a variable lies.
enum class space : std::uint8_t { generic, global, constant, shared, local, param };

}  // namespace cugraft_sim::ptx
