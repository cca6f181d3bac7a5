// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cugraft/engine.hpp"
#include "cugraft/recapture.hpp"
#include "cugraft/render.hpp"
#include "cugraft/version.hpp"
