// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "check.hpp"

namespace cugraft_sim {

/// Gives numbers that are never given again, so that a stale handle is always recognised.
class id_source {
 public:
  explicit id_source(std::uintptr_t first = 1) noexcept : first_(first), next_(first) {}

  std::uintptr_t take() noexcept { return next_++; }

  /// Says that what `id` was given to is gone.
  void retire(std::uintptr_t id) {
    retired_.resize(next_ - first_);
    retired_[id - first_] = true;
  }

  bool is_retired(std::uintptr_t id) const noexcept {
    return id >= first_ && id - first_ < retired_.size() && retired_[id - first_];
  }

 private:
  std::uintptr_t first_;
  std::uintptr_t next_;
  std::vector<bool> retired_;
};

/// Number of a handle, as messages show it.
template <class Handle>
std::uintptr_t id_of(Handle handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle);
}

template <class Handle>
Handle handle_of(std::uintptr_t id) noexcept {
  return reinterpret_cast<Handle>(id);
}

/// The objects of one kind by handle. Handles are small numbers, so using a wrong one is an error
/// code and never a crash.
template <class Handle, class Object>
class handle_table {
 public:
  /// Numbers from `first` on.
  explicit handle_table(std::uintptr_t first = 1) : ids_(std::make_shared<id_source>(first)) {}

  /// Numbers from a source that another table uses too, for kinds that may stand for each other.
  explicit handle_table(std::shared_ptr<id_source> ids) : ids_(std::move(ids)) {}

  Handle add(std::shared_ptr<Object> object) {
    const std::uintptr_t id = ids_->take();
    objects_.emplace(id, std::move(object));
    return handle_of<Handle>(id);
  }

  /// Lets the handle, which stands for an object, stand for another one.
  void replace(Handle handle, std::shared_ptr<Object> object) {
    objects_.at(id_of(handle)) = std::move(object);
  }

  /// The object, or null.
  std::shared_ptr<Object> find(Handle handle) const {
    const auto found = objects_.find(id_of(handle));
    if (found != objects_.end()) return found->second;
    check_missing(handle);
    return nullptr;
  }

  /// Takes the object out of the table; null where there is none.
  std::shared_ptr<Object> remove(Handle handle) {
    auto node = objects_.extract(id_of(handle));
    if (node.empty()) {
      check_missing(handle);
      return nullptr;
    }
    ids_->retire(id_of(handle));
    return std::move(node.mapped());
  }

  /// Whether the handle stood for an object that was removed.
  bool was_removed(Handle handle) const { return ids_->is_retired(id_of(handle)); }

  std::size_t size() const noexcept { return objects_.size(); }

  /// Calls `visit(object)` for each object, in no particular order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [id, object] : objects_) visit(*object);
  }

 private:
  void check_missing(Handle handle) const {
    if (was_removed(handle)) check::dead_handle(check::kind_of<Handle>, id_of(handle));
  }

  std::shared_ptr<id_source> ids_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects_;
};

}  // namespace cugraft_sim
