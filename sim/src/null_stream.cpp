// SPDX-License-Identifier: Apache-2.0
#include "null_stream.hpp"

namespace cugraft_sim {

null_stream_is& null_stream_scope::slot() noexcept {
  static thread_local null_stream_is present = null_stream_is::legacy;
  return present;
}

}  // namespace cugraft_sim
