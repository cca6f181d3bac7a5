// SPDX-License-Identifier: Apache-2.0
#include "handles/held_handle.hpp"

#include <mutex>

namespace cugraft {
namespace {

template <class Handle>
struct held_list {
  std::mutex mutex;
  held_handle<Handle>* first = nullptr;
};

template <class Handle>
held_list<Handle>& held() noexcept {
  static auto* const instance = new held_list<Handle>;  // objects of static duration outlive it
  return *instance;
}

}  // namespace

template <class Handle>
void held_handle<Handle>::set(const driver_table* table, Handle handle) noexcept {
  if (handle == nullptr && handle_ == nullptr) return;
  held_list<Handle>& all = held<Handle>();
  const std::lock_guard lock(all.mutex);
  if (handle == nullptr) {
    (before_ != nullptr ? before_->after_ : all.first) = after_;
    if (after_ != nullptr) after_->before_ = before_;
    before_ = after_ = nullptr;
  } else if (handle_ == nullptr) {
    after_ = all.first;
    if (after_ != nullptr) after_->before_ = this;
    all.first = this;
  }
  table_ = table;
  handle_ = handle;
}

template <class Handle>
bool held_handle<Handle>::is_held(const driver_table& table, Handle handle) noexcept {
  held_list<Handle>& all = held<Handle>();
  const std::lock_guard lock(all.mutex);
  for (const held_handle* each = all.first; each != nullptr; each = each->after_)
    if (each->table_ == &table && each->handle_ == handle) return true;
  return false;
}

template class held_handle<CUgraph>;
template class held_handle<CUgraphExec>;

}  // namespace cugraft
