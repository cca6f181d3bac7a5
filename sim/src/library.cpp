// SPDX-License-Identifier: Apache-2.0
#include "library.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

#include "capture.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "image.hpp"
#include "state.hpp"

namespace cugraft_sim {
namespace {

// A text for the buffer that the program gave for the compiler's errors; false where it gave none.
bool write_error_log(const std::string& message, CUjit_option* options, void** values,
                     unsigned count) {
  char* buffer = nullptr;
  std::size_t size = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) buffer = static_cast<char*>(values[i]);
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      size = reinterpret_cast<std::uintptr_t>(values[i]);
  }
  if (!buffer || size == 0) return false;
  const std::size_t copied = std::min(message.size(), size - 1);
  std::memcpy(buffer, message.data(), copied);
  buffer[copied] = '\0';
  return true;
}

kernel_body find_body(const std::string& name) {
  const auto& bodies = the_state().kernel_bodies;
  const auto found = bodies.find(name);
  return found == bodies.end() ? kernel_body() : found->second;
}

CUlibrary add_library(std::shared_ptr<const ptx::ptx_module> module) {
  auto made = std::make_shared<library>();
  made->module = module;
  made->handle = the_state().libraries.add(made);
  for (const ptx::entry& entry : module->entries()) {
    auto code = std::make_shared<kernel>();
    code->owner = made->handle;
    code->name = entry.name;
    code->module = module;
    code->entry = &entry;
    code->body = find_body(entry.name);
    code->handle = the_state().kernels.add(code);
    made->kernels.push_back(code->handle);
  }
  return made->handle;
}

std::shared_ptr<global_block> globals_in(library& of, const context& where) {
  std::shared_ptr<global_block>& found = of.globals[&where];
  if (!found) found = std::make_shared<global_block>(*of.module);
  return found;
}

std::shared_ptr<function> function_in(const std::shared_ptr<kernel>& code,
                                      const std::shared_ptr<context>& where) {
  state& all = the_state();
  if (const auto found = code->functions.find(where.get()); found != code->functions.end())
    return all.functions.find(found->second);
  auto made = std::make_shared<function>();
  made->code = code;
  made->owner = where;
  made->globals = globals_in(*all.libraries.find(code->owner), *where);
  made->max_dynamic_shared_bytes -= static_cast<int>(code->entry->static_shared_bytes);
  made->handle = all.functions.add(made);
  code->functions.emplace(where.get(), made->handle);
  return made;
}

}  // namespace

global_block::global_block(const ptx::ptx_module& of)
    : bytes_(nullptr, aligned_delete{std::max<std::size_t>(of.globals_alignment(), 16)}) {
  const std::size_t alignment = bytes_.get_deleter().alignment;
  bytes_.reset(static_cast<std::byte*>(
      ::operator new(std::max<std::size_t>(of.globals_size(), 1), std::align_val_t(alignment))));
  of.initialise_globals(bytes_.get());
}

void global_block::aligned_delete::operator()(std::byte* bytes) const noexcept {
  ::operator delete(bytes, std::align_val_t(alignment));
}

CUresult find_function(CUfunction handle, const std::shared_ptr<context>& where,
                       std::shared_ptr<function>& found) {
  state& all = the_state();
  found = all.functions.find(handle);
  if (found) return CUDA_SUCCESS;
  const auto code = all.kernels.find(reinterpret_cast<CUkernel>(handle));
  if (!code) return CUDA_ERROR_INVALID_HANDLE;
  found = function_in(code, where);
  return CUDA_SUCCESS;
}

void forget_code_of(const context& gone) {
  state& all = the_state();
  all.kernels.for_each([&](kernel& each) {
    const auto function = each.functions.extract(&gone);
    if (!function.empty()) all.functions.remove(function.mapped());
  });
  all.libraries.for_each([&](library& each) { each.globals.erase(&gone); });
}

CUresult impl::library_load_data(CUlibrary* made, const void* image, CUjit_option* options,
                                 void** values, unsigned option_count, CUlibraryOption*, void**,
                                 unsigned) {
  if (!made || !image || (option_count > 0 && (!options || !values)))
    return CUDA_ERROR_INVALID_VALUE;
  loaded_image loaded = load_image(image);
  if (loaded.result != CUDA_SUCCESS) {
    if (!write_error_log(loaded.message, options, values, option_count)) say(loaded.message);
    return loaded.result;
  }
  *made = add_library(std::move(loaded.module));
  return CUDA_SUCCESS;
}

CUresult impl::library_load_from_file(CUlibrary* made, const char* path, CUjit_option* options,
                                      void** values, unsigned option_count,
                                      CUlibraryOption* library_options, void** library_values,
                                      unsigned library_option_count) {
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "rb"), &std::fclose);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  std::string image;
  std::array<char, 4096> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), file.get()))
    image.append(part.data(), count);
  return library_load_data(made, image.c_str(), options, values, option_count, library_options,
                           library_values, library_option_count);
}

CUresult impl::library_unload(CUlibrary handle) {
  if (const CUresult result = capture_guard_unsafe()) return result;
  state& all = the_state();
  const auto gone = all.libraries.remove(handle);
  if (!gone) return CUDA_ERROR_INVALID_HANDLE;
  for (const CUkernel each : gone->kernels) {
    const auto kernel = all.kernels.remove(each);
    for (const auto& [where, function] : kernel->functions) all.functions.remove(function);
  }
  return CUDA_SUCCESS;
}

CUresult impl::library_get_kernel(CUkernel* found, CUlibrary handle, const char* name) {
  if (!found || !name) return CUDA_ERROR_INVALID_VALUE;
  const auto where = the_state().libraries.find(handle);
  if (!where) return CUDA_ERROR_INVALID_HANDLE;
  for (const CUkernel each : where->kernels)
    if (the_state().kernels.find(each)->name == name) {
      *found = each;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult impl::kernel_get_function(CUfunction* found, CUkernel handle) {
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<context> current;
  if (const CUresult result = current_context(current)) return result;
  const auto code = the_state().kernels.find(handle);
  if (!code) return CUDA_ERROR_INVALID_HANDLE;
  *found = function_in(code, current)->handle;
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
