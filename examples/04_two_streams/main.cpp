// SPDX-License-Identifier: Apache-2.0
// Two streams of the program's own that events bring together, as in a program without graphs: the
// second joins the capture by waiting for an event of the first, and the first waits for it at the
// end. Re-captured with other values and another target, and then with a wait left out, which is
// refused by name and changes nothing.
//
// Runs on the driver that CUGRAFT_DRIVER names, else on the system's.

#include <array>
#include <cstdint>
#include <iostream>
#include <vector>

#include "cugraft/cugraft.hpp"

namespace {

using namespace cugraft;

constexpr std::size_t count = 1000;
constexpr std::size_t bytes = count * sizeof(std::uint32_t);

struct program {
  context device = context::primary(driver::load());
  stream first{device}, second{device};
  event forked{device}, joined{device}, copied{device};
  device_buffer left{device, bytes}, right{device, bytes};
  std::array<device_buffer, 2> targets{device_buffer(device, 2 * bytes),
                                       device_buffer(device, 2 * bytes)};

  std::uint32_t value = 1;
  std::size_t target = 0;
  bool waits_for_copy = true;

  // Fills both halves beside each other, and puts them one behind the other.
  void step() const {
    auto* const to = targets[target].as<std::byte>();
    first.record(forked);
    second.wait(forked);
    fill_async(first, left.data(), value, count, sizeof value);
    fill_async(second, right.data(), value + 1, count, sizeof value);
    copy_async(first, to, left.data(), bytes);
    first.record(copied);
    if (waits_for_copy) second.wait(copied);
    copy_async(second, to + bytes, right.data(), bytes);
    second.record(joined);
    first.wait(joined);
  }

  bool is_right() const {
    std::vector<std::uint32_t> result(2 * count);
    copy_async(first, result.data(), targets[target].data(), 2 * bytes);
    first.synchronize();
    for (std::size_t i = 0; i < result.size(); ++i)
      if (result[i] != value + (i < count ? 0 : 1)) return false;
    return true;
  }
};

// The structure is another without the wait: the graph and the executable stay what they were.
bool is_refused(program& p, graph& g, graph_exec& e) {
  p.waits_for_copy = false;
  const recapture_result result = g.try_recapture(p.first, [&](graph_builder&) { p.step(); });
  if (result) return false;
  std::cout << "without a wait: " << result.failure().message << '\n';
  e.launch(p.first);
  return p.is_right();
}

int run() {
  program p;
  const auto step = [&](graph_builder&) { p.step(); };
  graph g = capture(p.first, step);
  graph_exec e = g.instantiate();
  for (std::uint32_t i = 0; i < 4; ++i) {
    p.value = 10 * i;
    p.target = i % 2;
    std::cout << "step " << i << ": " << to_text(g.recapture(p.first, step));
    e.update();
    e.launch(p.first);
    if (p.is_right()) continue;
    std::cerr << "wrong result in step " << i << '\n';
    return 1;
  }
  if (is_refused(p, g, e)) return 0;
  std::cerr << "a step without a wait was not refused\n";
  return 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const error& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
