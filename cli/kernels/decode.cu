// SPDX-License-Identifier: Apache-2.0
// The kernels of `cugraft demo`: one token through a small transformer. `tools/make_ptx.sh` makes
// decode.ptx from it.
//
// Sums run in one fixed order, and only operations whose rounding IEEE 754 fixes are used: fused
// where fmaf says so, and never elsewhere (the _rn forms keep ptxas from fusing). So every driver
// gives the same bits.

namespace {

// Relative error below 1e-6 for |x| <= 80; cut there. The polynomial is that of Cephes' expf.
__device__ float exponential(float x) {
  const float cut = fminf(fmaxf(x, -80.0F), 80.0F);
  const float n = rintf(__fmul_rn(cut, 1.44269504F));
  float r = fmaf(n, -0.693359375F, cut);
  r = fmaf(n, 2.12194440e-4F, r);
  float p = 1.98756915e-4F;
  p = fmaf(p, r, 1.39819995e-3F);
  p = fmaf(p, r, 8.33345205e-3F);
  p = fmaf(p, r, 4.16657962e-2F);
  p = fmaf(p, r, 1.66666657e-1F);
  p = fmaf(p, r, 0.5F);
  const float power = __int_as_float((static_cast<int>(n) + 127) << 23);
  return __fmul_rn(__fadd_rn(fmaf(__fmul_rn(r, r), p, r), 1.0F), power);
}

__device__ float dot(const float* a, const float* b, int n) {
  float sum = 0.0F;
  for (int i = 0; i < n; ++i) sum = fmaf(a[i], b[i], sum);
  return sum;
}

__device__ int global_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

}  // namespace

extern "C" {

// One block of `width` threads, a power of two up to 256.
__global__ void rms_norm(float* out, const float* x, const float* weight, int width) {
  __shared__ float part[256];
  const int i = static_cast<int>(threadIdx.x);
  part[i] = __fmul_rn(x[i], x[i]);
  __syncthreads();
  for (int half = width / 2; half > 0; half /= 2) {
    if (i < half) part[i] = __fadd_rn(part[i], part[i + half]);
    __syncthreads();
  }
  const float mean = __fdiv_rn(part[0], static_cast<float>(width));
  const float scaled = __fdiv_rn(x[i], __fsqrt_rn(__fadd_rn(mean, 1e-5F)));
  out[i] = __fmul_rn(scaled, weight[i]);
}

__global__ void project(float* out, const float* matrix, const float* x, int rows, int columns) {
  const int row = global_index();
  if (row < rows) out[row] = dot(matrix + row * columns, x, columns);
}

__global__ void project_and_add(float* out, const float* matrix, const float* x,
                                const float* residual, int rows, int columns) {
  const int row = global_index();
  if (row < rows) out[row] = __fadd_rn(residual[row], dot(matrix + row * columns, x, columns));
}

// Puts key and value of the token into row `position` of the caches.
__global__ void append_to_cache(float* keys, float* values, const float* key, const float* value,
                                int width, int position) {
  const int i = global_index();
  if (i >= width) return;
  keys[position * width + i] = key[i];
  values[position * width + i] = value[i];
}

// A block for each cached position, a thread for each head; `capacity` scores are kept a head.
__global__ void attention_scores(float* scores, const float* query, const float* keys,
                                 int head_width, int capacity) {
  const int head = static_cast<int>(threadIdx.x);
  const int position = static_cast<int>(blockIdx.x);
  const int width = static_cast<int>(blockDim.x) * head_width;
  const float product =
      dot(query + head * head_width, keys + position * width + head * head_width, head_width);
  scores[head * capacity + position] =
      __fdiv_rn(product, __fsqrt_rn(static_cast<float>(head_width)));
}

// A block for each head, a thread for each of its columns. Adds to `mixed`, which has to be zero.
__global__ void attention_mix(float* mixed, const float* scores, const float* values,
                              int head_width, int capacity, int position) {
  const float* score = scores + blockIdx.x * capacity;
  float greatest = score[0];
  for (int p = 1; p <= position; ++p) greatest = fmaxf(greatest, score[p]);

  const int column = static_cast<int>(blockIdx.x) * head_width + static_cast<int>(threadIdx.x);
  const int width = static_cast<int>(gridDim.x) * head_width;
  float weights = 0.0F;
  float sum = 0.0F;
  for (int p = 0; p <= position; ++p) {
    const float weight = exponential(__fadd_rn(score[p], -greatest));
    weights = __fadd_rn(weights, weight);
    sum = fmaf(weight, values[p * width + column], sum);
  }
  mixed[column] = __fadd_rn(mixed[column], __fdiv_rn(sum, weights));
}

// silu(gate x) * (up x)
__global__ void gated_project(float* out, const float* gate, const float* up, const float* x,
                              int rows, int columns) {
  const int row = global_index();
  if (row >= rows) return;
  const float opening = dot(gate + row * columns, x, columns);
  const float silu = __fdiv_rn(opening, __fadd_rn(1.0F, exponential(-opening)));
  out[row] = __fmul_rn(silu, dot(up + row * columns, x, columns));
}

// softmax(logits / temperature); one block of `count` threads.
__global__ void probabilities(float* out, const float* logits, int count, float temperature) {
  float greatest = logits[0];
  for (int i = 1; i < count; ++i) greatest = fmaxf(greatest, logits[i]);
  float sum = 0.0F;
  float own = 0.0F;
  for (int i = 0; i < count; ++i) {
    const float weight = exponential(__fdiv_rn(__fadd_rn(logits[i], -greatest), temperature));
    sum = __fadd_rn(sum, weight);
    if (i == static_cast<int>(threadIdx.x)) own = weight;
  }
  out[threadIdx.x] = __fdiv_rn(own, sum);
}

}  // extern "C"
