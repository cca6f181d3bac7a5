// SPDX-License-Identifier: Apache-2.0
#include "model/graph.hpp"
#include "model/mix.hpp"

namespace cugraft::model {
namespace {

// Two lanes that differ in how they take a word, so that 128 bits are worth it.
class hash {
 public:
  void add(std::uint64_t word) noexcept {
    low_ = mix(low_ ^ word);
    high_ = mix(high_ + word * 0xff51afd7ed558ccdU);
  }

  structure_fingerprint value() const noexcept { return {{low_, high_}}; }

 private:
  std::uint64_t low_ = 0x243f6a8885a308d3U;  // digits of pi
  std::uint64_t high_ = 0x13198a2e03707344U;
};

}  // namespace

structure_fingerprint graph::fingerprint() const {
  hash result;
  for (std::size_t i = 0; i < structure_.level_count(); ++i) {
    const level of = structure_.level(i);
    result.add(of.count);
    result.add(of.parent | std::uint64_t{of.body} << 32);
  }
  for (std::size_t node = 0; node < size(); ++node) {
    const auto dependencies = structure_.dependencies(node);
    result.add(static_cast<std::uint64_t>(kind(node)));
    result.add(dependencies.size());
    for (const dependency& edge : dependencies) result.add(edge.node | as_number(edge.data) << 32);
    if (form_of(node) == form::kernel)
      result.add(reinterpret_cast<std::uintptr_t>(functions_[slot(node)]));
    if (const conditional_value* const condition = structure_.condition(node)) {
      result.add(static_cast<std::uint64_t>(condition->type) | std::uint64_t{condition->size}
                                                                   << 32);
      result.add(condition->handle);
      result.add(condition->default_value.has_value());
      result.add(condition->default_value.value_or(0));
    }
  }
  return result.value();
}

}  // namespace cugraft::model
