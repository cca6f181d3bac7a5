// SPDX-License-Identifier: Apache-2.0
#pragma once

// The only file of the simulator that sees <cuda.h>.

#include <cuda.h>

#include "driver/newer_types.hpp"
