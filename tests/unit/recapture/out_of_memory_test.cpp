// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "cugraft/cugraft.hpp"
#include "support/kernels.hpp"
#include "support/simulated_driver.hpp"

// Every allocation that cugraft makes in a re-capture fails in turn. The driver's own do not: what
// it does then is its business, and shows as an error code (engine_faults_test.cpp).

namespace {

thread_local long allocations_left = -1;  // of this thread until one fails; negative: none does
thread_local bool looking = false;

bool is_made_by_the_driver() {
  std::array<void*, 64> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    if (dladdr(frames[static_cast<std::size_t>(i)], &info) != 0 && info.dli_fname != nullptr &&
        std::strstr(info.dli_fname, "libcugraft_sim") != nullptr)
      return true;
  }
  return false;
}

bool fails_now() {
  if (allocations_left < 0 || looking) return false;
  looking = true;  // looking may allocate
  const bool drivers_own = is_made_by_the_driver();
  looking = false;
  return !drivers_own && allocations_left-- == 0;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (!fails_now())
    if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return fails_now() ? nullptr : std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

namespace cugraft {
namespace {

class failing_allocation {
 public:
  explicit failing_allocation(long nth) noexcept { allocations_left = nth; }
  failing_allocation(const failing_allocation&) = delete;
  failing_allocation& operator=(const failing_allocation&) = delete;
  ~failing_allocation() { allocations_left = -1; }

  static bool came() noexcept { return allocations_left < 0; }
};

class OutOfMemoryTest : public testing::SimulatedDriverTest {
 protected:
  static constexpr int count = 16;

  // Kernels whose arguments, function and tags change, two streams, a host function and an owner.
  void body(graph_builder& gb) {
    gb.keep(owner_);
    fill_async(gb, x_.data(), 0, x_.size());
    launch(gb, {.grid = 1, .block = 32}, add_, x_, value_, count);
    gb.tag(value_ == 1 ? "a tag too long to be stored inline" : "another tag, as long as that");
    graph_builder side = gb.fork(side_);
    copy_async(side, y_.data(), x_.data(), value_ == 1 ? 16 : 32);
    gb.host_call([] {});
    gb.join(side);
    // The second kernel takes more arguments: its block of the model's arena grows.
    if (value_ == 1)
      launch(gb, {.grid = 1, .block = 32}, scale_, x_, 2.0F, count);
    else
      launch(gb, {.grid = 1, .block = 32}, saxpy_, y_, x_, 1.0F, std::size_t{count});
    if (!has_body_) return;
    graph_builder in = gb.if_then(gb.create_condition(1));
    inner(in);
    if (closes_body_) in.close();
  }

  void inner(graph_builder& in) {
    launch(in, {.grid = 1, .block = 32}, add_, x_, value_, count);
    graph_builder fork = in.fork(1)[0];
    launch(fork, {.grid = 1, .block = 32}, add_, y_, 1.0F, count);
    in.join(fork);
    in.embed(value_ == 1 ? *old_child_ : *new_child_);
  }

  graph child_of(float value) {
    return capture(side_, [&](graph_builder& gb) {
      gb.tag("another tag that is not stored inline: " + std::to_string(value));
      launch(gb, {.grid = 1, .block = 32}, add_, y_, value, count);
    });
  }

  void change(float value) {
    value_ = value;
    owner_ = std::make_shared<int>(static_cast<int>(value));
  }

  recapture_result again(recapture_options options = {}) {
    options.with = engine_;
    return graph_.try_recapture(
        stream_, [this](graph_builder& gb) { body(gb); }, options);
  }

  std::size_t differences_from(float value) {
    const float former = std::exchange(value_, value);
    const recapture_result compared = again({.compare_only = true});
    value_ = former;
    return compared.report().nodes_changed();
  }

  // The graph does all of the old work or all of the new; so does the next executable.
  void expect_old_or_new(std::size_t all) {
    EXPECT_FALSE(stream_.is_capturing());
    EXPECT_FALSE(side_.is_capturing());
    const std::size_t from_old = differences_from(1);
    const std::size_t from_new = differences_from(3);
    EXPECT_TRUE((from_old == 0 && from_new == all) || (from_old == all && from_new == 0))
        << from_old << " nodes differ from the old, " << from_new << " from the new";
  }

  // From the old work to the new with the n-th allocation failing. @return whether one failed
  bool fail_allocation(long nth, std::size_t all) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    change(3);
    bool came = false;
    try {
      const failing_allocation armed(nth);
      const recapture_result result = again();
      came = failing_allocation::came();
      EXPECT_TRUE(result || came);
    } catch (const std::bad_alloc&) {
      came = true;
    }
    expect_old_or_new(all);
    change(1);
    EXPECT_TRUE(again());
    return came;
  }

  // Each allocation of an end in turn. @return how many there are
  long fail_allocations_of_end(engine which) {
    long nth = 0;
    for (bool came = true; came; ++nth) {
      SCOPED_TRACE("allocation " + std::to_string(nth));
      recapture_session session = graph_.begin_recapture(stream_, {.with = which});
      body(session);
      try {
        const failing_allocation armed(nth);
        static_cast<void>(session.try_end());
        came = failing_allocation::came();
      } catch (const std::bad_alloc&) {
      }
      EXPECT_EQ(simulator().live().capturing_streams, 0U);
    }
    return nth;
  }

  float result() {
    exec_.launch(stream_);
    float first = 0;
    copy_async(stream_, &first, x_.data(), sizeof first);
    stream_.synchronize();
    return first;
  }

  // @return whether an allocation failed
  bool fail_allocation_of_update(long nth, update_method force) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    change(3);
    EXPECT_TRUE(again());
    bool came = false;
    try {
      const failing_allocation armed(nth);
      const exec_update updated = exec_.update({.force = force});
      came = failing_allocation::came();
      EXPECT_TRUE(updated || came);
    } catch (const std::bad_alloc&) {
      came = true;
    }
    const float first = result();
    EXPECT_TRUE(first == 2.0F || first == 3.0F) << first;
    EXPECT_TRUE(exec_.update());
    EXPECT_EQ(result(), 3.0F);
    change(1);
    EXPECT_TRUE(again());
    EXPECT_TRUE(exec_.update());
    EXPECT_EQ(result(), 2.0F);
    return came;
  }

  context context_ = context::primary(driver());
  library library_ = testing::load_kernels(context_);
  kernel add_ = library_.get_kernel("add_value");
  kernel scale_ = library_.get_kernel("scale");
  kernel saxpy_ = library_.get_kernel("saxpy");
  stream stream_{context_}, side_{context_};
  device_buffer x_{context_, 64}, y_{context_, 64};
  engine engine_ = engine::native;
  float value_ = 1;
  bool has_body_ = false;
  bool closes_body_ = true;
  std::optional<graph> old_child_, new_child_;
  std::shared_ptr<int> owner_ = std::make_shared<int>(1);
  graph graph_ = capture(stream_, [this](graph_builder& gb) { body(gb); });
  graph_exec exec_ = graph_.instantiate();
};

TEST_F(OutOfMemoryTest, AtAnyPointOfARecaptureTheGraphIsOldOrNew) {
  for (const engine which : {engine::native, engine::compare}) {
    SCOPED_TRACE(to_string(which));
    engine_ = which;
    const std::size_t all = differences_from(3);
    ASSERT_EQ(all, 3U);
    long nth = 0;
    while (fail_allocation(nth, all)) ++nth;
    EXPECT_GT(nth, 20);  // they were reached
  }
}

// Where calls are compared as they are made, with graphs inside of nodes.
TEST_F(OutOfMemoryTest, AtAnyPointOfARecaptureByDirectTheGraphIsOldOrNew) {
  engine_ = engine::direct;
  old_child_ = child_of(1);
  new_child_ = child_of(3);
  for (const bool has_body : {false, true}) {
    SCOPED_TRACE(has_body ? "with a body" : "without");
    has_body_ = has_body;
    exec_.reset();
    graph_ = capture(stream_, [this](graph_builder& gb) { body(gb); });
    const std::size_t all = differences_from(3);
    ASSERT_EQ(all, has_body ? 5U : 3U);
    long nth = 0;
    while (fail_allocation(nth, all)) ++nth;
    EXPECT_GT(nth, 20);  // they were reached
    EXPECT_EQ(simulator().live().capturing_streams, 0U);
  }
}

TEST_F(OutOfMemoryTest, AtAnyPointOfAnEndTheStreamsComeBack) {
  for (const engine which : {engine::native, engine::compare, engine::direct}) {
    SCOPED_TRACE(to_string(which));
    EXPECT_GT(fail_allocations_of_end(which), 3);
  }
}

// Which the end has to complete.
TEST_F(OutOfMemoryTest, AtAnyPointOfAnEndSoDoThoseOfABodyThatWasLeftOpen) {
  old_child_ = child_of(1);
  has_body_ = true;
  exec_.reset();
  graph_ = capture(stream_, [this](graph_builder& gb) { body(gb); });
  closes_body_ = false;
  for (const engine which : {engine::compare, engine::direct}) {
    SCOPED_TRACE(to_string(which));
    EXPECT_GT(fail_allocations_of_end(which), 3);
  }
}

TEST_F(OutOfMemoryTest, AtAnyPointOfAnUpdateTheExecutableIsOldOrNew) {
  for (const update_method force :
       {update_method::automatic, update_method::whole, update_method::instantiated}) {
    SCOPED_TRACE(static_cast<int>(force));
    long nth = 0;
    while (fail_allocation_of_update(nth, force)) ++nth;
    EXPECT_GT(nth, 2);
  }
}

TEST_F(OutOfMemoryTest, AtAnyPointOfAResyncTheGraphStaysKnown) {
  const std::size_t all = differences_from(3);
  long nth = 0;
  for (bool came = true; came; ++nth) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    try {
      const failing_allocation armed(nth);
      graph_.resync();
      came = failing_allocation::came();
    } catch (const std::bad_alloc&) {
    }
    expect_old_or_new(all);
    EXPECT_TRUE(exec_.update());
    EXPECT_EQ(result(), 2.0F);
  }
  EXPECT_GT(nth, 10);
}

