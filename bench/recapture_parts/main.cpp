// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include "cugraft/cugraft.hpp"
#include "simulator/part.hpp"

// What a re-capture takes in cugraft, in parts: of a chain of kernels, or of layers of eleven with
// a copy and a fill beside them on a second stream. tools/count_instructions.py runs it on the
// simulated driver, and counts the instructions of each part.

namespace {

using namespace cugraft;

constexpr std::string_view image = R"(
.version 7.8
.target sm_75
.address_size 64

.visible .entry nothing(.param .u64 x, .param .u32 index, .param .f32 value, .param .u32 count)
{
  ret;
}
)";

constexpr int layer_kernels = 11;
constexpr int layer_nodes = layer_kernels + 2;

class program {
 public:
  program(const char* driver_path, bool in_layers, int nodes)
      : driver_(driver::load(driver_path)),
        in_layers_(in_layers),
        nodes_(in_layers ? nodes / layer_nodes * layer_nodes : nodes) {}

  void run() {
    for (const engine which : {engine::direct, engine::compare}) {
      const recapture_options with{.with = which};
      recapture(with);
      const std::string name(to_string(which));
      part(name + ", nothing changed", [&] { recapture(with); });
      ++value_;
      part(name + ", all changed", [&] { recapture(with); });
      part(name + ", update after it", [&] { exec_.update(); });
      part(
          name + ", update of nothing", [&] { exec_.update(); }, 1);
      const auto nothing = [](graph_builder&) {};
      empty_.recapture(stream_, nothing, with);
      part(
          name + ", an empty graph", [&] { empty_.recapture(stream_, nothing, with); }, 1);
    }
  }

 private:
  void part(const std::string& name, const std::function<void()>& what, int units = 0) {
    cugraft_sim::run_part(name.c_str(), what,
                          static_cast<std::size_t>(units == 0 ? nodes_ : units));
  }
  void kernels(graph_builder& builder, int count) const {
    for (int i = 0; i < count; ++i)
      launch(builder, {.grid = 1, .block = 32}, kernel_, std::uint64_t{0x1000}, i,
             static_cast<float>(value_), nodes_);
  }
  void body(graph_builder& builder) const {
    if (!in_layers_) return kernels(builder, nodes_);
    for (int i = 0; i < nodes_; i += layer_nodes) {
      const graph_builder beside = builder.fork(side_);
      kernels(builder, layer_kernels);
      float* const target = buffer_.as<float>() + value_ % 2;
      copy_async(beside, target, buffer_.as<float>() + 2, sizeof(float));
      fill_async(beside, target, 0, sizeof(float));
      builder.join(beside);
    }
  }
  graph capture_now() {
    return capture(stream_, [&](graph_builder& builder) { body(builder); });
  }
  void recapture(const recapture_options& options) {
    graph_.recapture(
        stream_, [&](graph_builder& builder) { body(builder); }, options);
  }

  driver driver_;
  bool in_layers_;
  int nodes_;
  int value_ = 0;
  context context_ = context::primary(driver_);
  library library_ = library::from_image(context_, image);
  kernel kernel_ = library_.get_kernel("nothing");
  stream stream_{context_}, side_{context_};
  device_buffer buffer_{context_, 3 * sizeof(float)};
  graph graph_ = capture_now();
  graph empty_{driver_};
  graph_exec exec_ = graph_.instantiate();
};

}  // namespace

extern "C" void measured_part(const std::function<void()>& part) { part(); }

int main(int argc, char** argv) {
  const std::string_view shape = argc == 4 ? argv[2] : "";
  if (shape != "chain" && shape != "layers") {
    std::fprintf(stderr, "usage: %s DRIVER chain|layers NODES\n", argv[0]);
    return 2;
  }
  program(argv[1], shape == "layers", std::atoi(argv[3])).run();
  return 0;
}
