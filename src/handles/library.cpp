// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "cugraft/error.hpp"
#include "cugraft/kernel.hpp"
#include "handles/context_scope.hpp"
#include "handles/kernel_state.hpp"
#include "handles/ownership.hpp"
#include "handles/relaxed_scope.hpp"

namespace cugraft {
namespace {

using detail::library_state;

/// What the driver's compiler has to say, for the error message.
struct compiler_log {
  std::array<char, 4096> text{};
  std::array<CUjit_option, 2> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{text.data(), reinterpret_cast<void*>(text.size())};

  static constexpr unsigned count = 2;
};

/// Makes the state first, so that nothing can fail once the driver has loaded. `load` gets the
/// place of the handle, and the options that are the same for all ways of loading.
template <class Load>
library load_library(const context& context, const char* function, const std::string& source,
                     Load&& load) {
  auto state = std::make_shared<library_state>(state_of(context));
  const relaxed_scope relaxed(*state->context->table);
  const context_scope current(context);
  compiler_log log;
  const CUresult result = load(*state->context->table, &state->handle, log);
  if (result != CUDA_SUCCESS) {
    std::string sentence = source + failure_sentence(result, function, {});
    if (log.text.front() != '\0') sentence += fmt::format(": {}", log.text.data());
    throw cuda_error(result, function, sentence);
  }
  library loaded;
  detail::access::state(loaded) = std::move(state);
  return loaded;
}

}  // namespace

namespace detail {

library_state::~library_state() {
  if (handle == nullptr) return;
  const driver_table& table = *context->table;
  const relaxed_scope relaxed(table, std::nothrow);
  const context_scope current(*context, std::nothrow);
  release_or_report(table, handle, &driver_table::library_unload, handle);
}

}  // namespace detail

library library::from_image(const context& context, std::string_view ptx) {
  return from_image(context, std::as_bytes(std::span(ptx.data(), ptx.size())));
}

library library::from_image(const context& context, std::span<const std::byte> image) {
  // The driver reads text up to a zero, which neither a view nor a span promises.
  std::vector<std::byte> terminated(image.size() + 1);
  std::copy(image.begin(), image.end(), terminated.begin());
  return load_library(context, "cuLibraryLoadData", "",
                      [&](const driver_table& table, CUlibrary* handle, compiler_log& log) {
                        return table.library_load_data(handle, terminated.data(),
                                                       log.options.data(), log.values.data(),
                                                       log.count, nullptr, nullptr, 0);
                      });
}

library library::from_file(const context& context, const std::filesystem::path& file) {
  const std::string source = fmt::format("file {}: ", file.string());
  return load_library(context, "cuLibraryLoadFromFile", source,
                      [&](const driver_table& table, CUlibrary* handle, compiler_log& log) {
                        return table.library_load_from_file(handle, file.c_str(),
                                                            log.options.data(), log.values.data(),
                                                            log.count, nullptr, nullptr, 0);
                      });
}

library library::from_native_handle(const context& context, CUlibrary handle) {
  if (handle == nullptr) throw usage_error("a library cannot be made from a null handle");
  auto state = std::make_shared<library_state>(state_of(context));
  state->handle = handle;
  library result;
  detail::access::state(result) = std::move(state);
  return result;
}

kernel library::get_kernel(std::string_view name) const {
  const driver_table& table = *state_->context->table;
  const std::string terminated(name);
  CUkernel handle = nullptr;
  const CUresult result = table.library_get_kernel(&handle, state_->handle, terminated.c_str());
  if (result != CUDA_SUCCESS)
    throw cuda_error(result, "cuLibraryGetKernel",
                     fmt::format("kernel \"{}\": {}", name,
                                 failure_sentence(result, "cuLibraryGetKernel", {state_->handle})));
  const context_scope current(*state_->context);
  return make_kernel(table, function_of(*state_->context, handle), state_);
}

CUlibrary library::get() const noexcept { return state_ != nullptr ? state_->handle : nullptr; }

}  // namespace cugraft
