// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "cugraft/recapture.hpp"

namespace cugraft {
namespace {

[[noreturn]] void refuse_captured() {
  throw not_implemented_error("captured is not delivered yet: it comes with the front door");
}

}  // namespace

struct captured::state {};

captured::captured(stream_ref, std::function<void(graph_builder&)>, captured_policy) {
  refuse_captured();
}
void captured::operator()() { refuse_captured(); }
captured_stats captured::stats() const { refuse_captured(); }
void captured::reset() { refuse_captured(); }

}  // namespace cugraft
