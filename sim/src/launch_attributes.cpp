// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "device_facts.hpp"
#include "launch.hpp"
#include "library.hpp"
#include "state.hpp"

namespace cugraft_sim {
namespace {

struct attribute_facts {
  int id;
  bool of_nodes;  ///< graph nodes have it
  int since;      ///< driver version that knows it
};

// driver-rules 1.4; the newer ids have no name in the oldest headers.
constexpr std::array all_attributes{
    attribute_facts{1, true, 11000},    // access policy window
    attribute_facts{2, true, 11000},    // cooperative
    attribute_facts{4, true, 11080},    // cluster dimension
    attribute_facts{5, true, 11080},    // cluster scheduling policy preference
    attribute_facts{6, false, 11080},   // programmatic stream serialization
    attribute_facts{7, false, 11080},   // programmatic event
    attribute_facts{8, true, 11070},    // priority
    attribute_facts{9, true, 12000},    // memory synchronisation domain map
    attribute_facts{10, true, 12000},   // memory synchronisation domain
    attribute_facts{11, true, 12080},   // preferred cluster dimension
    attribute_facts{12, false, 12030},  // launch completion event
    attribute_facts{13, true, 12040},   // device-updatable kernel node
    attribute_facts{14, true, 12050},   // preferred shared memory carveout
    attribute_facts{16, true, 13000},   // NVLink-centric scheduling
    attribute_facts{17, true, 13020},   // portable cluster size mode
    attribute_facts{18, true, 13020},   // shared memory mode
};

constexpr int preferred_cluster = cugraft::newer::launch_attribute_preferred_cluster_dimension;

const attribute_facts* find_facts(int id) noexcept {
  const auto found = std::ranges::find(all_attributes, id, &attribute_facts::id);
  return found == all_attributes.end() || found->since > the_state().version ? nullptr : &*found;
}

unsigned first_word(const attribute_value& bytes) noexcept {
  unsigned word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

ptx::dimensions dimensions_in(const attribute_list& attributes, int id) noexcept {
  std::array<unsigned, 3> words{};
  const auto found = attributes.find(id);
  if (found != attributes.end()) std::memcpy(words.data(), found->second.data(), sizeof words);
  return {words[0], words[1], words[2]};
}

bool divides(const ptx::dimensions& part, const ptx::dimensions& whole) noexcept {
  return part.x != 0 && part.y != 0 && part.z != 0 && whole.x % part.x == 0 &&
         whole.y % part.y == 0 && whole.z % part.z == 0;
}

bool allows_non_portable_cluster(const function& of) {
  const auto found = of.set_attributes.find(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  return found != of.set_attributes.end() && found->second != 0;
}

CUresult check_cluster(const kernel_operation& kernel) {
  const ptx::dimensions cluster = cluster_of(kernel);
  const int most = allows_non_portable_cluster(*kernel.code)
                       ? device_facts::max_non_portable_cluster_blocks
                       : device_facts::max_cluster_blocks;
  const std::uint64_t blocks = std::uint64_t{cluster.x} * cluster.y * cluster.z;
  const auto required = kernel.code->code->entry->required_cluster;
  const bool fits = divides(cluster, kernel.grid) && blocks <= static_cast<std::uint64_t>(most) &&
                    (!required || *required == cluster);
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

// A multiple of the cluster, which must be there.
CUresult check_preferred_cluster(const kernel_operation& kernel) {
  const ptx::dimensions preferred = dimensions_in(kernel.attributes, preferred_cluster);
  if (preferred == ptx::dimensions{0, 0, 0}) return CUDA_SUCCESS;
  const ptx::dimensions cluster =
      dimensions_in(kernel.attributes, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  const bool fits = divides(cluster, preferred) && preferred.z == cluster.z;
  return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

bool is_cooperative(const attribute_list& attributes) {
  const auto found = attributes.find(CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  return found != attributes.end() && first_word(found->second) != 0;
}

// A cooperative grid has to be resident as a whole.
CUresult check_cooperative(const kernel_operation& kernel) {
  if (!is_cooperative(kernel.attributes)) return CUDA_SUCCESS;
  const std::uint64_t threads = std::uint64_t{kernel.block.x} * kernel.block.y * kernel.block.z;
  const std::uint64_t blocks = std::uint64_t{kernel.grid.x} * kernel.grid.y * kernel.grid.z;
  const std::uint64_t resident =
      device_facts::multiprocessors * (device_facts::max_multiprocessor_threads / threads);
  return blocks <= resident ? CUDA_SUCCESS : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

// The highest value of those attributes that are a number with a limit.
unsigned limit_of(int id) noexcept {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return 2;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      return 1;
    case 14:
      return 100;
    case 16:
      return 1;
    case 17:
    case 18:
      return 2;
    default:
      return std::numeric_limits<unsigned>::max();
  }
}

}  // namespace

bool is_launch_attribute(int id) noexcept { return find_facts(id) != nullptr; }

bool is_node_attribute(int id) noexcept {
  const attribute_facts* const facts = find_facts(id);
  return facts && facts->of_nodes;
}

CUresult check_attribute_values(const attribute_list& attributes) {
  for (const auto& [id, bytes] : attributes)
    if (!is_node_attribute(id) || first_word(bytes) > limit_of(id)) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult check_attribute_fit(const kernel_operation& kernel) {
  if (const CUresult result = check_cluster(kernel)) return result;
  if (const CUresult result = check_preferred_cluster(kernel)) return result;
  return check_cooperative(kernel);
}

CUresult check_attributes(const kernel_operation& kernel) {
  if (const CUresult result = check_attribute_values(kernel.attributes)) return result;
  return check_attribute_fit(kernel);
}

}  // namespace cugraft_sim
