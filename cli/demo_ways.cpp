// SPDX-License-Identifier: Apache-2.0
#include "demo_ways.hpp"

namespace cugraft::cli {
namespace {

using clock = std::chrono::steady_clock;

template <class Prepare, class Launch>
step_cost timed(stream_ref stream, Prepare prepare, Launch launch) {
  const clock::time_point begin = clock::now();
  prepare();
  const clock::time_point prepared = clock::now();
  launch();
  stream.synchronize();
  return {prepared - begin, clock::now() - begin};
}

}  // namespace

eager_way::eager_way(const decoder& decoder, stream_ref stream, const model_shape& shape)
    : decoder_(decoder), stream_(stream), state_(stream, shape) {}

step_cost eager_way::run(const decode_step& step) {
  return timed(
      stream_, [&] { decoder_.enqueue(stream_, step, state_, nullptr); }, [] {});
}

whole_update_way::whole_update_way(const decoder& decoder, stream_ref stream,
                                   const model_shape& shape, const decode_step& first)
    : decoder_(decoder),
      stream_(stream),
      state_(stream, shape),
      template_(capture_step(first)),
      exec_(stream.get_driver(), template_.instantiate()) {}

graph whole_update_way::capture_step(const decode_step& step) {
  return capture(
      stream_, [&](graph_builder& builder) { decoder_.enqueue(builder, step, state_, &builder); });
}

step_cost whole_update_way::run(const decode_step& step) {
  return timed(
      stream_, [&] { exec_.update(capture_step(step)); }, [&] { exec_.launch(stream_); });
}

recapture_way::recapture_way(const decoder& decoder, stream_ref stream, const model_shape& shape,
                             const decode_step& first, engine with)
    : decoder_(decoder),
      stream_(stream),
      state_(stream, shape),
      options_{.with = with},
      graph_(capture(
          stream,
          [&](graph_builder& builder) { decoder_.enqueue(builder, first, state_, &builder); })),
      exec_(graph_.instantiate()) {}

step_cost recapture_way::run(const decode_step& step) {
  const auto body = [&](graph_builder& builder) {
    decoder_.enqueue(builder, step, state_, &builder);
  };
  return timed(
      stream_,
      [&] {
        report_ = graph_.recapture(stream_, body, options_);
        update_ = exec_.update();
      },
      [&] { exec_.launch(stream_); });
}

}  // namespace cugraft::cli
