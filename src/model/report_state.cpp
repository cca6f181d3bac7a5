// SPDX-License-Identifier: Apache-2.0
#include "model/report_state.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace cugraft {
namespace {

std::string kernel_name(const model::node_value& node) {
  const auto* kernel = std::get_if<model::kernel_value>(&node.data);
  return kernel == nullptr || kernel->layout == nullptr ? std::string() : kernel->layout->name;
}

bool comes_first(const node_path& a, const node_path& b) {
  return std::ranges::lexicographical_compare(a.steps, b.steps, [](node_step x, node_step y) {
    return std::pair(x.node, x.body) < std::pair(y.node, y.body);
  });
}

}  // namespace

node_change format_change(const raw_change& change) {
  node_change result;
  result.path = change.path.steps.empty() ? node_path{{{change.position, 0}}} : change.path;
  result.kind = change.before.kind;
  result.name = kernel_name(change.before);
  result.tag = change.tag;
  result.effect = change.judgement.effect;
  if (change.judgement.rule != nullptr) result.rule = change.judgement.rule->id;
  for (const model::difference& what : model::differences(change.before, change.after))
    result.fields.push_back(model::describe(change.before, change.after, what));
  result.native_status = change.native_status;
  result.node = change.node;
  return result;
}

const std::vector<node_change>& detail::report_state::formatted() const {
  std::call_once(once_, [this] {
    std::vector<node_change> changes = given;
    changes.reserve(given.size() + raw.size());
    for (const raw_change& change : raw) changes.push_back(format_change(change));
    std::ranges::stable_sort(changes, comes_first, &node_change::path);
    formatted_ = std::move(changes);
  });
  return formatted_;
}

}  // namespace cugraft
