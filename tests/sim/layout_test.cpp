// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>

#include "cuda_api.hpp"

// The structures that programs and drivers hand each other (driver-rules 9 and 12).

namespace cugraft_sim {
namespace {

TEST(LayoutRules, R9_1_NodeParametersAre256Bytes) {
  EXPECT_EQ(sizeof(CUgraphNodeParams), 256U);
  EXPECT_EQ(alignof(CUgraphNodeParams), 8U);
  EXPECT_EQ(offsetof(CUgraphNodeParams, kernel), 16U);
  EXPECT_EQ(offsetof(CUgraphNodeParams, reserved2), 248U);
}

TEST(LayoutRules, R9_2_Kernel) {
  EXPECT_EQ(sizeof(CUDA_KERNEL_NODE_PARAMS_v3), 72U);
  EXPECT_EQ(sizeof(CUDA_KERNEL_NODE_PARAMS_v2), 72U);
  EXPECT_EQ(sizeof(CUDA_KERNEL_NODE_PARAMS_v1), 56U);
  EXPECT_EQ(offsetof(CUDA_KERNEL_NODE_PARAMS_v3, gridDimX), 8U);
  EXPECT_EQ(offsetof(CUDA_KERNEL_NODE_PARAMS_v3, kernelParams), 40U);
  EXPECT_EQ(offsetof(CUDA_KERNEL_NODE_PARAMS_v3, kern), 56U);
  EXPECT_EQ(offsetof(CUDA_KERNEL_NODE_PARAMS_v3, ctx), 64U);
}

TEST(LayoutRules, R9_2_CopyAndFill) {
  EXPECT_EQ(sizeof(CUDA_MEMCPY_NODE_PARAMS), 216U);
  EXPECT_EQ(offsetof(CUDA_MEMCPY_NODE_PARAMS, copyCtx), 8U);
  EXPECT_EQ(offsetof(CUDA_MEMCPY_NODE_PARAMS, copyParams), 16U);
  EXPECT_EQ(sizeof(CUDA_MEMCPY3D), 200U);
  EXPECT_EQ(offsetof(CUDA_MEMCPY3D, srcHost), 40U);
  EXPECT_EQ(offsetof(CUDA_MEMCPY3D, dstMemoryType), 120U);
  EXPECT_EQ(offsetof(CUDA_MEMCPY3D, WidthInBytes), 176U);
  EXPECT_EQ(sizeof(CUDA_MEMSET_NODE_PARAMS_v2), 48U);
  EXPECT_EQ(sizeof(CUDA_MEMSET_NODE_PARAMS), 40U);
}

TEST(LayoutRules, R9_2_Others) {
  EXPECT_EQ(sizeof(CUDA_HOST_NODE_PARAMS), 16U);
  EXPECT_EQ(sizeof(CUDA_EVENT_WAIT_NODE_PARAMS), 8U);
  EXPECT_EQ(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS), 120U);
  EXPECT_EQ(offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, bytesize), 104U);
  EXPECT_EQ(offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, dptr), 112U);
  EXPECT_EQ(sizeof(CUDA_MEM_FREE_NODE_PARAMS), 8U);
  EXPECT_EQ(sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS), 32U);
  EXPECT_EQ(sizeof(CUstreamBatchMemOpParams), 48U);
  EXPECT_EQ(sizeof(CUDA_CONDITIONAL_NODE_PARAMS), 32U);
  EXPECT_EQ(offsetof(CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out), 16U);
  EXPECT_EQ(offsetof(CUDA_CONDITIONAL_NODE_PARAMS, ctx), 24U);
}

// The headers of 13.4 and later give three of them a context.
TEST(LayoutRules, R9_2_R12_SizesFollowTheHeader) {
  constexpr bool has_contexts = sizeof(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2) == 32;
  EXPECT_EQ(sizeof(CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2), has_contexts ? 32U : 24U);
  EXPECT_EQ(sizeof(CUDA_EVENT_RECORD_NODE_PARAMS), has_contexts ? 16U : 8U);
  EXPECT_EQ(sizeof(CUlaunchAttribute), 72U);
  EXPECT_EQ(sizeof(CUlaunchConfig), 56U);
}

TEST(LayoutRules, R9_3_EdgeDataIsEightBytes) {
  EXPECT_EQ(sizeof(CUgraphEdgeData), 8U);
  EXPECT_EQ(offsetof(CUgraphEdgeData, to_port), 1U);
  EXPECT_EQ(offsetof(CUgraphEdgeData, type), 2U);
}

TEST(LayoutRules, R4_1_TheResultOfAnUpdateIs24Bytes) {
  EXPECT_EQ(sizeof(CUgraphExecUpdateResultInfo), 24U);
}

}  // namespace
}  // namespace cugraft_sim
