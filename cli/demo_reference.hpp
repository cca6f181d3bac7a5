// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "demo_shape.hpp"

namespace cugraft::cli {

/// The same transformer once more, on the host and in double precision, written without a look at
/// the kernels: three ways that agree could agree on nonsense.
class reference_decoder {
 public:
  reference_decoder(const model_shape& shape, std::span<const float> weights);

  /// Probabilities of the next token after `step`; steps come in order.
  std::vector<double> run(const decode_step& step);

 private:
  using row = std::vector<double>;

  row norm(const row& x, std::size_t weight) const;
  row project(std::size_t matrix, const row& x, std::size_t rows) const;
  row attend(const row& query, const std::vector<row>& keys, const std::vector<row>& values) const;
  row think(const row& x, const layer_weights& layer) const;
  row run_layer(row x, std::size_t index);

  model_shape shape_;
  weight_layout layout_;
  std::span<const float> weights_;
  std::vector<std::vector<row>> keys_;  ///< for each layer, then each position
  std::vector<std::vector<row>> values_;
};

}  // namespace cugraft::cli
