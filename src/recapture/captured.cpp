// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "recapture/captured_run.hpp"

namespace cugraft {
namespace {

template <class State>
const std::shared_ptr<State>& state_of(const std::shared_ptr<State>& state) {
  if (!state) throw usage_error("the captured was moved from: use the one that has its body");
  return state;
}

}  // namespace

struct captured::state : captured_run {
  using captured_run::captured_run;
};

captured::captured(stream_ref stream, std::function<void(graph_builder&)> body,
                   captured_policy policy)
    : state_(std::make_shared<state>(stream, std::move(body), std::move(policy))) {}

void captured::operator()() {
  const std::shared_ptr<state> kept = state_of(state_);  // the body may let go of the last copy
  kept->call();
}

captured_stats captured::stats() const { return state_of(state_)->stats(); }

void captured::reset() { state_of(state_)->reset(); }

}  // namespace cugraft
