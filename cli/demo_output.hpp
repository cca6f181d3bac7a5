// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "demo.hpp"
#include "demo_result.hpp"

namespace cugraft::cli {

/// Says which driver the loop runs on, and what the loop is.
void print_head(const demo_options& options, const chosen_driver& chosen, std::size_t nodes,
                engine used);

/// Says which nodes and fields changed in a step; nodes that changed alike share a line.
void print_step(const step_result& step);

/// Says whether the ways agree, and what each costs.
void print_end(const demo_result& result, bool simulated);

/// Prints everything as one JSON object.
void print_json(const demo_options& options, const chosen_driver& chosen,
                const demo_result& result);

}  // namespace cugraft::cli
