// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/error.hpp"
#include "ptx/hooks.hpp"

namespace cugraft_sim::ptx {

struct program;

/// Threads of a block, blocks of a grid or blocks of a cluster.
struct dimensions {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;

  bool operator==(const dimensions&) const = default;
};

/// Where a kernel parameter lies in the parameter buffer, as `cuFuncGetParamInfo` tells it.
struct parameter {
  std::size_t offset = 0;
  std::size_t size = 0;
  std::size_t alignment = 1;

  bool operator==(const parameter&) const = default;
};

/// A kernel of a module.
struct entry {
  std::string name;
  std::vector<parameter> parameters;
  std::size_t parameter_bytes = 0;             ///< end of the last parameter
  std::size_t static_shared_bytes = 0;         ///< of the kernel and of the functions that it calls
  std::size_t local_bytes = 0;                 ///< of the kernel's own frame, per thread
  std::optional<dimensions> max_threads;       ///< `.maxntid`; only the product is a limit
  std::optional<dimensions> required_threads;  ///< `.reqntid`
  std::optional<dimensions> required_cluster;  ///< `.reqnctapercluster`
  bool explicit_cluster = false;               ///< `.explicitcluster`
  std::size_t index = 0;                       ///< its place among the module's entries
};

/// A `.global` or `.const` variable, as `cuModuleGetGlobal` finds it.
struct global_variable {
  std::string name;
  std::size_t offset = 0;  ///< in the module's block of globals
  std::size_t size = 0;
  bool constant = false;
};

/// PTX text, parsed and decoded for the interpreter.
///
/// Thread safety: never changes after loading; several launches may run it at the same time.
class ptx_module {
 public:
  /// Parses and decodes `text`. A trailing null, as in the image given to a driver, is ignored.
  /// @throws load_error  for what is not PTX, for every instruction that the interpreter lacks,
  ///                     and for a call of an external function without an entry in `hooks`
  static std::shared_ptr<const ptx_module> load(std::string_view text, hook_table hooks = {});

  ~ptx_module();
  ptx_module(const ptx_module&) = delete;
  ptx_module& operator=(const ptx_module&) = delete;

  /// `.version` as major * 10 + minor: 84 for PTX 8.4.
  unsigned version() const noexcept;

  /// The number in `.target`: 75 for sm_75, 90 for sm_90a.
  unsigned target() const noexcept;

  /// The kernels, in the order of the text.
  std::span<const entry> entries() const noexcept;

  /// The kernel of this name, or null.
  const entry* find_entry(std::string_view name) const noexcept;

  /// The variables that live as long as the module is loaded.
  std::span<const global_variable> variables() const noexcept;

  /// The variable of this name, or null.
  const global_variable* find_variable(std::string_view name) const noexcept;

  /// Size of the block that holds the variables; each load of the module into a context has one of
  /// its own. Zero where there are none.
  std::size_t globals_size() const noexcept;

  /// How the block has to be aligned.
  std::size_t globals_alignment() const noexcept;

  /// Writes the variables' initial values to `block`, addresses within the block included.
  void initialise_globals(std::byte* block) const;

  /// The decoded code, for the runner.
  const program& code() const noexcept { return *program_; }

 private:
  explicit ptx_module(std::unique_ptr<const program> code);

  std::unique_ptr<const program> program_;
};

}  // namespace cugraft_sim::ptx
