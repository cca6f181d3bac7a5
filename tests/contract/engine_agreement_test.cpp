// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "contract/engine_suite.hpp"
#include "contract/random_programs.hpp"
#include "support/foreign_calls.hpp"

// For one program every engine gives the same: small random programs over several streams, changed
// at random, are re-captured by each engine. What the changed program does is known from a capture
// of its own. A driver without the engine `native` has that capture to compare with: handed in to
// `update_from`, it gives the same report or failure, and the same results.

namespace cugraft::testing {
namespace {

constexpr unsigned lane_count = 3;
constexpr unsigned buffer_count = 4;

enum class step_kind : unsigned {
  add,
  scale,
  copy,
  fill,
  host,
  record_external,
  wait_external,
  link,  // an event from one lane to another
  fork,
  join,
  foreign_fill,
  count_
};

struct step {
  step_kind kind = step_kind::add;
  unsigned lane = 0, other = 0;
  unsigned buffer = 0, source = 1;
  unsigned value = 1, grid = 1, elements = 4;
  bool has_tag = false;
  bool is_urgent = false;
};

using program = std::vector<step>;

/// Two calls with the same number stand for each other.
struct numbered_call {
  unsigned number;
  void operator()() const {}
  friend bool operator==(const numbered_call&, const numbered_call&) = default;
};

step random_step(dice& chance) {
  step made;
  made.kind = static_cast<step_kind>(chance.below(static_cast<unsigned>(step_kind::foreign_fill)));
  if (chance.one_in(30)) made.kind = step_kind::foreign_fill;
  made.lane = chance.below(lane_count);
  made.other = chance.below(lane_count);
  made.buffer = chance.below(buffer_count);
  made.source = chance.below(buffer_count);
  made.value = 1 + chance.below(4);
  made.grid = 1 + chance.below(2);
  made.elements = 4 * (1 + chance.below(4));
  made.has_tag = chance.one_in(6);
  made.is_urgent = chance.one_in(8);
  return made;
}

program random_program(dice& chance) {
  program made(2 + chance.below(14));
  for (step& each : made) each = random_step(chance);
  return made;
}

// Mostly one value of one step, at times another step, one more, one fewer, or another order.
void change(program& which, dice& chance) {
  const std::size_t at = chance.below(static_cast<unsigned>(which.size()));
  switch (chance.below(10)) {
    case 0:
      which.insert(which.begin() + static_cast<std::ptrdiff_t>(at), random_step(chance));
      return;
    case 1:
      if (which.size() > 1) which.erase(which.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 2:
      std::swap(which[at], which[(at + 1) % which.size()]);
      return;
    case 3:
      which[at] = random_step(chance);
      return;
    case 4:
      which[at].lane = chance.below(lane_count);
      return;
    default:
      break;
  }
  step other = random_step(chance);
  other.kind = which[at].kind;
  other.lane = which[at].lane;
  other.other = which[at].other;
  which[at] = other;
}

std::string text_of(const std::optional<node_summary>& node) {
  if (!node) return "none";
  return to_string(node->path) + " " + to_string(node->kind) + " " + node->name + " " + node->tag;
}

/// Everything that does not depend on the engine; addresses of host functions do. A graph that is
/// handed in leaves the tags of nodes for which it has none, so there they are not compared.
std::string text_of(const recapture_result& result, bool has_tags = true) {
  std::string text;
  if (!result) {
    const recapture_failure& failure = result.failure();
    return "failed " + std::to_string(static_cast<int>(failure.why)) + " " +
           std::to_string(failure.code) + " after " + std::to_string(failure.nodes_matched) +
           "\nexpected " + text_of(failure.expected) + "\nfound " + text_of(failure.found) + "\n" +
           failure.message;
  }
  const change_report& report = result.report();
  text = std::to_string(report.nodes_total()) + " nodes, " + std::to_string(report.generation()) +
         ". generation, " + std::string(to_string(report.overall()));
  for (const node_change& each : report.changes()) {
    text += "\n" + to_string(each.path) + " " + to_string(each.kind) + " " + each.name + " " +
            (has_tags ? each.tag : "") + " " + std::string(to_string(each.effect)) + " " +
            each.rule;
    for (const field_change& field : each.fields)
      text += "\n  " + field.field +
              (field.field == "user_data" ? "" : " " + field.before + " " + field.after);
  }
  return text;
}

class EngineAgreement : public EngineSuite {
 protected:
  void play(const program& which, graph_builder& gb) {
    std::array<std::optional<graph_builder>, lane_count> lanes;
    std::array<bool, lane_count> was_joined{};
    lanes[0] = gb;
    const auto lane = [&](unsigned number) -> graph_builder& {
      return lanes[number] ? *lanes[number] : *lanes[0];
    };
    for (const step& each : which) {
      const unsigned used = lanes[each.lane] ? each.lane : 0;
      graph_builder& on = *lanes[used];
      if (each.has_tag) on.tag("tag " + std::to_string(each.value));
      if (each.kind == step_kind::fork && each.lane != 0 && !lanes[each.lane])
        // A lane that was joined goes on from where it was, so that its buffers have one user.
        lanes[each.lane] = lane(was_joined[each.lane] ? 0 : each.other).fork(streams_[each.lane]);
      else if (each.kind == step_kind::join && each.lane != 0 && lanes[each.lane])
        lanes[0]->join(*std::exchange(lanes[each.lane], std::nullopt)),
            was_joined[each.lane] = true;
      else
        work(each, used, on, lane(each.other));
    }
    for (unsigned i = 1; i < lane_count; ++i)
      if (lanes[i]) lanes[0]->join(*lanes[i]);
  }

  // Lanes run at the same time, so each has buffers of its own.
  void work(const step& what, unsigned lane, graph_builder& on, graph_builder& other) {
    const device_buffer& to = buffers_[lane * buffer_count + what.buffer];
    const device_buffer& from = buffers_[lane * buffer_count + what.source];
    launch_config config{.grid = what.grid, .block = 32};
    if (what.is_urgent) config.priority = -1;
    const auto elements = static_cast<int>(what.elements);
    switch (what.kind) {
      case step_kind::add:
        return launch(on, config, add_, to, static_cast<float>(what.value), elements);
      case step_kind::scale:
        return launch(on, config, scale_, to, static_cast<float>(what.value), elements);
      case step_kind::copy:
        return copy_async(on, to.data(), from.data(), what.elements * sizeof(float));
      case step_kind::fill:
        return fill_async(on, to.data(), what.value, what.elements * sizeof(float));
      case step_kind::host:
        return on.host_call(numbered_call{what.value});
      case step_kind::record_external:
        return on.stream().record_external(externals_[what.value % 2]);
      case step_kind::wait_external:
        return on.stream().wait_external(externals_[what.value % 2]);
      case step_kind::link:
        if (on.stream() == other.stream()) return;
        on.stream().record(links_[what.value % 2]);
        return other.stream().wait(links_[what.value % 2]);
      case step_kind::foreign_fill:
        static_cast<void>(calls_.memset_d8(reinterpret_cast<CUdeviceptr>(to.data()),
                                           static_cast<unsigned char>(what.value), what.elements,
                                           on.stream().get()));
        return;
      default:
        return;
    }
  }

  std::vector<float> result_of(graph_exec& exec) {
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      fill_async(stream_, buffers_[i].data(), 0, buffers_[i].size());
    exec.launch(stream_);
    std::vector<float> all;
    for (const device_buffer& each : buffers_) {
      const std::vector<float> one = read(each);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  struct outcome {
    std::string text, text_without_tags;
    std::vector<float> result;
  };

  outcome recapture_by(engine which, const program& before, const program& after) {
    graph made = capture(stream_, [&](graph_builder& gb) { play(before, gb); });
    graph_exec exec = made.instantiate();
    const recapture_result result =
        made.try_recapture(stream_, [&](graph_builder& gb) { play(after, gb); }, {.with = which});
    EXPECT_FALSE(stream_.is_capturing());
    EXPECT_TRUE(exec.update());
    outcome found{text_of(result), text_of(result, false), result_of(exec)};
    if (result) {
      graph fresh = capture(stream_, [&](graph_builder& gb) { play(after, gb); });
      graph_exec expected = fresh.instantiate();
      EXPECT_EQ(found.result, result_of(expected)) << "another result than of a capture afresh";
    }
    return found;
  }

  outcome update_from_capture(const program& before, const program& after) {
    graph made = capture(stream_, [&](graph_builder& gb) { play(before, gb); });
    graph_exec exec = made.instantiate();
    const recapture_result result =
        made.try_update_from(capture(stream_, [&](graph_builder& gb) { play(after, gb); }));
    EXPECT_TRUE(exec.update());
    return {text_of(result), text_of(result, false), result_of(exec)};
  }

  void compare_on(unsigned seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    dice chance(seed);
    const program before = random_program(chance);
    program after = before;
    for (unsigned changes = chance.below(4); changes > 0; --changes) change(after, chance);
    const outcome by_compare = recapture_by(engine::compare, before, after);
    succeeded_ += by_compare.text.starts_with("failed") ? 0 : 1;
    expect_same_by_direct(before, after, by_compare);
    if (driver().supports(feature::recapture_to_graph)) {
      expect_same_by_native(before, after, by_compare);
      return;
    }
    const outcome afresh = update_from_capture(before, after);
    EXPECT_EQ(afresh.text_without_tags, by_compare.text_without_tags);
    EXPECT_EQ(afresh.result, by_compare.result);
  }

  static bool has_foreign_work(const program& all) {
    return std::any_of(all.begin(), all.end(),
                       [](const step& each) { return each.kind == step_kind::foreign_fill; });
  }

  void expect_same_by_direct(const program& before, const program& after,
                             const outcome& by_compare) {
    const outcome by_direct = recapture_by(engine::direct, before, after);
    if (has_foreign_work(after)) {
      EXPECT_TRUE(by_direct.text.starts_with("failed"));
      return;
    }
    EXPECT_EQ(by_direct.text, by_compare.text);
    EXPECT_EQ(by_direct.result, by_compare.result);
  }

  void expect_same_by_native(const program& before, const program& after,
                             const outcome& by_compare) {
    const outcome by_native = recapture_by(engine::native, before, after);
    const bool is_failure = by_compare.text.starts_with("failed");
    EXPECT_EQ(by_native.result, by_compare.result);
    // Foreign code sees the driver's own refusals, which only native has.
    if (is_failure && (has_foreign_work(before) || has_foreign_work(after)))
      EXPECT_TRUE(by_native.text.starts_with("failed"));
    else
      EXPECT_EQ(by_native.text, by_compare.text);
  }

  std::vector<device_buffer> buffers_ = [this] {
    std::vector<device_buffer> made;
    for (unsigned i = 0; i < lane_count * buffer_count; ++i)
      made.emplace_back(context_, count * sizeof(float));
    return made;
  }();
  stream second_{context_}, third_{context_};
  std::array<stream_ref, lane_count> streams_{stream_, second_, third_};
  std::array<event, 2> externals_{event(context_), event(context_)};
  std::array<event, 2> links_{event(context_), event(context_)};
  foreign_calls calls_{driver()};
  unsigned succeeded_ = 0;
};

TEST_P(EngineAgreement, RandomProgramsGiveTheSameOnEveryEngine) {
  for (const event& each : externals_) stream_.record(each);
  const unsigned first = first_seed();
  const unsigned seeds = seed_count();
  for (unsigned i = 0; i < seeds && !HasFailure(); ++i) compare_on(first + i);
  // Both kinds of outcome have to be among them.
  EXPECT_GT(succeeded_, seeds / 5);
  EXPECT_LT(succeeded_, seeds - seeds / 10);
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineAgreement, ::testing::ValuesIn(compare_cases({13030})),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
