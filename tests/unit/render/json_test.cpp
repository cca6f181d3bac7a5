// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cugraft/render.hpp"
#include "unit/render/samples.hpp"

namespace cugraft {
namespace {

TEST(ToJsonTest, AReport) {
  EXPECT_EQ(
      to_json(sample_report()),
      R"j({"schema_version":1,"engine_used":"native","nodes_total":14,"nodes_changed":2,)j"
      R"j("changes":[{"path":"3","kind":"kernel","name":"scale","tag":"layer 0",)j"
      R"j("effect":"patchable","rule":"kernel.grid","fields":[)j"
      R"j({"field":"argument[1]","before":"00 00 80 3f (int 1065353216, float 1)",)j"
      R"j("after":"00 00 00 40 (int 1073741824, float 2)","offset":8,"size":4,)j"
      R"j("before_bytes":"0000803f","after_bytes":"00000040"},)j"
      R"j({"field":"grid","before":"(64, 1, 1)","after":"(8, 1, 1)","offset":0,"size":0,)j"
      R"j("before_bytes":"","after_bytes":""}],"native_status":"eligible","node":140733193388048},)j"
      R"j({"path":"5[1]/2","kind":"copy","name":"","tag":"","effect":"needs_instantiate",)j"
      R"j("rule":"copy.2d","fields":[{"field":"width","before":"64","after":"32","offset":0,)j"
      R"j("size":0,"before_bytes":"","after_bytes":""}],"native_status":null,"node":null}],)j"
      R"j("overall":"needs_instantiate","structure_replaced":false,"generation":3,)j"
      R"j("timing":{"capture":12345,"compare":678,"apply":0}})j");
}

TEST(ToJsonTest, AnEmptyReport) {
  EXPECT_EQ(to_json(change_report()),
            R"j({"schema_version":1,"engine_used":"automatic","nodes_total":0,"nodes_changed":0,)j"
            R"j("changes":[],"overall":"unchanged","structure_replaced":false,"generation":0,)j"
            R"j("timing":{"capture":0,"compare":0,"apply":0}})j");
}

TEST(ToJsonTest, AFailure) {
  EXPECT_EQ(to_json(sample_failure()),
            R"j({"schema_version":1,"why":"node_kind","code":918,"function":"cuStreamEndCapture",)j"
            R"j("message":"first difference at 7: kernel \"scale\" vs fill","nodes_matched":7,)j"
            R"j("used":"native","graph_lost":false,"expected":{"path":"7","kind":"kernel",)j"
            R"j("name":"scale","tag":"layer 0"},"found":{"path":"7","kind":"fill","name":"",)j"
            R"j("tag":""},"involved":[{"path":"8","kind":"kind 18","name":"","tag":""}]})j");
}

TEST(ToJsonTest, AnUpdate) {
  EXPECT_EQ(to_json(refused_update()),
            R"j({"schema_version":1,"method":"none","nodes_patched":0,"refused":[{"node":)j"
            R"j({"path":"5","kind":"copy","name":"","tag":""},"rule":"","predicted":"patchable",)j"
            R"j("tried":"whole","code":910,"function":"cuGraphExecUpdate","update_result":5}],)j"
            R"j("up_to_date":false,"driver_calls":2})j");
}

}  // namespace
}  // namespace cugraft
