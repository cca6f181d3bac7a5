// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "contract/engine_suite.hpp"

// Behaviours that no document promises and on which the engine native relies: its self-test finds
// each, and `automatic` leaves it alone. All other choices run the whole suite (all_cases).

namespace cugraft::testing {
namespace {

using cugraft_sim::choice;

class EngineChoices : public SimulatedDriverTest, public ::testing::WithParamInterface<choice> {
 protected:
  static constexpr int count = 64;

  EngineChoices() { simulator().set(GetParam(), 1); }

  // The choices are the simulator's, whatever else is tested.
  void SetUp() override { CUGRAFT_NEEDS_SIMULATOR(); }

  static std::string reason() {
    static const std::map<choice, std::string> reasons{
        {choice::recapture_writes_parameters,
         "a re-capture writes the new parameters; a re-capture writes new launch attributes, also "
         "where nothing else changed"},
        {choice::recapture_keeps_handles, "node handles stay valid"},
        {choice::recapture_touches_executables,
         "an executable keeps its values when its graph is re-captured"},
        {choice::recapture_of_clones, "a clone can be re-captured"},
        {choice::recapture_callback_order,
         "the callback comes once for each changed node, in creation order"}};
    return "its self-test failed: not so that " + reasons.at(GetParam());
  }

  // Of a re-capture that the driver accepts; only where its handles are not to be used any more.
  static std::string failure() {
    if (GetParam() != choice::recapture_keeps_handles) return "none";
    return "the driver accepted the re-capture and gave the nodes of the graph other handles, so "
           "that engine::native cannot apply it on this driver; the graph is what it was";
  }

  void body(graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    for (const float value : {1.0F, value_, 1.0F})
      launch(gb, {.grid = 2, .block = 32}, add_, x_, value, count);
  }

  float run(graph_exec& exec) {
    exec.launch(stream_);
    copy_async(stream_, host_.data(), x_.data(), x_.size());
    stream_.synchronize();
    return host_.as<float>()[count - 1];
  }

  context context_ = context::primary(driver());
  library library_ = load_kernels(context_);
  kernel add_ = library_.get_kernel("add_value");
  stream stream_{context_};
  device_buffer x_{context_, count * sizeof(float)};
  host_buffer host_{context_, count * sizeof(float)};
  float value_ = 1;
  graph graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); });
  graph_exec exec_ = graph_.instantiate();
};

TEST_P(EngineChoices, AutomaticLeavesNativeAloneWithTheReason) {
  const engine_status status = engines(context_)[0];
  EXPECT_EQ(status.which, engine::native);
  EXPECT_TRUE(status.usable);
  EXPECT_FALSE(status.automatic);
  EXPECT_EQ(status.why, reason());
  EXPECT_EQ(run(exec_), 3.0F);
  value_ = 5;
  const change_report report = graph_.recapture(stream_, [&](graph_builder& gb) { body(gb); });
  EXPECT_EQ(report.engine_used(), engine::compare);
  EXPECT_EQ(report.nodes_changed(), 1U);
  EXPECT_TRUE(exec_.update());
  EXPECT_EQ(run(exec_), 7.0F);
}

// Who names it may get a failure, but neither a mixture nor a change that did not happen.
TEST_P(EngineChoices, NamedAllTheSameItIsNeverSilentlyWrong) {
  float held = 1;
  for (const float value : {5.0F, 5.0F, 7.0F, 1.0F}) {
    value_ = value;
    try {
      const recapture_result result = graph_.try_recapture(
          stream_, [&](graph_builder& gb) { body(gb); }, {.with = engine::native});
      if (result) {
        EXPECT_EQ(result.report().nodes_changed(), value == held ? 0U : 1U);
        held = value;
      } else {
        EXPECT_EQ(result.failure().message, failure());
      }
    } catch (const cuda_error& error) {
      EXPECT_EQ(error.function(), "cuStreamBeginRecaptureToGraph");
    }
    EXPECT_FALSE(stream_.is_capturing());
    EXPECT_TRUE(exec_.update());
    EXPECT_EQ(run(exec_), 2 + held);
    graph_exec made = graph_.instantiate();
    EXPECT_EQ(run(made), 2 + held);
  }
}

INSTANTIATE_TEST_SUITE_P(Refused, EngineChoices, ::testing::ValuesIn(refused_choices()),
                         [](const auto& of) { return name_of_other(of.param); });

}  // namespace
}  // namespace cugraft::testing
