// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "contract/contract_driver.hpp"
#include "cugraft/cugraft.hpp"
#include "support/eventually.hpp"
#include "support/kernels.hpp"

// Many threads on one driver: graphs of different threads are independent, and a graph may go from
// one thread to another. The thread sanitizer has its say here.

namespace cugraft::testing {
namespace {

constexpr int count = 64;
constexpr std::size_t thread_count = 4;
constexpr int rounds = 12;

/// What one thread works with: nothing of it is shared.
struct workplace {
  explicit workplace(const context& context)
      : main(context),
        side(context),
        x(context, count * sizeof(float)),
        host(context, count * sizeof(float)) {}

  float read() {
    copy_async(main, host.data(), x.data(), x.size());
    main.synchronize();
    return host.as<float>()[count - 1];
  }

  stream main, side;
  device_buffer x;
  host_buffer host;
};

class Threads : public ContractTest {
 protected:
  template <class Body>
  static void on_threads(const Body& body) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < thread_count; ++i) threads.emplace_back([&body, i] { body(i); });
    for (std::thread& each : threads) each.join();
  }

  // Sets x to 0 and adds `value` twice, once on each stream, with a host function between.
  void body(graph_builder& gb, workplace& at, float value, std::atomic<int>* calls) const {
    gb.keep(std::make_shared<float>(value));
    fill_async(gb, at.x.data(), 0, at.x.size());
    add(gb, at, value);
    gb.host_call([calls, value] {
      static_cast<void>(value);
      ++*calls;
    });
    graph_builder side = gb.fork(at.side);
    add(side, at, value);
    gb.join(side);
  }

  void add(graph_builder& gb, workplace& at, float value) const {
    launch(gb, {.grid = 2, .block = 32}, add_, at.x, value, count);
  }

  context context_ = context::primary(driver());
  library library_ = load_kernels(context_);
  kernel add_ = library_.get_kernel("add_value");
};

// `automatic` runs its self-test meanwhile, once, on whichever thread comes first.
TEST_F(Threads, GraphsOfDifferentThreadsAreIndependent) {
  std::array<std::atomic<int>, thread_count> calls{};
  on_threads([&](std::size_t number) {
    workplace at(context_);
    float value = 1;
    const auto work = [&](graph_builder& gb) { body(gb, at, value, &calls[number]); };
    graph g = capture(at.main, work);
    graph_exec e = g.instantiate();
    for (int i = 0; i < rounds; ++i) {
      value = static_cast<float>(i + 2);
      EXPECT_EQ(g.recapture(at.main, work).nodes_changed(), 3U);
      if (i % 3 == 2) e = g.instantiate();
      EXPECT_TRUE(
          e.update({.force = i % 4 == 1 ? update_method::whole : update_method::automatic}));
      e.launch(at.main);
      EXPECT_EQ(at.read(), 2 * value);
    }
    at.main.synchronize();
    EXPECT_EQ(calls[number], rounds);
  });
}

TEST_F(Threads, FailuresOfOneThreadAreNobodyElses) {
  on_threads([&](std::size_t number) {
    std::atomic<int> calls{0};
    workplace at(context_);
    const bool fails = number % 2 == 0;
    const auto work = [&](graph_builder& gb) { body(gb, at, 1, &calls); };
    const auto other = [&](graph_builder& gb) {
      fill_async(gb, at.x.data(), 0, at.x.size());
      graph_builder side = gb.fork(at.side);
      add(side, at, 1);  // never joined
    };
    graph g = capture(at.main, work);
    graph_exec e = g.instantiate();
    for (int i = 0; i < rounds; ++i) {
      if (fails) {
        EXPECT_FALSE(g.try_recapture(at.main, other));
        EXPECT_FALSE(at.main.is_capturing());
        recapture_session abandoned = g.begin_recapture(at.main);
        add(abandoned, at, 1);
      }
      EXPECT_TRUE(g.try_recapture(at.main, work));
      EXPECT_TRUE(e.update());
      e.launch(at.main);
      EXPECT_EQ(at.read(), 2.0F);
    }
    at.main.synchronize();
  });
}

