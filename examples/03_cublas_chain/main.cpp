// SPDX-License-Identifier: Apache-2.0
// A chain of matrix products by cuBLAS whose input and output are elsewhere in each step: cuBLAS
// chooses and launches its kernels, and cugraft finds the pointers that changed in what it
// captured, and patches the executable.
//
// Needs a GPU and the CUDA toolkit with cuBLAS:
//
//   nvcc -std=c++20 -Iinclude examples/03_cublas_chain/main.cpp -lcublas
//     -Lbuild/release/lib -lcugraft -Xlinker -rpath=build/release/lib -o cublas_chain

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <array>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cugraft/cugraft.hpp"

namespace {

constexpr int size = 64;  // of all matrices
constexpr std::size_t elements = std::size_t{size} * size;
constexpr std::size_t bytes = elements * sizeof(float);
constexpr int products = 8;

void check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

void check(cublasStatus_t code) {
  if (code != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(code));
}

// Memory of the runtime's, as cuBLAS programs have it.
class matrix {
 public:
  matrix() { check(cudaMalloc(&data_, bytes)); }
  matrix(const matrix&) = delete;
  matrix& operator=(const matrix&) = delete;
  ~matrix() { static_cast<void>(cudaFree(data_)); }

  float* data() const noexcept { return data_; }

 private:
  float* data_ = nullptr;
};

// A handle whose workspace is the program's: with one of its own, cuBLAS may allocate inside a
// capture, and a graph with allocations is not re-captured.
class blas {
 public:
  explicit blas(cudaStream_t stream) {
    check(cublasCreate(&handle_));
    check(cudaMalloc(&workspace_, workspace_bytes));
    check(cublasSetStream(handle_, stream));  // it takes a workspace away, so it comes first
    check(cublasSetWorkspace(handle_, workspace_, workspace_bytes));
  }
  blas(const blas&) = delete;
  blas& operator=(const blas&) = delete;
  ~blas() {
    static_cast<void>(cublasDestroy(handle_));
    static_cast<void>(cudaFree(workspace_));
  }

  // c = a * b, column by column
  void multiply(const float* a, const float* b, float* c) const {
    const float one = 1;
    const float zero = 0;
    check(cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, a, size, b, size,
                      &zero, c, size));
  }

 private:
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

  cublasHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;
};

// A matrix whose products shift columns, so that the results are exact: element (row, column) is 1
// where row is the column before.
std::vector<float> shift() {
  std::vector<float> values(elements);
  for (int column = 0; column < size; ++column)
    values[static_cast<std::size_t>(column * size + (column + size - 1) % size)] = 1;
  return values;
}

std::vector<float> numbered(float first) {
  std::vector<float> values(elements);
  for (std::size_t i = 0; i < elements; ++i) values[i] = first + static_cast<float>(i % 512);
  return values;
}

// Each product moves every column up by one row.
bool is_shifted(const std::vector<float>& result, const std::vector<float>& input) {
  for (int column = 0; column < size; ++column)
    for (int row = 0; row < size; ++row)
      if (result[static_cast<std::size_t>(column * size + row)] !=
          input[static_cast<std::size_t>(column * size + (row + products) % size)])
        return false;
  return true;
}

int run() {
  using namespace cugraft;
  // The primary context is the one that the runtime and cuBLAS use.
  const stream s(context::primary(driver::load()));
  const blas library(s.get());
  matrix factor;
  std::array<matrix, 2> inputs, between, outputs;
  const std::vector<float> shifting = shift();
  copy_async(s, factor.data(), shifting.data(), bytes);

  float* input = nullptr;
  float* output = nullptr;
  const auto chain = [&] {
    const float* from = input;
    for (int i = 0; i < products; ++i) {
      float* const to = i + 1 < products ? between[static_cast<std::size_t>(i % 2)].data() : output;
      library.multiply(factor.data(), from, to);
      from = to;
    }
  };
  const auto step = [&](graph_builder&) { chain(); };  // the handle has the stream

  input = inputs[0].data();
  output = outputs[0].data();
  chain();  // once outside: cuBLAS loads its kernels at their first use
  s.synchronize();
  graph g = capture(s, step);
  graph_exec e = g.instantiate();
  for (int i = 0; i < 6; ++i) {
    input = inputs[static_cast<std::size_t>(i % 2)].data();
    output = outputs[static_cast<std::size_t>(i / 2 % 2)].data();
    const std::vector<float> values = numbered(static_cast<float>(i));
    std::vector<float> result(elements);
    copy_async(s, input, values.data(), bytes);
    std::cout << "step " << i << ": " << to_text(g.recapture(s, step));
    e.update();
    e.launch(s);
    copy_async(s, result.data(), output, bytes);
    s.synchronize();
    if (!is_shifted(result, values)) {
      std::cerr << "wrong result in step " << i << '\n';
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
