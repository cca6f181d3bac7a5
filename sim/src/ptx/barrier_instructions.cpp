// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "ptx/barriers.hpp"
#include "ptx/instructions.hpp"
#include "ptx/operations.hpp"
#include "ptx/warp_instructions.hpp"

// bar and barrier. A thread only says here what it waits for; the block lets it go on.
namespace cugraft_sim::ptx {
namespace {

const instruction* reach_barrier(thread& t, const instruction* i) {
  const auto number = get<std::uint32_t>(t, i->a);
  if (number >= barrier_count)
    return fail(t, i, outcome::barrier, "there is no barrier " + std::to_string(number));
  if (static_cast<barrier_kind>(i->variant) == barrier_kind::arrive) {
    ++t.block->arrived[number];
    return i + 1;
  }
  t.pending = {};
  t.pending.at = i;
  t.pending.barrier = number;
  t.pending.barrier_threads = i->b != no_slot ? get<std::uint32_t>(t, i->b) : 0;
  t.next = i + 1;
  t.state = thread_state::at_barrier;
  return nullptr;
}

void set_barrier(decoding& d, instruction& result, std::size_t number, bool counts) {
  result.run = &reach_barrier;
  result.a = d.source(number, scalar::u32);
  result.b = counts ? d.source(number + 1, scalar::u32) : no_slot;
}

instruction decode_reducing(decoding& d) {
  barrier_kind kind = barrier_kind::count;
  const bool all = d.take("and");
  const bool any = !all && d.take("or");
  if (all || any) {
    kind = all ? barrier_kind::all : barrier_kind::any;
    if (d.take_type() != scalar::pred) d.unsupported();
  } else if (!d.take("popc") || d.take_type() != scalar::u32) {
    d.unsupported();
  }
  d.expect_operands(3, 4);
  instruction result;
  const bool counts = d.operand_count() == 4;
  set_barrier(d, result, 1, counts);
  result.d = d.destination(0);
  bool negated = false;
  result.c = d.predicate(counts ? 3 : 2, negated);
  result.count = negated ? 1 : 0;
  result.variant = static_cast<std::uint8_t>(kind);
  return result;
}

instruction decode_barrier(decoding& d) {
  if (d.take("cluster")) d.unsupported();
  if (d.take("warp")) return decode_warp_barrier(d);
  d.ignore({"cta", "aligned"});
  if (d.take("red")) return decode_reducing(d);
  const bool arrives = d.take("arrive");
  if (!arrives && !d.take("sync")) d.unsupported();
  d.expect_operands(arrives ? 2 : 1, 2);
  instruction result;
  set_barrier(d, result, 0, d.operand_count() == 2);
  result.variant = static_cast<std::uint8_t>(arrives ? barrier_kind::arrive : barrier_kind::sync);
  return result;
}

constexpr std::array<instruction_row, 2> rows{{
    {"bar", decode_barrier},
    {"barrier", decode_barrier},
}};

}  // namespace

std::span<const instruction_row> barrier_instructions() { return rows; }

}  // namespace cugraft_sim::ptx
