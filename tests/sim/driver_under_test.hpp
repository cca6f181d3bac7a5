// SPDX-License-Identifier: Apache-2.0
#pragma once

// The driver that the rule tests are about: the simulator, or what CUGRAFT_DRIVER asks for: a path,
// or "system" for the machine's libcuda.so.1. It is loaded and used as any program does it.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "cuda_api.hpp"
#include "cugraft_sim/control.hpp"

namespace cugraft_sim {

/// The functions of the list; null where the driver does not have them.
struct driver_functions {
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types) \
  CUresult(*member) types = nullptr;
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
};

/// A loaded driver library. It stays loaded, as its threads may outlive the test.
class driver_under_test {
 public:
  /// @throws std::runtime_error  if the library cannot be loaded or is no driver
  explicit driver_under_test(const std::string& path)
      : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) throw std::runtime_error(dlerror());
    if (const auto get = symbol<control_function>(control_symbol)) control_ = get();
    find_ = symbol<decltype(find_)>("cuGetProcAddress_v2");
    if (!find_) throw std::runtime_error(path + " has no cuGetProcAddress_v2");
    resolve();
  }

  /// The one that most tests share: not initialised more than once, never unloaded.
  static driver_under_test& shared() {
    static driver_under_test driver(default_path());
    return driver;
  }

  /// A simulator of its own, for tests of what a driver does once: it is loaded from a copy,
  /// because one file is one instance.
  static driver_under_test fresh_simulator(int version = 0) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("cugraft_rules_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    static int copies = 0;
    const auto path = folder / ("driver_" + std::to_string(++copies) + ".so");
    std::filesystem::copy_file(simulator_path(), path);
    driver_under_test fresh(path.string());
    std::filesystem::remove_all(folder);
    if (version != 0) fresh.set_version(version);
    return fresh;
  }

  /// The driver table's functions, each at its own version.
  const driver_functions& operator*() const noexcept { return functions_; }
  const driver_functions* operator->() const noexcept { return &functions_; }

  bool is_simulator() const noexcept { return control_ != nullptr; }

  /// The control surface; only of a simulator.
  simulator& control() const { return *control_; }

  int version() const {
    int version = 0;
    functions_.driver_get_version(&version);
    return version;
  }

  /// Makes a simulator claim another version, and looks its functions up again.
  void set_version(int version) {
    control_->set_version(version);
    resolve();
  }

  /// An exported symbol, or null.
  template <class Function>
  Function symbol(const char* name) const noexcept {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }

 private:
  static std::string simulator_path() {
#ifdef CUGRAFT_SIM_LIBRARY
    return CUGRAFT_SIM_LIBRARY;
#else
    throw std::runtime_error("the tests were built without the simulator");
#endif
  }

  static std::string default_path() {
    const char* const asked = std::getenv("CUGRAFT_DRIVER");
    if (!asked || *asked == '\0') return simulator_path();
    return asked == std::string_view("system") ? "libcuda.so.1" : asked;
  }

  void resolve() {
    const auto look_up = [this](const char* name, int wanted, auto& function) {
      void* address = nullptr;
      CUdriverProcAddressQueryResult status{};
      const CUresult result = find_(name, &address, wanted, 0, &status);
      function = result == CUDA_SUCCESS
                     ? reinterpret_cast<std::remove_reference_t<decltype(function)>>(address)
                     : nullptr;
    };
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types) \
  look_up(name, version, functions_.member);
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
  }

  void* library_ = nullptr;
  simulator* control_ = nullptr;
  CUresult (*find_)(const char*, void**, int, cuuint64_t,
                    CUdriverProcAddressQueryResult*) = nullptr;
  driver_functions functions_;
};

/// A test of documented rules, in the first device's primary context. After each test nothing may
/// be left: no handle, no capture, no context on the stack.
class Rules : public ::testing::Test {
 protected:
  driver_under_test& driver() { return driver_under_test::shared(); }
  const driver_functions& cu() { return *driver(); }
  simulator& control() { return driver().control(); }

  void SetUp() override {
    ASSERT_EQ(cu().init(0), CUDA_SUCCESS);
    ASSERT_EQ(cu().device_get(&device_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cu().device_primary_ctx_retain(&context_, device_), CUDA_SUCCESS);
    ASSERT_EQ(cu().ctx_push_current(context_), CUDA_SUCCESS);
  }

  void TearDown() override {
    if (driver().is_simulator()) {
      control().clear_faults();
      control().settle();
    }
    EXPECT_EQ(cu().ctx_pop_current(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cu().device_primary_ctx_release(device_), CUDA_SUCCESS);
    CUcontext left = nullptr;
    EXPECT_EQ(cu().ctx_get_current(&left), CUDA_SUCCESS);
    EXPECT_EQ(left, nullptr) << "a context was left on the stack";
    if (driver().is_simulator()) {
      EXPECT_EQ(control().live(), live_handles{}) << "handles were left";
    }
  }

  CUstream make_stream(unsigned flags = CU_STREAM_NON_BLOCKING, int priority = 0) {
    CUstream made = nullptr;
    EXPECT_EQ(cu().stream_create_with_priority(&made, flags, priority), CUDA_SUCCESS);
    return made;
  }

  CUevent make_event(unsigned flags = CU_EVENT_DISABLE_TIMING) {
    CUevent made = nullptr;
    EXPECT_EQ(cu().event_create(&made, flags), CUDA_SUCCESS);
    return made;
  }

  CUdeviceptr make_memory(std::size_t size) {
    CUdeviceptr made = 0;
    EXPECT_EQ(cu().mem_alloc(&made, size), CUDA_SUCCESS);
    return made;
  }

  /// Memory that host and device both see.
  template <class Element>
  Element* make_host_memory(std::size_t count) {
    void* made = nullptr;
    EXPECT_EQ(cu().mem_host_alloc(&made, count * sizeof(Element), 0), CUDA_SUCCESS);
    return static_cast<Element*>(made);
  }

  CUlibrary load(const char* ptx) {
    CUlibrary made = nullptr;
    EXPECT_EQ(cu().library_load_data(&made, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0),
              CUDA_SUCCESS);
    return made;
  }

  CUfunction find(CUlibrary library, const char* name) {
    CUkernel kernel = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(cu().library_get_kernel(&kernel, library, name), CUDA_SUCCESS);
    EXPECT_EQ(cu().kernel_get_function(&function, kernel), CUDA_SUCCESS);
    return function;
  }

  static CUlaunchConfig one_block(CUstream on, unsigned threads) {
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = threads;
    config.blockDimY = config.blockDimZ = 1;
    config.hStream = on;
    return config;
  }

  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

}  // namespace cugraft_sim

/// For rules that only a simulator can be brought to show.
#define CUGRAFT_NEEDS_SIMULATOR() \
  if (!driver_under_test::shared().is_simulator()) GTEST_SKIP() << "needs the simulator's control"
