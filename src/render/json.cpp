// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>

#include "cugraft/render.hpp"
#include "model/names.hpp"
#include "render/json_values.hpp"
#include "render/names.hpp"

namespace cugraft {
namespace {

std::string hex(const std::vector<std::byte>& bytes) {
  std::string result;
  for (const std::byte byte : bytes)
    result += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return result;
}

}  // namespace

void write(json_writer& out, const node_path& path) { out.string(to_string(path)); }
void write(json_writer& out, node_kind kind) { out.string(to_string(kind)); }
void write(json_writer& out, verdict verdict) { out.string(to_string(verdict)); }
void write(json_writer& out, engine engine) { out.string(to_string(engine)); }
void write(json_writer& out, mismatch why) { out.string(name_of(why)); }
void write(json_writer& out, recapture_status status) { out.string(name_of(status)); }
void write(json_writer& out, update_method method) { out.string(name_of(method)); }
void write(json_writer& out, const std::vector<std::byte>& bytes) { out.string(hex(bytes)); }
void write(json_writer& out, std::chrono::nanoseconds time) { write(out, time.count()); }

void write(json_writer& out, CUgraphNode node) {
  node == nullptr ? out.null() : write(out, reinterpret_cast<std::uintptr_t>(node));
}

void write(json_writer& out, const field_change& field) {
  out.object([&] {
    out.member("field", field.field);
    out.member("before", field.before);
    out.member("after", field.after);
    out.member("offset", field.offset);
    out.member("size", field.size);
    out.member("before_bytes", field.before_bytes);
    out.member("after_bytes", field.after_bytes);
  });
}

void write(json_writer& out, const node_change& change) {
  out.object([&] {
    out.member("path", change.path);
    out.member("kind", change.kind);
    out.member("name", change.name);
    out.member("tag", change.tag);
    out.member("effect", change.effect);
    out.member("rule", change.rule);
    out.member("fields", change.fields);
    out.member("native_status", change.native_status);
    out.member("node", change.node);
  });
}

void write(json_writer& out, const report_timing& timing) {
  out.object([&] {
    out.member("capture", timing.capture);
    out.member("compare", timing.compare);
    out.member("apply", timing.apply);
  });
}

void write(json_writer& out, const node_summary& node) {
  out.object([&] {
    out.member("path", node.path);
    out.member("kind", node.kind);
    out.member("name", node.name);
    out.member("tag", node.tag);
  });
}

void write(json_writer& out, const refusal& refused) {
  out.object([&] {
    out.member("node", refused.node);
    out.member("rule", refused.rule);
    out.member("predicted", refused.predicted);
    out.member("tried", refused.tried);
    out.member("code", refused.code);
    out.member("function", refused.function);
    out.member("update_result", refused.update_result);
  });
}

std::string to_json(const change_report& report) {
  json_writer out;
  const std::span<const node_change> changes = report.changes();
  out.object([&] {
    out.member("schema_version", json_schema_version);
    out.member("engine_used", report.engine_used());
    out.member("nodes_total", report.nodes_total());
    out.member("nodes_changed", report.nodes_changed());
    out.member("changes", changes);
    out.member("overall", report.overall());
    out.member("structure_replaced", report.structure_replaced());
    out.member("generation", report.generation());
    out.member("timing", report.timing());
  });
  return out.take();
}

std::string to_json(const recapture_failure& failure) {
  json_writer out;
  out.object([&] {
    out.member("schema_version", json_schema_version);
    out.member("why", failure.why);
    out.member("code", failure.code);
    out.member("function", failure.function);
    out.member("message", failure.message);
    out.member("nodes_matched", failure.nodes_matched);
    out.member("used", failure.used);
    out.member("graph_lost", failure.graph_lost);
    out.member("expected", failure.expected);
    out.member("found", failure.found);
    out.member("involved", failure.involved);
  });
  return out.take();
}

std::string to_json(const exec_update& update) {
  json_writer out;
  out.object([&] {
    out.member("schema_version", json_schema_version);
    out.member("method", update.method);
    out.member("nodes_patched", update.nodes_patched);
    out.member("refused", update.refused);
    out.member("up_to_date", update.up_to_date);
    out.member("driver_calls", update.driver_calls);
  });
  return out.take();
}

}  // namespace cugraft
