// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sim/driver_under_test.hpp"
#include "sim/ptx/instruction_runner.hpp"

// The interpreter against a GPU, bit by bit: for machines that have one (CUGRAFT_DRIVER=system).
namespace cugraft_sim {
namespace {

using ptx::testing::combine;
using ptx::testing::double_corners;
using ptx::testing::evaluate;
using ptx::testing::float_corners;
using ptx::testing::instruction_form;
using ptx::testing::integer_corners;
using ptx::testing::operand_row;
using ptx::testing::text_of;

class GpuAgreementTest : public Rules {
 protected:
  void SetUp() override {
    Rules::SetUp();
    if (driver().is_simulator()) GTEST_SKIP() << "needs a GPU: CUGRAFT_DRIVER=system";
  }

  /// What the device makes of the rows.
  std::vector<std::uint64_t> evaluate_on_device(const instruction_form& form,
                                                const std::vector<operand_row>& rows) {
    auto* in = make_host_memory<operand_row>(rows.size());
    auto* out = make_host_memory<std::uint64_t>(rows.size());
    std::memcpy(in, rows.data(), rows.size() * sizeof(operand_row));
    std::memset(out, 0, rows.size() * sizeof(std::uint64_t));
    CUlibrary library = load(text_of(form).c_str());
    launch(find(library, "test"), static_cast<unsigned>(rows.size()), in, out);
    EXPECT_EQ(cu().library_unload(library), CUDA_SUCCESS);
    std::vector<std::uint64_t> results(out, out + rows.size());
    EXPECT_EQ(cu().mem_free_host(in), CUDA_SUCCESS);
    EXPECT_EQ(cu().mem_free_host(out), CUDA_SUCCESS);
    return results;
  }

  void expect_agreement(const instruction_form& form, const std::vector<operand_row>& rows) {
    const std::vector<std::uint64_t> here = evaluate(form, rows);
    const std::vector<std::uint64_t> there = evaluate_on_device(form, rows);
    std::size_t differing = 0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (here[k] == there[k] || ++differing > 3) continue;
      ADD_FAILURE() << form.text << std::hex << " of " << rows[k][0] << ", " << rows[k][1] << ", "
                    << rows[k][2] << ": interpreter " << here[k] << ", device " << there[k];
    }
    EXPECT_EQ(differing, 0U) << form.text << " of " << rows.size();
  }

  /// "add.f32" with `operands` operands of `bits`; converts and comparisons say what they write.
  void expect_opcode(const std::string& opcode, unsigned operands, unsigned bits,
                     const std::vector<std::uint64_t>& values, unsigned result_bits) {
    const std::string all = ", %a, %b, %c";
    expect_agreement({opcode + " %d" + all.substr(0, std::size_t{4} * operands) + ";",
                      result_bits,
                      {bits, bits, bits, bits}},
                     combine(values, operands));
  }

  void expect_comparison(const std::string& opcode, unsigned bits,
                         const std::vector<std::uint64_t>& values) {
    expect_agreement({opcode + " %p, %a, %b;\nselp.u32 %d, 1, 0, %p;", 32, {bits, bits, 32, 32}},
                     combine(values, 2));
  }

