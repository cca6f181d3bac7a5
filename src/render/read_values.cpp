// SPDX-License-Identifier: Apache-2.0
#include "render/read_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "cugraft/render.hpp"
#include "render/graph_forms.hpp"

namespace cugraft {
namespace {

// Of the kinds that have a name.
constexpr int last_kind = static_cast<int>(node_kind::conditional);

template <class T>
bool take_number(std::string_view& text, T& result) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), result);
  if (failure != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char symbol) {
  if (!text.starts_with(symbol)) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<node_path> path_from(std::string_view text) {
  node_path result;
  for (bool more = !text.empty(); more; more = take(text, '/')) {
    node_step step;
    if (!take_number(text, step.node)) return std::nullopt;
    if (take(text, '[') && !(take_number(text, step.body) && take(text, ']'))) return std::nullopt;
    result.steps.push_back(step);
  }
  if (!text.empty()) return std::nullopt;
  return result;
}

dim3 read_extents(json_reader& in) {
  dim3 result;
  unsigned* const places[] = {&result.x, &result.y, &result.z};
  std::size_t count = 0;
  in.array([&] {
    if (count == 3) in.fail("three extents");
    *places[count++] = read_unsigned<unsigned>(in);
  });
  if (count != 3) in.fail("three extents ahead of this");
  return result;
}

int read_int(json_reader& in) {
  const json_reader before = in;
  const std::int64_t value = in.number();
  if (value != static_cast<int>(value)) before.fail("a number of 32 bits");
  return static_cast<int>(value);
}

model::known read_known(json_reader& in) {
  const json_reader before = in;
  const auto found = std::ranges::find(known_names, in.string());
  if (found == known_names.end()) before.fail("nothing, semantic, readable or everything");
  return static_cast<model::known>(found - known_names.begin());
}

launch_attribute read_attribute(json_reader& in) {
  launch_attribute result{};
  in.object({{"id", [&] { result.id = read_unsigned<unsigned>(in); }},
             {"value", [&] {
                const json_reader before = in;
                const std::vector<std::byte> bytes = in.bytes();
                if (bytes.size() != result.value.size())
                  before.fail("the 64 bytes of an attribute");
                std::ranges::copy(bytes, result.value.begin());
              }}});
  return result;
}

kernel_parameter read_parameter(json_reader& in) {
  kernel_parameter result;
  in.object({{"offset", [&] { result.offset = read_unsigned<std::uint32_t>(in); }},
             {"size", [&] { result.size = read_unsigned<std::uint32_t>(in); }}});
  return result;
}

std::shared_ptr<const model::kernel_layout> read_layout(json_reader& in) {
  if (in.null()) return nullptr;
  model::kernel_layout result;
  in.array([&] {
    const kernel_parameter parameter = read_parameter(in);
    if (parameter.offset < result.bytes) in.fail("parameters that do not overlap");
    result.bytes = parameter.offset + parameter.size;
    result.parameters.push_back(parameter);
  });
  return std::make_shared<const model::kernel_layout>(std::move(result));
}

model::kernel_value read_kernel(json_reader& in) {
  model::kernel_value result;
  model::attributes& all = result.attributes;
  in.object(
      {{"function",
        [&] { result.function = reinterpret_cast<CUfunction>(in.unsigned_number(UINTPTR_MAX)); }},
       {"grid", [&] { result.grid = read_extents(in); }},
       {"block", [&] { result.block = read_extents(in); }},
       {"shared_memory_bytes", [&] { result.shared_memory_bytes = read_unsigned<unsigned>(in); }},
       {"known", [&] { all.known_to = read_known(in); }},
       {"cluster",
        [&] {
          if (!in.null()) all.cluster = read_extents(in);
        }},
       {"cooperative", [&] { all.cooperative = in.boolean(); }},
       {"priority", [&] { all.priority = read_int(in); }},
       {"attributes", [&] { in.array([&] { all.others.push_back(read_attribute(in)); }); }},
       {"parameters", [&] { result.layout = read_layout(in); }},
       {"arguments", [&] { result.arguments = model::argument_bytes(in.bytes()); }}});
  if (result.layout != nullptr && result.arguments.size() != result.layout->bytes)
    in.fail(fmt::format("{} bytes of arguments in the kernel that ends here, as its parameters say",
                        result.layout->bytes));
  return result;
}

model::copy_operand read_operand(json_reader& in) {
  model::copy_operand result;
  const auto size = [&] { return read_unsigned<std::size_t>(in); };
  in.object({{"memory_kind", [&] { result.memory_kind = read_int(in); }},
             {"address", [&] { result.address = size(); }},
             {"x", [&] { result.x = size(); }},
             {"y", [&] { result.y = size(); }},
             {"z", [&] { result.z = size(); }},
             {"level", [&] { result.level = size(); }},
             {"pitch", [&] { result.pitch = size(); }},
             {"height", [&] { result.height = size(); }}});
  return result;
}

model::copy_value read_copy(json_reader& in) {
  model::copy_value result;
  in.object({{"source", [&] { result.source = read_operand(in); }},
             {"destination", [&] { result.destination = read_operand(in); }},
             {"width_bytes", [&] { result.width_bytes = read_unsigned<std::size_t>(in); }},
             {"height", [&] { result.height = read_unsigned<std::size_t>(in); }},
             {"depth", [&] { result.depth = read_unsigned<std::size_t>(in); }}});
  return result;
}

model::fill_value read_fill(json_reader& in) {
  model::fill_value result;
  in.object({{"destination", [&] { result.destination = read_unsigned<std::uintptr_t>(in); }},
             {"value", [&] { result.value = read_unsigned<std::uint32_t>(in); }},
             {"element_size",
              [&] {
                result.element_size = read_unsigned<unsigned>(in);
                if (result.element_size != 1 && result.element_size != 2 &&
                    result.element_size != 4)
                  in.fail("an element of 1, 2 or 4 bytes ahead of this");
              }},
             {"width", [&] { result.width = read_unsigned<std::size_t>(in); }},
             {"height", [&] { result.height = read_unsigned<std::size_t>(in); }},
             {"pitch", [&] { result.pitch = read_unsigned<std::size_t>(in); }}});
  return result;
}

model::host_value read_host(json_reader& in) {
  model::host_value result;
  in.object({{"function", [&] { result.function = read_unsigned<std::uintptr_t>(in); }},
             {"user_data", [&] { result.user_data = read_unsigned<std::uintptr_t>(in); }}});
  return result;
}

model::event_value read_event(json_reader& in) {
  model::event_value result;
  in.object({{"event",
              [&] { result.event = reinterpret_cast<CUevent>(in.unsigned_number(UINTPTR_MAX)); }}});
  return result;
}

model::allocation_value read_allocation(json_reader& in) {
  model::allocation_value result;
  in.object({{"address", [&] { result.address = read_unsigned<std::uintptr_t>(in); }},
             {"bytes", [&] { result.bytes = read_unsigned<std::size_t>(in); }},
             {"device", [&] { result.device = read_int(in); }}});
  return result;
}

model::free_value read_free(json_reader& in) {
  model::free_value result;
  in.object({{"address", [&] { result.address = read_unsigned<std::uintptr_t>(in); }}});
  return result;
}

model::conditional_value read_conditional(json_reader& in) {
  model::conditional_value result;
  in.object({{"type", [&] { result.type = read_int(in); }},
             {"size", [&] { result.size = read_unsigned<std::uint32_t>(in); }},
             {"handle", [&] { result.handle = in.unsigned_number(); }},
             {"default_value", [&] {
                if (!in.null()) result.default_value = read_unsigned<unsigned>(in);
              }}});
  return result;
}

}  // namespace

