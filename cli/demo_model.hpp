// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "cugraft/cugraft.hpp"
#include "demo_shape.hpp"

namespace cugraft::cli {

/// Everything that one run of the decode loop writes, in one block of device memory.
class decode_state {
 public:
  /// All zero, so that two runs can be compared to the last element.
  decode_state(stream_ref stream, const model_shape& shape);

  const state_layout& layout() const noexcept { return layout_; }
  float* at(std::size_t offset) const noexcept { return memory_.as<float>() + offset; }

  /// A copy of all of it, made on `stream`, which is waited for.
  std::span<const float> read(stream_ref stream);

 private:
  state_layout layout_;
  device_buffer memory_;
  host_buffer copy_;
};

/// The decode loop's body: one token through a small transformer.
///
/// The body forks work to a second stream and joins it by events, and names its nodes where it
/// runs in a session. Per step these differ: the source of the first copy (the token's row), the
/// position, one grid, the row of the result, and the temperature.
class decoder {
 public:
  /// Loads the kernels and puts the weights into device memory.
  decoder(stream_ref stream, const model_shape& shape, std::span<const float> weights);

  /// Enqueues the step on `main`. `session` is the builder that names nodes; null outside a
  /// session.
  void enqueue(stream_ref main, const decode_step& step, const decode_state& state,
               graph_builder* session) const;

 private:
  using norm_kernel = typed_kernel<void(float*, const float*, const float*, int)>;
  using project_kernel = typed_kernel<void(float*, const float*, const float*, int, int)>;
  using project_and_add_kernel =
      typed_kernel<void(float*, const float*, const float*, const float*, int, int)>;
  using append_kernel = typed_kernel<void(float*, float*, const float*, const float*, int, int)>;
  using scores_kernel = typed_kernel<void(float*, const float*, const float*, int, int)>;
  using mix_kernel = typed_kernel<void(float*, const float*, const float*, int, int, int)>;
  using gated_kernel =
      typed_kernel<void(float*, const float*, const float*, const float*, int, int)>;
  using probabilities_kernel = typed_kernel<void(float*, const float*, int, float)>;

  /// What the parts of one call of the body need.
  struct step_call;

  const float* weight(std::size_t offset) const noexcept { return weights_.as<float>() + offset; }
  void fork(const step_call& call) const;
  void join(const step_call& call) const;
  void attend(const step_call& call, std::size_t layer) const;
  void attend_to_cache(const step_call& call, std::size_t layer) const;
  void think(const step_call& call, std::size_t layer) const;
  void finish(const step_call& call) const;

  void norm(stream_ref stream, float* out, const float* x, std::size_t weight_offset) const;
  void project(stream_ref stream, float* out, std::size_t matrix, const float* x, std::size_t rows,
               std::size_t columns) const;
  void project_and_add(stream_ref stream, float* out, std::size_t matrix, const float* x,
                       const float* residual, std::size_t columns) const;

  model_shape shape_;
  weight_layout layout_;
  library library_;
  norm_kernel rms_norm_;
  project_kernel project_;
  project_and_add_kernel project_and_add_;
  append_kernel append_to_cache_;
  scores_kernel attention_scores_;
  mix_kernel attention_mix_;
  gated_kernel gated_project_;
  probabilities_kernel probabilities_;
  stream side_;
  event forked_;
  event joined_;
  device_buffer weights_;
};

}  // namespace cugraft::cli
