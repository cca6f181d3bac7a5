// SPDX-License-Identifier: Apache-2.0
#include "demo_shape.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

namespace cugraft::cli {
namespace {

/// Hands out one range after the other.
class cutter {
 public:
  std::size_t take(std::size_t count) noexcept { return std::exchange(next_, next_ + count); }
  std::size_t taken() const noexcept { return next_; }

 private:
  std::size_t next_ = 0;
};

/// Random floats in [-1, 1), the same everywhere (xorshift, Marsaglia 2003).
class generator {
 public:
  float next() noexcept {
    bits_ ^= bits_ << 13;
    bits_ ^= bits_ >> 17;
    bits_ ^= bits_ << 5;
    const auto centred = static_cast<std::int32_t>(bits_ >> 8) - (1 << 23);
    return static_cast<float>(centred) / (1 << 23);
  }

 private:
  std::uint32_t bits_ = 2463534242;
};

class filler {
 public:
  explicit filler(std::vector<float>& all) noexcept : all_(all) {}

  /// Rows of length about one keep the activations in range through any number of layers.
  void matrix(std::size_t at, std::size_t rows, std::size_t columns) {
    const float scale = 1 / std::sqrt(static_cast<float>(columns));
    for (std::size_t i = 0; i < rows * columns; ++i) all_[at + i] = scale * random_.next();
  }

  void norm(std::size_t at, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) all_[at + i] = 1 + random_.next() / 8;
  }

 private:
  std::vector<float>& all_;
  generator random_;
};

}  // namespace

weight_layout::weight_layout(const model_shape& shape) {
  cutter all;
  const std::size_t square = shape.width * shape.width;
  const std::size_t oblong = shape.width * shape.hidden;
  embedding = all.take(shape.vocabulary * shape.width);
  for (std::size_t i = 0; i < shape.layers; ++i)
    layers.push_back({.attention_norm = all.take(shape.width),
                      .query = all.take(square),
                      .key = all.take(square),
                      .value = all.take(square),
                      .output = all.take(square),
                      .mlp_norm = all.take(shape.width),
                      .gate = all.take(oblong),
                      .up = all.take(oblong),
                      .down = all.take(oblong)});
  final_norm = all.take(shape.width);
  unembedding = all.take(shape.vocabulary * shape.width);
  total = all.taken();
}

state_layout::state_layout(const model_shape& shape) {
  cutter all;
  for (std::size_t* row : {&x, &residual, &normed, &query, &key, &value, &mixed})
    *row = all.take(shape.width);
  scores = all.take(shape.heads * shape.positions);
  hidden = all.take(shape.hidden);
  logits = all.take(shape.vocabulary);
  probabilities = all.take(shape.positions * shape.vocabulary);
  keys = all.take(shape.layers * shape.positions * shape.width);
  values = all.take(shape.layers * shape.positions * shape.width);
  total = all.taken();
}

std::vector<float> make_weights(const model_shape& shape) {
  const weight_layout layout(shape);
  std::vector<float> all(layout.total);
  filler fill(all);
  fill.matrix(layout.embedding, shape.vocabulary, shape.width);
  for (const layer_weights& layer : layout.layers) {
    fill.norm(layer.attention_norm, shape.width);
    for (const std::size_t square : {layer.query, layer.key, layer.value, layer.output})
      fill.matrix(square, shape.width, shape.width);
    fill.norm(layer.mlp_norm, shape.width);
    fill.matrix(layer.gate, shape.hidden, shape.width);
    fill.matrix(layer.up, shape.hidden, shape.width);
    fill.matrix(layer.down, shape.width, shape.hidden);
  }
  fill.norm(layout.final_norm, shape.width);
  fill.matrix(layout.unembedding, shape.vocabulary, shape.width);
  return all;
}

}  // namespace cugraft::cli