/// A place where one thread leaves something for another.
template <class Value>
class hand_over {
 public:
  void give(Value value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
  }
  std::optional<Value> take() {
    const std::lock_guard lock(mutex_);
    if (values_.empty()) return std::nullopt;
    Value taken = std::move(values_.back());
    values_.pop_back();
    return taken;
  }

 private:
  std::mutex mutex_;
  std::vector<Value> values_;
};

struct parcel {
  std::unique_ptr<workplace> at;
  graph made;
  graph_exec exec;
};

// One half captures and launches; the other re-captures, updates, launches and destroys.
TEST_F(Threads, GraphsMayGoFromThreadToThread) {
  std::atomic<int> calls{0};
  hand_over<parcel> parcels;
  std::atomic<int> done{0};
  constexpr int total = rounds * static_cast<int>(thread_count) / 2;
  on_threads([&](std::size_t number) {
    if (number % 2 == 0) {
      for (int i = 0; i < rounds; ++i) {
        auto at = std::make_unique<workplace>(context_);
        graph g = capture(at->main, [&](graph_builder& gb) { body(gb, *at, 1, &calls); });
        graph_exec e = g.instantiate();
        e.launch(at->main);
        parcels.give({std::move(at), std::move(g), std::move(e)});
      }
      return;
    }
    while (done < total) {
      std::optional<parcel> got = parcels.take();
      if (!got) {
        std::this_thread::yield();
        continue;
      }
      workplace& at = *got->at;
      got->made.recapture(at.main, [&](graph_builder& gb) { body(gb, at, 3, &calls); });
      EXPECT_TRUE(got->exec.update());
      got->exec.launch(at.main);
      got->made.reset();
      EXPECT_EQ(at.read(), 6.0F);
      ++done;
    }
  });
  EXPECT_EQ(calls, 2 * total);
}

// A graph is used by one thread at a time, its executables too: whoever holds the lock.
TEST_F(Threads, ThreadsMayTakeTurnsOnAGraph) {
  std::atomic<int> calls{0};
  workplace at(context_);
  float value = 1;
  const auto work = [&](graph_builder& gb) { body(gb, at, value, &calls); };
  graph g = capture(at.main, work);
  graph_exec e = g.instantiate();
  std::mutex turn;
  on_threads([&](std::size_t number) {
    workplace own(context_);
    for (int i = 0; i < rounds; ++i) {
      {
        const std::lock_guard lock(turn);
        value = static_cast<float>(100 * number) + static_cast<float>(i);
        g.recapture(at.main, work);
        EXPECT_TRUE(e.update());
        e.launch(at.main);
        EXPECT_EQ(at.read(), 2 * value);
      }
      graph passing = capture(own.main, [&](graph_builder& gb) { body(gb, own, 1, &calls); });
      passing.instantiate().launch(own.main);
      EXPECT_EQ(own.read(), 2.0F);
    }
  });
  EXPECT_EQ(calls, 2 * rounds * static_cast<int>(thread_count));
}

// Destroying, loading and allocating on one thread ends no capture of another, whatever its mode.
TEST_F(Threads, CapturesOfAllModesOutliveWhatOthersDo) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) {
      workplace at(context_);
      const library passing = load_kernels(context_);
      graph g = capture(at.main, [&](graph_builder& gb) {
        launch(gb, {.grid = 2, .block = 32}, passing.get_kernel("add_value"), at.x, 1.0F, count);
      });
      g.instantiate().launch(at.main);
      at.main.synchronize();
    }
  });
  on_threads([&](std::size_t number) {
    std::atomic<int> calls{0};
    workplace at(context_);
    constexpr std::array modes{capture_mode::thread_local_, capture_mode::relaxed,
                               capture_mode::global};
    const recapture_options options{.mode = modes[number % modes.size()]};
    const auto work = [&](graph_builder& gb) { body(gb, at, 1, &calls); };
    graph g = capture(at.main, work);
    for (int i = 0; i < rounds; ++i) {
      const recapture_result result = g.try_recapture(at.main, work, options);
      EXPECT_TRUE(result) << result.failure().message;
    }
    g.instantiate().launch(at.main);
    EXPECT_EQ(at.read(), 2.0F);
  });
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace cugraft::testing
