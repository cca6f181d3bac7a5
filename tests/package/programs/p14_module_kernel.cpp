// SPDX-License-Identifier: Apache-2.0
// A kernel from cuModuleGetFunction; raw and packed arguments; any launch attribute.
#include <cuda.h>
#include <cstring>
#include "cugraft/cugraft.hpp"
using namespace cugraft;
void f(const driver& d, CUmodule m, CUstream s, CUdeviceptr data) {
  CUfunction fn = nullptr; cuModuleGetFunction(&fn, m, "scale");
  const kernel k = kernel::from_native_handle(d, fn);
  const float factor = 2; const int n = 100;
  launch({d, s}, {.grid = (n + 31) / 32, .block = 32}, k, data, factor, n);

  void* old[] = {&data, const_cast<float*>(&factor), const_cast<int*>(&n)}; launch_raw({d, s}, {4, 32}, k, old);
  std::byte packed[16]; std::memcpy(packed, &data, 8); launch_packed({d, s}, {.grid = 4, .block = 32}, k, packed);
  launch_attribute a{.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN}; a.value[0] = std::byte{1};
  launch({d, s}, {.grid = 4, .block = 32, .cluster = 2, .priority = -1, .attributes = {&a, 1}}, k, data, factor, n);
  copy_async({d, s}, device_pointer(data), device_pointer(data + 64), 64);
  for (const kernel_parameter& p : k.parameters()) (void)(p.offset + p.size);
  static_assert(sizeof(CUlaunchAttribute) == sizeof(launch_attribute) && alignof(CUlaunchAttribute) == alignof(launch_attribute));
  CUgraphConditionalHandle h = condition{}.handle; (void)h;
}
