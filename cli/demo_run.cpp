// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "demo.hpp"
#include "demo_output.hpp"
#include "demo_reference.hpp"
#include "demo_result.hpp"
#include "demo_ways.hpp"
#include "exit_status.hpp"

namespace cugraft::cli {
namespace {

/// The token that the next step decodes: the likeliest, the first of several.
std::size_t pick(std::span<const float> probabilities) {
  return static_cast<std::size_t>(std::max_element(probabilities.begin(), probabilities.end()) -
                                  probabilities.begin());
}

/// Greatest distance between two rows; not a number where one of them is none.
double distance(std::span<const float> found, std::span<const double> expected) {
  double greatest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double gap = std::abs(static_cast<double>(found[i]) - expected[i]);
    if (!(gap <= greatest)) greatest = gap;
    if (std::isnan(gap)) break;
  }
  return greatest;
}

/// Another one at each step, and exact in any arithmetic.
float temperature_at(std::size_t position) {
  return 0.75F + 0.125F * static_cast<float>(position % 4);
}

/// The decode loop in three ways, each with buffers of its own.
class demo {
 public:
  demo(stream_ref stream, const model_shape& shape, engine with)
      : shape_(shape),
        stream_(stream),
        weights_(make_weights(shape)),
        decoder_(stream, shape, weights_),
        reference_(shape, weights_),
        eager_(decoder_, stream, shape),
        whole_update_(decoder_, stream, shape, next_),
        recapture_(decoder_, stream, shape, next_, with) {}

  std::size_t node_count() const { return recapture_.node_count(); }
  std::size_t element_count() { return eager_.state().layout().total; }

  std::uint64_t digest() { return digest_of(eager_.state().read(stream_)); }

  /// Runs the next token in all three ways and checks them.
  step_result run_step() {
    step_result result;
    result.step = next_;
    // Re-captured first: if the driver is too old for the engine, nothing has run yet.
    result.recapture = recapture_.run(next_);
    result.report = recapture_.report();
    result.update = recapture_.update();
    result.eager = eager_.run(next_);
    result.whole_update = whole_update_.run(next_);
    check(result);
    return result;
  }

 private:
  void check(step_result& result) {
    const std::span<const float> expected = eager_.state().read(stream_);
    for (auto [name, state] : {std::pair{"whole_update", &whole_update_.state()},
                               std::pair{"cugraft", &recapture_.state()}})
      if (auto found = compare(name, expected, state->read(stream_)))
        result.differences.push_back(*std::move(found));

    const std::span<const float> row =
        expected.subspan(eager_.state().layout().probabilities + next_.position * shape_.vocabulary,
                         shape_.vocabulary);
    result.reference_error = distance(row, reference_.run(next_));
    next_ = {next_.position + 1, pick(row), temperature_at(next_.position + 1)};
  }

  model_shape shape_;
  stream_ref stream_;
  decode_step next_{0, 1, temperature_at(0)};
  std::vector<float> weights_;
  decoder decoder_;
  reference_decoder reference_;
  eager_way eager_;
  whole_update_way whole_update_;
  recapture_way recapture_;
};

}  // namespace

int run_demo(const demo_options& options) {
  const chosen_driver chosen = choose_driver(options.driver);
  const context context = context::primary(chosen.driver);
  const current_context current(context);  // for the driver's own calls in native_exec
  const stream stream(context);
  demo loop(stream, {.layers = options.layers, .positions = options.steps}, options.with);

  demo_result result{.nodes = loop.node_count(), .elements = loop.element_count()};
  for (std::size_t i = 0; i < options.steps; ++i) {
    result.steps.push_back(loop.run_step());
    if (options.json) continue;
    if (i == 0) print_head(options, chosen, result.nodes, result.engine_used());
    print_step(result.steps.back());
  }
  result.digest = loop.digest();
  if (options.json)
    print_json(options, chosen, result);
  else
    print_end(result, chosen.simulated);
  return result.agree() ? exit_ok : exit_failed;
}

}  // namespace cugraft::cli