void check_version(json_reader& in) {
  const json_reader before = in;
  if (in.unsigned_number() != static_cast<unsigned>(json_schema_version))
    before.fail(fmt::format("schema_version {}, which this build reads", json_schema_version));
}

node_kind read_kind(json_reader& in) {
  const json_reader before = in;
  const std::string name = in.string();
  for (int number = 0; number <= last_kind; ++number)
    if (to_string(static_cast<node_kind>(number)) == name) return static_cast<node_kind>(number);
  std::string_view rest(name);
  int number = 0;
  if (!rest.starts_with("kind ")) before.fail("a kind of node");
  rest.remove_prefix(5);
  if (!take_number(rest, number) || !rest.empty()) before.fail("a kind of node");
  return static_cast<node_kind>(number);
}

node_path read_path(json_reader& in) {
  const json_reader before = in;
  const std::optional<node_path> result = path_from(in.string());
  if (!result) before.fail("the path of a node, as \"5[1]/2\"");
  return *result;
}

decltype(model::node_value::data) read_data(json_reader& in, std::size_t form) {
  const std::string_view name = form_names[form];
  if (name == "kernel") return read_kernel(in);
  if (name == "copy") return read_copy(in);
  if (name == "fill") return read_fill(in);
  if (name == "host") return read_host(in);
  if (name == "event") return read_event(in);
  if (name == "allocation") return read_allocation(in);
  if (name == "free") return read_free(in);
  if (name == "conditional") return read_conditional(in);
  in.object({});
  if (name == "child_graph") return model::child_value{};
  return model::opaque_value{};
}

bool fits(node_kind kind, const model::node_value& value) noexcept {
  const std::string_view form = form_names[value.data.index()];
  if (form == "unread") return true;
  if (form == "event") return kind == node_kind::event_record || kind == node_kind::event_wait;
  constexpr std::pair<std::string_view, node_kind> kinds[] = {
      {"kernel", node_kind::kernel},
      {"copy", node_kind::copy},
      {"fill", node_kind::fill},
      {"host", node_kind::host},
      {"allocation", node_kind::allocation},
      {"free", node_kind::free},
      {"child_graph", node_kind::child_graph},
      {"conditional", node_kind::conditional}};
  return std::ranges::find(kinds, std::pair(form, kind)) != std::end(kinds);
}

}  // namespace cugraft
