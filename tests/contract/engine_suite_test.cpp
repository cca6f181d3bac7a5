// SPDX-License-Identifier: Apache-2.0
#include "contract/engine_suite.hpp"

namespace cugraft::testing {

std::vector<engine_case> engine_cases() {
  return {{engine::native, 13030}, {engine::compare, 12040}, {engine::compare, 13030}};
}

std::string case_name(const ::testing::TestParamInfo<engine_case>& info) {
  return std::string(to_string(info.param.which)) + "_on_" + std::to_string(info.param.version);
}

EngineSuite::EngineSuite() : SimulatedDriverTest(GetParam().version) {
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

INSTANTIATE_TEST_SUITE_P(
    Engines, EngineSuite,
    ::testing::Values(engine_case{engine::native, 13030}, engine_case{engine::native, 13050},
                      engine_case{engine::compare, 12040}, engine_case{engine::compare, 12080},
                      engine_case{engine::compare, 13000}, engine_case{engine::compare, 13020},
                      engine_case{engine::compare, 13030}),
    &case_name);

}  // namespace cugraft::testing
