// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cugraft/context.hpp"
#include "cugraft/detail/export.hpp"
#include "cugraft/native.hpp"

namespace cugraft {

namespace detail {
struct access;
struct kernel_state;
struct library_state;
}  // namespace detail

/// Place of one parameter in a kernel's own layout, in bytes.
struct kernel_parameter {
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// A kernel with its parameter layout: a shared value. Thread-safe.
///
/// A kernel of a `library` keeps it loaded, and so do the graphs and executables that launch it. A
/// function or kernel handle from elsewhere is never owned: its module must outlive the last
/// launch.
class CUGRAFT_API kernel {
 public:
  /// Empty, as after a move: it can be assigned to, compared and destroyed, nothing else.
  kernel() noexcept = default;

  /// A function of a module. Loads it, so that no capture has to, and reads its layout.
  /// Calls `cuFuncLoad` and `cuFuncGetParamInfo`.
  /// @throws usage_error  if `function` is null
  /// @throws cuda_error
  static kernel from_native_handle(const driver& driver, CUfunction function);

  /// A kernel of a library that was loaded without cugraft, as a function of `context`.
  /// Calls `cuKernelGetFunction`, then as above.
  /// @throws usage_error, cuda_error  as above
  static kernel from_native_handle(const context& context, CUkernel kernel);

  /// The function handle.
  CUfunction get() const noexcept;

  /// The name in the image, mangled if the source did that. Valid as long as a copy of the kernel.
  std::string_view name() const noexcept;

  /// In order of declaration. Valid as long as a copy of the kernel.
  std::span<const kernel_parameter> parameters() const noexcept;

  /// Allows `bytes` of dynamic shared memory, for more than the default limit (48 KiB).
  /// Calls `cuFuncSetAttribute`.
  /// @throws usage_error, cuda_error  if that is more than can be asked for, or than the device has
  void allow_shared_memory(std::size_t bytes) const;

  /// Compares `sizes`, one per argument in bytes, with the layout.
  /// @throws usage_error  if the count or a size differs; it gives kernel, index, size wanted and
  /// given
  void require_sizes(std::span<const std::size_t> sizes) const;

  /// Whether both are the same function handle of the same driver.
  friend CUGRAFT_API bool operator==(const kernel& a, const kernel& b) noexcept;

 private:
  friend struct detail::access;

  std::shared_ptr<const detail::kernel_state> state_;
};

/// A kernel with the parameter types of its source: arguments of `launch` then convert as in a
/// function call. `Signature` is `void(P...)`.
template <class Signature>
class typed_kernel;

template <class... P>
class typed_kernel<void(P...)> {
 public:
  /// Checks the sizes once, here; launches need not.
  /// @throws usage_error  as `kernel::require_sizes`
  explicit typed_kernel(kernel kernel) : kernel_(std::move(kernel)) {
    const std::size_t sizes[] = {sizeof(P)..., 0};  // the 0 is for a kernel without parameters
    kernel_.require_sizes({sizes, sizeof...(P)});
  }

  /// The kernel without its types.
  const kernel& untyped() const noexcept { return kernel_; }

 private:
  kernel kernel_;
};

/// A loaded image of kernels: a shared value. Thread-safe.
///
/// It is unloaded after the last copy, the last of its kernels, and the last graph or executable
/// that launches one of them. Loading and unloading run in relaxed capture mode, and end nobody's
/// capture.
class CUGRAFT_API library {
 public:
  /// Empty, as after a move: it can be assigned to and destroyed, nothing else.
  library() noexcept = default;

  /// Loads PTX text, which needs no terminating zero. Calls `cuLibraryLoadData`.
  /// @throws cuda_error  if it does not compile, or holds nothing for the device
  static library from_image(const context& context, std::string_view ptx);

  /// Loads PTX, a cubin or a fatbin. Calls `cuLibraryLoadData`.
  /// @throws cuda_error  as above
  static library from_image(const context& context, std::span<const std::byte> image);

  /// Loads a file that holds any of these. Calls `cuLibraryLoadFromFile`.
  /// @throws cuda_error  as above, or if the file cannot be read
  static library from_file(const context& context, const std::filesystem::path& file);

  /// Takes over `library`, which is unloaded as one that was loaded here.
  /// @throws usage_error  if `library` is null
  static library from_native_handle(const context& context, CUlibrary library);

  /// The kernel of that name in the image. Loads it now, so that no capture has to.
  /// Calls `cuLibraryGetKernel`.
  /// @throws cuda_error  if there is none
  kernel get_kernel(std::string_view name) const;

  /// As above, with parameter types: `get_kernel<void(float*, int)>("scale")`.
  /// @throws usage_error  if their count or a size does not fit
  /// @throws cuda_error
  template <class Signature>
  typed_kernel<Signature> get_kernel(std::string_view name) const {
    return typed_kernel<Signature>(get_kernel(name));
  }

  /// The native handle.
  CUlibrary get() const noexcept;

 private:
  friend struct detail::access;

  std::shared_ptr<const detail::library_state> state_;
};

static_assert(std::is_nothrow_move_assignable_v<kernel>);
static_assert(std::is_nothrow_move_assignable_v<library>);

}  // namespace cugraft
