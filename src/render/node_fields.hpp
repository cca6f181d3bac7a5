// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/saved_state.hpp"

namespace cugraft {

/// Everything that a node does, named and written as a report does (docs/report.md).
std::vector<shown_field> fields_of(const model::node_value& node);

}  // namespace cugraft
