// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "sim/graph_fixture.hpp"

// Each launch attribute of the list: on which objects it may be, and with which values.

namespace cugraft_sim {
namespace {

class AttributeLimits : public GraphTest {
 protected:
  CUresult set(int id, const CUkernelNodeAttrValue& value) {
    return cu().graph_kernel_node_set_attribute(node(), static_cast<CUkernelNodeAttrID>(id),
                                                &value);
  }

  CUresult set_number(int id, unsigned number) {
    CUkernelNodeAttrValue value{};
    std::memcpy(&value, &number, sizeof number);
    return set(id, value);
  }

  CUgraphNode node() {
    if (!node_) node_ = nodes(chain(1)).at(0);
    return node_;
  }

 private:
  CUgraphNode node_ = nullptr;
};

TEST_F(AttributeLimits, R1_4_1_AnAccessWindowIsTaken) {
  CUkernelNodeAttrValue value{};
  value.accessPolicyWindow.num_bytes = 0;
  value.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_NORMAL;
  value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_NORMAL;
  EXPECT_EQ(set(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, value), CUDA_SUCCESS);
}

TEST_F(AttributeLimits, R1_4_9_ADomainMapIsTaken) {
  CUkernelNodeAttrValue value{};
  value.memSyncDomainMap = {0, 1};
  EXPECT_EQ(set(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, value), CUDA_SUCCESS);
}

TEST_F(AttributeLimits, Facts_R1_4_11_APreferredClusterCannotBeReadBack) {
  constexpr auto preferred = static_cast<CUkernelNodeAttrID>(11);
  std::array<CUlaunchAttribute, 2> attributes{};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[1].id = preferred;
  for (CUlaunchAttribute& each : attributes) each.value.clusterDim = {1, 1, 1};
  const unsigned count = driver().version() >= 12080 ? 2 : 1;
  const CUgraph graph =
      capture([&] { EXPECT_EQ(launch_with(first(), attributes.data(), count), CUDA_SUCCESS); });
  const CUgraphNode made = nodes(graph).at(0);
  CUkernelNodeAttrValue value = attributes[1].value;
  EXPECT_EQ(cu().graph_kernel_node_get_attribute(made, preferred, &value),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_kernel_node_set_attribute(made, preferred, &value),
            CUDA_ERROR_INVALID_VALUE);
}

// Numbers with a highest value, from the version on that knows them.
struct number_limit {
  int id;
  unsigned highest;
  int since;
};

TEST_F(AttributeLimits, R1_4_16_To_18_NumbersHaveTheirHighestValue) {
  CUGRAFT_NEEDS_SIMULATOR();  // 13.2 and newer were not seen
  for (const number_limit& each :
       {number_limit{16, 1, 13000}, number_limit{17, 2, 13020}, number_limit{18, 2, 13020}}) {
    const bool is_known = driver().version() >= each.since;
    EXPECT_EQ(set_number(each.id, each.highest), is_known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)
        << each.id;
    EXPECT_EQ(set_number(each.id, each.highest + 1), CUDA_ERROR_INVALID_VALUE) << each.id;
  }
}

TEST_F(AttributeLimits, R1_4_15_TheUnlistedOneIsRefused) {
  EXPECT_EQ(set_number(15, 0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace cugraft_sim
