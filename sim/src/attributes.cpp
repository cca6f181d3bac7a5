// SPDX-License-Identifier: Apache-2.0
#include "attributes.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

#include "device_facts.hpp"
#include "entry.hpp"
#include "graph.hpp"
#include "launch.hpp"

namespace cugraft_sim {
namespace {

// What a node has that nobody gave an attribute, as an H200 tells it.
CUlaunchAttributeValue default_of(int id) noexcept {
  CUlaunchAttributeValue value{};
  if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
    value.clusterSchedulingPolicyPreference = CU_CLUSTER_SCHEDULING_POLICY_SPREAD;
  if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) value.memSyncDomainMap = {0, 1};
  return value;
}

CUresult find_kernel_node(CUgraphNode handle, std::shared_ptr<graph_node>& found,
                          const kernel_operation*& kernel) {
  if (const CUresult result = find_node(handle, found)) return result;
  kernel = std::get_if<kernel_operation>(&found->work.what);
  return kernel ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// A cluster of 0 x 0 x 0 is "none", which a node that has a cluster does not take (facts).
bool is_removal_of_cluster(const kernel_operation& kernel, int id,
                           const CUlaunchAttributeValue& value) noexcept {
  const auto is_none = [](const CUlaunchAttributeValue& of) {
    return of.clusterDim.x == 0 && of.clusterDim.y == 0 && of.clusterDim.z == 0;
  };
  return id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && is_none(value) &&
         !is_none(attribute_of(kernel, id));
}

// An H200 takes 0 x 0 x 0 on a node without a cluster.
bool is_no_cluster(int id, const CUlaunchAttributeValue& value) noexcept {
  return id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && value.clusterDim.x == 0 &&
         value.clusterDim.y == 0 && value.clusterDim.z == 0;
}

// An H200 takes a preferred cluster from a launch, and from no setter of nodes.
bool is_for_launches_only(int id) noexcept {
  return id == cugraft::newer::launch_attribute_preferred_cluster_dimension;
}

CUlaunchAttributeValue clamped(int id, CUlaunchAttributeValue value) noexcept {
  if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
    value.priority =
        std::clamp(value.priority, device_facts::greatest_priority, device_facts::least_priority);
  return value;
}

}  // namespace

std::size_t attribute_size(int id) noexcept {
  using value = CUlaunchAttributeValue;
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      return sizeof value::accessPolicyWindow;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      return sizeof value::clusterDim;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      return sizeof value::memSyncDomainMap;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      return sizeof value::deviceUpdatableKernelNode;
    case cugraft::newer::launch_attribute_preferred_cluster_dimension:
      return sizeof value::clusterDim;
    default:
      return sizeof(int);
  }
}

CUlaunchAttributeValue attribute_of(const kernel_operation& kernel, int id) noexcept {
  CUlaunchAttributeValue value = default_of(id);
  const auto set = kernel.attributes.find(id);
  if (set != kernel.attributes.end()) std::memcpy(&value, set->second.data(), attribute_size(id));
  return value;
}

bool is_readable_attribute(int id) noexcept {
  constexpr int readable[] = {1, 2, 4, 5, 8, 9, 10, 13, 14};
  return std::ranges::find(readable, id) != std::end(readable);
}

bool is_cooperative(const kernel_operation& kernel) noexcept {
  return attribute_of(kernel, CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative != 0;
}

int priority_of(const kernel_operation& kernel) noexcept {
  return attribute_of(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY).priority;
}

void set_attribute(kernel_operation& of, int id, const CUlaunchAttributeValue& value) {
  attribute_value bytes{};
  std::memcpy(bytes.data(), &value, attribute_size(id));
  of.attributes[id] = bytes;
}

bool same_attributes(const kernel_operation& left, const kernel_operation& right) {
  std::set<int> ids;
  for (const auto& [id, value] : left.attributes) ids.insert(id);
  for (const auto& [id, value] : right.attributes) ids.insert(id);
  return std::ranges::all_of(ids, [&](int id) {
    const auto ours = attribute_of(left, id);
    const auto theirs = attribute_of(right, id);
    return std::memcmp(&ours, &theirs, attribute_size(id)) == 0;
  });
}

CUresult impl::graph_kernel_node_get_attribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                               CUkernelNodeAttrValue* value) {
  std::shared_ptr<graph_node> found;
  const kernel_operation* kernel = nullptr;
  if (const CUresult result = find_kernel_node(node, found, kernel)) return result;
  if (!value || !is_readable_attribute(attribute)) return CUDA_ERROR_INVALID_VALUE;
  const CUlaunchAttributeValue read = attribute_of(*kernel, attribute);
  std::memcpy(value, &read, attribute_size(attribute));  // the rest of *value stays (facts)
  return CUDA_SUCCESS;
}

CUresult impl::graph_kernel_node_set_attribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                               const CUkernelNodeAttrValue* value) {
  std::shared_ptr<graph_node> found;
  const kernel_operation* kernel = nullptr;
  if (const CUresult result = find_kernel_node(node, found, kernel)) return result;
  if (!value || !is_node_attribute(attribute) || is_for_launches_only(attribute))
    return CUDA_ERROR_INVALID_VALUE;
  if (is_removal_of_cluster(*kernel, attribute, *value)) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  if (is_no_cluster(attribute, *value)) return CUDA_SUCCESS;
  kernel_operation changed = *kernel;
  set_attribute(changed, attribute, clamped(attribute, *value));
  if (const CUresult result = check_attributes(changed)) return result;
  set_work(*found, {found->work.context, std::move(changed)});
  return CUDA_SUCCESS;
}

// What the source does not have, the destination loses: a cluster size too (facts).
CUresult impl::graph_kernel_node_copy_attributes(CUgraphNode to, CUgraphNode from) {
  std::shared_ptr<graph_node> destination, source;
  const kernel_operation *target = nullptr, *model = nullptr;
  if (const CUresult result = find_kernel_node(to, destination, target)) return result;
  if (const CUresult result = find_kernel_node(from, source, model)) return result;
  if (destination->work.context != source->work.context) return CUDA_ERROR_INVALID_VALUE;
  kernel_operation changed = *target;
  changed.attributes = model->attributes;
  if (const CUresult result = check_attributes(changed)) return result;
  set_work(*destination, {destination->work.context, std::move(changed)});
  return CUDA_SUCCESS;
}

}  // namespace cugraft_sim
