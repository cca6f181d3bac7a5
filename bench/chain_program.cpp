// SPDX-License-Identifier: Apache-2.0
#include "chain_program.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

namespace cugraft::bench {
namespace {

driver find_driver() {
#ifdef CUGRAFT_BENCH_STAND_IN
  try {
    return driver::load();
  } catch (const error&) {
    return driver::load(CUGRAFT_BENCH_STAND_IN);
  }
#else
  return driver::load();
#endif
}

}  // namespace

const driver& measured_driver() {
  static const driver found = find_driver();
  return found;
}

workbench::workbench(const driver& driver)
    : context(context::primary(driver)),
      chain(library::from_file(context, std::filesystem::path(CUGRAFT_BENCH_KERNELS) / "chain.ptx")
                .get_kernel("chain")) {}

const workbench& measured_workbench() {
  // Never destroyed: a driver may be gone when objects of static storage are.
  static const workbench& made = *new workbench(measured_driver());
  return made;
}

chain_program::chain_program(std::size_t size, std::size_t changed)
    : size_(size),
      changed_(changed),
      stream_(measured_workbench().context),
      buffer_(measured_workbench().context, size * sizeof(float)) {}

void chain_program::enqueue(stream_ref stream) const {
  const int count = static_cast<int>(size_);
  for (std::size_t i = 0; i < size_; ++i)
    launch(stream, {.grid = 1, .block = 32}, measured_workbench().chain, buffer_.as<float>(),
           static_cast<int>(i),
           is_evenly_chosen(i, changed_, size_) ? static_cast<float>(round_) : 0.0F, count);
}

graph chain_program::capture_now() const {
  return capture(stream_, [this](graph_builder& builder) { enqueue(builder); });
}

change_report chain_program::recapture_into(graph& graph, engine with) const {
  return graph.recapture(stream_, [this](graph_builder& builder) { enqueue(builder); },
                         {.with = with});
}

std::span<const std::size_t> chain_sizes() noexcept {
  static constexpr std::array<std::size_t, 4> sizes{32, 256, 1024, 4096};
  return sizes;
}

std::span<const share> shares() noexcept {
  static constexpr std::array all{share{"0_per_cent", 0, false}, share{"one", 0, true},
                                  share{"1_per_cent", 1, false}, share{"10_per_cent", 10, false},
                                  share{"100_per_cent", 100, false}};
  return all;
}

// Where a line from 0 to `chosen` passes a whole number between i and i + 1.
bool is_evenly_chosen(std::size_t i, std::size_t chosen, std::size_t size) noexcept {
  return i * chosen / size != (i + 1) * chosen / size;
}

int rounds_of(std::size_t size) noexcept {
  return static_cast<int>(std::clamp<std::size_t>(20480 / size, 10, 200));
}

std::size_t share::of(std::size_t size) const noexcept {
  if (is_one) return 1;
  if (per_cent == 0) return 0;
  return std::max<std::size_t>(1, size * static_cast<std::size_t>(per_cent) / 100);
}

}  // namespace cugraft::bench
