// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cuda_api.hpp"
#include "graph.hpp"
#include "operation.hpp"

namespace cugraft_sim {

struct capture_sequence;

/// What a re-capture does with the nodes of its capture (driver-rules 3): the k-th is compared with
/// the k-th of the graph, and takes its place.
///
/// Callbacks run on the calling thread without the driver's lock.
class recapture {
 public:
  recapture(::cugraft::newer::graph_recapture_callback callback, void* user_data)
      : callback_(callback), user_data_(user_data) {}

  /// In place of adding a node. `placed` is null where the re-capture has failed and says so at its
  /// end only (choice::recapture_failure_shows).
  CUresult take(capture_sequence& sequence, operation work, std::vector<dependency> dependencies,
                graph_node*& placed);

  /// What the end of the capture says, before the sequence is closed.
  CUresult finish(capture_sequence& sequence);

 private:
  /// A node that is to have other parameters.
  struct difference {
    std::shared_ptr<graph_node> node;
    operation now;
    bool reported = true;  ///< the callback is asked
  };

  CUresult fail(capture_sequence& sequence, operation unplaced = {});
  CUresult change(capture_sequence& sequence, difference found);
  bool ask(const difference& about) const;

  ::cugraft::newer::graph_recapture_callback callback_;
  void* user_data_;
  std::size_t position_ = 0;
  bool failed_ = false;
  std::vector<operation> unplaced_;  ///< after a failure: the addresses of allocations stay valid
  std::vector<difference> waiting_;  ///< asked about at the end (choice::recapture_callback_order)
};

}  // namespace cugraft_sim
