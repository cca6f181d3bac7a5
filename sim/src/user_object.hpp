// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "cuda_api.hpp"

namespace cugraft_sim {

/// References to user objects that a graph or an executable holds, and gives back when it goes.
/// The destructor of an object without references runs later, on a thread of its own.
///
/// Thread safety: objects may be destroyed and copied on any thread; the counts are guarded.
class user_references {
 public:
  user_references() = default;
  user_references(const user_references& other);
  user_references& operator=(const user_references& other);
  ~user_references();

  /// Takes over references that the caller held.
  void add(CUuserObject object, std::uint64_t count);

  /// Gives back up to `count` references of `object`.
  void release(CUuserObject object, std::uint64_t count);

  /// Gives all references back.
  void clear();

 private:
  std::map<CUuserObject, std::uint64_t> counts_;
};

/// How many objects there are whose destructor has not run yet.
std::size_t count_user_objects();

}  // namespace cugraft_sim
