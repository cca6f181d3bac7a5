// SPDX-License-Identifier: Apache-2.0
// Kernels for tests of launches, graphs and updates. `tools/make_ptx.sh` makes basic.ptx from it.
#include <cstddef>

namespace {

__device__ int global_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

}  // namespace

// A struct with padding, passed by value.
struct padded {
  char c;
  int i;
  double d;
};

extern "C" {

__global__ void no_arguments() {}

__global__ void add_value(float* x, float value, int n) {
  const int i = global_index();
  if (i < n) x[i] += value;
}

__global__ void scale(float* x, float factor, int n) {
  const int i = global_index();
  if (i < n) x[i] *= factor;
}

__global__ void saxpy(float* y, const float* x, float a, std::size_t n) {
  for (std::size_t i = global_index(); i < n; i += std::size_t{gridDim.x} * blockDim.x)
    y[i] = a * x[i] + y[i];
}

__global__ void copy_ints(int* to, const int* from, int n) {
  const int i = global_index();
  if (i < n) to[i] = from[i];
}

__global__ void fill_ints(int* x, int value, int n) {
  const int i = global_index();
  if (i < n) x[i] = value;
}

// One thread's worth of change, for counting how often a node ran.
__global__ void increment(int* p) {
  if (global_index() == 0) *p += 1;
}

__global__ void atomic_increment(int* p) { atomicAdd(p, 1); }

// Appends `value` to a log: slot 0 holds how many values follow it.
__global__ void append(int* log, int value) {
  if (global_index() == 0) log[1 + atomicAdd(log, 1)] = value;
}

// Waits until `*flag` is `until`, for at most `limit` looks; then adds 1 to flag[1].
__global__ void spin(int* flag, int until, int limit) {
  const volatile int* watched = flag;
  for (int look = 0; look < limit && *watched != until; ++look) {
  }
  atomicAdd(flag + 1, 1);
}

// Grid x, y, z, block x, y, z, and the bytes of dynamic shared memory.
__global__ void write_launch(int* out) {
  unsigned dynamic_bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(dynamic_bytes));
  if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z != 0) return;
  out[0] = static_cast<int>(gridDim.x);
  out[1] = static_cast<int>(gridDim.y);
  out[2] = static_cast<int>(gridDim.z);
  out[3] = static_cast<int>(blockDim.x);
  out[4] = static_cast<int>(blockDim.y);
  out[5] = static_cast<int>(blockDim.z);
  out[6] = static_cast<int>(dynamic_bytes);
}

__global__ void struct_argument(padded value, double* out) {
  out[0] = value.c;
  out[1] = value.i;
  out[2] = value.d;
}

// One argument of each size, written out so that a swap or a cut shows.
__global__ void mixed_arguments(char a, short b, int c, long long d, float e, double f,
                                double* out) {
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = static_cast<double>(d);
  out[4] = e;
  out[5] = f;
}

// Sum of each block's part of `x` in out[blockIdx.x]; blocks of up to 256 threads, a power of two.
__global__ void block_sum(const float* x, float* out, int n) {
  __shared__ float part[256];
  const int i = global_index();
  part[threadIdx.x] = i < n ? x[i] : 0.0F;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// Reverses each block's part of `x` through dynamic shared memory of 4 bytes a thread.
__global__ void reverse_blocks(int* x) {
  extern __shared__ int part[];
  const int i = global_index();
  part[threadIdx.x] = x[i];
  __syncthreads();
  x[i] = part[blockDim.x - 1 - threadIdx.x];
}

// Writes to address zero, as a kernel with a bad pointer does.
__global__ void write_null() { *static_cast<volatile int*>(nullptr) = 1; }

}  // extern "C"