TEST_F(OutOfMemoryTest, AtAnyPointOfACaptureTheStreamsComeBack) {
  long nth = 0;
  for (bool came = true; came; ++nth) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    try {
      const failing_allocation armed(nth);
      const graph made = capture(stream_, [this](graph_builder& gb) { body(gb); });
      came = failing_allocation::came();
    } catch (const std::bad_alloc&) {
    }
    EXPECT_FALSE(stream_.is_capturing());
    EXPECT_FALSE(side_.is_capturing());
  }
  EXPECT_GT(nth, 20);
}

// The driver has the node when what follows fails: its function lives as long as it may run.
TEST_F(OutOfMemoryTest, ANodeThatTheDriverTookKeepsItsFunction) {
  int runs = 0, ended = 0;
  for (long nth = 0; nth < 40; ++nth) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    capture_session session = begin_capture(stream_);
    bool came = false;
    try {
      host_function function = [kept = std::make_shared<int>(1), &runs] { runs += *kept; };
      const failing_allocation armed(nth);
      session.host_call(std::move(function));
    } catch (const std::bad_alloc&) {
      came = true;
    }
    try {
      graph captured = session.end();
      graph_exec exec = captured.instantiate();
      const int before = runs;
      exec.launch(stream_);
      stream_.synchronize();
      EXPECT_EQ(runs - before, captured.node_count() == 0 ? 0 : 1);
      EXPECT_EQ(captured.node_count(), came ? 0U : 1U);
      ++ended;
    } catch (const capture_error& error) {
      EXPECT_TRUE(came);
      EXPECT_EQ(error.failure().code, 2);
    }
    EXPECT_FALSE(stream_.is_capturing());
  }
  EXPECT_GT(ended, 0);
  EXPECT_LT(ended, 40);
}

}  // namespace
}  // namespace cugraft
