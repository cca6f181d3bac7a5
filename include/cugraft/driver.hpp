// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>
#include <type_traits>

#include "cugraft/detail/export.hpp"

namespace cugraft {

namespace detail {
struct access;  // how the library's own sources reach the private state of its classes
struct driver_table;
}  // namespace detail

/// What a driver may lack. The version in which it came is in each line (driver rules, 1.2).
enum class feature {
  parameter_layouts,   ///< 12.4: sizes and offsets of a kernel's parameters
  edge_data,           ///< 12.3: programmatic edges
  capture_to_graph,    ///< 12.3: capture into an existing graph
  conditional_nodes,   ///< 12.3: if and while
  conditional_switch,  ///< 12.8: switch, and if with an else
  child_graph_move,    ///< 12.9: a child graph moved in instead of cloned
  node_ids,            ///< 13.1: ids of graphs and nodes, as profilers show them
  node_params_query,   ///< 13.2: parameters of any node kind read back, contexts included
  recapture_to_graph,  ///< 13.3: `cuStreamBeginRecaptureToGraph`, the engine `native`
};

/// The driver version that brought `feature`: 1000 * major + 10 * minor, so 13030 for
/// `recapture_to_graph`.
CUGRAFT_API int required_version(feature feature) noexcept;

/// A loaded CUDA driver: one pointer to its table of functions, passed by value.
///
/// Tables are immutable and never unloaded; loading the same file again gives the same one. Drivers
/// of different files live side by side, each with the handles made from it. Thread-safe. Minimum
/// driver: 12.4.
class CUGRAFT_API driver {
 public:
  /// Loads the file that the environment variable `CUGRAFT_DRIVER` names, else the system's driver
  /// (`libcuda.so.1`). Calls `cuInit`.
  /// @throws error              if it cannot be loaded, or lacks a function that every driver has
  /// @throws unsupported_error  if it is older than 12.4
  /// @throws cuda_error         if it does not initialise, for want of a device for instance
  static driver load();

  /// Loads the driver in the file `library`.
  /// @throws error, unsupported_error, cuda_error  as above
  static driver load(const std::filesystem::path& library);

  /// 1000 * major + 10 * minor, as `cuDriverGetVersion` says.
  int version() const noexcept;

  /// Whether this driver has all functions of `feature`.
  bool supports(feature feature) const noexcept;

  /// Asks for `feature`; `instead` says what to do without it and goes into the error.
  /// @throws unsupported_error  if this driver lacks it
  void require(feature feature, std::string_view instead = {}) const;

  /// The address of a driver function, for calling what cugraft does not wrap; null where this
  /// driver has none. Calls `cuGetProcAddress`.
  ///
  /// `name` is the base name, as "cuStreamGetId", without an ABI suffix; `version` the one whose
  /// signature is wanted. What is asked for is the lesser of `version` and this driver's own,
  /// because a driver refuses versions above its own (driver rules, 1.1).
  void* entry_point(std::string_view name, int version) const;

  /// Number of devices. Calls `cuDeviceGetCount`.
  /// @throws cuda_error
  int device_count() const;

  /// The file that was loaded.
  const std::filesystem::path& path() const noexcept;

  /// Whether both are the same loaded file.
  friend bool operator==(const driver&, const driver&) = default;

 private:
  friend struct detail::access;

  explicit driver(const detail::driver_table& table) noexcept;

  const detail::driver_table* table_;
};

static_assert(std::is_trivially_copyable_v<driver> && sizeof(driver) == sizeof(void*));

}  // namespace cugraft
