// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "sim/graph_fixture.hpp"

namespace cugraft_sim {
namespace {

class AttributeRules : public GraphTest {
 protected:
  CUkernelNodeAttrValue get(CUgraphNode of, int id) {
    CUkernelNodeAttrValue found{};
    EXPECT_EQ(cu().graph_kernel_node_get_attribute(of, static_cast<CUkernelNodeAttrID>(id), &found),
              CUDA_SUCCESS);
    return found;
  }

  CUresult set(CUgraphNode of, int id, const CUkernelNodeAttrValue& value) {
    return cu().graph_kernel_node_set_attribute(of, static_cast<CUkernelNodeAttrID>(id), &value);
  }

  static CUkernelNodeAttrValue cluster(unsigned x, unsigned y = 1, unsigned z = 1) {
    CUkernelNodeAttrValue value{};
    value.clusterDim.x = x;
    value.clusterDim.y = y;
    value.clusterDim.z = z;
    return value;
  }

  // A node whose grid has eight blocks.
  CUgraphNode wide_node(CUstream on) {
    CUlaunchConfig config = one_block(on, 1);
    config.gridDimX = 8;
    const CUgraph graph = capture([&] {
      EXPECT_EQ(cu().launch_kernel_ex(&config, nothing_, nullptr, nullptr), CUDA_SUCCESS);
    });
    return nodes(graph).at(0);
  }

