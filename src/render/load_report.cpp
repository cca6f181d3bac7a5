// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cugraft/render.hpp"
#include "model/names.hpp"
#include "model/report_state.hpp"
#include "render/json_reader.hpp"
#include "render/read_values.hpp"

// Reads a report as json.cpp writes it.

namespace cugraft {
namespace {

// One of the enumerators from 0 to `last`, by its name.
template <class Enum, class Name>
Enum read_name(json_reader& in, Enum last, const Name& name_of_value) {
  const json_reader before = in;
  const std::string name = in.string();
  std::string all;
  for (int number = 0; number <= static_cast<int>(last); ++number) {
    const auto value = static_cast<Enum>(number);
    if (name_of_value(value) == name) return value;
    all += (all.empty() ? "" : ", ") + std::string(name_of_value(value));
  }
  before.fail("one of " + all);
}

verdict read_verdict(json_reader& in) {
  return read_name(in, verdict::needs_instantiate, [](verdict value) { return to_string(value); });
}

engine read_engine(json_reader& in) {
  return read_name(in, engine::direct, [](engine value) { return to_string(value); });
}

std::optional<recapture_status> read_status(json_reader& in) {
  if (in.null()) return std::nullopt;
  return read_name(in, recapture_status::error,
                   [](recapture_status value) { return name_of(value); });
}

CUgraphNode read_handle(json_reader& in) {
  return in.null() ? nullptr : reinterpret_cast<CUgraphNode>(in.unsigned_number(UINTPTR_MAX));
}

field_change read_field(json_reader& in) {
  field_change result;
  in.object({{"field", [&] { result.field = in.string(); }},
             {"before", [&] { result.before = in.string(); }},
             {"after", [&] { result.after = in.string(); }},
             {"offset", [&] { result.offset = read_unsigned<std::size_t>(in); }},
             {"size", [&] { result.size = read_unsigned<std::size_t>(in); }},
             {"before_bytes", [&] { result.before_bytes = in.bytes(); }},
             {"after_bytes", [&] { result.after_bytes = in.bytes(); }}});
  return result;
}

node_change read_change(json_reader& in) {
  node_change result;
  in.object({{"path", [&] { result.path = read_path(in); }},
             {"kind", [&] { result.kind = read_kind(in); }},
             {"name", [&] { result.name = in.string(); }},
             {"tag", [&] { result.tag = in.string(); }},
             {"effect", [&] { result.effect = read_verdict(in); }},
             {"rule", [&] { result.rule = in.string(); }},
             {"fields", [&] { in.array([&] { result.fields.push_back(read_field(in)); }); }},
             {"native_status", [&] { result.native_status = read_status(in); }},
             {"node", [&] { result.node = read_handle(in); }}});
  return result;
}

std::chrono::nanoseconds read_time(json_reader& in) {
  return std::chrono::nanoseconds(in.number());
}

report_timing read_timing(json_reader& in) {
  report_timing result;
  in.object({{"capture", [&] { result.capture = read_time(in); }},
             {"compare", [&] { result.compare = read_time(in); }},
             {"apply", [&] { result.apply = read_time(in); }}});
  return result;
}

}  // namespace

change_report load_report(std::string_view json) {
  json_reader in(json);
  auto result = std::make_shared<detail::report_state>();
  std::size_t changed = 0;
  in.object({{"schema_version", [&] { check_version(in); }},
             {"engine_used", [&] { result->used = read_engine(in); }},
             {"nodes_total", [&] { result->nodes_total = read_unsigned<std::size_t>(in); }},
             {"nodes_changed", [&] { changed = read_unsigned<std::size_t>(in); }},
             {"changes", [&] { in.array([&] { result->given.push_back(read_change(in)); }); }},
             {"overall", [&] { result->overall = read_verdict(in); }},
             {"structure_replaced", [&] { result->structure_replaced = in.boolean(); }},
             {"generation", [&] { result->generation = in.unsigned_number(); }},
             {"timing", [&] { result->timing = read_timing(in); }}});
  in.finish();
  if (changed != result->given.size()) in.fail("as many changes as \"nodes_changed\" says");
  return detail::report_state::make(std::move(result));
}

}  // namespace cugraft
