// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/values.hpp"

namespace cugraft {

/// What nodes did before, by node. One value may serve several tables. To note a node costs the
/// same however many there are: a re-capture may change all of them.
///
/// Thread safety: as a standard container.
class old_values {
 public:
  struct entry {
    std::uint32_t node = 0;
    std::shared_ptr<const model::node_value> value;
  };

  bool empty() const noexcept { return entries_.empty(); }
  std::size_t size() const noexcept { return entries_.size(); }

  /// The node's value; null where there is none. Valid until the next call that is not const.
  entry* find(std::uint32_t node) noexcept {
    return node < places_.size() && places_[node] != 0 ? &entries_[places_[node] - 1] : nullptr;
  }
  const entry* find(std::uint32_t node) const noexcept {
    return const_cast<old_values*>(this)->find(node);
  }

  /// Whether it was added: not where there is one already. @throws std::bad_alloc
  bool add(std::uint32_t node, const std::shared_ptr<const model::node_value>& value) {
    if (find(node) != nullptr) return false;
    if (node >= places_.size()) places_.resize(std::max<std::size_t>(node + 1, 2 * places_.size()));
    entries_.push_back({node, value});
    places_[node] = static_cast<std::uint32_t>(entries_.size());
    return true;
  }

  void erase(std::uint32_t node) noexcept {
    entry* const found = find(node);
    if (found == nullptr) return;
    places_[node] = 0;
    if (found != &entries_.back()) {
      *found = std::move(entries_.back());
      places_[found->node] = static_cast<std::uint32_t>(found - entries_.data()) + 1;
    }
    entries_.pop_back();
  }

  void clear() noexcept {
    for (const entry& each : entries_) places_[each.node] = 0;
    entries_.clear();
  }

  /// All of them in creation order, valid until the next call that is not const.
  std::span<const entry> in_order() noexcept {
    if (!std::ranges::is_sorted(entries_, {}, &entry::node)) {
      std::ranges::sort(entries_, {}, &entry::node);
      for (std::size_t i = 0; i < entries_.size(); ++i)
        places_[entries_[i].node] = static_cast<std::uint32_t>(i + 1);
    }
    return entries_;
  }

  /// In no order.
  std::span<const entry> all() const noexcept { return entries_; }

 private:
  std::vector<entry> entries_;
  std::vector<std::uint32_t> places_;  // by node, one past the index of its entry; 0: none
};

}  // namespace cugraft
