// SPDX-License-Identifier: Apache-2.0
// Launches of the CUDA runtime, `kernel<<<...>>>` and `cudaMemsetAsync`, inside a re-capture: they
// know nothing of cugraft, which reads back what they put into the capture, says what changed, and
// patches the executable.
//
// Needs a GPU and the CUDA toolkit:
//
//   nvcc -std=c++20 -arch=native -Iinclude examples/02_runtime_launches/main.cu
//     -Lbuild/release/lib -lcugraft -Xlinker -rpath=build/release/lib -o runtime_launches

#include <cuda_runtime.h>

#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "cugraft/cugraft.hpp"

namespace {

__global__ void add(float* x, float value, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] += value;
}

template <class T>
__global__ void scale(T* x, T factor, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] *= factor;
}

void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

int run() {
  using namespace cugraft;
  constexpr unsigned count = 1000;
  constexpr unsigned threads = 128;
  // The primary context is the one that the runtime uses.
  const context device = context::primary(driver::load());
  const stream s(device);
  const device_buffer x(device, count * sizeof(float));
  const device_buffer y(device, count * sizeof(float));

  float value = 1;
  unsigned blocks = 8;
  float* target = x.as<float>();
  const auto step = [&](graph_builder& gb) {
    const cudaStream_t stream = gb.stream().get();
    check(cudaMemsetAsync(target, 0, count * sizeof(float), stream));
    add<<<blocks, threads, 0, stream>>>(target, value, count);
    scale<<<blocks, threads, 0, stream>>>(target, 2.0F, count);
    check(cudaGetLastError());
  };

  graph g = capture(s, step);
  graph_exec e = g.instantiate();
  std::vector<float> result(count);
  for (int i = 0; i < 6; ++i) {
    value = static_cast<float>(i);
    blocks = i < 2 ? 8 : 16;
    target = (i < 4 ? x : y).as<float>();
    std::cout << "step " << i << ": " << to_text(g.recapture(s, step));
    e.update();
    e.launch(s);
    copy_async(s, result.data(), target, count * sizeof(float));
    s.synchronize();
    for (const float each : result) {
      if (each == 2 * value) continue;
      std::cerr << "wrong result: " << each << " instead of " << 2 * value << '\n';
      return 1;
    }
  }
  return 0;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
