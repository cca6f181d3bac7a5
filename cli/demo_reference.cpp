// SPDX-License-Identifier: Apache-2.0
#include "demo_reference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cugraft::cli {
namespace {

using row = std::vector<double>;

row softmax(row x) {
  const double greatest = *std::max_element(x.begin(), x.end());
  for (double& value : x) value = std::exp(value - greatest);
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  for (double& value : x) value /= sum;
  return x;
}

row add(row a, const row& b) {
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::plus<>());
  return a;
}

}  // namespace

reference_decoder::reference_decoder(const model_shape& shape, std::span<const float> weights)
    : shape_(shape),
      layout_(shape),
      weights_(weights),
      keys_(shape.layers),
      values_(shape.layers) {}

std::vector<double> reference_decoder::run(const decode_step& step) {
  const auto token = weights_.subspan(layout_.embedding + step.token * shape_.width, shape_.width);
  row x(token.begin(), token.end());
  for (std::size_t i = 0; i < shape_.layers; ++i) x = run_layer(std::move(x), i);
  row logits = project(layout_.unembedding, norm(x, layout_.final_norm), shape_.vocabulary);
  for (double& logit : logits) logit /= static_cast<double>(step.temperature);
  return softmax(std::move(logits));
}

row reference_decoder::run_layer(row x, std::size_t index) {
  const layer_weights& layer = layout_.layers[index];
  const row normed = norm(x, layer.attention_norm);
  keys_[index].push_back(project(layer.key, normed, shape_.width));
  values_[index].push_back(project(layer.value, normed, shape_.width));
  const row query = project(layer.query, normed, shape_.width);
  const row mixed = attend(query, keys_[index], values_[index]);
  x = add(std::move(x), project(layer.output, mixed, shape_.width));
  const row thought = think(x, layer);
  return add(std::move(x), thought);
}

row reference_decoder::norm(const row& x, std::size_t weight) const {
  const double squares = std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
  const double root = std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
  row result(x);
  for (std::size_t i = 0; i < x.size(); ++i)
    result[i] *= static_cast<double>(weights_[weight + i]) / root;
  return result;
}

row reference_decoder::project(std::size_t matrix, const row& x, std::size_t rows) const {
  row result(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto line = weights_.subspan(matrix + i * x.size(), x.size());
    result[i] = std::inner_product(x.begin(), x.end(), line.begin(), 0.0);
  }
  return result;
}

row reference_decoder::attend(const row& query, const std::vector<row>& keys,
                              const std::vector<row>& values) const {
  row mixed(shape_.width);
  for (std::size_t first = 0; first < shape_.width; first += shape_.head_width()) {
    row scores;
    for (const row& key : keys) {
      double product = 0;
      for (std::size_t i = first; i < first + shape_.head_width(); ++i)
        product += query[i] * key[i];
      scores.push_back(product / std::sqrt(static_cast<double>(shape_.head_width())));
    }
    const row shares = softmax(std::move(scores));
    for (std::size_t p = 0; p < values.size(); ++p)
      for (std::size_t i = first; i < first + shape_.head_width(); ++i)
        mixed[i] += shares[p] * values[p][i];
  }
  return mixed;
}

row reference_decoder::think(const row& x, const layer_weights& layer) const {
  const row normed = norm(x, layer.mlp_norm);
  row hidden = project(layer.gate, normed, shape_.hidden);
  const row up = project(layer.up, normed, shape_.hidden);
  for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] *= up[i] / (1 + std::exp(-hidden[i]));
  return project(layer.down, hidden, shape_.width);
}

}  // namespace cugraft::cli
