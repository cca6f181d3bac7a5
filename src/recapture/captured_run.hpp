// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/fork_stream.hpp"
#include "cugraft/recapture.hpp"

namespace cugraft {

struct recapture_aside;

/// A structure that a `captured` has.
struct captured_pair {
  graph made;
  graph_exec exec;
};

/// What the copies of a `captured` share.
class captured_run {
 public:
  /// @throws usage_error
  captured_run(stream_ref stream, std::function<void(graph_builder&)> body, captured_policy policy);
  captured_run(const captured_run&) = delete;
  captured_run& operator=(const captured_run&) = delete;

  void call();
  captured_stats stats() const;
  void reset();

 private:
  class running;

  void run_body(graph_builder& builder);
  void run_eagerly();
  captured_pair& bring_up_to_date();
  recapture_options options_for(const graph& made) const;
  recapture_result recapture(captured_pair& pair, recapture_aside& aside);
  graph capture_anew();
  captured_pair& take(graph fresh);
  bool take_over(captured_pair& known, const graph& fresh);
  captured_pair& add(graph fresh, std::list<captured_pair>::iterator replaced);
  void update(captured_pair& pair);
  void evict_beyond(std::size_t kept);
  void note_broken(recapture_failure failure);
  void give_up(const std::string& because);

  stream_ref stream_;
  std::function<void(graph_builder&)> body_;
  captured_policy policy_;
  captured_stats stats_;
  std::list<captured_pair> pairs_;         // the one used last is the first
  std::vector<fork_stream> fork_streams_;  // of eager runs
  unsigned warm_up_left_;
  std::uint64_t runs_left_ = 0;  // of the body, in this call
  unsigned broken_in_row_ = 0;
  unsigned evictions_in_row_ = 0;
  bool is_running_ = false;
  bool body_threw_ = false;
  std::optional<std::chrono::steady_clock::time_point> warned_;
};

}  // namespace cugraft
