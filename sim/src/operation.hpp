// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "cuda_api.hpp"
#include "event.hpp"
#include "graph_memory.hpp"
#include "ptx/module.hpp"

namespace cugraft_sim {

struct context;
class condition_values;
struct function;
struct graph;

/// The bytes of a launch attribute's value.
using attribute_value = std::array<std::byte, sizeof(CUlaunchAttributeValue)>;

/// Launch attributes by CUlaunchAttributeID; those that only a launch has are not among them.
using attribute_list = std::map<int, attribute_value>;

struct kernel_operation {
  CUfunction function = nullptr;  ///< of the context, also where a CUkernel was launched
  CUkernel kernel = nullptr;
  ptx::dimensions grid;
  ptx::dimensions block;
  unsigned shared_bytes = 0;
  std::vector<std::byte> arguments;  ///< packed, as long as the kernel's parameters
  bool by_extra = false;             ///< the arguments came as one buffer
  attribute_list attributes;
  std::shared_ptr<const cugraft_sim::function> code;  ///< what `function` stands for
};

struct copy_operation {
  CUDA_MEMCPY3D parameters{};  ///< with the memory types that were given, UNIFIED by cuMemcpyAsync
  bool captured_with_rows = false;  ///< its node came from a stream call of several rows
};

struct fill_operation {
  CUDA_MEMSET_NODE_PARAMS parameters{};
};

struct host_operation {
  CUhostFn function = nullptr;
  void* user_data = nullptr;
};

struct event_record_operation {
  CUevent event = nullptr;
  std::shared_ptr<pending_record> pending;  ///< set by `prepare`
};

struct event_wait_operation {
  CUevent event = nullptr;
  std::shared_ptr<event_record> awaited;  ///< set by `prepare`; null if there is nothing to await
};

struct empty_operation {};

struct batch_operation {
  std::vector<CUstreamBatchMemOpParams> operations;
};

/// A graph inside a graph. In an executable its nodes run from an executable of its own.
struct child_operation {
  std::shared_ptr<graph> content;  ///< the node's own; null in executables
};

/// A choice between graphs by a condition that kernels set. In an executable the bodies run from
/// executables of their own.
struct conditional_operation {
  cuuint64_t condition = 0;                     ///< its handle
  int kind = 0;                                 ///< CUgraphConditionalNodeType
  unsigned size = 0;                            ///< how many bodies there are
  std::vector<std::shared_ptr<graph>> bodies;   ///< the node's own; none in executables
  std::shared_ptr<std::vector<CUgraph>> shown;  ///< the array that the driver hands out
};

/// What a stream call does when it is enqueued, and a graph node when it runs.
struct operation {
  CUcontext context = nullptr;
  std::variant<empty_operation, kernel_operation, copy_operation, fill_operation, host_operation,
               event_record_operation, event_wait_operation, batch_operation, child_operation,
               conditional_operation, alloc_operation, free_operation>
      what;
};

/// Parts of a launch that no node keeps.
struct launch_extras {
  bool programmatic_serialization = false;  ///< launch attribute 6
  CUevent programmatic_event = nullptr;     ///< launch attribute 7
  int programmatic_event_flags = 0;
  bool trigger_at_block_start = false;
  CUevent completion_event = nullptr;  ///< launch attribute 12
  int completion_event_flags = 0;
};

/// To be called, with the driver's lock held, on the copy of an operation that is about to be
/// enqueued: connects event operations with the records of this moment. Operations kept in nodes
/// are never prepared.
CUresult prepare(operation& enqueued);

/// Runs a prepared operation on the calling thread, which must not hold the driver's lock. Any
/// other result than success is the failure of the context's work. Kernels of a graph may set its
/// conditions.
CUresult execute(const operation& prepared, condition_values* conditions = nullptr);

/// The cluster size of a launch: as the attribute says, where that is missing or 0 x 0 x 0 as the
/// image does, else 1 x 1 x 1.
ptx::dimensions cluster_of(const kernel_operation& kernel);

}  // namespace cugraft_sim
