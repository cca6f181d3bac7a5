// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "cugraft/graph_exec.hpp"
#include "render/json_writer.hpp"

/// How each type looks in JSON: structs as objects with their members' names, enumerators and paths
/// as their text, bytes as hexadecimal digits. docs/schema/report.schema.json has every form.
namespace cugraft {

void write(json_writer& out, const node_path& path);
void write(json_writer& out, node_kind kind);
void write(json_writer& out, verdict verdict);
void write(json_writer& out, engine engine);
void write(json_writer& out, mismatch why);
void write(json_writer& out, recapture_status status);
void write(json_writer& out, update_method method);
void write(json_writer& out, const std::vector<std::byte>& bytes);
void write(json_writer& out, std::chrono::nanoseconds time);
void write(json_writer& out, CUgraphNode node);
void write(json_writer& out, const field_change& field);
void write(json_writer& out, const node_change& change);
void write(json_writer& out, const report_timing& timing);
void write(json_writer& out, const node_summary& node);
void write(json_writer& out, const refusal& refused);

}  // namespace cugraft
