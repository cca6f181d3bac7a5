// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cuda_api.hpp"
#include "cugraft_sim/control.hpp"
#include "handle_table.hpp"

namespace cugraft_sim {

struct context;
struct event;
struct function;
struct kernel;
struct library;
struct stream;

/// A device: what it claims to be is the same for all of them (device.cpp).
struct device {
  CUcontext handle = nullptr;        ///< of the primary context, each time the same
  std::shared_ptr<context> primary;  ///< null while nobody retains it
  unsigned retained = 0;
};

/// Everything of one loaded driver but its graphs (which keep their own tables), device memory
/// (memory.hpp) and the bookkeeping of calls (calls.hpp). Guarded by the driver's lock.
struct state {
  int version = 0;
  bool initialised = false;
  bool misconfigured = false;  ///< the environment asked for a version that there is not
  int device_count = 1;
  std::array<int, static_cast<std::size_t>(choice::count_)> choices{};
  std::vector<device> devices;  ///< made by cuInit

  handle_table<CUcontext, context> contexts;
  handle_table<CUstream, stream> streams{0x10};  // below are the legacy and the per-thread stream
  handle_table<CUevent, event> events;
  handle_table<CUlibrary, library> libraries;

  // A CUkernel may be cast to a CUfunction, so the two must never have the same number.
  std::shared_ptr<id_source> code_ids = std::make_shared<id_source>();
  handle_table<CUkernel, kernel> kernels{code_ids};
  handle_table<CUfunction, function> functions{code_ids};

  std::unordered_map<std::string, kernel_body> kernel_bodies;
};

/// The state of this loaded driver. It is never destroyed: worker threads outlive main().
state& the_state() noexcept;

/// The driver's lock. Every exported function takes it (entry.hpp), so implementations run with it
/// held; worker threads take it for short look-ups only.
std::unique_lock<std::mutex> lock_state();

/// Gives the driver's lock up and takes it again at the end of the scope: around callbacks, waits
/// and destructors. Whatever was looked up before may be gone afterwards; held objects are not.
class unlock_guard {
 public:
  unlock_guard();
  ~unlock_guard();
  unlock_guard(const unlock_guard&) = delete;
  unlock_guard& operator=(const unlock_guard&) = delete;
};

/// Whether there is a device of this number. Needs the lock.
bool is_device(CUdevice device) noexcept;

/// The value of a choice. Needs the lock.
int chosen(choice which) noexcept;

/// Adds graphs, executables and user objects; implemented beside them. Needs the lock.
void count_graph_handles(live_handles& live);

/// Says on stderr what no result code can say, as the line of an instruction that is missing.
void say(std::string_view text);

}  // namespace cugraft_sim
