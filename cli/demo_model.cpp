// SPDX-License-Identifier: Apache-2.0
#include "demo_model.hpp"

#include <fmt/format.h>

#include "kernels/decode_ptx.hpp"

namespace cugraft::cli {
namespace {

constexpr std::size_t threads_of_a_block = 32;

launch_config a_thread_each(std::size_t count) {
  return {.grid = (count + threads_of_a_block - 1) / threads_of_a_block,
          .block = threads_of_a_block};
}

int as_int(std::size_t value) noexcept { return static_cast<int>(value); }

}  // namespace

decode_state::decode_state(stream_ref stream, const model_shape& shape)
    : layout_(shape),
      memory_(stream.get_context(), layout_.total * sizeof(float)),
      copy_(stream.get_context(), memory_.size()) {
  fill_async(stream, memory_.data(), 0, memory_.size());
  stream.synchronize();
}

std::span<const float> decode_state::read(stream_ref stream) {
  copy_async(stream, copy_.data(), memory_.data(), copy_.size());
  stream.synchronize();
  return {copy_.as<const float>(), layout_.total};
}

struct decoder::step_call {
  stream_ref main;
  const decode_step& step;
  const decode_state& state;
  graph_builder* session;
  const state_layout& at;

  float* buffer(std::size_t offset) const noexcept { return state.at(offset); }
  void name_nodes(const std::string& name) const {
    if (session != nullptr) session->tag(name);
  }
};

decoder::decoder(stream_ref stream, const model_shape& shape, std::span<const float> weights)
    : shape_(shape),
      layout_(shape),
      library_(library::from_image(stream.get_context(), decode_ptx)),
      rms_norm_(library_.get_kernel("rms_norm")),
      project_(library_.get_kernel("project")),
      project_and_add_(library_.get_kernel("project_and_add")),
      append_to_cache_(library_.get_kernel("append_to_cache")),
      attention_scores_(library_.get_kernel("attention_scores")),
      attention_mix_(library_.get_kernel("attention_mix")),
      gated_project_(library_.get_kernel("gated_project")),
      probabilities_(library_.get_kernel("probabilities")),
      side_(stream.get_context()),
      forked_(stream.get_context()),
      joined_(stream.get_context()),
      weights_(stream.get_context(), weights.size_bytes()) {
  copy_async(stream, weights_.data(), weights.data(), weights.size_bytes());
  stream.synchronize();
}

void decoder::enqueue(stream_ref main, const decode_step& step, const decode_state& state,
                      graph_builder* session) const {
  const step_call call{main, step, state, session, state.layout()};
  call.name_nodes("token");
  const float* row = weight(layout_.embedding) + step.token * shape_.width;
  copy_async(main, call.buffer(call.at.x), row, shape_.width * sizeof(float));
  for (std::size_t layer = 0; layer < shape_.layers; ++layer) {
    call.name_nodes(fmt::format("layer {}", layer));
    attend(call, layer);
    think(call, layer);
  }
  call.name_nodes("head");
  finish(call);
  call.name_nodes("");
}

void decoder::fork(const step_call& call) const {
  call.main.record(forked_);
  side_.wait(forked_);
}

void decoder::join(const step_call& call) const {
  side_.record(joined_);
  call.main.wait(joined_);
}

// The side stream saves the residual and clears what the heads add to.
void decoder::attend(const step_call& call, std::size_t layer) const {
  const layer_weights& at = layout_.layers[layer];
  float* x = call.buffer(call.at.x);
  float* normed = call.buffer(call.at.normed);
  fork(call);
  copy_async(side_, call.buffer(call.at.residual), x, shape_.width * sizeof(float));
  fill_async(side_, call.buffer(call.at.mixed), 0, shape_.width, sizeof(float));

  norm(call.main, normed, x, at.attention_norm);
  project(call.main, call.buffer(call.at.query), at.query, normed, shape_.width, shape_.width);
  project(call.main, call.buffer(call.at.key), at.key, normed, shape_.width, shape_.width);
  project(call.main, call.buffer(call.at.value), at.value, normed, shape_.width, shape_.width);
  join(call);
  attend_to_cache(call, layer);
  project_and_add(call.main, x, at.output, call.buffer(call.at.mixed),
                  call.buffer(call.at.residual), shape_.width);
}

void decoder::attend_to_cache(const step_call& call, std::size_t layer) const {
  const std::size_t cache = layer * shape_.positions * shape_.width;
  float* keys = call.buffer(call.at.keys + cache);
  float* values = call.buffer(call.at.values + cache);
  float* scores = call.buffer(call.at.scores);
  const int head_width = as_int(shape_.head_width());
  const int capacity = as_int(shape_.positions);
  const int position = as_int(call.step.position);
  launch(call.main, a_thread_each(shape_.width), append_to_cache_, keys, values,
         call.buffer(call.at.key), call.buffer(call.at.value), as_int(shape_.width), position);
  launch(call.main, {.grid = call.step.position + 1, .block = shape_.heads}, attention_scores_,
         scores, call.buffer(call.at.query), keys, head_width, capacity);
  launch(call.main, {.grid = shape_.heads, .block = shape_.head_width()}, attention_mix_,
         call.buffer(call.at.mixed), scores, values, head_width, capacity, position);
}

void decoder::think(const step_call& call, std::size_t layer) const {
  const layer_weights& at = layout_.layers[layer];
  float* x = call.buffer(call.at.x);
  float* normed = call.buffer(call.at.normed);
  float* hidden = call.buffer(call.at.hidden);
  norm(call.main, normed, x, at.mlp_norm);
  launch(call.main, a_thread_each(shape_.hidden), gated_project_, hidden, weight(at.gate),
         weight(at.up), normed, as_int(shape_.hidden), as_int(shape_.width));
  project_and_add(call.main, x, at.down, hidden, x, shape_.hidden);
}

void decoder::finish(const step_call& call) const {
  float* normed = call.buffer(call.at.normed);
  float* logits = call.buffer(call.at.logits);
  norm(call.main, normed, call.buffer(call.at.x), layout_.final_norm);
  project(call.main, logits, layout_.unembedding, normed, shape_.vocabulary, shape_.width);
  float* row = call.buffer(call.at.probabilities) + call.step.position * shape_.vocabulary;
  launch(call.main, {.grid = 1, .block = shape_.vocabulary}, probabilities_, row, logits,
         as_int(shape_.vocabulary), call.step.temperature);
}

void decoder::norm(stream_ref stream, float* out, const float* x, std::size_t weight_offset) const {
  launch(stream, {.grid = 1, .block = shape_.width}, rms_norm_, out, x, weight(weight_offset),
         as_int(shape_.width));
}

void decoder::project(stream_ref stream, float* out, std::size_t matrix, const float* x,
                      std::size_t rows, std::size_t columns) const {
  launch(stream, a_thread_each(rows), project_, out, weight(matrix), x, as_int(rows),
         as_int(columns));
}

void decoder::project_and_add(stream_ref stream, float* out, std::size_t matrix, const float* x,
                              const float* residual, std::size_t columns) const {
  launch(stream, a_thread_each(shape_.width), project_and_add_, out, weight(matrix), x, residual,
         as_int(shape_.width), as_int(columns));
}

}  // namespace cugraft::cli
