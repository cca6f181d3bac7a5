// SPDX-License-Identifier: Apache-2.0
// A test of one's own graph code for a CI machine without a GPU. The code under test is `smoother`,
// which a program would have in a library of its own. The tests ask what a review would: is the
// result right, does a new value need a new executable, what happens when the structure changes by
// accident.
//
// Run it with CUGRAFT_DRIVER=PREFIX/lib/libcugraft_sim.so, and once for each driver version that
// you support, by CUGRAFT_SIM_VERSION=12.4, 13.0 or 13.3. On a GPU machine run it as it is.

#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
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

// The code under test.
class smoother {
 public:
  explicit smoother(const context& device)
      : add_(library::from_image(device, add_ptx).get_kernel("add")),
        x_(device, count * sizeof(float)) {}

  void enqueue(graph_builder& builder) const {
    builder.tag("clear");
    fill_async(builder, x_.data(), 0, x_.size());
    builder.tag("first half");
    launch(builder, {.grid = 4, .block = 64}, add_, x_, rate, count / 2);
    builder.tag("all");
    launch(builder, {.grid = 4, .block = 64}, add_, x_, 1.0F, count);
    if (is_traced) fill_async(builder, x_.data(), 0, sizeof(float));  // the accident
  }

  std::vector<float> result(stream_ref stream) const {
    std::vector<float> values(count);
    copy_async(stream, values.data(), x_.data(), x_.size());
    stream.synchronize();
    return values;
  }

  static constexpr unsigned count = 256;
  float rate = 2;
  bool is_traced = false;

 private:
  kernel add_;
  device_buffer x_;
};

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

// What each test has: the code, its graph and an executable.
struct bench {
  std::function<void(graph_builder&)> body() {
    return [this](graph_builder& builder) { code.enqueue(builder); };
  }

  context device = context::primary(driver::load());
  stream on{device};
  smoother code{device};
  graph g = capture(on, body());
  graph_exec e = g.instantiate();

  void expect_result(float first, float last) {
    e.launch(on);
    const std::vector<float> values = code.result(on);
    require(values.front() == first, "the first element is " + std::to_string(values.front()));
    require(values.back() == last, "the last element is " + std::to_string(values.back()));
  }
};

void the_result_is_right() { bench().expect_result(3, 1); }

void a_new_rate_is_patched_into_one_node() {
  bench b;
  b.code.rate = 5;
  const change_report report = b.g.recapture(b.on, b.body());
  require(report.nodes_changed() == 1, "more than one node changed:\n" + to_text(report));
  require(report.changes().front().tag == "first half", "another node changed");
  require(report.overall() == verdict::patchable, "it needs more than a patch");
  require(b.e.update().method == update_method::patched, "it was not patched");
  b.expect_result(6, 1);
}

void the_same_again_changes_nothing() {
  bench b;
  require(b.g.recapture(b.on, b.body()).nodes_changed() == 0, "something changed");
  require(b.e.update().driver_calls == 0, "the driver was called");
}

void an_accident_is_named_and_the_old_graph_runs() {
  bench b;
  b.code.is_traced = true;
  const recapture_result result = b.g.try_recapture(b.on, b.body());
  require(!result, "another structure was taken for the same");
  require(result.failure().why == mismatch::node_count, result.failure().message);
  b.expect_result(3, 1);
}

int run() {
  struct test {
    const char* name;
    void (*function)();
  };
  int failed = 0;
  for (const auto& [name, function] :
       {test{"the result is right", &the_result_is_right},
        test{"a new rate is patched into one node", &a_new_rate_is_patched_into_one_node},
        test{"the same again changes nothing", &the_same_again_changes_nothing},
        test{"an accident is named, and the old graph runs",
             &an_accident_is_named_and_the_old_graph_runs}}) {
    try {
      function();
      std::cout << "passed: " << name << '\n';
    } catch (const std::exception& failure) {
      std::cout << "FAILED: " << name << ": " << failure.what() << '\n';
      ++failed;
    }
  }
  return failed;
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
