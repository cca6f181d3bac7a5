// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <string_view>

#include "chain_program.hpp"
#include "raw_driver.hpp"
#include "registration.hpp"

namespace cugraft::bench {
namespace {

void describe_driver() {
  const driver& driver = measured_driver();
  benchmark::AddCustomContext(
      "driver", fmt::format("{} ({}.{})", driver.path().string(), driver.version() / 1000,
                            driver.version() % 1000 / 10));
  std::array<char, 256> name{};
  check(measured_raw_driver().device_get_name(name.data(), name.size(), 0), "cuDeviceGetName");
  benchmark::AddCustomContext("device", name.data());
  if (!driver.supports(feature::recapture_to_graph))
    benchmark::AddCustomContext("left out", "the engine native, which needs a driver of 13.3");
  if (std::string_view(name.data()).find("simulated") != std::string_view::npos)
    benchmark::AddCustomContext("note",
                                "a stand-in for a driver: no figure says anything of a GPU");
}

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  try {
    describe_driver();
  } catch (const error& failure) {
    fmt::print(stderr, "cugraft_bench: {}\n", failure.what());
    return 1;
  }
  add_capture_benchmarks();
  add_recapture_benchmarks();
  add_executable_benchmarks();
  add_step_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace cugraft::bench

int main(int argc, char** argv) { return cugraft::bench::run(argc, argv); }
