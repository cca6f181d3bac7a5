// SPDX-License-Identifier: Apache-2.0
#include "calls.hpp"
#include "exports.hpp"
#include "later_forms.hpp"

namespace cugraft_sim {
namespace {

void set_status(CUdriverProcAddressQueryResult* status, CUdriverProcAddressQueryResult value) {
  if (status) *status = value;
}

}  // namespace

// driver-rules 1.1. Older forms of a function than the one in the list are not modelled: who asks
// for their versions is told that the version is not sufficient.
CUresult impl::get_proc_address(const char* symbol, void** found, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult* status) {
  if (!symbol || !found || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
    return CUDA_ERROR_INVALID_VALUE;
  *found = nullptr;
  if (version > the_state().version) return CUDA_ERROR_INVALID_VALUE;
  const auto id = find_function_id(symbol);
  if (!id || !is_offered(*id)) {
    set_status(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  } else if (version < facts_of(*id).version) {
    set_status(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  } else {
    void* const later = find_later_form(*id, version);
    *found = later ? later : exported_address(*id);
    set_status(status, CU_GET_PROC_ADDRESS_SUCCESS);
  }
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
