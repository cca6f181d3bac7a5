// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Control surface of one loaded simulated driver: what it claims to be, what fails, what is alive.
namespace cugraft_sim {

/// Lets one call of a driver function fail.
struct fault {
  std::string function;       ///< base name, as "cuGraphClone"
  unsigned nth = 1;           ///< counted from 1, from the moment the fault is planned
  int code = 999;             ///< the CUresult that is returned
  bool after_effect = false;  ///< the call does its work first and then returns `code`
  bool from_then_on = false;  ///< the later calls fail too
};

/// Lets calls fail by chance, in a sequence that the seed fixes. They do nothing, and return one of
/// the codes. Functions that release something fail only if asked to: what they should have
/// released may be left, since no caller can know.
struct random_faults {
  std::uint64_t seed = 1;
  unsigned per_million = 0;     ///< how many of a million calls fail
  std::vector<int> codes{999};  ///< CUresults
  bool releases = false;
};

/// One driver call as it was logged.
struct call {
  std::string function;  ///< base name
  int result = 0;        ///< CUresult
};

/// What exists at this moment.
struct live_handles {
  std::size_t primary_contexts = 0;  ///< retained devices
  std::size_t contexts = 0;          ///< that programs made
  std::size_t streams = 0;
  std::size_t events = 0;
  std::size_t device_allocations = 0;
  std::size_t host_allocations = 0;
  std::size_t memory_pools = 0;  ///< without those that devices have from the start
  std::size_t libraries = 0;
  std::size_t graphs = 0;  ///< clones and scratch graphs included, child graphs not
  std::size_t graph_execs = 0;
  std::size_t user_objects = 0;       ///< whose destructor has not run yet
  std::size_t capturing_streams = 0;  ///< active or invalidated

  friend bool operator==(const live_handles&, const live_handles&) = default;
};

/// What the driver's documentation leaves open (sim/README.md explains each). The first value, 0,
/// is the default; the meaning of the others stands beside each.
enum class choice {
  recapture_failure_shows,      ///< 0 at the enqueuing call, 1 at the end of the capture only
  recapture_writes_parameters,  ///< 0 yes, 1 no: a successful re-capture leaves the old parameters
  recapture_keeps_handles,      ///< 0 yes, 1 no: every node has a new handle afterwards
  recapture_touches_executables,  ///< 0 no, 1 executables of the graph follow it
  recapture_of_clones,            ///< 0 works, 1 a cloned graph is refused (NOT_SUPPORTED)
  recapture_callback_order,  ///< 0 in creation order, at the enqueuing call; 1 all at the end, last
                             ///< first
  recapture_reports_attributes,  ///< 0 a change of attributes only calls back, 1 it does not
  recapture_compares_edge_data,  ///< 0 another edge kind is a topology mismatch, 1 it is ignored
  recapture_status_always_eligible,  ///< 0 the setters' limits decide, 1 always eligible
  recapture_null_callback,           ///< 0 INVALID_VALUE, 1 differences are applied silently
  get_nodes_order,                   ///< 0 creation order, 1 reversed
  count_                             ///< how many there are
};

/// A host function that takes the place of a kernel: runs once per launch, on a worker thread.
struct kernel_call {
  unsigned grid[3], block[3], cluster[3];
  unsigned shared_memory_bytes;
  std::span<const std::byte> arguments;  ///< in the kernel's layout
  /// As `cudaGraphSetConditional`; false where the launch has no such condition.
  std::function<bool(std::uint64_t handle, unsigned value)> set_conditional;
};
using kernel_body = std::function<void(const kernel_call&)>;

/// Controls one instance. All members are thread-safe.
class simulator {
 public:
  /// `CUDA_VERSION` style, one of 12040, 12080, 13000, 13020, 13030, 13050. To be set before a
  /// program asks the driver for its version; `CUGRAFT_SIM_VERSION` ("13.3") sets the first value.
  virtual void set_version(int version) = 0;
  virtual int version() const = 0;

  virtual void set(choice which, int value) = 0;
  virtual int get(choice which) const = 0;

  /// Number of devices, 1 unless set; to be set before `cuInit`.
  virtual void set_device_count(int count) = 0;

  virtual void plan(const fault& fault) = 0;
  /// As well as what is planned call by call, and instead of an earlier plan of this kind.
  virtual void plan(const random_faults& faults) = 0;
  /// How many calls failed by plan since the last `clear_faults`.
  virtual std::size_t faults_hit() const = 0;
  virtual void clear_faults() = 0;

  /// Calls of `function` (base name) so far, logged or not.
  virtual std::uint64_t calls(std::string_view function) const = 0;
  virtual void start_log() = 0;
  virtual std::vector<call> take_log() = 0;

  virtual live_handles live() const = 0;
  /// Depth of the calling thread's context stack.
  virtual std::size_t context_stack_depth() const = 0;
  /// Waits until all enqueued work and all destructors of user objects have run.
  virtual void settle() = 0;

  /// Puts `body` in the place of every entry named `name` in images loaded from now on.
  virtual void register_kernel(std::string_view name, kernel_body body) = 0;
  virtual void unregister_kernel(std::string_view name) = 0;

  /// Each call of the function (base name) takes so much longer from now on; 0 ends it. The driver
  /// goes on serving other threads meanwhile.
  virtual void delay(std::string_view function, unsigned microseconds) = 0;

  /// Check mode, off unless `CUGRAFT_SIM_CHECK` is "1": the process is stopped, with a sentence on
  /// stderr, by the use of a handle that is gone, by a second destruction, by a capture that is
  /// open when its stream, its thread or the process ends, and by a call of the driver from within
  /// a host function, a kernel or a destructor of a user object. Captures count that begin in check
  /// mode.
  virtual void set_check_mode(bool on) = 0;

  /// How much device and pinned memory can be allocated at a time, 16 GiB unless set; what is
  /// allocated stays.
  virtual void set_device_memory(std::uint64_t bytes) = 0;

  /// Removes a function (base name) from what the driver offers, before it is loaded.
  virtual void hide(std::string_view function) = 0;

 protected:
  ~simulator() = default;
};

/// Name and type of the function by which a loaded library gives its control surface.
inline constexpr const char* control_symbol = "cugraft_sim_control";
using control_function = simulator* (*)();

}  // namespace cugraft_sim
