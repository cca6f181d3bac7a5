// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cugraft/stream.hpp"

namespace cugraft {

/// A stream of the library's own, for a fork of a stream with these properties.
struct fork_stream {
  stream handle;
  stream_options options;
  CUcontext context = nullptr;
};

}  // namespace cugraft
