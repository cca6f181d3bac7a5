// SPDX-License-Identifier: Apache-2.0
#include "look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "colours.hpp"
#include "exit_status.hpp"
#include "files.hpp"
#include "json_output.hpp"

namespace cugraft::cli {
namespace {

template <class T>
std::string rendered(const T& what, const std::string& format) {
  if (format == "json") return to_json(what) + '\n';
  if (format == "dot") return to_dot(what);
  if (format == "svg") return to_svg(what);
  if (format == "html") return to_html(what);
  return to_text(what);
}

std::string rendered(const saved_graph& graph, const change_report& report,
                     const std::string& format) {
  if (format == "dot") return to_dot(graph, report);
  if (format == "svg") return to_svg(graph, report);
  if (format == "html") return to_html(graph, report);
  return rendered(report, format);  // both have words for the changed nodes only
}

void write(const std::string& output, const std::string& text, const std::string& format) {
  const bool is_text = format.empty() || format == "text";
  write_output(output, output.empty() && is_text ? for_terminal(text) : text);
}

template <class T>
T read_as(const std::string& name, std::string_view expected) {
  looked_at found = read_file(name);
  if (auto* const result = std::get_if<T>(&found)) return std::move(*result);
  throw file_error(
      fmt::format("{}: {} is needed here, and this is {}", name, expected,
                  std::holds_alternative<change_report>(found) ? "a report" : "a graph"));
}

std::string failure_text(const recapture_failure& failure, const std::string& format) {
  if (format == "json") return to_json(failure) + '\n';
  if (!format.empty() && format != "text")
    throw usage_error("the structures differ, which has no picture: " + failure.message);
  return fmt::format("the structures differ, and no executable takes that\n  {}\n",
                     failure.message);
}

// The driver's number, 0 where none is asked about. Of drivers before 12.4 nothing is known.
int asked_driver(const std::string& version) {
  if (version.empty()) return 0;
  constexpr int oldest = 12040;
  int major = 0, minor = 0;
  const char* const end = version.data() + version.size();
  const auto [dot, failure] = std::from_chars(version.data(), end, major);
  const bool has_minor = failure == std::errc() && dot != end && *dot == '.' && dot + 1 != end &&
                         std::from_chars(dot + 1, end, minor).ptr == end;
  if (!has_minor || major < 0 || major > 1000 || minor < 0 || minor > 99)
    throw usage_error("--driver-version: \"" + version + "\" is no version, as 12.4 is");
  const int number = 1000 * major + 10 * minor;
  if (number < oldest)
    throw unsupported_error("verdicts for a driver", oldest, number,
                            "compare without --driver-version: structure and fields differ alike");
  return number;
}

// What is documented to differ between drivers (driver rules, 5.2): from 13.4 on, host calls and
// event records may not move to another context, and a saved graph has no contexts.
void note_contexts(const change_report& report, int driver) {
  constexpr int fixes_contexts = 13040;
  const bool has_any = std::ranges::any_of(report.changes(), [](const node_change& change) {
    return change.kind == node_kind::host || change.kind == node_kind::event_record;
  });
  if (driver >= fixes_contexts && has_any)
    fmt::print(stderr,
               "cugraft: a driver of 13.4 or newer refuses a host call or an event record that "
               "moved to another context; contexts are not in these files\n");
}

int write_difference(const recapture_result& found, const saved_graph& before,
                     const diff_options& options, int driver) {
  if (!found) {
    write(options.output, failure_text(found.failure(), options.format), options.format);
    return exit_failed;
  }
  const change_report& report = found.report();
  note_contexts(report, driver);
  write(options.output, rendered(before, report, options.format), options.format);
  return report.nodes_changed() == 0 ? exit_ok : exit_failed;
}

}  // namespace

int run_render(const render_options& options) {
  if (!options.report.empty()) {
    const auto graph = read_as<saved_graph>(options.file, "a graph");
    const auto report = read_as<change_report>(options.report, "a report");
    write(options.output, rendered(graph, report, options.format), options.format);
    return exit_ok;
  }
  const looked_at found = read_file(options.file);
  const std::string text =
      std::visit([&](const auto& what) { return rendered(what, options.format); }, found);
  write(options.output, text, options.format);
  return exit_ok;
}

int run_diff(const diff_options& options) {
  const int driver = asked_driver(options.driver_version);
  const auto before = read_as<saved_graph>(options.before, "a graph");
  const auto after = read_as<saved_graph>(options.after, "a graph");
  if (before.is_dump() && after.is_dump())
    fmt::print(stderr,
               "cugraft: dumps of a driver do not show arguments of kernels: whether those differ "
               "is not known; graphs saved by to_json do\n");
  return write_difference(compare(before, after, {.kernels_by_name = options.kernels_by_name}),
                          before, options, driver);
}

int run_rules(const rules_options& options) {
  if (!options.json) {
    std::string text;
    for (const update_rule& rule : update_rules())
      text += fmt::format("{}: {}\n  {}\n  source: {}\n", rule.id, to_string(rule.effect),
                          rule.text, rule.source);
    write_output("", text);
    return exit_ok;
  }
  json rules = json::array();
  for (const update_rule& rule : update_rules())
    rules.push_back({{"id", rule.id},
                     {"effect", to_string(rule.effect)},
                     {"text", rule.text},
                     {"source", rule.source}});
  print_object({{"rules", rules}});
  return exit_ok;
}

}  // namespace cugraft::cli
