// SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"
#include "exports.hpp"
#include "forms.hpp"

namespace cugraft_sim {
namespace {

void set_status(CUdriverProcAddressQueryResult* status, CUdriverProcAddressQueryResult value) {
  if (status) *status = value;
}

}  // namespace

// driver-rules 1.1.
CUresult impl::get_proc_address(const char* symbol, void** found, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult* status) {
  if (!symbol || !found || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
    return CUDA_ERROR_INVALID_VALUE;
  *found = nullptr;
  if (version > the_state().version) return CUDA_ERROR_INVALID_VALUE;
  const auto id = find_function_id(symbol);
  if (!id || !is_offered(*id)) {
    set_status(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    return CUDA_SUCCESS;
  }
  const bool per_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  *found =
      find_form(*id, version, per_thread ? null_stream_is::per_thread : null_stream_is::legacy);
  set_status(status,
             *found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  return CUDA_SUCCESS;
}

CUresult impl::get_proc_address_v1(const char* symbol, void** found, int version,
                                   cuuint64_t flags) {
  return get_proc_address(symbol, found, version, flags, nullptr);
}

}  // namespace cugraft_sim
