// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cugraft_sim {

/// Kernels of the rule tests:
///   write_index(unsigned* out)            out[i] = i
///   add(unsigned* out, unsigned value)    out[i] += value, also where several run at once
///   mixed(char, double, short, unsigned*) *pointer = sum of the others
///   nothing()
/// where i is the thread of the whole grid.
inline constexpr const char* rules_ptx = R"(
.version 7.8
.target sm_75
.address_size 64

.visible .entry write_index(.param .u64 out)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r4;
  ret;
}

.visible .entry add(.param .u64 out, .param .u32 value)
{
  .reg .b32 %r<6>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  red.global.add.u32 [%rd4], %r1;
  ret;
}

.visible .entry mixed(.param .u8 a, .param .f64 b, .param .u16 c, .param .u64 out)
{
  .reg .b16 %rs<3>;
  .reg .b32 %r<6>;
  .reg .f64 %fd<2>;
  .reg .b64 %rd<3>;
  ld.param.u8 %rs1, [a];
  ld.param.f64 %fd1, [b];
  ld.param.u16 %rs2, [c];
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  cvt.u32.u16 %r1, %rs1;
  cvt.u32.u16 %r2, %rs2;
  cvt.rzi.u32.f64 %r3, %fd1;
  add.s32 %r4, %r1, %r2;
  add.s32 %r5, %r4, %r3;
  st.global.u32 [%rd2], %r5;
  ret;
}

.visible .entry nothing()
{
  ret;
}
)";

}  // namespace cugraft_sim
