// SPDX-License-Identifier: Apache-2.0
// A server whose batches change in size. Within a bucket the size is an argument and a grid, so one
// graph takes all of them; another number of layers to run is another structure, for which the
// cache keeps a graph and an executable each. Requests of a rare structure push out the one that
// was used least recently.
//
// What to watch in production is `captured::stats`: hits against misses, evictions, and whether the
// graph is worth it.
//
// Runs on the driver that CUGRAFT_DRIVER names, else on the system's.

#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <vector>

#include "cugraft/cugraft.hpp"

namespace {

using namespace cugraft;

// x[i] += value, for i below n
constexpr const char* add_ptx = R"(
.version 7.8
.target sm_70
.address_size 64

.visible .entry add(.param .u64 x, .param .f32 value, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [x];
  ld.param.f32 %f1, [value];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p, %r2, %r1;
  @%p ret;
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  add.f32 %f3, %f2, %f1;
  st.global.f32 [%rd3], %f3;
  ret;
}
)";

struct request {
  unsigned batch = 1;
  int layers = 2;
};

class server {
 public:
  static constexpr unsigned most = 1024;

  server()
      : step_(stream_, [this](graph_builder& builder) { forward(builder); },
              {.warm_up_runs = 2, .max_executables = 2}) {}

  // @return the last element of the batch
  float serve(const request& next) {
    now_ = next;
    step_();
    float last = 0;
    copy_async(stream_, &last, x_.as<float>() + (next.batch - 1), sizeof last);
    stream_.synchronize();
    return last;
  }

  captured_stats stats() const { return step_.stats(); }

 private:
  void forward(graph_builder& builder) const {
    fill_async(builder, x_.data(), 0, x_.size());
    for (int layer = 0; layer < now_.layers; ++layer)
      launch(builder, {.grid = (now_.batch + 127) / 128, .block = 128}, add_, x_,
             static_cast<float>(layer + 1), now_.batch);
  }

  context device_ = context::primary(driver::load());
  stream stream_{device_};
  kernel add_ = library::from_image(device_, add_ptx).get_kernel("add");
  device_buffer x_{device_, most * sizeof(float)};
  request now_;
  captured step_;
};

std::vector<request> traffic() {
  std::vector<request> all;
  constexpr std::array batches{1U, 7U, 64U, 200U, 1000U, 33U, 512U, 8U};
  for (int round = 0; round < 6; ++round)
    for (const unsigned batch : batches)
      all.push_back({.batch = batch, .layers = batch > 500 ? 4 : 2});
  all.push_back({.batch = 16, .layers = 9});  // a rare one
  all.push_back({.batch = 16, .layers = 2});
  return all;
}

int run() {
  server s;
  const std::vector<request> requests = traffic();
  for (const request& each : requests) {
    const auto wanted = static_cast<float>(each.layers * (each.layers + 1) / 2);
    if (s.serve(each) == wanted) continue;
    std::cerr << "a batch of " << each.batch << " has a wrong result\n";
    return 1;
  }
  const captured_stats stats = s.stats();
  std::cout << to_text(stats);
  const bool is_as_told = stats.calls == requests.size() && stats.captures == 3 &&
                          stats.evictions == 1 && stats.executables == 2;
  if (!is_as_told) std::cerr << "the counts are not those of this traffic\n";
  return is_as_told ? 0 : 1;
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
