// SPDX-License-Identifier: Apache-2.0
#include "capture/graph_edit.hpp"

#include <utility>

namespace cugraft {

graph_edit::~graph_edit() {
  // The last first, so that what is left stays in order.
  for (auto saved = saved_.rbegin(); saved != saved_.rend(); ++saved)
    saved->first->old.erase(saved->second);
}

void graph_edit::set_value(std::uint32_t node, const model::node_value& before,
                           const model::node_value& after) {
  save_for_executables(node, before);
  const auto* const kernel = std::get_if<model::kernel_value>(&after.data);
  if (kernel != nullptr && kernel->arguments.size() > graph_.nodes.kernel(node).arguments.size())
    graph_.nodes.reserve_arguments(argument_bytes_ += kernel->arguments.size());
  if (kernel != nullptr && !kernel->attributes.others.empty())
    copies_.emplace_back(node, after);
  else
    values_.emplace_back(node, &after);
}

void graph_edit::save_for_executables(std::uint32_t node, const model::node_value& before) {
  std::shared_ptr<const model::node_value> old;
  for (exec_values* const values : graph_.executables) {
    if (!old) old = std::make_shared<const model::node_value>(before);
    saved_.emplace_back(values, node);  // first: what is saved has to be known
    bool is_saved = false;
    try {
      is_saved = values->old.add(node, old);
    } catch (...) {
      saved_.pop_back();
      throw;
    }
    if (!is_saved) saved_.pop_back();
  }
}

void graph_edit::set_owner(std::uint32_t node, std::shared_ptr<const void> owner) {
  owners_.emplace_back(node, std::move(owner));
}

void graph_edit::set_tag(std::uint32_t node, std::string tag) {
  tags_.emplace_back(node, std::move(tag));
}

void graph_edit::renew_record(owner_list kept, std::shared_ptr<const void> foreign) {
  owner_list owners = owners_of(graph_.nodes);
  for (const auto& [node, value] : values_) owners[node] = value->owner;
  for (const auto& [node, value] : copies_) owners[node] = value.owner;
  for (const auto& [node, owner] : owners_) owners[node] = owner;
  record_ = make_record(std::move(owners), std::move(kept), std::move(foreign));
}

void graph_edit::renew_foreign(std::shared_ptr<const void> foreign) {
  record_ = std::make_shared<const generation_record>(
      generation_record{graph_.record->node_owners, graph_.record->kept, std::move(foreign)});
}

void graph_edit::commit() noexcept {
  for (const auto& [node, value] : values_) graph_.nodes.assign(node, *value);
  for (auto& [node, value] : copies_) graph_.nodes.assign(node, std::move(value));
  for (auto& [node, owner] : owners_) graph_.nodes.set_owner(node, std::move(owner));
  for (auto& [node, tag] : tags_) graph_.nodes.set_tag(node, std::move(tag));
  if (record_) graph_.record = std::move(record_);
  saved_.clear();
}

}  // namespace cugraft
