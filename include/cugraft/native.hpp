// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The driver's handle types, declared as the CUDA headers declare them, so that cugraft needs none
// of those headers and fits beside any version of them, before or after.
struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUfunc_st;
struct CUkern_st;
struct CUlib_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;
struct CUgraphNodeParams_st;

typedef CUctx_st* CUcontext;
typedef CUstream_st* CUstream;
typedef CUevent_st* CUevent;
typedef CUfunc_st* CUfunction;
typedef CUkern_st* CUkernel;
typedef CUlib_st* CUlibrary;
typedef CUgraph_st* CUgraph;
typedef CUgraphNode_st* CUgraphNode;
typedef CUgraphExec_st* CUgraphExec;
typedef unsigned long long CUdeviceptr;

namespace cugraft {

/// A device address as the pointer that cugraft's calls take.
inline void* device_pointer(CUdeviceptr address) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

static_assert(sizeof(CUdeviceptr) == sizeof(void*));

}  // namespace cugraft
