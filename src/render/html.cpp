// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "render/graph_forms.hpp"
#include "render/json_values.hpp"
#include "render/page.hpp"
#include "render/picture.hpp"

// The page is page.html; its data is one JSON object in a block of its own.

namespace cugraft {

// Found by json_writer beside the types.
static void write(json_writer& out, const shown_field& field) {
  out.list([&] {
    out.element(field.name);
    out.element(field.text);
  });
}

static void write(json_writer& out, const picture_level& level) {
  out.object([&] {
    out.member("title", level.title);
    out.member("first", level.first);
    out.member("count", level.count);
    out.member("lanes", level.lanes);
    out.member("rows", level.rows);
  });
}

static void write(json_writer& out, const picture_box& box) {
  out.object([&] {
    out.member("path", box.path);
    out.member("kind", box.kind);
    out.member("name", box.name);
    out.member("tag", box.tag);
    out.member("lane", box.lane);
    out.member("row", box.row);
    out.member("from", box.from);
    out.member("fields", box.fields);
    out.member("change", box.change);
  });
}

static void write(json_writer& out, const update_rule& rule) {
  out.object([&] {
    out.member("id", rule.id);
    out.member("effect", rule.effect);
    out.member("text", rule.text);
    out.member("source", rule.source);
  });
}

namespace {

// Inside of a script element nothing may look like the end of one: "<" stands only in strings.
std::string without_tags(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (const char symbol : json) symbol == '<' ? result += "\\u003c" : result += symbol;
  return result;
}

std::string page_of(const picture& of) {
  json_writer out;
  out.object([&] {
    out.member("schema_version", json_schema_version);
    out.member("whole", of.is_whole);
    out.member("generation", of.generation);
    out.member("levels", of.levels);
    out.member("nodes", of.boxes);
    out.member_by("report",
                  [&] { of.report == nullptr ? out.null() : out.raw(to_json(*of.report)); });
    out.member("rules", update_rules());
  });
  const std::size_t place = page.find(page_data_mark);
  return std::string(page.substr(0, place)) + without_tags(out.take()) +
         std::string(page.substr(place + page_data_mark.size()));
}

}  // namespace

std::string to_html(const change_report& report) { return page_of(picture_of(report)); }
std::string to_html(const saved_graph& graph) {
  return page_of(picture_of(state_of(graph), nullptr));
}
std::string to_html(const saved_graph& graph, const change_report& report) {
  return page_of(picture_of(state_of(graph), &report));
}

}  // namespace cugraft