  static constexpr int cluster_id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  static constexpr int priority_id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
};

TEST_F(Facts, TheseAttributesAreReadable) {
  const CUgraphNode node = nodes(chain(1)).at(0);
  std::vector<int> readable;
  for (int id = 0; id <= 17; ++id) {
    CUkernelNodeAttrValue value{};
    const CUresult result =
        cu().graph_kernel_node_get_attribute(node, static_cast<CUkernelNodeAttrID>(id), &value);
    if (result == CUDA_SUCCESS)
      readable.push_back(id);
    else
      EXPECT_EQ(result, CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_EQ(readable, (std::vector<int>{1, 2, 4, 5, 8, 9, 10, 13, 14}));
}

TEST_F(Facts, AGetterWritesNoMoreThanTheAttribute) {
  const CUgraphNode node = nodes(chain(1)).at(0);
  CUkernelNodeAttrValue value;
  std::memset(&value, 0xcd, sizeof value);
  ASSERT_EQ(
      cu().graph_kernel_node_get_attribute(
          node, static_cast<CUkernelNodeAttrID>(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION), &value),
      CUDA_SUCCESS);
  unsigned char bytes[16];
  std::memcpy(bytes, &value, sizeof bytes);
  EXPECT_EQ(bytes[11], 0) << "no cluster";
  EXPECT_EQ(bytes[12], 0xcd);
}

TEST_F(AttributeRules, DefaultsAreThoseOfThePlainLaunch) {
  const CUgraphNode node = nodes(chain(1)).at(0);
  EXPECT_EQ(get(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative, 0);
  EXPECT_EQ(get(node, cluster_id).clusterDim.x, 0U);
  EXPECT_EQ(get(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
                .clusterSchedulingPolicyPreference,
            CU_CLUSTER_SCHEDULING_POLICY_SPREAD);
  EXPECT_EQ(get(node, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP).memSyncDomainMap.remote, 1);
}

TEST_F(AttributeRules, R1_4_PriorityIsCopiedFromTheStream) {
  const CUstream urgent = make_stream(CU_STREAM_NON_BLOCKING, -3);
  begin(urgent);
  ASSERT_EQ(launch(urgent), CUDA_SUCCESS);
  EXPECT_EQ(get(nodes(end(urgent)).at(0), priority_id).priority, -3);
  EXPECT_EQ(cu().stream_destroy(urgent), CUDA_SUCCESS);
}

TEST_F(AttributeRules, R1_4_LaunchAttributesBecomeTheNodes) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  const CUgraph graph =
      capture([&] { EXPECT_EQ(launch_with(first(), &attribute, 1), CUDA_SUCCESS); });
  EXPECT_EQ(get(nodes(graph).at(0), CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative, 1);
}

TEST_F(AttributeRules, APriorityIsClampedToTheDevicesRange) {
  int least = 0, greatest = 0;
  ASSERT_EQ(cu().ctx_get_stream_priority_range(&least, &greatest), CUDA_SUCCESS);
  const CUgraphNode node = nodes(chain(1)).at(0);
  CUkernelNodeAttrValue value{};
  value.priority = greatest - 10;
  ASSERT_EQ(set(node, priority_id, value), CUDA_SUCCESS);
  EXPECT_EQ(get(node, priority_id).priority, greatest);
}

TEST_F(AttributeRules, R1_4_AClusterHasToDivideTheGrid) {
  const CUgraphNode node = wide_node(first());
  EXPECT_EQ(set(node, cluster_id, cluster(3)), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  EXPECT_EQ(set(node, cluster_id, cluster(2)), CUDA_SUCCESS);
  EXPECT_EQ(get(node, cluster_id).clusterDim.x, 2U);
}

TEST_F(Facts, AClusterSizeOfZeroIsRefused) {
  CUlaunchConfig config = one_block(first(), 1);
  config.gridDimX = 8;
  const CUgraph graph = capture(
      [&] { EXPECT_EQ(cu().launch_kernel_ex(&config, nothing_, nullptr, nullptr), CUDA_SUCCESS); });
  CUkernelNodeAttrValue value{};
  value.clusterDim.y = value.clusterDim.z = 1;
  EXPECT_EQ(cu().graph_kernel_node_set_attribute(
                nodes(graph).at(0),
                static_cast<CUkernelNodeAttrID>(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION), &value),
            CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

TEST_F(AttributeRules, R1_4_ANewGridHasToFitTheCluster) {
  const CUgraphNode node = wide_node(first());
  ASSERT_EQ(set(node, cluster_id, cluster(4)), CUDA_SUCCESS);
  CUDA_KERNEL_NODE_PARAMS changed = kernel(node);
  changed.gridDimX = 6;
  EXPECT_EQ(cu().graph_kernel_node_set_params(node, &changed), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

TEST_F(AttributeRules, AttributesOfStreamsAndLaunchesAreNotTheNodes) {
  const CUgraphNode node = nodes(chain(1)).at(0);
  for (const int id : {0, 3, 6, 7, 12, 15})
    EXPECT_EQ(set(node, id, {}), CUDA_ERROR_INVALID_VALUE) << id;
}

TEST_F(AttributeRules, AttributesAreOfKernelNodes) {
  const CUgraph graph = capture([&] { EXPECT_EQ(fill(first()), CUDA_SUCCESS); });
  const CUgraphNode other = nodes(graph).at(0);
  const CUgraphNode node = nodes(chain(1)).at(0);
  CUkernelNodeAttrValue value{};
  EXPECT_EQ(cu().graph_kernel_node_get_attribute(
                other, static_cast<CUkernelNodeAttrID>(priority_id), &value),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_kernel_node_copy_attributes(node, other), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_kernel_node_copy_attributes(node, node), CUDA_SUCCESS);
}

TEST_F(Facts, CopyingFromAPlainNodeRemovesAClusterSize) {
  CUlaunchConfig config = one_block(first(), 1);
  config.gridDimX = 8;
  const CUgraph graph = capture([&] {
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(cu().launch_kernel_ex(&config, nothing_, nullptr, nullptr), CUDA_SUCCESS);
  });
  const std::vector<CUgraphNode> all = nodes(graph);
  const auto id = static_cast<CUkernelNodeAttrID>(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  CUkernelNodeAttrValue value{};
  value.clusterDim.x = 2;
  value.clusterDim.y = value.clusterDim.z = 1;
  ASSERT_EQ(cu().graph_kernel_node_set_attribute(all[0], id, &value), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_kernel_node_copy_attributes(all[0], all[1]), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_kernel_node_get_attribute(all[0], id, &value), CUDA_SUCCESS);
  EXPECT_EQ(value.clusterDim.x, 0U);
}

TEST_F(AttributeRules, R5_1_AttributesAreCopiedBetweenGraphs) {
  const CUgraphNode from = wide_node(first());
  const CUgraphNode to = wide_node(first());
  ASSERT_EQ(set(from, cluster_id, cluster(4)), CUDA_SUCCESS);
  ASSERT_EQ(cu().graph_kernel_node_copy_attributes(to, from), CUDA_SUCCESS);
  EXPECT_EQ(get(to, cluster_id).clusterDim.x, 4U);
}

TEST_F(AttributeRules, SettingParametersKeepsTheAttributes) {
  const CUgraphNode node = wide_node(first());
  ASSERT_EQ(set(node, cluster_id, cluster(2)), CUDA_SUCCESS);
  CUDA_KERNEL_NODE_PARAMS changed = kernel(node);
  changed.gridDimX = 4;
  ASSERT_EQ(cu().graph_kernel_node_set_params(node, &changed), CUDA_SUCCESS);
  EXPECT_EQ(get(node, cluster_id).clusterDim.x, 2U);
}

}  // namespace
}  // namespace cugraft_sim
