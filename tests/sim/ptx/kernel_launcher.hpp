// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/module.hpp"
#include "ptx/run.hpp"
#include "sim/ptx/device_memory.hpp"

namespace cugraft_sim::ptx::testing {

/// A module with its globals, memory and launches, as a context holds it.
class kernel_launcher {
 public:
  explicit kernel_launcher(std::string_view text, hook_table hooks = {});

  const ptx_module& code() const { return *code_; }
  device_memory& memory() { return memory_; }

  /// What the next launches use; their parameters are set by `run`.
  launch& how() { return how_; }

  std::byte* globals() { return reinterpret_cast<std::byte*>(globals_.data()); }

  /// Packs the arguments by the kernel's layout, and runs it.
  template <class... Arguments>
  run_result run(std::string_view kernel, const Arguments&... arguments) {
    const entry& found = find(kernel);
    std::vector<std::byte> packed(found.parameter_bytes);
    std::size_t index = 0;
    (pack(packed, found, index++, &arguments, sizeof arguments), ...);
    return run_packed(found, packed, index);
  }

 private:
  const entry& find(std::string_view kernel) const;
  static void pack(std::vector<std::byte>& to, const entry& kernel, std::size_t index,
                   const void* from, std::size_t size);
  run_result run_packed(const entry& kernel, const std::vector<std::byte>& packed,
                        std::size_t count);

  std::shared_ptr<const ptx_module> code_;
  std::vector<std::uint64_t> globals_;
  device_memory memory_;
  launch how_;
};

inline kernel_launcher::kernel_launcher(std::string_view text, hook_table hooks)
    : code_(ptx_module::load(text, std::move(hooks))), globals_((code_->globals_size() + 7) / 8) {
  code_->initialise_globals(globals());
  how_.globals = globals();
}

inline const entry& kernel_launcher::find(std::string_view kernel) const {
  const entry* found = code_->find_entry(kernel);
  if (found == nullptr) throw std::invalid_argument("no kernel " + std::string(kernel));
  return *found;
}

inline void kernel_launcher::pack(std::vector<std::byte>& to, const entry& kernel,
                                  std::size_t index, const void* from, std::size_t size) {
  const parameter& where = kernel.parameters.at(index);
  if (where.size != size) throw std::invalid_argument("a parameter of another size");
  std::memcpy(to.data() + where.offset, from, size);
}

inline run_result kernel_launcher::run_packed(const entry& kernel,
                                              const std::vector<std::byte>& packed,
                                              std::size_t count) {
  if (count != kernel.parameters.size()) throw std::invalid_argument("parameters are missing");
  how_.parameters = packed;
  const run_result result = ptx::run(*code_, kernel, how_, memory_);
  how_.parameters = {};
  return result;
}

/// The text of a kernel file under `tests/support/kernels/`.
inline std::string read_kernels(std::string_view name) {
  const std::string path = CUGRAFT_TEST_DATA "/support/kernels/" + std::string(name);
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// PTX with one kernel `test(.param .u64 a, .param .u64 b)` of this body; both are in %a and %b.
inline std::string kernel_text(std::string_view body, std::string_view declarations = "") {
  return ".version 8.4\n.target sm_90\n.address_size 64\n" + std::string(declarations) +
         "\n.visible .entry test(.param .u64 p_a, .param .u64 p_b)\n{\n"
         ".reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<16>;\n.reg .b64 %l<16>;\n"
         ".reg .b64 %a, %b;\n"
         "ld.param.u64 %a, [p_a];\nld.param.u64 %b, [p_b];\n" +
         std::string(body) + "\nret;\n}\n";
}

}  // namespace cugraft_sim::ptx::testing
