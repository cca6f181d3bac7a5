// SPDX-License-Identifier: Apache-2.0
#include "user_object.hpp"

#include <algorithm>
#include <climits>
#include <memory>
#include <mutex>
#include <utility>

#include "callback.hpp"
#include "entry.hpp"
#include "graph.hpp"
#include "handle_table.hpp"
#include "work_queue.hpp"

namespace cugraft_sim {
namespace {

struct user_object {
  void* pointer = nullptr;
  CUhostFn destroy = nullptr;
  std::uint64_t references = 0;
};

// Has a lock of its own, because worker threads give references back when a launch has ended.
struct object_table {
  std::mutex mutex;
  handle_table<CUuserObject, user_object> objects;
  std::size_t alive = 0;
  std::shared_ptr<work_queue> destructors = std::make_shared<work_queue>();
};

object_table& table() noexcept {
  static auto* const instance = new object_table;  // worker threads outlive main()
  return *instance;
}

void destroy_later(std::shared_ptr<user_object> object) {
  table().destructors->push([object = std::move(object)] {
    const callback_scope in_callback;
    object->destroy(object->pointer);
    const std::lock_guard lock(table().mutex);
    --table().alive;
  });
}

bool retain(CUuserObject handle, std::uint64_t count) {
  const std::lock_guard lock(table().mutex);
  const auto object = table().objects.find(handle);
  if (object) object->references += count;
  return object != nullptr;
}

bool release(CUuserObject handle, std::uint64_t count) {
  const std::lock_guard lock(table().mutex);
  auto object = table().objects.find(handle);
  if (!object || object->references < count) return false;
  object->references -= count;
  if (object->references == 0) {
    table().objects.remove(handle);
    destroy_later(std::move(object));
  }
  return true;
}

bool is_count(unsigned count) noexcept { return count >= 1 && count <= INT_MAX; }

}  // namespace

user_references::user_references(const user_references& other) : counts_(other.counts_) {
  for (const auto& [object, count] : counts_) retain(object, count);
}

user_references& user_references::operator=(const user_references& other) {
  user_references copy(other);
  std::swap(counts_, copy.counts_);
  return *this;
}

user_references::~user_references() { clear(); }

void user_references::add(CUuserObject object, std::uint64_t count) { counts_[object] += count; }

void user_references::release(CUuserObject object, std::uint64_t count) {
  const auto held = counts_.find(object);
  if (held == counts_.end()) return;
  count = std::min(count, held->second);
  held->second -= count;
  if (held->second == 0) counts_.erase(held);
  cugraft_sim::release(object, count);
}

void user_references::clear() {
  for (const auto& [object, count] : std::exchange(counts_, {}))
    cugraft_sim::release(object, count);
}

std::size_t count_user_objects() {
  const std::lock_guard lock(table().mutex);
  return table().alive;
}

CUresult impl::user_object_create(CUuserObject* made, void* pointer, CUhostFn destroy,
                                  unsigned references, unsigned flags) {
  if (!made || !destroy || !is_count(references) || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
    return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(table().mutex);
  *made =
      table().objects.add(std::make_shared<user_object>(user_object{pointer, destroy, references}));
  ++table().alive;
  return CUDA_SUCCESS;
}

CUresult impl::user_object_retain(CUuserObject object, unsigned count) {
  return is_count(count) && retain(object, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl::user_object_release(CUuserObject object, unsigned count) {
  return is_count(count) && release(object, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl::graph_retain_user_object(CUgraph graph, CUuserObject object, unsigned count,
                                        unsigned flags) {
  std::shared_ptr<cugraft_sim::graph> found;
  if (const CUresult result = find_graph(graph, found)) return result;
  if (!is_count(count) || (flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  const bool moved = (flags & CU_GRAPH_USER_OBJECT_MOVE) != 0;
  if (!retain(object, moved ? 0 : count)) return CUDA_ERROR_INVALID_VALUE;
  found->objects.add(object, count);
  return CUDA_SUCCESS;
}

// A graph that holds fewer references gives back those that it has (an H200 takes any count).
CUresult impl::graph_release_user_object(CUgraph graph, CUuserObject object, unsigned count) {
  std::shared_ptr<cugraft_sim::graph> found;
  if (const CUresult result = find_graph(graph, found)) return result;
  if (!is_count(count)) return CUDA_ERROR_INVALID_VALUE;
  found->objects.release(object, count);
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
