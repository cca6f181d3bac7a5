// SPDX-License-Identifier: Apache-2.0
#include "ptx/specials.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cugraft_sim::ptx {
namespace {

using enum special;

constexpr std::array<std::pair<std::string_view, special>, 39> names{{
    {"%tid.x", tid_x},
    {"%tid.y", tid_y},
    {"%tid.z", tid_z},
    {"%ntid.x", ntid_x},
    {"%ntid.y", ntid_y},
    {"%ntid.z", ntid_z},
    {"%ctaid.x", ctaid_x},
    {"%ctaid.y", ctaid_y},
    {"%ctaid.z", ctaid_z},
    {"%nctaid.x", nctaid_x},
    {"%nctaid.y", nctaid_y},
    {"%nctaid.z", nctaid_z},
    {"%clusterid.x", clusterid_x},
    {"%clusterid.y", clusterid_y},
    {"%clusterid.z", clusterid_z},
    {"%nclusterid.x", nclusterid_x},
    {"%nclusterid.y", nclusterid_y},
    {"%nclusterid.z", nclusterid_z},
    {"%cluster_ctaid.x", cluster_ctaid_x},
    {"%cluster_ctaid.y", cluster_ctaid_y},
    {"%cluster_ctaid.z", cluster_ctaid_z},
    {"%cluster_nctaid.x", cluster_nctaid_x},
    {"%cluster_nctaid.y", cluster_nctaid_y},
    {"%cluster_nctaid.z", cluster_nctaid_z},
    {"%cluster_ctarank", cluster_ctarank},
    {"%cluster_nctarank", cluster_nctarank},
    {"%is_explicit_cluster", is_explicit_cluster},
    {"%laneid", laneid},
    {"%warpid", warpid},
    {"%nwarpid", nwarpid},
    {"%smid", smid},
    {"%nsmid", nsmid},
    {"%lanemask_eq", lanemask_eq},
    {"%lanemask_lt", lanemask_lt},
    {"%lanemask_le", lanemask_le},
    {"%lanemask_gt", lanemask_gt},
    {"%lanemask_ge", lanemask_ge},
    {"%dynamic_smem_size", dynamic_smem_size},
    {"%total_smem_size", total_smem_size},
}};

unsigned axis(const dimensions& size, unsigned which) noexcept {
  return which == 0 ? size.x : which == 1 ? size.y : size.z;
}

unsigned axis_of(special what, special first) noexcept {
  return static_cast<unsigned>(what) - static_cast<unsigned>(first);
}

std::uint64_t count_of(const dimensions& size) noexcept {
  return std::uint64_t{size.x} * size.y * size.z;
}

/// Rank within the cluster, x running fastest.
std::uint64_t cluster_rank(const dimensions& block, const dimensions& cluster) noexcept {
  return block.x % cluster.x +
         std::uint64_t{cluster.x} * (block.y % cluster.y + cluster.y * (block.z % cluster.z));
}

std::uint64_t lane_mask(special what, unsigned lane) noexcept {
  const std::uint32_t own = 1U << lane;
  const std::uint32_t below = own - 1;
  switch (what) {
    case lanemask_eq:
      return own;
    case lanemask_lt:
      return below;
    case lanemask_le:
      return below | own;
    case lanemask_gt:
      return static_cast<std::uint32_t>(~(below | own));
    default:
      return static_cast<std::uint32_t>(~below);
  }
}

std::uint64_t cluster_value(special what, const dimensions& block, const launch& how) noexcept {
  if (what == cluster_ctarank) return cluster_rank(block, how.cluster);
  if (what == cluster_nctarank) return count_of(how.cluster);
  if (what == is_explicit_cluster) return std::uint64_t{count_of(how.cluster) != 1};
  const unsigned which = axis_of(what, clusterid_x) % 3;
  const unsigned width = axis(how.cluster, which);
  if (what <= clusterid_z) return axis(block, which) / width;
  if (what <= nclusterid_z) return axis(how.grid, which) / width;
  return what <= cluster_ctaid_z ? axis(block, which) % width : width;
}

}  // namespace

std::optional<special> special_named(std::string_view name) noexcept {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [name](const auto& row) { return row.first == name; });
  if (found == names.end()) return std::nullopt;
  return found->second;
}

std::uint64_t value_of(special what, const thread& t) noexcept {
  const launch& how = *t.launch->how;
  if (what <= tid_z) return axis(t.index, axis_of(what, tid_x));
  if (what <= ntid_z) return axis(how.block, axis_of(what, ntid_x));
  if (what <= ctaid_z) return axis(t.block->index, axis_of(what, ctaid_x));
  if (what <= nctaid_z) return axis(how.grid, axis_of(what, nctaid_x));
  if (what <= is_explicit_cluster) return cluster_value(what, t.block->index, how);
  switch (what) {
    case laneid:
      return t.lane();
    case warpid:
      return t.number / 32;
    case nwarpid:
      return (count_of(how.block) + 31) / 32;
    case smid:
      return 0;  // one multiprocessor runs it all
    case nsmid:
      return 1;
    case dynamic_smem_size:
      return how.dynamic_shared_bytes;
    case total_smem_size:
      return t.block->shared.size();
    default:
      return lane_mask(what, t.lane());
  }
}

}  // namespace cugraft_sim::ptx
