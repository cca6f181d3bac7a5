// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "contract/engine_suite.hpp"
#include "support/foreign_calls.hpp"

namespace cugraft::testing {

/// Graphs that allocate and free through their builder, on the engine `compare`: it takes them on
/// every driver.
class MemorySuite : public EngineSuite {
 protected:
  static constexpr std::size_t bytes = count * sizeof(float);

  static std::vector<engine_case> cases() {
    std::vector<engine_case> all = compare_cases({12040, 12080, 13000, 13020, 13030});
    if (!has_real_driver())
      all.push_back({engine::compare, 13030, cugraft_sim::choice::get_nodes_order});
    return all;
  }

  // Allocates, works there, copies what came out to `x_`, and frees.
  void body(graph_builder& gb) {
    memory_ = gb.allocate(bytes_);
    fill_async(gb, memory_, 0, bytes);
    add_to(gb, memory_, value_);
    copy_async(gb, x_.data(), memory_, bytes);
    gb.free(memory_);
  }

  void add_to(graph_builder& gb, void* memory, float value) const {
    launch(gb, {.grid = 2, .block = 32}, add_, memory, value, static_cast<int>(count));
  }

  graph make() {
    return capture(stream_, [&](graph_builder& gb) { body(gb); });
  }

  change_report again(graph& g, recapture_options options = {}) {
    return recapture(
        g, [&](graph_builder& gb) { body(gb); }, std::move(options));
  }

  std::size_t bytes_ = bytes;
  float value_ = 1;
  void* memory_ = nullptr;
  foreign_calls calls_{driver()};
};

}  // namespace cugraft::testing
