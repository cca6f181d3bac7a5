// SPDX-License-Identifier: Apache-2.0
#include "check.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "calls.hpp"
#include "capture_sequence.hpp"
#include "handle_table.hpp"
#include "state.hpp"
#include "stream.hpp"

namespace cugraft_sim::check {
namespace {

std::atomic<bool>& mode() noexcept {
  static std::atomic<bool> on{false};
  return on;
}

thread_local function_id current = function_id::count_;

std::string function_name() {
  return current == function_id::count_ ? "work of a stream" : std::string(facts_of(current).name);
}

[[noreturn]] void stop(const std::string& sentence) noexcept {
  say("check mode: " + sentence);
  std::abort();
}

std::string hexadecimal(std::uintptr_t id) {
  char text[2 + 2 * sizeof id + 1];
  std::snprintf(text, sizeof text, "0x%zx", static_cast<std::size_t>(id));
  return text;
}

std::string name_of(const capture_sequence& capture) {
  return "capture " + std::to_string(capture.id) + ", begun on stream " +
         hexadecimal(id_of(capture.origin->handle));
}

bool destroys(function_id id) noexcept {
  switch (id) {
    case function_id::stream_destroy:
    case function_id::event_destroy:
    case function_id::library_unload:
    case function_id::graph_destroy:
    case function_id::graph_destroy_node:
    case function_id::graph_exec_destroy:
    case function_id::user_object_release:
      return true;
    default:
      return false;
  }
}

// A capture in another mode than relaxed can be ended by its own thread only.
struct end_of_thread {
  ~end_of_thread() {
    const auto lock = lock_state();
    for (const auto& each : open_captures())
      if (is_on() && each->thread == std::this_thread::get_id() &&
          each->mode != CU_STREAM_CAPTURE_MODE_RELAXED)
        stop("the thread of " + name_of(*each) + ", ends: a capture is ended before that");
  }
};

struct end_of_process {
  ~end_of_process() {
    const auto lock = lock_state();
    if (is_on() && !open_captures().empty())
      stop("the process ends with " + name_of(*open_captures().front()) +
           ", still open: a capture is ended before that");
  }
};

}  // namespace

void set(bool on) noexcept { mode() = on; }

bool is_on() noexcept { return mode(); }

function_scope::function_scope(function_id id) noexcept : outer_(current) { current = id; }

function_scope::~function_scope() { current = outer_; }

void dead_handle(const char* kind, std::uintptr_t id) noexcept {
  if (!is_on()) return;
  const std::string subject = function_name() + " got " + kind + " " + hexadecimal(id);
  if (destroys(current))
    stop(subject + ", which is gone already: a handle is destroyed once");
  else
    stop(subject + ", which is gone: a handle is not used after its destruction");
}

void call_from_callback() noexcept {
  if (is_on())
    stop(function_name() +
         " was called by a host function, a kernel or a destructor of a user object: these may not "
         "call the driver");
}

void begun_capture() {
  if (!is_on()) return;
  thread_local end_of_thread at_end_of_thread;
  static end_of_process at_end_of_process;
  static_cast<void>(at_end_of_thread);
  static_cast<void>(at_end_of_process);
}

void capture_without_stream(const capture_sequence& capture) noexcept {
  if (is_on())
    stop(function_name() + " got the stream of " + name_of(capture) +
         ", still open: a capture is ended before that");
}

}  // namespace cugraft_sim::check
