// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "simulator/driver_functions.hpp"

namespace cugraft_sim {

/// Work of `nodes` kernels that streams are given, the same each time but for an argument.
class shape {
 public:
  shape(const driver_functions& driver, CUfunction kernel, std::size_t nodes)
      : cu_(driver), kernel_(kernel), nodes_(nodes) {
    main_ = make_stream();
  }
  shape(const shape&) = delete;
  shape& operator=(const shape&) = delete;
  virtual ~shape() = default;

  virtual void enqueue(unsigned value) const = 0;

  CUstream main() const noexcept { return main_; }
  std::size_t nodes() const noexcept { return nodes_; }

 protected:
  CUstream make_stream() const {
    CUstream made = nullptr;
    cu_.stream_create_with_priority(&made, unsigned{CU_STREAM_NON_BLOCKING}, 0);
    return made;
  }

  void launch(CUstream on, unsigned value) const {
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = on;
    void* arguments[] = {&value};
    cu_.launch_kernel_ex(&config, kernel_, static_cast<void**>(arguments), nullptr);
  }

  const driver_functions& cu_;

 private:
  CUfunction kernel_;
  std::size_t nodes_;
  CUstream main_;
};

/// Each kernel waits for the one before it.
class chain final : public shape {
 public:
  using shape::shape;

  void enqueue(unsigned value) const override {
    for (std::size_t i = 0; i < nodes(); ++i) launch(main(), value);
  }
};

/// One kernel, all others but one beside each other on a stream each, and one that waits for them.
class fork_join final : public shape {
 public:
  fork_join(const driver_functions& driver, CUfunction kernel, std::size_t nodes)
      : shape(driver, kernel, nodes) {
    for (std::size_t i = 0; i < nodes - 2; ++i) sides_.push_back(make_stream());
    driver.event_create(&fork_, unsigned{CU_EVENT_DISABLE_TIMING});
    driver.event_create(&join_, unsigned{CU_EVENT_DISABLE_TIMING});
  }

  void enqueue(unsigned value) const override {
    launch(main(), value);
    cu_.event_record(fork_, main());
    for (const CUstream side : sides_) {
      cu_.stream_wait_event(side, fork_, 0);
      launch(side, value);
      cu_.event_record(join_, side);
      cu_.stream_wait_event(main(), join_, 0);
    }
    launch(main(), value);
  }

 private:
  std::vector<CUstream> sides_;
  CUevent fork_ = nullptr;
  CUevent join_ = nullptr;
};

}  // namespace cugraft_sim
