// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "contract/engine_suite.hpp"
#include "contract/fault_sweep.hpp"
#include "support/eventually.hpp"
#include "support/foreign_calls.hpp"

// Every driver call fails in turn while nodes of a graph and of its executable are set and switched
// one by one. Whatever fails: the node does all of the old or all of the new, in the graph and in
// the executable, as the library says; and nothing is left.

namespace cugraft::testing {
namespace {

class NodeFaults : public EngineSuite {
 protected:
  struct injected {
    std::string function;
    unsigned nth = 1;
    int code = 999;
    bool after_effect = false;
  };

  struct scenario {
    explicit scenario(NodeFaults& test)
        : test_(test),
          graph_(capture(test.stream_,
                         [&](graph_builder& gb) {
                           fill_async(gb, test.x_.data(), 0, test.x_.size());
                           test.add(gb, test.x_, 1);
                           gb.host_call([] {});
                           test.copy_floats(gb.stream());
                         })),
          exec_(graph_.instantiate()) {}

    void step(const std::function<bool()>& what) {
      bool is_applied = false;
      note_failure_of([&] { is_applied = what(); }, named_);
      EXPECT_EQ(test_.simulator().live().capturing_streams, 0U);
      last_applied_ = is_applied;
    }

    bool answer(const node_update& update) {
      if (update.code != 0) named_.insert(std::string(update.function));
      return update.applied;
    }

    void set_graph() {
      step([&] {
        return answer(graph_.node(1).update({.grid = 2, .block = 32, .cluster = dim3(2)},
                                            test_.add_, test_.x_, 2.0F, static_cast<int>(count)));
      });
      in_graph_ = last_applied_ ? 2.0F : 1.0F;
      step([&] { return answer(graph_.node(1).update_argument(1, 4.0F)); });
      if (last_applied_) in_graph_ = 4;
      step([&] { return answer(graph_.node(2).update([] {})); });
      step([&] { return answer(graph_.node(0).update(test_.shorter_fill(graph_.node(0)))); });
      step([&] { return answer(graph_.node(3).update(test_.shorter_copy())); });
    }

    void set_exec() {
      step([&] { return answer(exec_.node(1).update_argument(1, 16.0F)); });
      if (last_applied_) in_exec_ = 16;
      step([&] { return answer(exec_.node(2).update([p = std::make_unique<int>()] {})); });
      step([&] { return answer(exec_.node(0).update(test_.shorter_fill(graph_.node(0)))); });
      step([&] { return answer(exec_.node(3).update(test_.shorter_copy())); });
      step([&] {
        exec_.node(1).disable();
        return true;
      });
      is_on_ = !last_applied_;
      expect_held();
      step([&] {
        exec_.node(1).enable();
        return true;
      });
      is_on_ = is_on_ || last_applied_;
    }

    // Launches run what the library says the executable holds.
    void expect_held() {
      std::optional<float> result;
      step([&] {
        result = test_.run(exec_, test_.x_);
        return true;
      });
      if (result) {
        EXPECT_EQ(*result, is_on_ ? in_exec_ : 0.0F);
      }
    }

    void follow() {
      step([&] {
        const exec_update done = exec_.update();
        for (const refusal& refused : done.refused)
          if (refused.code != 0) named_.insert(refused.function);
        return done.up_to_date;
      });
      if (exec_.is_current()) in_exec_ = in_graph_;
    }

    void run() {
      set_exec();
      set_graph();
      follow();
    }

    void recover() {
      expect_held();
      graph_.node(1).update_argument(1, 32.0F);
      EXPECT_TRUE(exec_.update());
      exec_.node(1).enable();
      EXPECT_EQ(test_.run(exec_, test_.x_), 32.0F);
      EXPECT_TRUE(exec_.node(1).update_argument(1, 64.0F));
      EXPECT_EQ(test_.run(exec_, test_.x_), 64.0F);
    }

    void let_go() {
      exec_.reset();
      graph_.reset();
      test_.simulator().settle();
    }

    NodeFaults& test_;
    graph graph_;
    graph_exec exec_;
    float in_graph_ = 1, in_exec_ = 1;
    bool is_on_ = true, last_applied_ = false;
    std::set<std::string> named_;
  };

  void copy_floats(stream_ref stream) {
    EXPECT_EQ(calls_.memcpy_d2d(reinterpret_cast<CUdeviceptr>(y_.data()),
                                reinterpret_cast<CUdeviceptr>(x_.data()), x_.size(), stream.get()),
              0);
  }
  copy_node_params shorter_copy() const {
    return copy_node_params::of_row(y_.data(), x_.data(), x_.size() / 2);
  }
  static fill_node_params shorter_fill(const node_ref& node) {
    fill_node_params fill = node.fill_params();
    fill.width /= 2;
    return fill;
  }

  std::map<std::string, unsigned> calls() {
    scenario(*this).run();  // what is made once is made before anything is counted
    scenario run(*this);
    simulator().settle();
    simulator().start_log();
    run.run();
    EXPECT_TRUE(run.named_.empty());
    run.let_go();
    std::map<std::string, unsigned> result;
    for (const cugraft_sim::call& call : simulator().take_log()) ++result[call.function];
    return result;
  }

  void inject(const injected& fault) {
    SCOPED_TRACE(fault.function + " call " + std::to_string(fault.nth) + " gives " +
                 std::to_string(fault.code) + (fault.after_effect ? " after its work" : ""));
    const world_check world(simulator());
    bool was_named = false;
    {
      scenario run(*this);
      simulator().settle();
      simulator().plan({.function = fault.function,
                        .nth = fault.nth,
                        .code = fault.code,
                        .after_effect = fault.after_effect});
      run.run();
      if (simulator().faults_hit() != 0) {  // else it is a call of the release
        simulator().clear_faults();
        stream_.synchronize();
        run.recover();
      }
      run.let_go();
      simulator().clear_faults();
      was_named = run.named_.contains(fault.function);
    }
    world.expect_unchanged();
    const auto is_named = [&] {
      for (const std::string& report : take_reports())
        was_named |= report.find(fault.function) != std::string::npos;
      return was_named;
    };
    const bool is_absorbed =
        fault.function == "cuThreadExchangeStreamCaptureMode" || fault.function == "cuEventQuery";
    EXPECT_TRUE(is_absorbed || eventually(is_named)) << "nothing named the function";
    take_reports();
  }

  foreign_calls calls_{driver()};
};

TEST_P(NodeFaults, EveryCallMayFail) {
  const std::map<std::string, unsigned> all = calls();
  for (const char* function :
       {"cuGraphKernelNodeSetParams", "cuGraphKernelNodeCopyAttributes",
        "cuGraphKernelNodeSetAttribute", "cuGraphExecKernelNodeSetParams",
        "cuGraphExecHostNodeSetParams", "cuGraphMemcpyNodeSetParams", "cuPointerGetAttribute",
        "cuGraphExecMemsetNodeSetParams", "cuGraphNodeSetEnabled", "cuGraphNodeGetEnabled"})
    EXPECT_TRUE(all.contains(function)) << function;
  for (const auto& [function, count_of_calls] : all)
    for (unsigned nth = 1; nth <= count_of_calls; ++nth)
      for (const bool after_effect : {false, true})
        for (const int code : {999, 2})
          if (const injected fault{function, nth, code, after_effect};
              !is_unjudged_release(function, code, after_effect))
            inject(fault);
}

INSTANTIATE_TEST_SUITE_P(Engines, NodeFaults, ::testing::ValuesIn(compare_cases({12040})),
                         &case_name);

}  // namespace
}  // namespace cugraft::testing
