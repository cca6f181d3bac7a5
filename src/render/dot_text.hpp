// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "render/picture.hpp"

namespace cugraft {

/// The picture in DOT; what is no UTF-8 stays as it is.
std::string dot_text(const picture& of);

}  // namespace cugraft
