// SPDX-License-Identifier: Apache-2.0
#include "cugraft/kernel.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "cugraft/error.hpp"
#include "driver/call.hpp"
#include "handles/context_scope.hpp"
#include "handles/kernel_state.hpp"
#include "handles/relaxed_scope.hpp"

namespace cugraft {
namespace {

std::string name_of(const driver_table& table, CUfunction function) {
  const char* name = nullptr;
  call(table, &driver_table::func_get_name, &name, function);
  return name != nullptr ? name : "";
}

/// The count can be asked from 13.2 on only; before, it is where the driver refuses an index.
std::vector<kernel_parameter> layout_of(const driver_table& table, CUfunction function) {
  std::vector<kernel_parameter> layout;
  for (;;) {
    kernel_parameter parameter;
    const CUresult result =
        table.func_get_param_info(function, layout.size(), &parameter.offset, &parameter.size);
    if (result == CUDA_ERROR_INVALID_VALUE) return layout;
    check(result, "cuFuncGetParamInfo", function);
    layout.push_back(parameter);
  }
}

template <class Handle>
void require_handle(Handle handle, const char* kind) {
  if (handle == nullptr)
    throw usage_error(fmt::format("a kernel cannot be made from a null {}", kind));
}

}  // namespace

kernel make_kernel(const driver_table& table, CUfunction function,
                   std::shared_ptr<const detail::library_state> library) {
  driver_of(table).require(feature::parameter_layouts);
  {
    const relaxed_scope relaxed(table);
    call(table, &driver_table::func_load, function);
  }
  auto state = std::make_shared<detail::kernel_state>();
  state->table = &table;
  state->function = function;
  state->name = name_of(table, function);
  state->parameters = layout_of(table, function);
  state->library = std::move(library);
  kernel result;
  detail::access::state(result) = std::move(state);
  return result;
}

CUfunction function_of(const detail::context_state& context, CUkernel kernel) {
  const relaxed_scope relaxed(*context.table);  // it may load the module
  const context_scope current(context);         // for which context is said in no other way
  CUfunction function = nullptr;
  call(*context.table, &driver_table::kernel_get_function, &function, kernel);
  return function;
}

kernel kernel::from_native_handle(const driver& driver, CUfunction function) {
  require_handle(function, "function");
  return make_kernel(table_of(driver), function, nullptr);
}

kernel kernel::from_native_handle(const context& context, CUkernel kernel) {
  require_handle(kernel, "kernel");
  const detail::context_state& home = *state_of(context);
  const context_scope current(home);
  return make_kernel(*home.table, function_of(home, kernel), nullptr);
}

CUfunction kernel::get() const noexcept { return state_ != nullptr ? state_->function : nullptr; }

std::string_view kernel::name() const noexcept { return state_->name; }

std::span<const kernel_parameter> kernel::parameters() const noexcept { return state_->parameters; }

void kernel::allow_shared_memory(std::size_t bytes) const {
  if (bytes > std::numeric_limits<int>::max())
    throw usage_error(
        fmt::format("kernel \"{}\" cannot have {} bytes of shared memory", name(), bytes));
  call(*state_->table, &driver_table::func_set_attribute, state_->function,
       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes));
}

void kernel::require_sizes(std::span<const std::size_t> sizes) const {
  const auto& wanted = state_->parameters;
  if (sizes.size() != wanted.size())
    throw usage_error(fmt::format("kernel \"{}\" takes {} arguments, but {} were given", name(),
                                  wanted.size(), sizes.size()));
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != wanted[i].size)
      throw usage_error(fmt::format("argument {} of kernel \"{}\" has {} bytes, but {} were given",
                                    i, name(), wanted[i].size, sizes[i]));
}

bool operator==(const kernel& a, const kernel& b) noexcept {
  if (a.state_ == nullptr || b.state_ == nullptr) return a.state_ == b.state_;
  return a.state_->table == b.state_->table && a.state_->function == b.state_->function;
}

}  // namespace cugraft
