// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace cugraft::cli {

/// Extents of the demo's transformer. Small, so that an interpreter runs it within seconds.
struct model_shape {
  std::size_t layers = 3;
  std::size_t positions = 8;  ///< tokens at most, one a step
  std::size_t width = 32;     ///< a power of two up to 256, as the kernel rms_norm needs
  std::size_t heads = 4;      ///< divides `width`
  std::size_t hidden = 64;
  std::size_t vocabulary = 64;

  std::size_t head_width() const noexcept { return width / heads; }
};

/// Where the matrices and vectors of one layer begin, in floats; matrices are stored row by row.
struct layer_weights {
  std::size_t attention_norm, query, key, value, output, mlp_norm, gate, up, down;
};

/// Where each tensor begins in the one block that holds all weights.
struct weight_layout {
  explicit weight_layout(const model_shape& shape);

  std::size_t embedding = 0;  ///< a row for each token
  std::vector<layer_weights> layers{};
  std::size_t final_norm = 0, unembedding = 0;
  std::size_t total = 0;
};

/// Where each buffer of one run begins in the one block that holds its state.
struct state_layout {
  explicit state_layout(const model_shape& shape);

  std::size_t x = 0, residual = 0, normed = 0, query = 0, key = 0, value = 0;
  std::size_t scores = 0, mixed = 0, hidden = 0, logits = 0;
  std::size_t probabilities = 0;     ///< a row for each position
  std::size_t keys = 0, values = 0;  ///< caches: for each layer a row for each position
  std::size_t total = 0;
};

/// Weights that are the same on every machine: multiples of 2^-23 from a generator of integers.
std::vector<float> make_weights(const model_shape& shape);

/// What differs from step to step.
struct decode_step {
  std::size_t position = 0;
  std::size_t token = 0;
  float temperature = 1;
};

}  // namespace cugraft::cli
