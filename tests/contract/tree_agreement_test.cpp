// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <functional>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "contract/engine_suite.hpp"
#include "contract/random_programs.hpp"

// As engine_agreement_test, for graphs inside of nodes: small random trees of work with child
// graphs, conditional nodes and forks in them, changed at random, are re-captured by `compare` and
// by `direct`, which give the same.

namespace cugraft::testing {
namespace {

enum class work_kind : unsigned {
  add,
  scale,
  fill,
  copy,
  record,
  wait,
  host,
  child,
  condition,
  loop,
  fork
};

/// Children are what is in a child graph, in a body, or on a fork.
struct work {
  work_kind kind = work_kind::add;
  unsigned buffer = 0, value = 1, grid = 1;
  bool has_tag = false, is_joined = true, is_closed = true;
  std::vector<work> inside{};
};

using program = std::vector<work>;

program random_program(dice& chance, unsigned depth, bool in_child);

work random_work(dice& chance, unsigned depth, bool in_child) {
  work made;
  made.kind = static_cast<work_kind>(chance.below(4));
  if (chance.one_in(10)) made.kind = chance.one_in(2) ? work_kind::record : work_kind::wait;
  if (chance.one_in(25)) made.kind = work_kind::host;  // which a body may not hold
  if (depth > 0 && chance.one_in(3))
    made.kind = static_cast<work_kind>(static_cast<unsigned>(work_kind::child) + chance.below(4));
  const bool is_condition = made.kind == work_kind::condition || made.kind == work_kind::loop;
  if (in_child && is_condition) made.kind = work_kind::child;  // which holds no conditions
  made.buffer = chance.below(3);
  made.value = chance.below(4);
  made.grid = 1 + chance.below(2);
  made.has_tag = chance.one_in(6);
  made.is_joined = !chance.one_in(25);
  made.is_closed = !chance.one_in(5);
  if (made.kind >= work_kind::child)
    made.inside = random_program(chance, depth - 1, in_child || made.kind == work_kind::child);
  return made;
}

program random_program(dice& chance, unsigned depth, bool in_child) {
  program made(chance.below(5));
  for (work& each : made) each = random_work(chance, depth, in_child);
  return made;
}

// Mostly one value somewhere, at times another structure.
void change(program& which, dice& chance, unsigned depth, bool in_child) {
  if (which.empty()) return which.push_back(random_work(chance, depth, in_child));
  const std::size_t at = chance.below(static_cast<unsigned>(which.size()));
  work& changed = which[at];
  if (!changed.inside.empty() && !chance.one_in(3))
    return change(changed.inside, chance, depth - 1, in_child || changed.kind == work_kind::child);
  switch (chance.below(14)) {
    case 0:
      which.insert(which.begin() + static_cast<std::ptrdiff_t>(at),
                   random_work(chance, depth, in_child));
      return;
    case 1:
      which.erase(which.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 2:
      std::swap(changed, which[(at + 1) % which.size()]);
      return;
    case 3:
      changed = random_work(chance, depth, in_child);
      return;
    case 4:
      changed.has_tag = !changed.has_tag;
      return;
    case 5:
      changed.is_joined = changed.is_closed = false;
      return;
    case 6:
      changed.kind = changed.inside.empty() ? work_kind::host : changed.kind;
      return;
    default:
      changed.value = chance.below(4);
      changed.grid = 1 + chance.below(2);
  }
}

std::string text_of(const std::optional<node_summary>& node) {
  if (!node) return "none";
  return to_string(node->path) + " " + to_string(node->kind) + " " + node->name + " " + node->tag;
}

// Streams of forks are others for each graph, and so are host functions.
std::string without_addresses(const std::string& text) {
  static const std::regex address("0x[0-9a-f]+");
  return std::regex_replace(text, address, "0x");
}

std::string text_of(const recapture_result& result) {
  if (!result) {
    const recapture_failure& failure = result.failure();
    std::string text = "failed " + std::to_string(static_cast<int>(failure.why)) + " " +
                       std::to_string(failure.code) + " " + failure.function + " after " +
                       std::to_string(failure.nodes_matched) + "\nexpected " +
                       text_of(failure.expected) + "\nfound " + text_of(failure.found) + "\n" +
                       failure.message;
    for (const node_summary& each : failure.involved) text += "\ninvolved " + text_of(each);
    return without_addresses(text);
  }
  const change_report& report = result.report();
  std::string text = std::to_string(report.nodes_total()) + " nodes, " +
                     std::to_string(report.generation()) + ". generation, " +
                     std::string(to_string(report.overall()));
  for (const node_change& each : report.changes()) {
    text += "\n" + to_string(each.path) + " " + to_string(each.kind) + " " + each.name + " " +
            each.tag + " " + std::string(to_string(each.effect)) + " " + each.rule;
    for (const field_change& field : each.fields)
      text += "\n  " + field.field + " " + field.before + " " + field.after;
  }
  return without_addresses(text);
}

// Two calls of one kind stand for each other.
struct equal_call {
  void operator()() const {}
  friend bool operator==(const equal_call&, const equal_call&) = default;
};

class TreeAgreement : public EngineSuite {
 protected:
  void play(const program& all, graph_builder& on) {
    for (const work& each : all) play(each, on);
  }

  void play(const work& what, graph_builder& on) {
    if (what.has_tag) on.tag("tag " + std::to_string(what.value));
    const device_buffer& x = buffers_[what.buffer];
    const launch_config config{.grid = what.grid, .block = 32};
    const auto number = static_cast<float>(what.value);
    switch (what.kind) {
      case work_kind::add:
        return launch(on, config, add_, x, number, static_cast<int>(count));
      case work_kind::scale:
        return launch(on, config, scale_, x, number, static_cast<int>(count));
      case work_kind::fill:
        return fill_async(on, x.data(), what.value, 4 * (what.value + 1));
      case work_kind::copy:
        return copy_async(on, x.data(), buffers_[3].data(), 4 * (what.value + 1));
      case work_kind::record:
        return on.stream().record(events_[what.value % 2]);
      case work_kind::wait:
        return on.stream().wait(events_[what.value % 2]);
      case work_kind::host:
        return on.host_call(equal_call{});
      case work_kind::child: {
        const stream aside(context_);
        const graph child = capture(aside, [&](graph_builder& of) { play(what.inside, of); });
        return on.embed(child);
      }
      case work_kind::condition:
        return in_body(what, on.if_then(on.create_condition(what.value % 2)));
      case work_kind::loop:  // whose condition is never set
        return in_body(what, on.while_loop(on.create_condition(0)));
      case work_kind::fork: {
        graph_builder fork = on.fork(1)[0];
        play(what.inside, fork);
        if (what.is_joined) on.join(fork);
      }
    }
  }

  // What is not closed is completed at the end.
  void in_body(const work& what, graph_builder body) {
    play(what.inside, body);
    if (!what.is_closed) return;
    try {
      body.close();
    } catch (const usage_error&) {
      // of what it may not hold, or of one in it that is open
    }
  }

  std::optional<graph> captured(const program& all) {
    try {
      return capture(stream_, [&](graph_builder& gb) { play(all, gb); });
    } catch (const cuda_error&) {
      return std::nullopt;  // something in it fails by itself
    }
  }

  /// Empty where the program cannot be captured.
  std::string recapture_by(engine which, const program& before, const program& after) {
    std::optional<graph> made = captured(before);
    if (!made) return {};
    graph_exec exec = made->instantiate();
    const recapture_result result =
        made->try_recapture(stream_, [&](graph_builder& gb) { play(after, gb); }, {.with = which});
    EXPECT_EQ(simulator().live().capturing_streams, 0U);
    EXPECT_TRUE(exec.update({.destroy_first = true}));
    std::string text = text_of(result);
    // Of a graph that runs work at the same time on one buffer, only what the driver holds is told.
    const recapture_result again =
        made->try_recapture(stream_, [&](graph_builder& gb) { play(result ? after : before, gb); },
                            {.with = engine::compare});
    EXPECT_TRUE(again && again.report().nodes_changed() == 0) << text_of(again);
    return text;
  }

  void compare_on(unsigned seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    dice chance(seed);
    const program before = random_program(chance, 3, false);
    program after = before;
    for (unsigned changes = chance.below(3); changes > 0; --changes)
      change(after, chance, 3, false);
    try {
      const std::string by_compare = recapture_by(engine::compare, before, after);
      if (by_compare.empty()) return;
      ++(by_compare.starts_with("failed") ? failed_ : succeeded_);
      EXPECT_EQ(recapture_by(engine::direct, before, after), by_compare);
    } catch (const cuda_error&) {
      // a child graph that cannot be captured
    }
  }

  std::vector<device_buffer> buffers_ = [this] {
    std::vector<device_buffer> made;
    for (unsigned i = 0; i < 4; ++i) made.emplace_back(context_, count * sizeof(float));
    return made;
  }();
  std::array<event, 2> events_{event(context_), event(context_)};
  unsigned succeeded_ = 0, failed_ = 0;
};

TEST_P(TreeAgreement, RandomTreesGiveTheSameByDirectAsByCompare) {
  const unsigned first = first_seed();
  const unsigned seeds = seed_count();
  for (unsigned i = 0; i < seeds && !HasFailure(); ++i) compare_on(first + i);
  // Both kinds of outcome have to be among them.
  EXPECT_GT(succeeded_, seeds / 5);
  EXPECT_GT(failed_, seeds / 20);
}

INSTANTIATE_TEST_SUITE_P(Engines, TreeAgreement, ::testing::ValuesIn(direct_cases({12040})),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
