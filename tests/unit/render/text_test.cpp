// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cugraft/render.hpp"
#include "support/expect.hpp"
#include "unit/render/samples.hpp"

namespace cugraft {
namespace {

TEST(ToTextTest, AReport) {
  EXPECT_EQ(to_text(sample_report()),
            R"(native: 2 of 14 nodes changed, needs_instantiate, generation 3
  3 kernel "scale" (tag "layer 0"): patchable by kernel.grid, eligible by the driver
    argument[1] (offset 8, size 4): 00 00 80 3f (int 1065353216, float 1) -> 00 00 00 40 (int 1073741824, float 2)
    grid: (64, 1, 1) -> (8, 1, 1)
  5[1]/2 copy: needs_instantiate by copy.2d
    width: 64 -> 32
  kernel.grid: The grid can be patched; update() does it. (driver facts, Setters)
  copy.2d: An executable takes no change of a copy of more than one row, or from or to an array, by any call. Instantiate anew, or copy row by row. (driver facts, Setters)
  capture 12.3 us, compare 0.7 us, apply 0.0 us
)");
}

TEST(ToTextTest, AReportWithoutChanges) {
  EXPECT_EQ(to_text(unchanged_report()),
            R"(compare: 0 of 2 nodes changed, unchanged, generation 0
  the structure was replaced
  capture 0.0 us, compare 0.0 us, apply 0.0 us
)");
}

TEST(ToTextTest, AFailure) {
  recapture_failure failure = sample_failure();
  EXPECT_EQ(
      to_text(failure),
      R"(native: re-capture failed after 7 nodes, node_kind, 918 CUDA_ERROR_GRAPH_RECAPTURE_FAILURE
  first difference at 7: kernel "scale" vs fill
  function: cuStreamEndCapture
  expected: 7 kernel "scale" (tag "layer 0")
  found: 7 fill
  involved: 8 kind 18
  the graph is what it was
)");
  failure = {};
  failure.message = "lost";
  failure.graph_lost = true;
  EXPECT_EQ(
      to_text(failure),
      R"(automatic: re-capture failed after 0 nodes, node_count, 918 CUDA_ERROR_GRAPH_RECAPTURE_FAILURE
  lost
  the graph is lost: destroy it
)");
}

TEST(ToTextTest, AnUpdate) {
  exec_update patched;
  patched.method = update_method::patched;
  patched.nodes_patched = 2;
  patched.up_to_date = true;
  patched.driver_calls = 3;
  EXPECT_EQ(to_text(patched), "up to date: patched, 2 nodes patched, 3 driver calls\n");
  EXPECT_EQ(to_text(sample_update()),
            "up to date: instantiated, 0 nodes patched, 4 driver calls\n"
            "  3 kernel \"scale\": needs_instantiate by kernel.cluster\n");
  EXPECT_EQ(to_text(refused_update()),
            "refused, nothing changed: 2 driver calls\n"
            "  5 copy: no rule foresaw this; cuGraphExecUpdate gave 910 "
            "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, update result 5\n");
}

}  // namespace
}  // namespace cugraft
