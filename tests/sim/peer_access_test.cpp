// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "sim/peer_fixture.hpp"

// Two devices: who reaches whose memory, copies between them, and captures over both.

namespace cugraft_sim {
namespace {

class PeerRules : public PeerTest {};

TEST_F(PeerRules, R1_2B_PeersAreTwoDevices) {
  int can = 7;
  EXPECT_EQ(cu().device_can_access_peer(&can, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cu().device_can_access_peer(&can, 0, 1000), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cu().device_can_access_peer(nullptr, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(PeerRules, R1_2C_AccessIsEnabledOnce) {
  EXPECT_EQ(cu().ctx_enable_peer_access(contexts_[0], 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  EXPECT_EQ(cu().ctx_enable_peer_access(contexts_[1], 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().ctx_disable_peer_access(contexts_[1]), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  EXPECT_EQ(cu().ctx_enable_peer_access(contexts_[1], 0), CUDA_SUCCESS);
  EXPECT_EQ(cu().ctx_enable_peer_access(contexts_[1], 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_EQ(cu().ctx_disable_peer_access(contexts_[1]), CUDA_SUCCESS);
  EXPECT_EQ(cu().ctx_disable_peer_access(contexts_[1]), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

TEST_F(PeerRules, R1_2C_AKernelReachesTheMemoryOfAPeer) {
  ASSERT_EQ(cu().ctx_enable_peer_access(contexts_[1], 0), CUDA_SUCCESS);
  EXPECT_EQ(add(streams_[0], memory_[1], 5), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(streams_[0]), CUDA_SUCCESS);
  EXPECT_EQ(read(1), 5U);
  EXPECT_EQ(cu().ctx_disable_peer_access(contexts_[1]), CUDA_SUCCESS);
}

// Access is in one direction.
TEST_F(PeerRules, R1_2C_AKernelDoesNotReachOtherMemory) {
  if (!driver_->is_simulator()) GTEST_SKIP() << "needs the simulator's control";  // ends a context
  ASSERT_EQ(cu().ctx_enable_peer_access(contexts_[1], 0), CUDA_SUCCESS);
  EXPECT_EQ(add(streams_[1], memory_[0], 5), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(streams_[1]), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(PeerRules, R1_2G_CopiesBetweenDevicesNeedNoAccess) {
  EXPECT_EQ(add(streams_[0], memory_[0], 6), CUDA_SUCCESS);
  EXPECT_EQ(copy(streams_[0]), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(streams_[0]), CUDA_SUCCESS);
  EXPECT_EQ(read(1), 6U);
  EXPECT_EQ(copy(streams_[0], 0), CUDA_SUCCESS);
  EXPECT_EQ(
      cu().memcpy_peer_async(memory_[1], nullptr, memory_[0], contexts_[0], bytes, streams_[0]),
      CUDA_SUCCESS)
      << "an address says where it is";
  EXPECT_EQ(cu().stream_synchronize(streams_[0]), CUDA_SUCCESS);
}

// Whatever access there is (H200).
TEST_F(PeerRules, R2_2_ACallForPeersEndsACapture) {
  const peer_access both(*this);
  ASSERT_EQ(cu().stream_begin_capture(streams_[0], CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(copy(streams_[0]), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph graph = nullptr;
  EXPECT_EQ(cu().stream_end_capture(streams_[0], &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(graph, nullptr);
}

TEST_F(PeerRules, R2_2_ACopyBetweenDevicesIsANode) {
  const peer_access both(*this);
  ASSERT_EQ(cu().stream_begin_capture(streams_[0], CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(add(streams_[0], memory_[0], 7), CUDA_SUCCESS);
  EXPECT_EQ(copy_by_address(streams_[0]), CUDA_SUCCESS);
  const CUgraph graph = end_capture();
  std::vector<CUgraphNode> nodes(2);
  std::size_t count = 2;
  ASSERT_EQ(cu().graph_get_nodes(graph, nodes.data(), &count), CUDA_SUCCESS);
  ASSERT_EQ(count, 2U);
  CUgraphNodeType type{};
  EXPECT_EQ(cu().graph_node_get_type(nodes[1], &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEMCPY);
  run(graph);
  EXPECT_EQ(read(1), 7U);
  EXPECT_EQ(cu().graph_destroy(graph), CUDA_SUCCESS);
}

TEST_F(PeerRules, R2_2_AStreamOfAnotherDeviceJoinsACapture) {
  const peer_access both(*this);
  ASSERT_EQ(cu().stream_begin_capture(streams_[0], CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(add(streams_[0], memory_[0], 8), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_record(events_[0], streams_[0]), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_wait_event(streams_[1], events_[0], 0), CUDA_SUCCESS);
  EXPECT_EQ(copy_by_address(streams_[1]), CUDA_SUCCESS);
  EXPECT_EQ(add(streams_[1], memory_[1], 1), CUDA_SUCCESS);
  EXPECT_EQ(cu().event_record(events_[1], streams_[1]), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_wait_event(streams_[0], events_[1], 0), CUDA_SUCCESS);
  const CUgraph graph = end_capture();
  run(graph);
  EXPECT_EQ(read(1), 9U);
  EXPECT_EQ(cu().graph_destroy(graph), CUDA_SUCCESS);
}

TEST_F(PeerRules, R4_3_TheDevicesOfACopyAreFixed) {
  CUdeviceptr here = 0;
  ASSERT_EQ(cu().mem_alloc(&here, bytes), CUDA_SUCCESS);
  const auto copy_to = [&](CUdeviceptr to) {
    EXPECT_EQ(cu().stream_begin_capture(streams_[0], CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    EXPECT_EQ(cu().memcpy_dtod_async(to, memory_[0], bytes, streams_[0]), CUDA_SUCCESS);
    return end_capture();
  };
  const CUgraph held = copy_to(here), other = copy_to(memory_[1]);
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cu().graph_instantiate_with_flags(&exec, held, 0), CUDA_SUCCESS);
  CUgraphExecUpdateResultInfo why{};
  EXPECT_EQ(cu().graph_exec_update(exec, other, &why), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(why.result, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
  EXPECT_EQ(cu().graph_exec_destroy(exec), CUDA_SUCCESS);
  for (const CUgraph each : {held, other}) EXPECT_EQ(cu().graph_destroy(each), CUDA_SUCCESS);
  EXPECT_EQ(cu().mem_free(here), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cugraft_sim
