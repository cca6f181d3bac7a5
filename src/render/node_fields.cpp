// SPDX-License-Identifier: Apache-2.0
#include "render/node_fields.hpp"

#include <initializer_list>
#include <variant>

#include "model/difference.hpp"
#include "model/differing_fields.hpp"

namespace cugraft {
namespace {

using model::field;

class field_list {
 public:
  explicit field_list(const model::node_value& node) : node_(node) {}

  void add(field which, std::uint32_t index = 0) {
    field_change same = model::describe(node_, node_, {which, index});
    result_.push_back({std::move(same.field), std::move(same.before)});
  }
  void add(std::initializer_list<field> all) {
    for (const field which : all) add(which);
  }

  void add_of(const model::kernel_value& kernel) {
    add({field::function, field::grid, field::block, field::shared_memory_bytes});
    const std::size_t count = kernel.layout == nullptr ? 0 : kernel.layout->parameters.size();
    for (std::uint32_t i = 0; i < count; ++i) add(field::argument, i);
    if (kernel.attributes.known_to == model::known::nothing) return;
    add({field::cluster, field::cooperative, field::priority});
    for (const launch_attribute& each : kernel.attributes.others) add(field::attribute, each.id);
  }

  // Pitch and height where they mean something.
  void add_of(const model::copy_value& copy) {
    add({field::source, field::source_kind, field::destination, field::destination_kind,
         field::width});
    if (!model::is_multidimensional(copy)) return;
    add({field::height, field::depth, field::source_offset, field::source_pitch,
         field::source_height, field::destination_offset, field::destination_pitch,
         field::destination_height});
  }

  void add_of(const model::fill_value& fill) {
    add({field::destination, field::value, field::element_size, field::width});
    if (model::has_rows(fill)) add({field::height, field::pitch});
  }

  void add_of(const model::host_value&) { add({field::host_function, field::user_data}); }
  void add_of(const model::event_value&) { add(field::event); }
  void add_of(const model::allocation_value&) {
    add({field::address, field::bytes, field::device});
  }
  void add_of(const model::free_value&) { add(field::address); }
  void add_of(const model::child_value&) {}
  void add_of(const model::conditional_value& conditional) {
    result_.push_back({"condition", std::to_string(conditional.handle)});
    if (conditional.default_value)
      result_.push_back({"default_value", std::to_string(*conditional.default_value)});
  }
  void add_of(const model::opaque_value&) {
    if (node_.kind != node_kind::empty) add(field::parameters);
  }

  std::vector<shown_field> take() { return std::move(result_); }

 private:
  const model::node_value& node_;
  std::vector<shown_field> result_;
};

}  // namespace

std::vector<shown_field> fields_of(const model::node_value& node) {
  field_list result(node);
  std::visit([&](const auto& value) { result.add_of(value); }, node.data);
  return result.take();
}

}  // namespace cugraft
