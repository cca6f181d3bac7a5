// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/ptx/kernel_launcher.hpp"

namespace cugraft_sim::ptx {
namespace {

using testing::kernel_launcher;
using testing::kernel_text;

/// Runs a body with %a = `a` and 8 zeroed words at %b.
struct words_and_result {
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(8);
  run_result result;
};

words_and_result run_body(const std::string& body, std::uint64_t a = 0,
                          const std::string& declarations = "", hook_table hooks = {},
                          void* hook_context = nullptr) {
  words_and_result made;
  kernel_launcher launcher(kernel_text(body, declarations), std::move(hooks));
  launcher.how().hook_context = hook_context;
  made.result = launcher.run("test", a, launcher.memory().allow(made.words));
  return made;
}

std::uint32_t first_word(const words_and_result& made) {
  EXPECT_TRUE(made.result) << made.result.message;
  return made.words.front();
}

TEST(ControlTest, Loops) {
  const auto made = run_body(
      "mov.u32 %r0, 0;\nmov.u32 %r1, 0;\nagain:\nadd.u32 %r1, %r1, %r0;\nadd.u32 %r0, %r0, 1;\n"
      "setp.le.u32 %p0, %r0, 100;\n@%p0 bra.uni again;\nst.global.u32 [%b], %r1;");
  EXPECT_EQ(first_word(made), 5050U);
}

TEST(ControlTest, LabelsOfBlocksAreTheirOwn) {
  const auto made = run_body(
      "mov.u32 %r0, 1;\n"
      "{\n.reg .b32 t;\nbra skip;\nmov.u32 %r0, 100;\nskip:\nmov.u32 t, 2;\nadd.u32 %r0, %r0, "
      "t;\n}\n"
      "{\n.reg .b32 t;\nbra skip;\nmov.u32 %r0, 100;\nskip:\nmov.u32 t, 4;\nadd.u32 %r0, %r0, "
      "t;\n}\n"
      "st.global.u32 [%b], %r0;");
  EXPECT_EQ(first_word(made), 7U);
}

TEST(ControlTest, BranchesByIndex) {
  const std::string body =
      "cvt.u32.u64 %r0, %a;\ntable: .branchtargets one, two, three;\nbrx.idx %r0, table;\n"
      "one: mov.u32 %r1, 10;\nbra done;\ntwo: mov.u32 %r1, 20;\nbra done;\n"
      "three: mov.u32 %r1, 30;\ndone: st.global.u32 [%b], %r1;";
  EXPECT_EQ(first_word(run_body(body, 0)), 10U);
  EXPECT_EQ(first_word(run_body(body, 2)), 30U);
  EXPECT_EQ(run_body(body, 3).result.kind, outcome::trap);
}

TEST(ControlTest, ExitAndReturnEndTheThread) {
  EXPECT_EQ(first_word(run_body("st.global.u32 [%b], 1;\nexit;\nst.global.u32 [%b], 2;")), 1U);
  EXPECT_EQ(first_word(run_body("st.global.u32 [%b], 1;\nret;\nst.global.u32 [%b], 2;")), 1U);
}

TEST(ControlTest, TrapStopsTheKernel) {
  const auto made = run_body("st.global.u32 [%b], 1;\ntrap;");
  EXPECT_EQ(made.result.kind, outcome::trap);
  EXPECT_EQ(
      made.result.message,
      "kernel 'test', block (0, 0, 0), thread (0, 0, 0): stopped the kernel in trap, line 15");
}

TEST(ControlTest, NothingHappensInHintsOfTime) {
  EXPECT_EQ(first_word(run_body("griddepcontrol.wait;\nnanosleep.u32 100;\n"
                                "griddepcontrol.launch_dependents;\nst.global.u32 [%b], 3;")),
            3U);
}

TEST(ControlTest, ClocksDoNotRunBackwards) {
  const auto made = run_body(
      "mov.u64 %l0, %clock64;\nmov.u64 %l1, %clock64;\nsetp.ge.u64 %p0, %l1, %l0;\n"
      "mov.u64 %l0, %globaltimer;\nmov.u32 %r0, %clock;\nselp.u32 %r1, 1, 0, %p0;\n"
      "st.global.u32 [%b], %r1;");
  EXPECT_EQ(first_word(made), 1U);
}

const std::string add_and_halve =
    ".func (.param .b32 result) twice_and_more(.param .b32 x, .param .align 8 .b8 s[16])\n{\n"
    ".reg .b32 %r<4>;\nld.param.u32 %r1, [x];\nld.param.u32 %r2, [s+4];\n"
    "mad.lo.u32 %r3, %r1, 2, %r2;\nst.param.b32 [result+0], %r3;\nret;\n}\n";

TEST(ControlTest, CallsPassAndReturnValues) {
  const auto made = run_body(
      "mov.u32 %r0, 20;\nmov.u32 %r2, 1;\n{\n.param .b32 param0;\nst.param.b32 [param0+0], %r0;\n"
      ".param .align 8 .b8 param1[16];\nst.param.b32 [param1+4], %r2;\n.param .b32 retval0;\n"
      "call.uni (retval0),\ntwice_and_more,\n(\nparam0,\nparam1\n);\n"
      "ld.param.b32 %r1, [retval0+0];\n}\nst.global.u32 [%b], %r1;\nst.global.u32 [%b+4], %r0;",
      0, add_and_halve);
  EXPECT_EQ(first_word(made), 41U);
  EXPECT_EQ(made.words[1], 20U);  // the caller's registers are its own
}

const std::string factorial =
    ".func (.param .b32 result) factorial(.param .b32 n);\n"
    ".func (.param .b32 result) factorial(.param .b32 n)\n{\n"
    ".local .align 4 .b8 depot[4];\n.reg .b32 %r<4>;\n.reg .pred %p;\n"
    "ld.param.u32 %r1, [n];\nst.local.u32 [depot], %r1;\nmov.u32 %r2, 1;\n"
    "setp.le.u32 %p, %r1, 1;\n@%p bra done;\nsub.u32 %r2, %r1, 1;\n"
    "{\n.param .b32 param0;\nst.param.b32 [param0], %r2;\n.param .b32 retval0;\n"
    "call (retval0), factorial, (param0);\nld.param.b32 %r2, [retval0];\n}\n"
    "ld.local.u32 %r1, [depot];\nmul.lo.u32 %r2, %r2, %r1;\n"
    "done:\nst.param.b32 [result], %r2;\nret;\n}\n";

const std::string call_factorial =
    "cvt.u32.u64 %r0, %a;\n{\n.param .b32 param0;\nst.param.b32 [param0], %r0;\n"
    ".param .b32 retval0;\ncall (retval0), factorial, (param0);\nld.param.b32 %r1, [retval0];\n}\n"
    "st.global.u32 [%b], %r1;";

TEST(ControlTest, RecursionHasLocalMemoryOfEachCall) {
  EXPECT_EQ(first_word(run_body(call_factorial, 6, factorial)), 720U);
}

TEST(ControlTest, EndlessRecursionEndsWithAnError) {
  const auto made = run_body(call_factorial, 1'000'000, factorial);
  EXPECT_EQ(made.result.kind, outcome::stack_overflow);
  EXPECT_EQ(made.result.message,
            "kernel 'test', block (0, 0, 0), thread (0, 0, 0): calls too deep in call, line 20, "
            "function 'factorial'");
}

const std::string external =
    ".extern .func (.param .b32 result) outside(.param .b64 handle, .param .b32 value);\n";

const std::string call_external =
    "mov.u32 %r0, 5;\n{\n.param .b64 param0;\nst.param.b64 [param0], %a;\n.param .b32 param1;\n"
    "st.param.b32 [param1], %r0;\n.param .b32 retval0;\n"
    "call.uni (retval0), outside, (param0, param1);\nld.param.b32 %r1, [retval0];\n}\n"
    "st.global.u32 [%b], %r1;";

TEST(ControlTest, HooksStandForExternalFunctions) {
  int context = 0;
  const hook outside = [&context](hook_call& call) {
    EXPECT_EQ(call.context, &context);
    EXPECT_EQ(call.arguments.size(), 2U);
    call.set_result(static_cast<std::uint32_t>(call.argument<std::uint64_t>(0)) +
                    call.argument<std::uint32_t>(1));
    return std::string();
  };
  EXPECT_EQ(first_word(run_body(call_external, 37, external, {{"outside", outside}}, &context)),
            42U);
}

TEST(ControlTest, HooksReadWhatTheThreadMayRead) {
  std::string text;
  const hook outside = [&text](hook_call& call) {
    std::array<char, 3> bytes{};
    if (!call.read(call.argument<std::uint64_t>(0), bytes.data(), bytes.size()))
      return std::string("cannot read");
    text.assign(bytes.begin(), bytes.end());
    return std::string();
  };
  const std::string declarations = external + ".global .align 1 .b8 words[3] = {97, 98, 99};\n";
  EXPECT_TRUE(
      run_body("mov.u64 %a, words;\n" + call_external, 0, declarations, {{"outside", outside}})
          .result);
  EXPECT_EQ(text, "abc");
  const auto unreadable = run_body(call_external, 16, external, {{"outside", outside}});
  EXPECT_EQ(unreadable.result.kind, outcome::hook_failed);
  EXPECT_EQ(unreadable.result.message,
            "kernel 'test', block (0, 0, 0), thread (0, 0, 0): cannot read in call.uni, line 22");
}

}  // namespace
}  // namespace cugraft_sim::ptx
