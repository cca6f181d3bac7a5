// SPDX-License-Identifier: Apache-2.0
#include "ptx/module.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sim/ptx/kernel_launcher.hpp"

namespace cugraft_sim::ptx {
namespace {

const std::string header = ".version 8.4\n.target sm_90a\n.address_size 64\n";

std::shared_ptr<const ptx_module> load(const std::string& text) {
  return ptx_module::load(header + text);
}

TEST(ModuleTest, VersionAndTarget) {
  const auto code = load("");
  EXPECT_EQ(code->version(), 84U);
  EXPECT_EQ(code->target(), 90U);
  EXPECT_EQ(ptx_module::load(".version 9.0\n.target sm_120, debug\n")->version(), 90U);
  EXPECT_EQ(ptx_module::load(".version 9.0\n.target sm_120, debug\n")->target(), 120U);
}

TEST(ModuleTest, ParametersHaveNaturalAlignment) {
  const auto code = load(
      ".visible .entry first(.param .u8 a, .param .u16 b, .param .f32 c, .param .u64 d,\n"
      ".param .u32 e, .param .align 8 .b8 f[12], .param .u64 .ptr .global .align 1 g)\n{ ret; }\n"
      ".entry second() { ret; }\n");
  ASSERT_EQ(code->entries().size(), 2U);
  const entry& first = code->entries()[0];
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.parameters,
            (std::vector<parameter>{
                {0, 1, 1}, {2, 2, 2}, {4, 4, 4}, {8, 8, 8}, {16, 4, 4}, {24, 12, 8}, {40, 8, 8}}));
  EXPECT_EQ(first.parameter_bytes, 48U);
  EXPECT_EQ(code->entries()[1].parameter_bytes, 0U);
  EXPECT_EQ(code->find_entry("second"), &code->entries()[1]);
  EXPECT_EQ(code->find_entry("third"), nullptr);
}

TEST(ModuleTest, TuningDirectives) {
  const auto code = load(
      ".entry k()\n.maxntid 128, 2, 1\n.minnctapersm 2\n.maxnreg 32\n{ ret; }\n"
      ".entry c()\n.reqntid 64\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{ ret; }\n");
  EXPECT_EQ(code->entries()[0].max_threads, (dimensions{128, 2, 1}));
  EXPECT_FALSE(code->entries()[0].required_threads);
  EXPECT_FALSE(code->entries()[0].explicit_cluster);
  EXPECT_EQ(code->entries()[1].required_threads, (dimensions{64, 1, 1}));
  EXPECT_EQ(code->entries()[1].required_cluster, (dimensions{2, 1, 1}));
  EXPECT_TRUE(code->entries()[1].explicit_cluster);
}

TEST(ModuleTest, SharedMemoryOfWhatAnEntryReaches) {
  const auto code = load(
      ".shared .align 16 .b8 used[20];\n.shared .align 4 .b8 unused[400];\n"
      ".extern .shared .align 8 .b8 dynamic[];\n"
      ".func helper()\n{\n.reg .b32 %r;\nld.shared.u32 %r, [used];\nret;\n}\n"
      ".entry with()\n{\n.shared .align 4 .b8 own[6];\n.reg .b32 %r;\nld.shared.u32 %r, [own];\n"
      "mov.u32 %r, dynamic;\ncall helper;\nret;\n}\n"
      ".entry without()\n{ .local .align 8 .b8 depot[24]; ret; }\n");
  EXPECT_EQ(code->find_entry("with")->static_shared_bytes, 26U);
  EXPECT_EQ(code->find_entry("without")->static_shared_bytes, 0U);
  EXPECT_EQ(code->find_entry("without")->local_bytes, 24U);
}

TEST(ModuleTest, VariablesAndTheirInitialValues) {
  const auto code = load(
      ".global .align 4 .u32 counter = 5;\n"
      ".const .align 4 .f32 factors[3] = {0f3F800000, 2.5, -1.5};\n"
      ".global .align 1 .b8 text[] = {104, 105, 0};\n"
      ".visible .global .align 8 .u64 pointers[3] = {counter, generic(factors)+8, 7};\n"
      ".global .align 2 .s16 negative = -2;\n");
  ASSERT_EQ(code->variables().size(), 5U);
  const global_variable& factors = *code->find_variable("factors");
  EXPECT_EQ(factors.size, 12U);
  EXPECT_TRUE(factors.constant);
  EXPECT_EQ(code->find_variable("text")->size, 3U);
  EXPECT_FALSE(code->find_variable("text")->constant);
  EXPECT_EQ(code->find_variable("none"), nullptr);
  EXPECT_EQ(code->globals_alignment(), 8U);

  std::vector<std::uint64_t> block((code->globals_size() + 7) / 8);
  auto* bytes = reinterpret_cast<std::byte*>(block.data());
  code->initialise_globals(bytes);
  const auto read = [&]<class T>(const char* name, std::size_t index, T value) {
    std::memcpy(&value, bytes + code->find_variable(name)->offset + index * sizeof value,
                sizeof value);
    return value;
  };
  EXPECT_EQ(read("counter", 0, std::uint32_t{}), 5U);
  EXPECT_EQ(read("factors", 0, float{}), 1.0F);
  EXPECT_EQ(read("factors", 1, float{}), 2.5F);
  EXPECT_EQ(read("factors", 2, float{}), -1.5F);
  EXPECT_EQ(read("text", 1, char{}), 'i');
  EXPECT_EQ(read("negative", 0, std::int16_t{}), -2);
  const auto address = [&](const char* name) {
    return reinterpret_cast<std::uintptr_t>(bytes) + code->find_variable(name)->offset;
  };
  EXPECT_EQ(read("pointers", 0, std::uint64_t{}), address("counter"));
  EXPECT_EQ(read("pointers", 1, std::uint64_t{}), address("factors") + 8);
  EXPECT_EQ(read("pointers", 2, std::uint64_t{}), 7U);
}

TEST(ModuleTest, EachLoadHasGlobalsOfItsOwn) {
  const auto code = load(".global .align 8 .u64 pointer = pointer;\n");
  std::vector<std::uint64_t> first(1);
  std::vector<std::uint64_t> second(1);
  code->initialise_globals(reinterpret_cast<std::byte*>(first.data()));
  code->initialise_globals(reinterpret_cast<std::byte*>(second.data()));
  EXPECT_EQ(first.front(), reinterpret_cast<std::uintptr_t>(first.data()));
  EXPECT_EQ(second.front(), reinterpret_cast<std::uintptr_t>(second.data()));
}

TEST(ModuleTest, CommentsDebugLinesAndATrailingNull) {
  const std::string text = header +
                           "// a comment\n/* another\none */\n.file 1 \"kernels.cu\"\n"
                           ".entry k()\n{\n.loc 1 2 3\n.pragma \"nounroll\";\n"
                           ".loc 1 4 5, function_name $info, inlined_at 1 6 7\nret;\n}\n"
                           ".section .debug_str\n{\n$info:\n.b8 104,105,0\n}\n";
  EXPECT_EQ(ptx_module::load(text + std::string(1, '\0'))->entries().size(), 1U);
}

void expect_refused(const std::string& text, load_failure reason, unsigned line,
                    const std::string& message) {
  try {
    load(text);
    FAIL() << "loads: " << text;
  } catch (const load_error& error) {
    EXPECT_EQ(error.reason(), reason) << text;
    EXPECT_EQ(error.line(), line) << text;
    EXPECT_EQ(error.what(), message);
  }
}

/// A kernel whose instruction is on line 8 of the whole text.
std::string kernel_with(const std::string& instruction) {
  return ".entry k(.param .u64 p)\n{\n.reg .b32 %r<4>; .reg .f32 %f<4>; .reg .pred %p;\n"
         ".reg .b64 %l<4>;\n" +
         instruction + "\nret;\n}\n";
}

TEST(ModuleErrorTest, WhatTheInterpreterLacksIsNamed) {
  using enum load_failure;
  const auto expect_unsupported = [](const std::string& instruction, const std::string& message) {
    expect_refused(kernel_with(instruction), unsupported, 8, "line 8: " + message);
  };
  expect_unsupported("tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [t, {%r0, %r1}];",
                     "unsupported instruction 'tex.2d.v4.f32.s32'");
  expect_unsupported("add.rn.bf16 %r0, %r1, %r2;", "unsupported instruction 'add.rn.bf16'");
  expect_unsupported("add.u8 %r0, %r1, %r2;", "unsupported instruction 'add.u8'");
  expect_unsupported("mad.hi.sat.s32 %r0, %r1, %r2, %r3;",
                     "unsupported instruction 'mad.hi.sat.s32'");
  expect_unsupported("cvt.rna.tf32.f32 %r0, %f1;", "unsupported instruction 'cvt.rna.tf32.f32'");
  expect_unsupported("barrier.cluster.arrive;", "unsupported instruction 'barrier.cluster.arrive'");
  expect_unsupported("mov.u32 %r0, %envreg.x;", "unsupported special register '%envreg.x'");
  expect_unsupported("call (%r0), %l0, (%r1), prototype;", "unsupported instruction 'call'");
  expect_unsupported(".reg .b128 %big;", "unsupported type '.b128'");
  expect_unsupported(".callprototype;", "unsupported directive '.callprototype'");
  expect_refused(".global .texref t;\n", unsupported, 4, "line 4: unsupported type '.texref'");
  expect_refused(".alias a, b;\n", unsupported, 4, "line 4: unsupported directive '.alias'");
  EXPECT_THROW(ptx_module::load(".version 8.4\n.target sm_90\n.address_size 32\n"), load_error);
}

TEST(ModuleErrorTest, ExternalFunctionsNeedAHook) {
  const std::string declared = ".extern .func outside(.param .b32 x);\n";
  EXPECT_NO_THROW(load(declared));
  expect_refused(declared + ".entry k()\n{\n.param .b32 x;\ncall outside, (x);\nret;\n}\n",
                 load_failure::unresolved, 8, "line 8: unresolved external function 'outside'");
  expect_refused(".extern .global .align 4 .u32 counter;\n", load_failure::unresolved, 4,
                 "line 4: unresolved external variable 'counter'");
}

TEST(ModuleErrorTest, WrongTextIsNamed) {
  const auto expect_syntax = [](const std::string& instruction, const std::string& message) {
    expect_refused(kernel_with(instruction), load_failure::syntax, 8, "line 8: " + message);
  };
  expect_syntax("add.u32 %r0, %r1;", "'add.u32': has 2 operands");
  expect_syntax("add.u32 %r0, %r1, %x;", "'add.u32': '%x' is not declared");
  expect_syntax("add.u32 5, %r1, %r2;", "'add.u32': needs a register to write to");
  expect_syntax("add.u32 p, %r1, %r2;", "'add.u32': 'p' is not a register");
  expect_syntax("add.f32 %f0, %f1, 1;",
                "'add.f32': an integer where a floating-point number belongs");
  expect_syntax("bra nowhere;", "'bra': there is no label 'nowhere'");
  expect_syntax("ld.global.u32 %r0, %l0;", "'ld.global.u32': needs an address in brackets");
  expect_syntax(".reg .b32 %r1;", "'%r1' is declared twice");
  expect_syntax("ld.global.v2.u32 {%r0}, [%l0];", "'ld.global.v2.u32': needs a group of 2");
  expect_syntax("add.u32 %r0 %r1;", "expected ';', found '%r1'");
  expect_syntax("add.u32 %r0, %r1, ^;", "unexpected character '^'");
  expect_syntax("mov.f32 %f0, 0f12;", "a floating-point constant needs 8 hexadecimal digits");
}

TEST(ModuleErrorTest, TextCutAnywhereLoadsOrIsRefused) {
  const std::string text = testing::read_kernels("basic.ptx");
  std::size_t refused = 0;
  for (std::size_t size = 0; size < text.size(); size += 41) {
    try {
      ptx_module::load(text.substr(0, size));
    } catch (const load_error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, text.size() / 41 / 2);
}

TEST(ModuleErrorTest, HeaderAndEnds) {
  using enum load_failure;
  EXPECT_THROW(ptx_module::load(""), load_error);
  EXPECT_THROW(ptx_module::load("\x7f"
                                "ELF"),
               load_error);
  expect_refused(".entry k()\n{\nret;\n", syntax, 7, "line 7: a body has no end");
  expect_refused("/* open", syntax, 4, "line 4: a comment has no end");
  expect_refused(".entry k() { ret; }\n.entry k() { ret; }\n", syntax, 5,
                 "line 5: 'k' is defined twice");
  expect_refused(".global .u32 a = {1, 2};\n", syntax, 4, "line 4: too many initial values");
}

}  // namespace
}  // namespace cugraft_sim::ptx
