// SPDX-License-Identifier: Apache-2.0
#include "contract/engine_suite.hpp"

#include <algorithm>
#include <array>

namespace cugraft::testing {
namespace {

using cugraft_sim::choice;

constexpr std::size_t choice_count = static_cast<std::size_t>(choice::count_);

// In the order of the choices.
constexpr std::array choice_names{
    "failures_show_at_the_end", "parameters_are_not_written", "handles_change",
    "executables_follow",       "clones_are_refused",         "callbacks_come_at_the_end",
    "attributes_call_nobody",   "edge_data_is_ignored",       "everything_is_eligible",
    "null_callback_is_taken",   "nodes_come_reversed",
};
static_assert(choice_names.size() == choice_count, "a new choice needs a name");

std::vector<engine_case> cases_of(engine which, const std::vector<int>& versions) {
  if (has_real_driver()) return {{which, real_driver_version()}};
  std::vector<engine_case> cases;
  for (const int version : versions) cases.push_back({which, version});
  return cases;
}

}  // namespace

std::string name_of_other(choice which) { return choice_names[static_cast<std::size_t>(which)]; }

const std::vector<choice>& refused_choices() {
  static const std::vector<choice> refused{
      choice::recapture_writes_parameters, choice::recapture_keeps_handles,
      choice::recapture_touches_executables, choice::recapture_of_clones,
      choice::recapture_callback_order};
  return refused;
}

std::vector<engine_case> compare_cases(const std::vector<int>& versions) {
  return cases_of(engine::compare, versions);
}

std::vector<engine_case> direct_cases(const std::vector<int>& versions) {
  return cases_of(engine::direct, versions);
}

std::vector<engine_case> engine_cases() {
  std::vector<engine_case> cases = compare_cases({12040});
  for (const engine_case& each : direct_cases({12040})) cases.push_back(each);
  if (!has_real_driver())
    cases.push_back({engine::native, 13030});
  else if (real_driver_version() >= required_version(feature::recapture_to_graph))
    cases.push_back({engine::native, real_driver_version()});
  return cases;
}

std::vector<engine_case> all_cases() {
  std::vector<engine_case> cases = engine_cases();
  if (has_real_driver()) return cases;
  cases.push_back({engine::native, 13030, choice::recapture_failure_shows});
  if (!CUGRAFT_ALL_CASES) return cases;
  cases.push_back({engine::native, 13050});
  for (const engine_case& each : compare_cases({12080, 13000, 13020, 13030})) cases.push_back(each);
  for (const engine_case& each : direct_cases({13000, 13030})) cases.push_back(each);
  cases.push_back({engine::compare, 13030, choice::get_nodes_order});
  for (std::size_t i = 0; i < choice_count; ++i) {
    const auto which = static_cast<choice>(i);
    if (which != choice::recapture_failure_shows &&
        std::ranges::count(refused_choices(), which) == 0)
      cases.push_back({engine::native, 13030, which});
  }
  return cases;
}

std::vector<engine_case> capturing_cases() {
  std::vector<engine_case> cases = all_cases();
  std::erase_if(cases, [](const engine_case& each) { return each.which == engine::direct; });
  return cases;
}

void PrintTo(const engine_case& shown, std::ostream* out) {
  *out << to_string(shown.which) << "_on_" << shown.version;
  if (shown.other) *out << "_where_" << name_of_other(*shown.other);
}

std::string case_name(const ::testing::TestParamInfo<engine_case>& info) {
  return ::testing::PrintToString(info.param);
}

EngineSuite::EngineSuite() : ContractTest(GetParam().version) {
  if (GetParam().other) simulator().set(*GetParam().other, 1);
  clear(x_);
  clear(y_);
}

void EngineSuite::clear(const device_buffer& x) {
  fill_async(stream_, x.data(), 0, x.size());
  stream_.synchronize();
}

std::vector<float> EngineSuite::read(const device_buffer& x) {
  copy_async(stream_, host_.data(), x.data(), x.size());
  stream_.synchronize();
  return {host_.as<float>(), host_.as<float>() + count};
}

float EngineSuite::run(graph_exec& exec, const device_buffer& x) {
  clear(x);
  exec.launch(stream_);
  return read(x).front();
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineSuite, ::testing::ValuesIn(all_cases()), &case_name);

}  // namespace cugraft::testing
