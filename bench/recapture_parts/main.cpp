// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include "cugraft/cugraft.hpp"
#include "simulator/part.hpp"

// What a re-capture of a chain of kernels takes in cugraft, in parts. tools/count_instructions.py
// runs it on the simulated driver, and counts the instructions of each part.

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

class chain {
 public:
  chain(const char* driver_path, int nodes) : driver_(driver::load(driver_path)), nodes_(nodes) {}

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
  void body(graph_builder& builder) const {
    for (int i = 0; i < nodes_; ++i)
      launch(builder, {.grid = 1, .block = 32}, kernel_, std::uint64_t{0x1000}, i,
             static_cast<float>(value_), nodes_);
  }
  graph capture_now() {
    return capture(stream_, [&](graph_builder& builder) { body(builder); });
  }
  void recapture(const recapture_options& options) {
    graph_.recapture(
        stream_, [&](graph_builder& builder) { body(builder); }, options);
  }

  driver driver_;
  int nodes_;
  int value_ = 0;
  context context_ = context::primary(driver_);
  library library_ = library::from_image(context_, image);
  kernel kernel_ = library_.get_kernel("nothing");
  stream stream_{context_};
  graph graph_ = capture_now();
  graph empty_{driver_};
  graph_exec exec_ = graph_.instantiate();
};

}  // namespace

extern "C" void measured_part(const std::function<void()>& part) { part(); }

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s DRIVER chain NODES\n", argv[0]);
    return 2;
  }
  chain(argv[1], std::atoi(argv[3])).run();
  return 0;
}