 private:
  void launch(CUfunction kernel, unsigned threads, void* in, void* out) {
    CUstream stream = make_stream();
    CUlaunchConfig config = one_block(stream, 1);
    config.gridDimX = threads;
    void* arguments[] = {&in, &out};
    EXPECT_EQ(cu().launch_kernel_ex(&config, kernel, arguments, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_synchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_destroy(stream), CUDA_SUCCESS);
  }
};

TEST_F(GpuAgreementTest, Integers) {
  for (const unsigned bits : {16U, 32U, 64U}) {
    for (const std::string sign : {".u", ".s"}) {
      const std::string type = sign + std::to_string(bits);
      for (const char* name : {"add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"})
        expect_opcode(name + type, 2, bits, integer_corners(), bits);
      expect_opcode("mad.lo" + type, 3, bits, integer_corners(), bits);
      if (bits != 64) expect_opcode("mul.wide" + type, 2, bits, integer_corners(), 2 * bits);
    }
  }
  for (const char* name : {"add.sat.s32", "sub.sat.s32", "mul24.lo.u32", "mul24.hi.s32"})
    expect_opcode(name, 2, 32, integer_corners(), 32);
  for (const char* name : {"sad.s32", "dp4a.s32.u32"})
    expect_opcode(name, 3, 32, integer_corners(), 32);
}

TEST_F(GpuAgreementTest, Bits) {
  for (const char* name : {"bfe.u32", "bfe.s32", "prmt.b32", "shf.l.wrap.b32", "shf.r.clamp.b32"})
    expect_opcode(name, 3, 32, integer_corners(), 32);
  for (const char* name : {"popc.b32", "clz.b32", "brev.b32", "bfind.s32", "bfind.shiftamt.u32"})
    expect_opcode(name, 1, 32, integer_corners(), 32);
  for (const char* name : {"shl.b32", "shr.u32", "shr.s32"})
    expect_opcode(name, 2, 32, integer_corners(), 32);
  expect_agreement({"bfi.b32 %d, %a, %b, %c, %e;"}, combine({0, 3, 31, 32, 200, 0xABCD1234}, 4));
}

TEST_F(GpuAgreementTest, SingleArithmetic) {
  for (const std::string name : {"add", "sub", "mul"})
    for (const char* how : {".f32", ".rn.f32", ".rz.f32", ".rm.f32", ".rp.f32", ".ftz.f32",
                            ".sat.f32", ".ftz.sat.f32"})
      expect_opcode(name + how, 2, 32, float_corners(), 32);
  for (const char* how :
       {"fma.rn.f32", "fma.rz.f32", "fma.rm.f32", "fma.rp.f32", "fma.rn.ftz.f32", "fma.rn.sat.f32"})
    expect_opcode(how, 3, 32, float_corners(), 32);
  for (const char* how : {"div.rn.f32", "div.rz.f32", "div.rp.f32", "div.rn.ftz.f32", "min.f32",
                          "max.f32", "min.NaN.f32", "max.ftz.f32", "copysign.f32"})
    expect_opcode(how, 2, 32, float_corners(), 32);
  for (const char* how : {"sqrt.rn.f32", "sqrt.rm.f32", "sqrt.rn.ftz.f32", "rcp.rn.f32",
                          "rcp.rp.f32", "abs.f32", "neg.f32", "abs.ftz.f32", "neg.ftz.f32"})
    expect_opcode(how, 1, 32, float_corners(), 32);
}

TEST_F(GpuAgreementTest, DoubleArithmetic) {
  for (const std::string name : {"add", "sub", "mul", "div"})
    for (const char* how : {".rn.f64", ".rz.f64", ".rm.f64", ".rp.f64"})
      expect_opcode(name + how, 2, 64, double_corners(), 64);
  expect_opcode("fma.rn.f64", 3, 64, double_corners(), 64);
  for (const char* how : {"min.f64", "max.f64"}) expect_opcode(how, 2, 64, double_corners(), 64);
  for (const char* how : {"sqrt.rn.f64", "rcp.rn.f64", "abs.f64", "neg.f64"})
    expect_opcode(how, 1, 64, double_corners(), 64);
}

TEST_F(GpuAgreementTest, Comparisons) {
  for (const std::string how : {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu",
                                "gtu", "geu", "num", "nan"}) {
    expect_comparison("setp." + how + ".f32", 32, float_corners());
    expect_comparison("setp." + how + ".ftz.f32", 32, float_corners());
    expect_comparison("setp." + how + ".f64", 64, double_corners());
  }
  for (const std::string how : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    expect_comparison("setp." + how + ".s32", 32, integer_corners());
    expect_comparison("setp." + how + ".u64", 64, integer_corners());
  }
}

TEST_F(GpuAgreementTest, ConversionsFromIntegers) {
  for (const unsigned bits : {16U, 32U, 64U}) {
    for (const std::string sign : {".u", ".s"}) {
      const std::string from = sign + std::to_string(bits);
      for (const char* how : {"cvt.rn.f32", "cvt.rz.f32", "cvt.rm.f32", "cvt.rp.f32"})
        expect_opcode(how + from, 1, bits, integer_corners(), 32);
      for (const char* how : {"cvt.rn.f64", "cvt.rp.f64"})
        expect_opcode(how + from, 1, bits, integer_corners(), 64);
      for (const char* how : {"cvt.s32", "cvt.sat.u8", "cvt.sat.s8", "cvt.s8", "cvt.u8"})
        expect_opcode(how + from, 1, bits, integer_corners(), 32);
      expect_opcode("cvt.u64" + from, 1, bits, integer_corners(), 64);
      expect_opcode("cvt.rn.f16" + from, 1, bits, integer_corners(), 16);
    }
  }
}

TEST_F(GpuAgreementTest, ConversionsFromRealNumbers) {
  for (const std::string how : {"cvt.rni", "cvt.rzi", "cvt.rmi", "cvt.rpi"}) {
    for (const unsigned bits : {16U, 32U, 64U}) {
      for (const std::string sign : {".u", ".s"}) {
        const std::string to = sign + std::to_string(bits);
        expect_opcode(how + to + ".f32", 1, 32, float_corners(), bits);
        expect_opcode(how + to + ".f64", 1, 64, double_corners(), bits);
      }
    }
    expect_opcode(how + ".f32.f32", 1, 32, float_corners(), 32);
    expect_opcode(how + ".f64.f64", 1, 64, double_corners(), 64);
    expect_opcode(how + ".ftz.s32.f32", 1, 32, float_corners(), 32);
  }
  for (const char* how :
       {"cvt.rn.f32.f64", "cvt.rz.f32.f64", "cvt.rm.f32.f64", "cvt.rn.ftz.f32.f64"})
    expect_opcode(how, 1, 64, double_corners(), 32);
  for (const char* how : {"cvt.rn.f16.f64", "cvt.rz.f16.f64"})
    expect_opcode(how, 1, 64, double_corners(), 16);
  for (const char* how : {"cvt.rn.f16.f32", "cvt.rz.f16.f32"})
    expect_opcode(how, 1, 32, float_corners(), 16);
  expect_opcode("cvt.f64.f32", 1, 32, float_corners(), 64);
  expect_opcode("cvt.sat.f32.f32", 1, 32, float_corners(), 32);
}

TEST_F(GpuAgreementTest, ConversionsOfNan) {
  const std::vector<std::uint64_t> doubles{0x7FF8000000000000, 0xFFF8000000000000,
                                           0xFFF8123456789ABC, 0x7FF4000000000001};
  for (const char* how : {"cvt.rn.f32.f64", "cvt.rzi.s32.f64", "cvt.rzi.u32.f64"})
    expect_opcode(how, 1, 64, doubles, 32);
  for (const char* how : {"cvt.rn.f16.f64", "cvt.rzi.u16.f64"})
    expect_opcode(how, 1, 64, doubles, 16);
  for (const char* how : {"neg.f64", "abs.f64", "sqrt.rn.f64", "cvt.rni.f64.f64"})
    expect_opcode(how, 1, 64, doubles, 64);
  const std::vector<std::uint64_t> singles{0x7FC00000, 0xFFC12345, 0x7F800001};
  for (const char* how : {"cvt.f64.f32", "cvt.rzi.s64.f32", "cvt.rzi.u64.f32"})
    expect_opcode(how, 1, 32, singles, 64);
  for (const char* how : {"cvt.rn.f16.f32", "cvt.rzi.u16.f32"})
    expect_opcode(how, 1, 32, singles, 16);
  for (const char* how : {"cvt.rni.f32.f32", "cvt.rzi.s8.f32", "neg.f32", "abs.f32"})
    expect_opcode(how, 1, 32, singles, 32);
  expect_opcode("cvt.rzi.s8.f64", 1, 64, doubles, 32);
  expect_opcode("add.f64", 2, 64, doubles, 64);
}

TEST_F(GpuAgreementTest, ConversionsFromHalves) {
  std::vector<std::uint64_t> halves;
  for (std::uint64_t bits = 0; bits < 0x10000; bits += 7) halves.push_back(bits);
  expect_opcode("cvt.f32.f16", 1, 16, halves, 32);
  expect_opcode("cvt.rzi.s32.f16", 1, 16, halves, 32);
  expect_opcode("cvt.rni.u64.f16", 1, 16, halves, 64);
  expect_opcode("cvt.f64.f16", 1, 16, halves, 64);
}

TEST_F(GpuAgreementTest, AtomicSumsOfSubnormalNumbers) {
  for (const std::string where : {"global", "shared"}) {
    const std::string text =
        ".shared .align 4 .b8 tile[4];\n.reg .b64 %at;\n" +
        std::string(where == "shared" ? "mov.u64 %at, tile;\n" : "mov.u64 %at, %out;\n") + "st." +
        where + ".b32 [%at], %a;\natom." + where + ".add.f32 %d, [%at], %b;\nld." + where +
        ".b32 %d, [%at];";
    expect_agreement({text}, combine(float_corners(), 2));
  }
}

}  // namespace
}  // namespace cugraft_sim
