// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/registry.hpp"

namespace cugraft {

/// The driver's own re-capture, `cuStreamBeginRecaptureToGraph` (13.3), on a working copy.
engine_info native_engine_info();

}  // namespace cugraft
