// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>

#include "cugraft/recapture.hpp"

// What a `captured` says of itself.

namespace cugraft {
namespace {

double microseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

std::string step_line(const char* name, const step_time& time) {
  return fmt::format("  {:<12} {:>8} times, {:>10.1f} us each\n", name, time.count,
                     microseconds(time.mean()));
}

std::string break_even_line(const captured_stats& stats) {
  if (stats.graph_call().count() == 0 || stats.eager_call().count() == 0)
    return "worth a graph? not known: it takes calls both by graph and eager (warm_up_runs)\n";
  const std::string both =
      fmt::format("a call takes the host {:.1f} us by graph and {:.1f} us eager",
                  microseconds(stats.graph_call()), microseconds(stats.eager_call()));
  if (const auto calls = stats.break_even())
    return fmt::format("worth a graph? yes, from {} calls of one structure on: {}\n", *calls, both);
  return fmt::format("worth a graph? not for the host: {}\n", both);
}

}  // namespace

std::chrono::nanoseconds captured_stats::graph_call() const noexcept {
  return times.cached_call.mean();
}

std::chrono::nanoseconds captured_stats::eager_call() const noexcept { return times.eager.mean(); }

std::optional<std::uint64_t> captured_stats::break_even() const noexcept {
  const auto by_graph = graph_call(), eagerly = eager_call();
  if (by_graph.count() == 0 || eagerly <= by_graph) return std::nullopt;
  const auto gain = eagerly - by_graph;
  const auto paid = times.capture.mean() + times.instantiate.mean();
  return static_cast<std::uint64_t>((paid + gain - std::chrono::nanoseconds(1)) / gain);
}

std::string to_text(const captured_stats& stats) {
  std::string text =
      fmt::format("{} calls, {} runs of the body: {} re-captures, {} captures, {} eager{}\n",
                  stats.calls, stats.body_runs, stats.recaptures, stats.captures, stats.eager_runs,
                  stats.has_given_up ? " (given up)" : "");
  text += fmt::format("executables: {} patched, {} updated whole, {} instantiated\n", stats.patched,
                      stats.whole_updates, stats.instantiations);
  text += fmt::format(
      "cache: {} hits, {} misses, {} evictions; it holds {} executables of {} nodes, with {} bytes "
      "of arguments and allocations\n",
      stats.cache_hits, stats.cache_misses, stats.evictions, stats.executables, stats.nodes,
      stats.bytes);
  text +=
      step_line("capture", stats.times.capture) + step_line("re-capture", stats.times.recapture) +
      step_line("instantiate", stats.times.instantiate) + step_line("update", stats.times.update) +
      step_line("launch", stats.times.launch) + step_line("eager", stats.times.eager);
  if (stats.broken_captures > 0) text += fmt::format("{} captures broke\n", stats.broken_captures);
  if (stats.last_failure) text += fmt::format("last failure: {}\n", stats.last_failure->message);
  return text + break_even_line(stats);
}

}  // namespace cugraft
