// SPDX-License-Identifier: Apache-2.0
// The kernel of the benchmarks: four arguments and next to no work, so that what is measured is the
// graph and not the device. `tools/make_ptx.sh bench/kernels/chain.cu` makes chain.ptx from it.
extern "C" __global__ void chain(float* x, int index, float value, int count) {
  if (threadIdx.x == 0 && index < count) x[index] = value;
}
