// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "cugraft/recapture.hpp"

namespace cugraft {
namespace {

[[noreturn]] void refuse_undelivered() {
  throw not_implemented_error("captured is not delivered yet: it comes with the front door");
}

}  // namespace

struct captured::state {};

captured::captured(stream_ref, std::function<void(graph_builder&)>, captured_policy) {
  refuse_undelivered();
}
void captured::operator()() { refuse_undelivered(); }
captured_stats captured::stats() const { refuse_undelivered(); }
void captured::reset() { refuse_undelivered(); }

}  // namespace cugraft
