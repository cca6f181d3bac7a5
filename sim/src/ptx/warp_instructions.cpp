// SPDX-License-Identifier: Apache-2.0
#include "ptx/warp_instructions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>

#include "ptx/instructions.hpp"
#include "ptx/operations.hpp"

// Instructions that the lanes of a warp do together. A lane waits until all lanes of its mask have
// come; then one function does the work for all of them. `extra` is the slot of the mask, `offset`
// that of a second destination.
namespace cugraft_sim::ptx {
namespace {

template <warp_operation Complete>
const instruction* meet(thread& t, const instruction* i) {
  const auto mask = get<std::uint32_t>(t, i->extra);
  if ((mask >> t.lane() & 1) == 0)
    return fail(t, i, outcome::trap, "names other lanes of the warp only");
  t.pending = {};
  t.pending.at = i;
  t.pending.warp_mask = mask;
  t.pending.complete = Complete;
  t.next = i + 1;
  t.state = thread_state::at_warp;
  return nullptr;
}

std::uint32_t second_destination(const instruction& i) {
  return static_cast<std::uint32_t>(i.offset);
}

/// Calls `visit(lane)` for the lanes that take part.
template <class Visit>
void for_each(const warp_lanes& lanes, Visit visit) {
  for (unsigned lane = 0; lane < lanes.size(); ++lane)
    if (lanes[lane] != nullptr) visit(lane);
}

template <class T>
std::array<T, 32> gather(const warp_lanes& lanes) {
  std::array<T, 32> values{};
  for_each(lanes,
           [&](unsigned lane) { values[lane] = get<T>(*lanes[lane], lanes[lane]->pending.at->a); });
  return values;
}

void only_meet(const warp_lanes&) {}

enum class shuffle : std::uint8_t { up, down, bfly, idx };

/// The lane that `lane` reads from, as PTX defines it; nothing where it is out of the segment.
std::optional<int> shuffle_source(shuffle mode, unsigned lane, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t segment = c >> 8 & 31;
  const std::uint32_t step = b & 31;
  const auto first = static_cast<int>(lane & segment);
  const auto last = static_cast<int>((lane & segment) | (c & 31 & ~segment));
  const auto own = static_cast<int>(lane);
  int from = 0;
  switch (mode) {
    case shuffle::up:
      from = own - static_cast<int>(step);
      return from >= last ? std::optional(from) : std::nullopt;
    case shuffle::down:
      from = own + static_cast<int>(step);
      break;
    case shuffle::bfly:
      from = static_cast<int>(lane ^ step);
      break;
    default:
      from = first | static_cast<int>(step & ~segment);
      break;
  }
  return from <= last ? std::optional(from) : std::nullopt;
}

void complete_shuffle(const warp_lanes& lanes) {
  const auto values = gather<std::uint32_t>(lanes);
  for_each(lanes, [&](unsigned lane) {
    thread& t = *lanes[lane];
    const instruction& at = *t.pending.at;
    const auto from = shuffle_source(static_cast<shuffle>(at.variant), lane,
                                     get<std::uint32_t>(t, at.b), get<std::uint32_t>(t, at.c));
    const bool reaches = from && lanes[static_cast<unsigned>(*from)] != nullptr;
    set(t, at.d, values[reaches ? static_cast<unsigned>(*from) : lane]);
    set(t, second_destination(at), from.has_value());
  });
}

std::uint32_t ballot(const warp_lanes& lanes) {
  std::uint32_t result = 0;
  for_each(lanes, [&](unsigned lane) {
    const instruction& at = *lanes[lane]->pending.at;
    if (get<bool>(*lanes[lane], at.a) != (at.count != 0)) result |= 1U << lane;
  });
  return result;
}

std::uint32_t present(const warp_lanes& lanes) {
  std::uint32_t result = 0;
  for_each(lanes, [&](unsigned lane) { result |= 1U << lane; });
  return result;
}

enum class vote : std::uint8_t { all, any, uni, ballot };

void complete_vote(const warp_lanes& lanes) {
  const std::uint32_t yes = ballot(lanes);
  const std::uint32_t voters = present(lanes);
  for_each(lanes, [&](unsigned lane) {
    const instruction& at = *lanes[lane]->pending.at;
    thread& t = *lanes[lane];
    switch (static_cast<vote>(at.variant)) {
      case vote::all:
        return set(t, at.d, yes == voters);
      case vote::any:
        return set(t, at.d, yes != 0);
      case vote::uni:
        return set(t, at.d, yes == 0 || yes == voters);
      default:
        return set(t, at.d, yes);
    }
  });
}

template <class T>
void complete_match(const warp_lanes& lanes) {
  const auto values = gather<T>(lanes);
  for_each(lanes, [&](unsigned lane) {
    std::uint32_t same = 0;
    for_each(lanes, [&](unsigned other) {
      if (values[other] == values[lane]) same |= 1U << other;
    });
    const instruction& at = *lanes[lane]->pending.at;
    const bool all = same == present(lanes);
    const bool needs_all = at.variant != 0;
    set(*lanes[lane], at.d, needs_all && !all ? 0U : same);
    set(*lanes[lane], second_destination(at), all);
  });
}

enum class reduction : std::uint8_t { add, min, max, conjunction, disjunction, difference };

template <class T>
T reduce(reduction how, T a, T b) {
  switch (how) {
    case reduction::add:
      return static_cast<T>(std::uint64_t(a) + std::uint64_t(b));
    case reduction::min:
      return std::min(a, b);
    case reduction::max:
      return std::max(a, b);
    case reduction::conjunction:
      return a & b;
    case reduction::disjunction:
      return a | b;
    default:
      return a ^ b;
  }
}

template <class T>
void complete_reduction(const warp_lanes& lanes) {
  const auto values = gather<T>(lanes);
  std::optional<T> total;
  for_each(lanes, [&](unsigned lane) {
    const auto how = static_cast<reduction>(lanes[lane]->pending.at->variant);
    total = total ? reduce(how, *total, values[lane]) : values[lane];
  });
  for_each(lanes, [&](unsigned lane) { set(*lanes[lane], lanes[lane]->pending.at->d, *total); });
}

void complete_election(const warp_lanes& lanes) {
  const auto leader = static_cast<unsigned>(std::countr_zero(present(lanes)));
  for_each(lanes, [&](unsigned lane) {
    const instruction& at = *lanes[lane]->pending.at;
    set(*lanes[lane], at.d, leader);
    set(*lanes[lane], second_destination(at), lane == leader);
  });
}

/// Takes one of `names`, and gives its place among them.
template <std::size_t Count>
std::uint8_t take_one(decoding& d, const std::array<std::string_view, Count>& names) {
  for (std::uint8_t k = 0; k < Count; ++k)
    if (d.take(names[k])) return k;
  d.unsupported();
}

/// Destinations: `d` or `d|p`.
void set_destinations(decoding& d, instruction& result) {
  const syntax::operand& what = d.operand(0);
  const bool pair = what.kind == syntax::operand_kind::pair;
  result.d = d.destination(pair ? what.parts[0] : what);
  result.offset = pair ? d.destination(what.parts[1]) : d.into().sink();
}

instruction decode_shuffle(decoding& d) {
  constexpr std::array<std::string_view, 4> modes{"up", "down", "bfly", "idx"};
  instruction result;
  if (!d.take("sync")) d.unsupported();
  result.variant = take_one(d, modes);
  if (d.take_type() != scalar::b32) d.unsupported();
  d.expect_operands(5);
  result.run = &meet<complete_shuffle>;
  set_destinations(d, result);
  result.a = d.source(1, scalar::b32);
  result.b = d.source(2, scalar::b32);
  result.c = d.source(3, scalar::b32);
  result.extra = d.source(4, scalar::b32);
  return result;
}

instruction decode_vote(decoding& d) {
  constexpr std::array<std::string_view, 4> modes{"all", "any", "uni", "ballot"};
  instruction result;
  if (!d.take("sync")) d.unsupported();
  result.variant = take_one(d, modes);
  const bool is_ballot = static_cast<vote>(result.variant) == vote::ballot;
  if (d.take_type() != (is_ballot ? scalar::b32 : scalar::pred)) d.unsupported();
  d.expect_operands(3);
  result.run = &meet<complete_vote>;
  result.d = d.destination(0);
  bool negated = false;
  result.a = d.predicate(1, negated);
  result.count = negated ? 1 : 0;
  result.extra = d.source(2, scalar::b32);
  return result;
}

instruction decode_match(decoding& d) {
  instruction result;
  result.variant = take_one(d, std::array<std::string_view, 2>{"any", "all"});
  if (!d.take("sync")) d.unsupported();
  const scalar type = d.take_type();
  if (type != scalar::b32 && type != scalar::b64) d.unsupported();
  d.expect_operands(3);
  result.run = type == scalar::b32 ? &meet<complete_match<std::uint32_t>>
                                   : &meet<complete_match<std::uint64_t>>;
  set_destinations(d, result);
  result.a = d.source(1, type);
  result.extra = d.source(2, scalar::b32);
  return result;
}

instruction decode_reduction(decoding& d) {
  constexpr std::array<std::string_view, 6> names{"add", "min", "max", "and", "or", "xor"};
  instruction result;
  if (!d.take("sync")) d.unsupported();
  result.variant = take_one(d, names);
  const scalar type = d.take_type();
  if (is_float(type) || size_of(type) != 4) d.unsupported();
  d.expect_operands(3);
  result.run = type == scalar::s32 ? &meet<complete_reduction<std::int32_t>>
                                   : &meet<complete_reduction<std::uint32_t>>;
  result.d = d.destination(0);
  result.a = d.source(1, type);
  result.extra = d.source(2, scalar::b32);
  return result;
}

instruction decode_election(decoding& d) {
  if (!d.take("sync")) d.unsupported();
  d.expect_operands(2);
  instruction result;
  result.run = &meet<complete_election>;
  set_destinations(d, result);
  result.extra = d.source(1, scalar::b32);
  return result;
}

/// Each thread runs on its own, as diverged threads do: the active mask is the lane itself.
const instruction* active_mask(thread& t, const instruction* i) {
  set(t, i->d, std::uint32_t{1} << t.lane());
  return i + 1;
}

instruction decode_active_mask(decoding& d) {
  if (d.take_type() != scalar::b32) d.unsupported();
  return d.simple(&active_mask, scalar::b32, 0);
}

constexpr std::array<instruction_row, 6> rows{{
    {"shfl", decode_shuffle},
    {"vote", decode_vote},
    {"match", decode_match},
    {"redux", decode_reduction},
    {"elect", decode_election},
    {"activemask", decode_active_mask},
}};

}  // namespace

instruction decode_warp_barrier(decoding& d) {
  if (!d.take("sync")) d.unsupported();
  d.expect_operands(1);
  instruction result;
  result.run = &meet<only_meet>;
  result.extra = d.source(0, scalar::b32);
  return result;
}

std::span<const instruction_row> warp_instructions() { return rows; }

}  // namespace cugraft_sim::ptx
