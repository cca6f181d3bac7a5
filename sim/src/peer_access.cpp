// SPDX-License-Identifier: Apache-2.0
#include "peer_access.hpp"

#include <algorithm>
#include <memory>

#include "context.hpp"
#include "entry.hpp"
#include "graph_memory.hpp"
#include "memory.hpp"
#include "state.hpp"

namespace cugraft_sim {

std::optional<memory_place> place_of(std::uint64_t address) {
  if (const auto of_graph = find_graph_allocation(address))
    return memory_place{nullptr, of_graph->properties.location.id};
  const auto found = the_memory().find_allocation(address);
  if (!found) return std::nullopt;
  return memory_place{found->origin.context, found->origin.device,
                      found->kind == memory_kind::pinned_host};
}

bool is_same_place(std::uint64_t one, std::uint64_t other) {
  const auto left = place_of(one), right = place_of(other);
  if (!left || !right || left->is_host || right->is_host) return true;
  return left->device == right->device;
}

namespace {

// Memory of a graph is for its own device and for those that its node names (driver-rules 6.1);
// what contexts enable for each other is not about it.
bool is_shared_with(CUdevice device, std::uint64_t address) {
  const auto of_graph = find_graph_allocation(address);
  return of_graph && std::ranges::any_of(of_graph->access, [&](const CUmemAccessDesc& each) {
           return each.location.id == device;
         });
}

}  // namespace

reachable_memory::reachable_memory(const context& of) : device_(of.device) {
  const auto lock = lock_state();
  is_alone_ = the_state().devices.size() == 1;
  peers_ = of.peers;
}

ptx::memory_range reachable_memory::find(std::uint64_t address) noexcept {
  const ptx::memory_range range = the_memory().find(address);
  if (is_alone_) return range;
  const auto place = place_of(address);
  const bool is_reached =
      place && (place->is_host || place->device == device_ || peers_.contains(place->context) ||
                is_shared_with(device_, address));
  return is_reached ? range : ptx::memory_range{};
}

// Every two devices reach each other here.
CUresult impl::device_can_access_peer(int* can, CUdevice from, CUdevice to) {
  if (!can) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(from) || !is_device(to)) return CUDA_ERROR_INVALID_DEVICE;
  *can = from != to ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult impl::ctx_enable_peer_access(CUcontext to, unsigned flags) {
  std::shared_ptr<context> current, peer;
  if (const CUresult result = current_context(current)) return result;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = find_context(to, peer)) return result;
  if (peer->device == current->device) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  return current->peers.insert(to).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUresult impl::ctx_disable_peer_access(CUcontext to) {
  std::shared_ptr<context> current, peer;
  if (const CUresult result = current_context(current)) return result;
  if (const CUresult result = find_context(to, peer)) return result;
  return current->peers.erase(to) == 1 ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

}  // namespace cugraft_sim
