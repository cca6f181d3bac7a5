// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptx/run.hpp"

namespace cugraft_sim::ptx::testing {

/// Memory that kernels of a test may touch: vectors of the test, and nothing else.
class device_memory : public memory {
 public:
  /// Lets kernels read and write the elements of `values`, which has to keep its size.
  template <class T>
  std::uint64_t allow(std::vector<T>& values) {
    return add(values.data(), values.size() * sizeof(T), true);
  }

  /// Lets kernels read the elements of `values`.
  template <class T>
  std::uint64_t allow_reading(std::vector<T>& values) {
    return add(values.data(), values.size() * sizeof(T), false);
  }

  memory_range find(std::uint64_t address) noexcept override {
    ++questions_;
    for (const memory_range& range : ranges_)
      if (address >= range.begin && address < range.end) return range;
    return {};
  }

  /// How often the runner asked.
  std::size_t questions() const { return questions_; }

 private:
  std::uint64_t add(const void* begin, std::size_t size, bool writable) {
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    ranges_.push_back({address, address + size, writable});
    return address;
  }

  std::vector<memory_range> ranges_;
  std::size_t questions_ = 0;
};

}  // namespace cugraft_sim::ptx::testing
