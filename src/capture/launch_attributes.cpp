// SPDX-License-Identifier: Apache-2.0
#include "capture/launch_attributes.hpp"

#include <algorithm>
#include <cstring>

#include "driver/cuda_api.hpp"

namespace cugraft {
namespace {

CUlaunchAttributeValue value_of(const launch_attribute& attribute) noexcept {
  CUlaunchAttributeValue value = {};
  std::memcpy(&value, attribute.value.data(), sizeof value);
  return value;
}

}  // namespace

model::attributes node_attributes(const launch_config& config, int priority) {
  model::attributes attributes;
  attributes.cluster = config.cluster;
  attributes.cooperative = config.cooperative;
  attributes.priority = config.priority.value_or(priority);
  for (const launch_attribute& each : config.attributes) {
    const CUlaunchAttributeValue value = value_of(each);
    switch (each.id) {
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        attributes.cluster = dim3(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z);
        break;
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        attributes.cooperative = value.cooperative != 0;
        break;
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        attributes.priority = value.priority;
        break;
      case CU_LAUNCH_ATTRIBUTE_IGNORE:
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        break;
      default:
        attributes.others.push_back(each);
    }
  }
  std::stable_sort(attributes.others.begin(), attributes.others.end(),
                   [](const auto& a, const auto& b) { return a.id < b.id; });
  return attributes;
}

bool is_programmatic(const launch_config& config) noexcept {
  return config.programmatic_serialization ||
         std::any_of(config.attributes.begin(), config.attributes.end(), [](const auto& each) {
           return each.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
                  value_of(each).programmaticStreamSerializationAllowed != 0;
         });
}

}  // namespace cugraft
