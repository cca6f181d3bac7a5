// SPDX-License-Identifier: Apache-2.0
#include "contract/engine_suite.hpp"

// Ends of captures that fail: no stream is left capturing, and no graph without an owner.

namespace cugraft::testing {
namespace {

class EndCapture : public EngineSuite {
 protected:
  /// A re-capture of which the end fails, with that many faults planned.
  void expect_nothing_left() {
    const std::size_t graphs = simulator().live().graphs;
    try {
      static_cast<void>(graph_.try_recapture(
          stream_, [&](graph_builder& gb) { add(gb, x_, 2); }, with()));
    } catch (const cuda_error&) {  // where the driver cannot even tell whether it captures
    }
    EXPECT_GT(simulator().faults_hit(), 0U);
    simulator().clear_faults();
    EXPECT_FALSE(stream_.is_capturing());
    EXPECT_EQ(simulator().live().capturing_streams, 0U);
    // `native` has let go of its own copy; `direct` keeps a graph for the next time.
    EXPECT_LE(simulator().live().graphs, graphs + (captures() ? 0 : 1));
    EXPECT_EQ(recapture(graph_, [&](graph_builder& gb) { add(gb, x_, 1); }).nodes_total(), 1U);
  }

  void plan(const char* function, unsigned nth, bool after_effect = false) {
    simulator().plan({.function = function, .nth = nth, .after_effect = after_effect});
  }

  graph graph_ = capture(stream_, [&](graph_builder& gb) { add(gb, x_, 1); });
};

TEST_P(EndCapture, SeveralEndsFailInARow) {
  for (unsigned failing = 1; failing < 8; ++failing) {
    SCOPED_TRACE(failing);
    for (unsigned nth = 1; nth <= failing; ++nth) plan("cuStreamEndCapture", nth);
    expect_nothing_left();
  }
}

TEST_P(EndCapture, AnEndWorksAfterOthersFailedAndSaysThatItFailedToo) {
  for (unsigned before = 0; before < 4; ++before) {
    SCOPED_TRACE(before);
    for (unsigned nth = 1; nth <= before; ++nth) plan("cuStreamEndCapture", nth);
    plan("cuStreamEndCapture", before + 1, true);
    expect_nothing_left();
  }
}

// The graph of the end that worked is not lost to one that had nothing to end.
TEST_P(EndCapture, TheDriverDoesNotTellWhetherItStillCaptures) {
  for (unsigned queries = 1; queries <= 4; ++queries) {
    SCOPED_TRACE(queries);
    plan("cuStreamEndCapture", 1, true);
    simulator().plan({.function = "cuStreamIsCapturing", .nth = queries, .from_then_on = true});
    expect_nothing_left();
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, EndCapture, ::testing::ValuesIn(engine_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
