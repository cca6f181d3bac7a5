// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/driver_under_test.hpp"
#include "sim/gate.hpp"
#include "sim/kernels.hpp"

namespace cugraft_sim {
namespace {

// The simulator's control surface; there is none on a real driver.
class Control : public Rules {
 protected:
  void SetUp() override {
    CUGRAFT_NEEDS_SIMULATOR();
    Rules::SetUp();
  }

  void TearDown() override {
    if (!IsSkipped()) Rules::TearDown();
  }
};

TEST_F(Control, OnlyVersionsOfTheDialAreTaken) {
  driver_under_test fresh = driver_under_test::fresh_simulator();
  EXPECT_EQ(fresh.version(), 13030);
  fresh.set_version(12080);
  EXPECT_EQ(fresh.version(), 12080);
  EXPECT_THROW(fresh.set_version(12090), std::invalid_argument);
  EXPECT_EQ(fresh.version(), 12080);
}

TEST_F(Control, EnvironmentSetsTheFirstVersion) {
  ASSERT_EQ(setenv("CUGRAFT_SIM_VERSION", "12.4", 1), 0);
  const driver_under_test older = driver_under_test::fresh_simulator();
  EXPECT_EQ(older.version(), 12040);
  ASSERT_EQ(setenv("CUGRAFT_SIM_VERSION", "12.5", 1), 0);
  const driver_under_test unknown = driver_under_test::fresh_simulator();
  EXPECT_EQ(unknown->init(0), CUDA_ERROR_SYSTEM_NOT_READY);
  ASSERT_EQ(unsetenv("CUGRAFT_SIM_VERSION"), 0);
}

TEST_F(Control, DevicesAreCountedBeforeInit) {
  const driver_under_test fresh = driver_under_test::fresh_simulator();
  fresh.control().set_device_count(3);
  ASSERT_EQ(fresh->init(0), CUDA_SUCCESS);
  int count = 0;
  EXPECT_EQ(fresh->device_get_count(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 3);
  EXPECT_THROW(fresh.control().set_device_count(4), std::invalid_argument);
}

TEST_F(Control, MachineWithoutADeviceSaysSo) {
  const driver_under_test fresh = driver_under_test::fresh_simulator();
  fresh.control().set_device_count(0);
  EXPECT_EQ(fresh->init(0), CUDA_ERROR_NO_DEVICE);
}

TEST_F(Control, HiddenFunctionIsNotFound) {
  driver_under_test fresh = driver_under_test::fresh_simulator();
  const auto init = fresh->init;
  fresh.control().hide("cuInit");
  fresh.set_version(13030);
  EXPECT_EQ(fresh->init, nullptr);
  EXPECT_EQ(init(0), 36);  // CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, not in older headers
  EXPECT_THROW(fresh.control().hide("cuNoSuchFunction"), std::invalid_argument);
}

TEST_F(Control, TwoFilesAreTwoDrivers) {
  const driver_under_test other = driver_under_test::fresh_simulator(12040);
  EXPECT_NE(other.version(), driver().version());
  ASSERT_EQ(other->init(0), CUDA_SUCCESS);
  CUcontext current = nullptr;
  EXPECT_EQ(other->ctx_get_current(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, nullptr) << "the other driver has a context stack of its own";
  EXPECT_EQ(other.control().context_stack_depth(), 0U);
  EXPECT_EQ(control().context_stack_depth(), 1U);
}

TEST_F(Control, PlannedCallFailsBeforeItsEffect) {
  control().plan({.function = "cuEventCreate", .nth = 2, .code = CUDA_ERROR_OUT_OF_MEMORY});
  CUevent first = nullptr;
  CUevent second = nullptr;
  EXPECT_EQ(cu().event_create(&first, 0), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_create(&second, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(control().live().events, 1U);
  EXPECT_EQ(control().faults_hit(), 1U);
  EXPECT_EQ(cu().event_create(&second, 0), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_destroy(first), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_destroy(second), CUDA_SUCCESS);
}

TEST_F(Control, PlannedCallFailsAfterItsEffect) {
  const CUevent event = make_event();
  control().plan({.function = "cuEventDestroy", .code = 709, .after_effect = true});
  EXPECT_EQ(cu().event_destroy(event), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(control().live().events, 0U);
}

TEST_F(Control, PlannedCallsFailFromThenOn) {
  control().plan({.function = "cuCtxSynchronize", .nth = 2, .code = 999, .from_then_on = true});
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(control().faults_hit(), 2U);
  control().clear_faults();
  EXPECT_EQ(cu().ctx_synchronize(), CUDA_SUCCESS);
  EXPECT_EQ(control().faults_hit(), 0U);
}

TEST_F(Control, PlanOfWhatIsNoFunctionIsAnError) {
  EXPECT_THROW(control().plan({.function = "cuGraphExplode"}), std::invalid_argument);
  EXPECT_THROW(control().plan({.function = "cuInit", .nth = 0}), std::invalid_argument);
}

TEST_F(Control, CallsAreCountedAndLogged) {
  const std::uint64_t before = control().calls("cuEventCreate");
  control().start_log();
  const CUevent event = make_event();
  CUevent refused = nullptr;
  EXPECT_EQ(cu().event_create(&refused, 64), CUDA_ERROR_INVALID_VALUE);
  const std::vector<call> log = control().take_log();
  EXPECT_EQ(control().calls("cuEventCreate"), before + 2);
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].function, "cuEventCreate");
  EXPECT_EQ(log[0].result, CUDA_SUCCESS);
  EXPECT_EQ(log[1].result, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().event_destroy(event), CUDA_SUCCESS);
  EXPECT_TRUE(control().take_log().empty()) << "the log was taken, so nothing is logged any more";
}

TEST_F(Control, LiveHandlesAreCounted) {
  live_handles expected;
  expected.primary_contexts = 1;
  EXPECT_EQ(control().live(), expected);
  const CUstream stream = make_stream();
  const CUevent event = make_event();
  const CUlibrary library = load(rules_ptx);
  const CUdeviceptr memory = make_memory(16);
  expected.streams = expected.events = expected.libraries = expected.device_allocations = 1;
  EXPECT_EQ(control().live(), expected);
  EXPECT_EQ(cu().mem_free(memory), CUDA_SUCCESS);
  EXPECT_EQ(cu().library_unload(library), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_destroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Control, HandlesAreSmallNumbersThatNeverReturn) {
  const driver_under_test fresh = driver_under_test::fresh_simulator();
  CUcontext context = nullptr;
  CUevent first = nullptr;
  CUevent second = nullptr;
  CUstream stream = nullptr;
  ASSERT_EQ(fresh->init(0), CUDA_SUCCESS);
  ASSERT_EQ(fresh->device_primary_ctx_retain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(fresh->ctx_set_current(context), CUDA_SUCCESS);
  EXPECT_EQ(fresh->event_create(&first, 0), CUDA_SUCCESS);
  EXPECT_EQ(fresh->event_destroy(first), CUDA_SUCCESS);
  EXPECT_EQ(fresh->event_create(&second, 0), CUDA_SUCCESS);
  EXPECT_EQ(fresh->stream_create_with_priority(&stream, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first), 1U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second), 2U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stream), 0x10U);
  EXPECT_EQ(fresh->event_destroy(second), CUDA_SUCCESS);
  EXPECT_EQ(fresh->stream_destroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(fresh->ctx_set_current(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(fresh->device_primary_ctx_release(0), CUDA_SUCCESS);
}

TEST_F(Control, SettleWaitsForDestroyedStreamsToo) {
  const CUstream stream = make_stream();
  bool ran = false;
  const auto run = [](void* data) { *static_cast<bool*>(data) = true; };
  EXPECT_EQ(cu().launch_host_func(stream, run, &ran), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
  control().settle();
  EXPECT_TRUE(ran);
}

TEST_F(Control, RegisteredBodyTakesAnEntrysPlace) {
  std::vector<unsigned> seen;
  std::size_t argument_bytes = 0;
  control().register_kernel("add", [&](const kernel_call& call) {
    seen = {call.grid[0], call.block[0], call.cluster[0], call.shared_memory_bytes};
    argument_bytes = call.arguments.size();
    unsigned value = 0;
    std::memcpy(&value, call.arguments.data() + 8, sizeof value);
    seen.push_back(value);
  });
  const CUlibrary library = load(rules_ptx);
  control().unregister_kernel("add");
  const CUstream stream = make_stream();
  CUlaunchConfig config = one_block(stream, 32);
  config.gridDimX = 6;
  config.sharedMemBytes = 128;
  CUdeviceptr out = 0;
  unsigned value = 77;
  void* arguments[] = {&out, &value};
  EXPECT_EQ(cu().launch_kernel_ex(&config, find(library, "add"), arguments, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(seen, (std::vector<unsigned>{6, 32, 1, 128, 77}));
  EXPECT_EQ(argument_bytes, 12U);
  EXPECT_EQ(cu().library_unload(library), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
}

TEST_F(Control, ChoicesAreSwitches) {
  EXPECT_EQ(control().get(choice::get_nodes_order), 0);
  control().set(choice::get_nodes_order, 1);
  EXPECT_EQ(control().get(choice::get_nodes_order), 1);
  EXPECT_THROW(control().set(choice::get_nodes_order, 2), std::invalid_argument);
  EXPECT_THROW(control().set(choice::count_, 0), std::invalid_argument);
  control().set(choice::get_nodes_order, 0);
}

// What a sequence of equal calls gives, as one string of 0 and 1.
std::string outcomes(const driver_under_test& driver, const random_faults& faults, int count) {
  driver.control().plan(faults);
  std::string text;
  for (int i = 0; i < count; ++i) {
    int devices = 0;
    text += driver->device_get_count(&devices) == CUDA_SUCCESS ? '0' : '1';
  }
  driver.control().clear_faults();
  return text;
}

TEST_F(Control, FaultsByChanceFollowTheirSeed) {
  const random_faults half{.seed = 7, .per_million = 500'000, .codes = {2}};
  const std::string first = outcomes(driver(), half, 200);
  EXPECT_EQ(outcomes(driver(), half, 200), first);
  random_faults other = half;
  other.seed = 8;
  EXPECT_NE(outcomes(driver(), other, 200), first);
  const auto failed = std::count(first.begin(), first.end(), '1');
  EXPECT_GT(failed, 60);
  EXPECT_LT(failed, 140);
  EXPECT_EQ(outcomes(driver(), {}, 50), std::string(50, '0'));
  EXPECT_THROW(driver().control().plan(random_faults{.per_million = 1, .codes = {}}),
               std::invalid_argument);
}

TEST_F(Control, FaultsByChanceLeaveReleasesAlone) {
  CUevent event = nullptr;
  ASSERT_EQ(cu().event_create(&event, 0), CUDA_SUCCESS);
  driver().control().plan(random_faults{.per_million = 1'000'000, .codes = {2}});
  CUevent refused = nullptr;
  EXPECT_EQ(cu().event_create(&refused, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cu().event_destroy(event), CUDA_SUCCESS);
  EXPECT_EQ(driver().control().faults_hit(), 1U);
  driver().control().clear_faults();
}

TEST_F(Control, FunctionsCanBeSlow) {
  const auto time_of_a_call = [&] {
    const auto begun = std::chrono::steady_clock::now();
    int devices = 0;
    EXPECT_EQ(cu().device_get_count(&devices), CUDA_SUCCESS);
    return std::chrono::steady_clock::now() - begun;
  };
  driver().control().delay("cuDeviceGetCount", 20'000);
  EXPECT_GE(time_of_a_call(), std::chrono::milliseconds(20));
  driver().control().delay("cuDeviceGetCount", 0);
  EXPECT_THROW(driver().control().delay("cuNothing", 1), std::invalid_argument);
}

TEST_F(Control, MemoryIsABudget) {
  driver().control().set_device_memory(1 << 20);
  CUdeviceptr first = 0, second = 0;
  ASSERT_EQ(cu().mem_alloc(&first, 600 << 10), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_alloc(&second, 600 << 10), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cu().mem_free(first), CUDA_SUCCESS);
  ASSERT_EQ(cu().mem_alloc(&second, 600 << 10), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free(second), CUDA_SUCCESS);
  driver().control().set_device_memory(std::uint64_t{16} << 30);
}

}  // namespace
}  // namespace cugraft_sim
