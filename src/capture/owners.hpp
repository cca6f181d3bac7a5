// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "driver/table.hpp"

// Who keeps what a graph's nodes point to: kernels, host functions, owners given by `keep`.

namespace cugraft {

/// The same owner, released in relaxed mode wherever its last copy goes: owners may call CUDA then,
/// and that ends nobody's capture.
std::shared_ptr<const void> released_relaxed(const driver_table& table,
                                             std::shared_ptr<const void> owner);

/// Whether two owners that were given are one: the same object in the same care.
bool same_owner(const std::shared_ptr<const void>& a,
                const std::shared_ptr<const void>& b) noexcept;

/// What foreign code attached to a graph lives as long as that: an owner that destroys it.
std::shared_ptr<const void> graph_as_owner(const driver_table& table, CUgraph graph);

/// The same of a clone: user objects cannot be listed, and a clone holds them too (driver facts).
/// @throws cuda_error
std::shared_ptr<const void> clone_as_owner(const driver_table& table, CUgraph graph);

using owner_list = std::vector<std::shared_ptr<const void>>;

/// Whether each of the one is the same as that of the other, in this order.
bool same_owners(const owner_list& a, const owner_list& b) noexcept;

/// What one generation of a graph needs alive. Immutable once it is shared by the graph and the
/// executables that run it.
struct generation_record {
  owner_list node_owners;               ///< without repetitions
  owner_list kept;                      ///< in the order of the calls of `keep`
  std::shared_ptr<const void> foreign;  ///< the captured graph, with what foreign code attached
};

using record_ptr = std::shared_ptr<const generation_record>;
using record_list = std::list<record_ptr>;  // handed on without allocating, so that it cannot fail

/// Takes what must not be destroyed where it is let go: a user object's destructor runs on a thread
/// of the driver and must not call CUDA (driver rules, 6.4), and owners may do so. A worker
/// destroys it. Thread-safe.
void release_later(record_list records) noexcept;

/// Destroys on the calling thread what `release_later` was given and the worker has not taken.
void drain_released() noexcept;

/// What the launches of one executable need, held by a user object that the executable refers to:
/// the driver destroys it after the executable and its last launch (driver rules, 6.4).
class owner_box {
 public:
  /// Makes the user object with one reference, which is the box's own.
  /// @throws cuda_error
  explicit owner_box(const driver_table& table);

  owner_box(const owner_box&) = delete;
  owner_box& operator=(const owner_box&) = delete;

  /// Gives the box's reference back; the content stays as long as an executable refers to it.
  ~owner_box();

  CUuserObject object() const noexcept { return object_; }

  /// What the executable runs now.
  const record_ptr& current() const noexcept { return current_; }

  /// Makes the one record of `next` what the executable runs. The former one is retired, since
  /// launches that are enqueued may need it, unless nothing was launched with it.
  /// @return whether it was another
  bool replace(record_list next, bool was_launched = true) noexcept;

  /// Takes the last `replace` back, which said that it was another; nothing was launched with it.
  void undo_replace() noexcept;

  /// Lets go of the record that the last `replace` retired: nothing was launched with it.
  void forget_former() noexcept;

  /// Lets go of the `count` oldest retired records, which no launch needs any more.
  void release_retired(std::size_t count) noexcept;

  std::size_t retired_count() const noexcept;

 private:
  struct content;

  const driver_table* table_;
  std::shared_ptr<content> content_;
  record_ptr current_;
  CUuserObject object_ = nullptr;
};

}  // namespace cugraft
