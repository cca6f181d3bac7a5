// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>

#include "ptx/instructions.hpp"
#include "ptx/operations.hpp"

// mov, and cvta between generic addresses and those of one space.
namespace cugraft_sim::ptx {
namespace {

const instruction* move(thread& t, const instruction* i) {
  t.slots[i->d] = t.slots[i->a];
  return i + 1;
}

/// Nanoseconds stand for clock cycles: all that PTX promises is that they grow.
const instruction* read_clock(thread& t, const instruction* i) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto count =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  t.slots[i->d] = count >> i->variant;
  return i + 1;
}

/// Parts of a value, the lowest first.
template <class Part>
const instruction* unpack(thread& t, const instruction* i) {
  const std::uint64_t whole = t.slots[i->a];
  for (unsigned k = 0; k < i->count; ++k)
    set(t, t.body->lists[i->extra + k], static_cast<Part>(whole >> (8 * sizeof(Part) * k)));
  return i + 1;
}

template <class Part>
const instruction* pack(thread& t, const instruction* i) {
  std::uint64_t whole = 0;
  for (unsigned k = 0; k < i->count; ++k)
    whole |= std::uint64_t{get<Part>(t, t.body->lists[i->extra + k])} << (8 * sizeof(Part) * k);
  t.slots[i->d] = whole;
  return i + 1;
}

scalar part_type(decoding& d, scalar whole, std::size_t count) {
  const std::size_t size = size_of(whole) / count;
  if (size * count != size_of(whole) || (count != 2 && count != 4)) d.wrong("does not divide so");
  if (size == 4) return scalar::b32;
  if (size == 2) return scalar::b16;
  if (size == 1) return scalar::b8;
  d.unsupported();
}

handler pick(scalar part, handler small, handler middle, handler large) {
  return part == scalar::b8 ? small : part == scalar::b16 ? middle : large;
}

instruction decode_unpack(decoding& d, scalar type) {
  instruction result;
  const std::size_t count = d.operand(0).parts.size();
  result.run = pick(part_type(d, type, count), &unpack<std::uint8_t>, &unpack<std::uint16_t>,
                    &unpack<std::uint32_t>);
  result.count = static_cast<std::uint16_t>(count);
  result.extra = d.destination_list(d.operand(0), count);
  result.a = d.source(1, type);
  return result;
}

instruction decode_pack(decoding& d, scalar type) {
  instruction result;
  const std::size_t count = d.operand(1).parts.size();
  const scalar part = part_type(d, type, count);
  result.run = pick(part, &pack<std::uint8_t>, &pack<std::uint16_t>, &pack<std::uint32_t>);
  result.count = static_cast<std::uint16_t>(count);
  result.extra = d.source_list(d.operand(1), count, part);
  result.d = d.destination(0);
  return result;
}

bool is_clock(std::string_view name) {
  return name == "%clock" || name == "%clock64" || name == "%globaltimer" ||
         name == "%globaltimer_lo";
}

bool is_clock_top(std::string_view name) {
  return name == "%clock_hi" || name == "%globaltimer_hi";
}

instruction decode_move(decoding& d) {
  const scalar type = d.take_type();
  d.expect_operands(2);
  if (d.operand(0).kind == syntax::operand_kind::group) return decode_unpack(d, type);
  if (d.operand(1).kind == syntax::operand_kind::group) return decode_pack(d, type);
  instruction result;
  result.d = d.destination(0);
  const std::string_view from = d.operand(1).name;
  if (is_clock(from) || is_clock_top(from)) {
    result.run = &read_clock;
    result.variant = is_clock_top(from) ? 32 : 0;
    return result;
  }
  result.run = &move;
  result.a = d.source(1, type);
  return result;
}

template <std::uint64_t Tag>
const instruction* to_generic(thread& t, const instruction* i) {
  t.slots[i->d] = Tag << tag_shift | (t.slots[i->a] & 0xFFFFFFFFU);
  return i + 1;
}

const instruction* to_window(thread& t, const instruction* i) {
  t.slots[i->d] = t.slots[i->a] & 0xFFFFFFFFU;
  return i + 1;
}

instruction decode_convert_address(decoding& d) {
  const bool to_space = d.take("to");
  const std::string_view where = d.take_any();
  const scalar type = d.take_type();
  if (type != scalar::u64) d.unsupported();
  handler run = nullptr;
  if (where == "global" || where == "const") run = &move;
  if (where == "shared" || where == "shared::cta") run = &to_generic<shared_tag>;
  if (where == "local") run = &to_generic<local_tag>;
  if (where == "param" || where == "param::entry") run = &to_generic<param_tag>;
  if (run != nullptr && run != &move && to_space) run = &to_window;
  return d.simple(run, type, 1);
}

/// Whether a generic address lies in a space.
const instruction* is_in_space(thread& t, const instruction* i) {
  const std::uint64_t tag = t.slots[i->a] >> tag_shift;
  const bool tagged = tag == shared_tag || tag == local_tag || tag == param_tag;
  set(t, i->d, i->variant == 0 ? !tagged : tag == i->variant);
  return i + 1;
}

instruction decode_is_space(decoding& d) {
  const std::string_view where = d.take_any();
  instruction result = d.simple(&is_in_space, scalar::u64, 1);
  if (where == "shared" || where == "shared::cta")
    result.variant = shared_tag;
  else if (where == "local")
    result.variant = local_tag;
  else if (where != "global")
    d.unsupported();
  return result;
}

constexpr std::array<instruction_row, 3> rows{{
    {"mov", decode_move},
    {"cvta", decode_convert_address},
    {"isspacep", decode_is_space},
}};

}  // namespace

std::span<const instruction_row> move_instructions() { return rows; }

}  // namespace cugraft_sim::ptx
