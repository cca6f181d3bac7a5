// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "contract/memory_suite.hpp"

// Executables of graphs that allocate: one at a time, and what their launches leave.

namespace cugraft::testing {
namespace {

class EngineMemoryExec : public MemorySuite {
 public:
  using MemorySuite::cases;

 protected:
  // Leaves what it allocates, and reads it into `x_` behind the launch.
  graph make_leaving() {
    return capture(stream_, [&](graph_builder& gb) { leave(gb); });
  }
  void leave(graph_builder& gb) {
    memory_ = gb.allocate(bytes);
    fill_async(gb, memory_, 0, bytes);
    add_to(gb, memory_, value_);
  }
  float left() {
    copy_async(stream_, x_.data(), memory_, bytes);
    free_async(stream_, memory_);
    return read(x_).front();
  }
};

TEST_P(EngineMemoryExec, ASecondExecutableIsRefusedWithAdvice) {
  graph g = make();
  graph_exec e = g.instantiate();
  const auto asked = simulator().calls("cuGraphInstantiateWithParams");
  EXPECT_THROW_MSG(g.instantiate(), usage_error,
                   fmt::format("graph {} allocates or frees memory or has conditions, so that it "
                               "allows one executable at a time, and executable graph {} is there: "
                               "close that first, or update it with destroy_first",
                               fmt::ptr(g.get()), fmt::ptr(e.get())));
  EXPECT_EQ(simulator().calls("cuGraphInstantiateWithParams"), asked);
  EXPECT_EQ(run(e, x_), 1.0F);
  e.close();
  graph_exec second = g.instantiate();
  EXPECT_EQ(run(second, x_), 1.0F);
}

TEST_P(EngineMemoryExec, AnUpdateThatInstantiatesNeedsDestroyFirst) {
  bool cooperative = false;
  const auto body = [&](graph_builder& gb) {
    void* const memory = gb.allocate(bytes);
    fill_async(gb, memory, 0, bytes);
    launch(gb, {.grid = 2, .block = 32, .cooperative = cooperative}, add_, memory, value_,
           static_cast<int>(count));
    copy_async(gb, x_.data(), memory, bytes);
    gb.free(memory);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  const CUgraphExec native = e.get();
  cooperative = true;
  value_ = 2;
  recapture(g, body);

  const exec_update refused = e.update();
  EXPECT_FALSE(refused);
  EXPECT_EQ(refused.method, update_method::none);
  ASSERT_EQ(refused.refused.size(), 2U);
  EXPECT_EQ(refused.refused[0].rule, "kernel.cooperative");
  EXPECT_EQ(refused.refused[1].rule, "exec.single");
  EXPECT_EQ(refused.refused[1].code, 0);
  EXPECT_EQ(e.get(), native);
  EXPECT_FALSE(e.is_current());
  EXPECT_EQ(run(e, x_), 1.0F);

  EXPECT_EQ(e.update({.destroy_first = true}).method, update_method::instantiated);
  EXPECT_EQ(run(e, x_), 2.0F);
  EXPECT_FALSE(e.update({.force = update_method::instantiated}));
  EXPECT_TRUE(e.is_current());
  EXPECT_TRUE(e.update({.destroy_first = true, .force = update_method::instantiated}));
}

TEST_P(EngineMemoryExec, AnExecutableThatCouldNotBeMadeIsMadeByTheNextUpdate) {
  graph g = make();
  graph_exec e = g.instantiate();
  fail_next("cuGraphInstantiateWithParams", 2);
  EXPECT_THROW(e.update({.destroy_first = true, .force = update_method::instantiated}), cuda_error);
  EXPECT_THROW(e.launch(stream_), usage_error);
  EXPECT_EQ(e.update().method, update_method::instantiated);  // none is in the way
  EXPECT_EQ(run(e, x_), 1.0F);
}

TEST_P(EngineMemoryExec, WholeUpdatesComeFromTheGraphItself) {
  graph g = make();
  graph_exec e = g.instantiate();
  value_ = 3;
  again(g);
  EXPECT_EQ(e.update({.may_instantiate = false, .force = update_method::whole}).method,
            update_method::whole);
  EXPECT_EQ(run(e, x_), 3.0F);
}

TEST_P(EngineMemoryExec, C047_ALaunchThatMeetsLeftMemorySaysWhatToDo) {
  graph g = make_leaving();
  graph_exec e = g.instantiate();
  e.launch(stream_);
  try {
    e.launch(stream_);
    ADD_FAILURE() << "no error";
  } catch (const cuda_error& error) {
    EXPECT_EQ(error.code(), 1);
    EXPECT_EQ(error.function(), "cuGraphLaunch");
    EXPECT_NE(std::string(error.what())
                  .find("; the memory that an earlier launch allocated may be there still: free it "
                        "behind that launch (free_async), or instantiate with auto_free_on_launch"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(left(), 1.0F);
  e.launch(stream_);
  EXPECT_EQ(left(), 1.0F);
}

TEST_P(EngineMemoryExec, OtherFailuresOfALaunchAreToldAsTheyAre) {
  graph leaving = make_leaving(), freeing = make();
  graph_exec a = leaving.instantiate(), b = freeing.instantiate();
  const auto message_of = [&](graph_exec& exec, int code) -> std::string {
    fail_next("cuGraphLaunch", code);
    try {
      exec.launch(stream_);
      return "no error";
    } catch (const cuda_error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(message_of(a, 700).find("memory that an earlier"), std::string::npos);
  EXPECT_EQ(message_of(b, 1).find("memory that an earlier"), std::string::npos);
  EXPECT_NE(message_of(a, 1).find("memory that an earlier"), std::string::npos);
}

TEST_P(EngineMemoryExec, LeftMemoryIsFreedByTheNextLaunchWhereThatIsAsked) {
  graph g = make_leaving();
  graph_exec e = g.instantiate({.auto_free_on_launch = true});
  e.launch(stream_);
  e.launch(stream_);
  value_ = 2;
  recapture(g, [&](graph_builder& gb) { leave(gb); });
  EXPECT_TRUE(e.update({.may_instantiate = false}));
  e.launch(stream_);
  EXPECT_EQ(left(), 2.0F);
}

TEST_P(EngineMemoryExec, MemoryOutlivesGraphAndExecutable) {
  {
    graph g = make_leaving();
    graph_exec e = g.instantiate();
    e.launch(stream_);
  }
  EXPECT_EQ(left(), 1.0F);
}

TEST_P(EngineMemoryExec, FreesOutsideOfCapturesOnly) {
  EXPECT_THROW(free_async(stream_, nullptr), usage_error);
  graph g = make_leaving();
  graph_exec e = g.instantiate();
  e.launch(stream_);
  recapture_session session = g.begin_recapture(stream_, with());
  EXPECT_THROW(free_async(stream_, memory_), usage_error);
  leave(session);
  EXPECT_EQ(session.end().nodes_changed(), 0U);
  fail_next("cuMemFreeAsync", 999);
  EXPECT_THROW(free_async(stream_, memory_), cuda_error);
  EXPECT_EQ(left(), 1.0F);
}

TEST_P(EngineMemoryExec, MemoryOfGraphsIsCounted) {
  trim_graph_memory(context_);
  const graph_memory before = graph_memory_usage(context_);
  graph g = make_leaving();
  graph_exec e = g.instantiate();
  e.launch(stream_);
  stream_.synchronize();
  const graph_memory during = graph_memory_usage(context_);
  EXPECT_GE(during.used, before.used + bytes);
  EXPECT_GE(during.used_high, during.used);
  EXPECT_GE(during.reserved, during.used);
  EXPECT_GE(during.reserved_high, during.reserved);
  EXPECT_EQ(left(), 1.0F);
  e.reset();
  g.reset();
  trim_graph_memory(context_);
  const graph_memory after = graph_memory_usage(context_);
  EXPECT_EQ(after.used, before.used);
  EXPECT_EQ(after.reserved, before.reserved);
  fail_next("cuDeviceGraphMemTrim", 999);
  EXPECT_THROW(trim_graph_memory(context_), cuda_error);
  fail_next("cuDeviceGetGraphMemAttribute", 999);
  EXPECT_THROW(graph_memory_usage(context_), cuda_error);
}

TEST_P(EngineMemoryExec, AdoptedExecutablesCountAsTheOne) {
  graph g = make();
  CUgraphExec native = nullptr;
  {
    const current_context current(driver(), context_.get());
    native = calls_.instantiate(g.get());
  }
  graph_exec e = graph_exec::adopt(driver(), native, g);
  EXPECT_THROW(static_cast<void>(g.instantiate()), usage_error);
  value_ = 2;
  again(g);
  EXPECT_EQ(e.update().method, update_method::patched);
  EXPECT_EQ(run(e, x_), 2.0F);
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineMemoryExec, ::testing::ValuesIn(EngineMemoryExec::cases()),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
