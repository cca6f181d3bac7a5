// SPDX-License-Identifier: Apache-2.0
#include "model/values.hpp"

#include <algorithm>
#include <cstring>

namespace cugraft::model {

kernel_view view_of(const kernel_value& value) noexcept {
  return {value.function,    value.layout.get(), value.grid, value.block, value.shared_memory_bytes,
          &value.attributes, value.arguments};
}

bool same_layout(const kernel_layout* a, const kernel_layout* b) noexcept {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  return a->bytes == b->bytes && a->name == b->name &&
         std::ranges::equal(a->parameters, b->parameters,
                            [](const kernel_parameter& p, const kernel_parameter& q) {
                              return p.offset == q.offset && p.size == q.size;
                            });
}

void pack_arguments(const kernel_layout& layout, void* const* arguments, std::byte* packed) {
  if (layout.bytes > 0) std::memset(packed, 0, layout.bytes);
  for (std::size_t i = 0; i < layout.parameters.size(); ++i) {
    const kernel_parameter& parameter = layout.parameters[i];
    std::memcpy(packed + parameter.offset, arguments[i], parameter.size);
  }
}

}  // namespace cugraft::model
