// SPDX-License-Identifier: Apache-2.0
// arch: compute_90
// Kernels that see the cluster they run in; their PTX needs a device of compute capability 9.0.

namespace {

__device__ int block_index() {
  return static_cast<int>(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
}

}  // namespace

extern "C" {

// Size of the cluster: x, y, z and their product.
__global__ void write_cluster_size(int* out) {
  if (block_index() != 0 || threadIdx.x != 0) return;
  const dim3 size = __clusterDim();
  out[0] = static_cast<int>(size.x);
  out[1] = static_cast<int>(size.y);
  out[2] = static_cast<int>(size.z);
  out[3] = static_cast<int>(__clusterSizeInBlocks());
}

// For each block: rank in its cluster, and index of its cluster in x, y, z.
__global__ void write_cluster_position(int* out) {
  if (threadIdx.x != 0) return;
  int* mine = out + 4 * block_index();
  const dim3 cluster = __clusterIdx();
  mine[0] = static_cast<int>(__clusterRelativeBlockRank());
  mine[1] = static_cast<int>(cluster.x);
  mine[2] = static_cast<int>(cluster.y);
  mine[3] = static_cast<int>(cluster.z);
}

__global__ void __cluster_dims__(2, 1, 1) fixed_cluster(int* out) {
  if (block_index() == 0 && threadIdx.x == 0) *out = static_cast<int>(__clusterSizeInBlocks());
}

}  // extern "C"
