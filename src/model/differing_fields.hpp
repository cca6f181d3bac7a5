// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "model/difference.hpp"
#include "model/values.hpp"

/// The one place that says when two nodes do the same. Nothing here allocates, so that comparing
/// unchanged nodes costs a compare.
namespace cugraft::model {

/// Takes the fields that differ, in the order of `field`; of a plain function or a lambda.
class difference_sink {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, difference_sink>)
      difference_sink(F&& take)  // NOLINT(google-explicit-constructor): a parameter type only
      : object_(&take), call_([](void* object, const difference& found) {
          (*static_cast<std::remove_reference_t<F>*>(object))(found);
        }) {}

  void operator()(field which, std::uint32_t index = 0) const { call_(object_, {which, index}); }

 private:
  void* object_;
  void (*call_)(void*, const difference&);
};

void differing_fields(const attributes& before, const attributes& after, difference_sink found);
void differing_fields(const kernel_view& before, const kernel_view& after, difference_sink found);
void differing_fields(const copy_value& before, const copy_value& after, difference_sink found);
void differing_fields(const fill_value& before, const fill_value& after, difference_sink found);
void differing_fields(const host_value& before, const host_value& after, difference_sink found);
void differing_fields(const event_value& before, const event_value& after, difference_sink found);
void differing_fields(const allocation_value& before, const allocation_value& after,
                      difference_sink found);
void differing_fields(const free_value& before, const free_value& after, difference_sink found);
void differing_fields(const conditional_value& before, const conditional_value& after,
                      difference_sink found);

/// @pre both are of one kind
void differing_fields(const node_value& before, const node_value& after, difference_sink found);

template <class Value>
bool same_value(const Value& before, const Value& after) noexcept {
  bool same = true;
  differing_fields(before, after, [&same](const difference&) { same = false; });
  return same;
}

/// The part of a fill's value that its element size takes.
constexpr std::uint32_t effective_value(const fill_value& fill) noexcept {
  return fill.element_size >= 4 ? fill.value : fill.value & ((1U << (8 * fill.element_size)) - 1);
}

constexpr bool has_rows(const fill_value& fill) noexcept { return fill.height > 1; }

/// More than one row, or an array: what an executable's setter refuses (driver facts, Setters).
constexpr bool is_multidimensional(const copy_value& copy) noexcept {
  return copy.height > 1 || copy.depth > 1 || copy.source.memory_kind == memory_kind_array ||
         copy.destination.memory_kind == memory_kind_array;
}

/// The bytes of one parameter; empty if there is no such one. Without a layout all bytes are
/// parameter 0.
struct parameter_place {
  std::size_t offset = 0;
  std::size_t size = 0;
  bool exists = false;
};
parameter_place place_of(const kernel_view& launch, std::uint32_t index) noexcept;

/// Empty where a node without a cluster size is read back as one of zeros.
std::optional<dim3> effective_cluster(const attributes& all) noexcept;

/// The value of an attribute; null if it is absent or the default, which are the same.
const launch_attribute* find_attribute(const attributes& all, std::uint32_t id) noexcept;

}  // namespace cugraft::model
