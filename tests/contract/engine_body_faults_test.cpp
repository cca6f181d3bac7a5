// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "contract/fault_sweep.hpp"
#include "contract/tree_cases.hpp"
#include "support/eventually.hpp"

// Every driver function that is called while bodies and child graphs are captured, put in place,
// compared and patched fails at each of its calls in turn, before and after it took effect.

namespace cugraft::testing {
namespace {

class EngineBodyFaults : public EngineSuite {
 protected:
  struct fault {
    std::string function;
    unsigned nth = 1;
    int code = 999;
    bool after_effect = false;
  };

  // x = 0; if (1) { x += value, on a fork; if (1) { child: x *= 2 } }; child: y = value
  void body(graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    gb.if_then(gb.create_condition(1), [&](graph_builder& outer) {
      graph_builder fork = outer.fork(1)[0];
      add(fork, x_, value_);
      outer.join(fork);
      outer.keep(owner_);
      outer.if_then(outer.create_condition(1), [&](graph_builder& inner) { inner.embed(*child_); });
    });
    gb.embed(*child_);
  }

  void make_child() {
    child_ = capture(spare_, [&](graph_builder& gb) {
      launch(gb, {.grid = 2, .block = 32}, scale_, x_, 2.0F, static_cast<int>(count));
    });
  }

  void set(float value) {
    value_ = value;
    owner_ = std::make_shared<int>(static_cast<int>(value));
  }

  void step(const std::function<void()>& what) {
    note_failure_of(what, named_);
    EXPECT_EQ(simulator().live().capturing_streams, 0U);
  }

  void run_all() {
    named_.clear();
    graph_.reset();
    exec_.reset();
    set(1);
    step([&] { graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); }); });
    if (!graph_) return;
    step([&] { exec_ = graph_->instantiate(); });
    set(3);
    step([&] {
      graph_->recapture(
          stream_, [&](graph_builder& gb) { body(gb); }, with());
    });
    if (exec_)
      step([&] {
        for (const refusal& refused : exec_->update({.may_instantiate = false}).refused)
          named_.insert(refused.function);
      });
    step([&] { graph_->resync(); });
  }

  // What there is runs, with all of the old values or all of the new; then it is as good as new.
  void expect_sound() {
    if (exec_) {
      const float result = run(*exec_, x_);
      EXPECT_TRUE(result == 4.0F || result == 12.0F) << result;
    }
    if (!graph_) return;
    set(5);
    EXPECT_EQ(graph_
                  ->recapture(
                      stream_, [&](graph_builder& gb) { body(gb); }, with())
                  .nodes_total(),
              8U);
    if (!exec_) exec_ = graph_->instantiate();
    EXPECT_TRUE(exec_->update({.destroy_first = true}));
    EXPECT_EQ(run(*exec_, x_), 20.0F);
  }

  void drop() {
    exec_.reset();
    graph_.reset();
    owner_.reset();
    simulator().settle();
  }

  std::map<std::string, unsigned> calls() {
    run_all();
    drop();
    simulator().start_log();
    run_all();
    EXPECT_TRUE(named_.empty());
    drop();
    std::map<std::string, unsigned> result;
    for (const cugraft_sim::call& call : simulator().take_log()) ++result[call.function];
    return result;
  }

  void inject(const fault& what) {
    SCOPED_TRACE(what.function + " call " + std::to_string(what.nth) + " gives " +
                 std::to_string(what.code) + (what.after_effect ? " after its work" : ""));
    const world_check world(simulator());
    simulator().plan({.function = what.function,
                      .nth = what.nth,
                      .code = what.code,
                      .after_effect = what.after_effect});
    run_all();
    const bool was_hit = simulator().faults_hit() != 0;
    simulator().clear_faults();
    if (was_hit) {
      stream_.synchronize();
      expect_sound();
    }
    const bool was_named = named_.contains(what.function);
    drop();
    world.expect_unchanged();
    if (!was_hit) return static_cast<void>(take_reports());  // a call of the destruction
    const auto is_named = [&] {
      bool found = was_named;
      for (const std::string& report : take_reports())
        found |= report.find(what.function) != std::string::npos;
      return found;
    };
    EXPECT_TRUE(what.function == "cuEventQuery" || eventually(is_named))
        << "nothing named the function";
    take_reports();
  }

  stream spare_{context_};
  float value_ = 1;
  std::shared_ptr<int> owner_;
  std::optional<graph> child_, graph_;
  std::optional<graph_exec> exec_;
  std::set<std::string> named_;
};

TEST_P(EngineBodyFaults, EveryCallMayFail) {
  make_child();
  const std::map<std::string, unsigned> all = calls();
  EXPECT_TRUE(all.contains("cuGraphAddNode"));
  EXPECT_TRUE(all.contains("cuGraphConditionalHandleCreate"));
  EXPECT_TRUE(all.contains("cuGraphChildGraphNodeGetGraph"));
  for (const auto& [function, count_of_calls] : all)
    for (unsigned nth = 1; nth <= count_of_calls; ++nth)
      for (const bool after_effect : {false, true})
        for (const int code : {999, 2})
          if (!is_unjudged_release(function, code, after_effect))
            inject({function, nth, code, after_effect});
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineBodyFaults, ::testing::ValuesIn(tree_cases({12040})),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
