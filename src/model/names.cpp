// SPDX-License-Identifier: Apache-2.0
#include "model/names.hpp"

#include <fmt/format.h>

#include <array>

namespace cugraft {
namespace {

constexpr std::array<std::string_view, 14> kind_names{
    "kernel",           "copy",           "fill",       "host",
    "child_graph",      "empty",          "event_wait", "event_record",
    "semaphore_signal", "semaphore_wait", "allocation", "free",
    "batch_memory_op",  "conditional"};

constexpr std::array<std::string_view, 17> mismatch_names{
    "node_count",        "node_kind",    "node_order",          "dependencies",
    "edge_data",         "depth",        "allocation",          "conditional",
    "context",           "rejected",     "foreign_work",        "foreign_allocation",
    "foreign_condition", "unknown_node", "capture_invalidated", "capture_unjoined",
    "driver_failure"};

}  // namespace

std::string to_string(const node_path& path) {
  std::string result;
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    const node_step& step = path.steps[i];
    const bool last = i + 1 == path.steps.size();
    result += std::to_string(step.node);
    if (!last && step.body != 0) result += fmt::format("[{}]", step.body);
    if (!last) result += '/';
  }
  return result;
}

std::string to_string(node_kind kind) {
  const auto number = static_cast<int>(kind);
  if (number < 0 || static_cast<std::size_t>(number) >= kind_names.size())
    return fmt::format("kind {}", number);
  return std::string(kind_names[static_cast<std::size_t>(number)]);
}

std::string_view to_string(verdict verdict) noexcept {
  switch (verdict) {
    case verdict::unchanged:
      return "unchanged";
    case verdict::patchable:
      return "patchable";
    case verdict::whole_update:
      return "whole_update";
    case verdict::needs_instantiate:
      return "needs_instantiate";
  }
  return "unknown";
}

std::string_view to_string(engine engine) noexcept {
  switch (engine) {
    case engine::automatic:
      return "automatic";
    case engine::native:
      return "native";
    case engine::compare:
      return "compare";
    case engine::direct:
      return "direct";
  }
  return "unknown";
}

std::string_view name_of(mismatch why) noexcept {
  return mismatch_names[static_cast<std::size_t>(why)];
}

std::string_view name_of(recapture_status status) noexcept {
  switch (status) {
    case recapture_status::eligible:
      return "eligible";
    case recapture_status::ineligible:
      return "ineligible";
    case recapture_status::error:
      return "error";
  }
  return "unknown";
}

std::string text_of(const node_summary& node) {
  std::string result = to_string(node.kind);
  if (!node.name.empty()) result += fmt::format(" \"{}\"", node.name);
  if (!node.tag.empty()) result += fmt::format(" (tag \"{}\")", node.tag);
  return result;
}

}  // namespace cugraft
