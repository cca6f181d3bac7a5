// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <cstring>

#include "ptx/access.hpp"
#include "ptx/instructions.hpp"
#include "ptx/operations.hpp"
#include "ptx/take_space.hpp"

// ld, st, prefetch and the fences. Each element of a vector is accessed on its own, as PTX says.
namespace cugraft_sim::ptx {
namespace {

std::uint64_t address_of(const thread& t, const instruction& i) {
  return t.slots[i.a] + static_cast<std::uint64_t>(i.offset);
}

template <class T, space Space>
const instruction* load(thread& t, const instruction* i) {
  const std::uint64_t address = address_of(t, *i);
  const std::byte* at = locate<Space>(t, address, sizeof(T), access::read);
  if (at == nullptr) return access_failed(t, i, Space, address, sizeof(T));
  set(t, i->d, load_single<T>(at));
  return i + 1;
}

template <class T, space Space>
const instruction* store(thread& t, const instruction* i) {
  const std::uint64_t address = address_of(t, *i);
  std::byte* at = locate<Space>(t, address, sizeof(T), access::write);
  if (at == nullptr) return access_failed(t, i, Space, address, sizeof(T));
  store_single(at, get<T>(t, i->b));
  return i + 1;
}

template <class T, space Space>
const instruction* load_vector(thread& t, const instruction* i) {
  const std::uint64_t address = address_of(t, *i);
  const std::size_t size = sizeof(T) * i->count;
  const std::byte* at = locate<Space>(t, address, size, access::read);
  if (at == nullptr) return access_failed(t, i, Space, address, size);
  for (unsigned k = 0; k < i->count; ++k)
    set(t, t.body->lists[i->extra + k], load_single<T>(at + k * sizeof(T)));
  return i + 1;
}

template <class T, space Space>
const instruction* store_vector(thread& t, const instruction* i) {
  const std::uint64_t address = address_of(t, *i);
  const std::size_t size = sizeof(T) * i->count;
  std::byte* at = locate<Space>(t, address, size, access::write);
  if (at == nullptr) return access_failed(t, i, Space, address, size);
  for (unsigned k = 0; k < i->count; ++k)
    store_single(at + k * sizeof(T), get<T>(t, t.body->lists[i->extra + k]));
  return i + 1;
}

/// Parameters of a device function, in the area of the frame; bounds were checked when decoding.
template <class T>
const instruction* load_argument(thread& t, const instruction* i) {
  const std::byte* at = t.parameters.data() + t.current.parameters + i->offset;
  for (unsigned k = 0; k < i->count; ++k) {
    T value;
    std::memcpy(&value, at + k * sizeof(T), sizeof value);
    set(t, t.body->lists[i->extra + k], value);
  }
  return i + 1;
}

template <class T>
const instruction* store_argument(thread& t, const instruction* i) {
  std::byte* at = t.parameters.data() + t.current.parameters + i->offset;
  for (unsigned k = 0; k < i->count; ++k) {
    const T value = get<T>(t, t.body->lists[i->extra + k]);
    std::memcpy(at + k * sizeof(T), &value, sizeof value);
  }
  return i + 1;
}

enum class direction : std::uint8_t { load, store };

template <class T, space Space>
handler accessor(direction way, unsigned lanes) {
  if (way == direction::load) return lanes == 1 ? &load<T, Space> : &load_vector<T, Space>;
  return lanes == 1 ? &store<T, Space> : &store_vector<T, Space>;
}

handler find_accessor(scalar type, space where, direction way, unsigned lanes) {
  return for_memory(type, [=]<class T>() -> handler {
    switch (where) {
      case space::generic:
        return accessor<T, space::generic>(way, lanes);
      case space::shared:
        return accessor<T, space::shared>(way, lanes);
      case space::local:
        return accessor<T, space::local>(way, lanes);
      case space::param:
        return way == direction::load ? accessor<T, space::param>(way, lanes) : nullptr;
      case space::constant:
        return way == direction::load ? accessor<T, space::constant>(way, lanes) : nullptr;
      default:
        return accessor<T, space::global>(way, lanes);
    }
  });
}

/// Hints, orders and scopes make no difference: launches run one thread at a time, and x86 and Arm
/// order single accesses to what other launches see well enough for relaxed code.
void ignore_hints(decoding& d) {
  d.ignore({"volatile", "relaxed", "acquire", "release", "weak", "mmio"});
  d.ignore({"cta", "cluster", "gpu", "sys"});
  d.ignore({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"});
  d.ignore_hints("L1::");
  d.ignore_hints("L2::");
}

unsigned take_lanes(decoding& d) {
  if (d.take("v2")) return 2;
  return d.take("v4") ? 4 : 1;
}

const symbol* argument_symbol(decoding& d, space where, std::size_t operand) {
  if (where != space::param) return nullptr;
  const symbol* found = d.into().find(d.operand(operand).name);
  const bool is_argument =
      found != nullptr && found->what == symbol::kind::parameter && !found->of_kernel;
  return is_argument ? found : nullptr;
}

struct access_form {
  direction way;
  scalar type;
  unsigned lanes;
};

/// `ld.param` and `st.param` of a function's own or passed parameters.
instruction decode_argument(decoding& d, const access_form& form, const symbol& argument) {
  const bool loads = form.way == direction::load;
  const syntax::operand& place = d.operand(loads ? 1 : 0);
  const std::uint64_t size = size_of(form.type) * form.lanes;
  const auto begin = static_cast<std::uint64_t>(place.value);
  if (begin > argument.size || size > argument.size - begin) d.wrong("goes beyond the parameter");
  instruction result;
  result.run = for_memory(form.type, [loads]<class T>() -> handler {
    return loads ? &load_argument<T> : &store_argument<T>;
  });
  result.offset = static_cast<std::int64_t>(argument.offset + begin);
  result.count = static_cast<std::uint16_t>(form.lanes);
  syntax::operand value = d.operand(loads ? 0 : 1);
  if (form.lanes == 1) value = {syntax::operand_kind::group, false, {}, 0, {value}};
  result.extra =
      loads ? d.destination_list(value, form.lanes) : d.source_list(value, form.lanes, form.type);
  return result;
}

instruction decode_access(decoding& d, direction way) {
  const space where = take_space(d);
  ignore_hints(d);
  const access_form form{way, d.take_type(), take_lanes(d)};
  d.expect_operands(2);
  const bool loads = way == direction::load;
  if (const symbol* argument = argument_symbol(d, where, loads ? 1 : 0))
    return decode_argument(d, form, *argument);
  instruction result;
  result.run = find_accessor(form.type, where, way, form.lanes);
  if (result.run == nullptr) d.unsupported();
  d.address(loads ? 1 : 0, result);
  result.count = static_cast<std::uint16_t>(form.lanes);
  const syntax::operand& value = d.operand(loads ? 0 : 1);
  if (form.lanes != 1)
    result.extra =
        loads ? d.destination_list(value, form.lanes) : d.source_list(value, form.lanes, form.type);
  else if (loads)
    result.d = d.destination(value);
  else
    result.b = d.source(value, form.type);
  return result;
}

instruction decode_load(decoding& d) { return decode_access(d, direction::load); }
instruction decode_store(decoding& d) { return decode_access(d, direction::store); }

const instruction* go_on(thread&, const instruction* i) { return i + 1; }

/// A hint; there is no cache to fill.
instruction decode_prefetch(decoding& d) {
  take_space(d);
  if (!d.take("L1")) d.ignore_hints("L2");
  d.expect_operands(1);
  instruction result;
  result.run = &go_on;
  return result;
}

const instruction* order_memory(thread&, const instruction* i) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return i + 1;
}

instruction decode_fence(decoding& d) {
  d.ignore({"sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "sys", "gl"});
  d.expect_operands(0);
  instruction result;
  result.run = &order_memory;
  return result;
}

constexpr std::array<instruction_row, 6> rows{{
    {"ld", decode_load},
    {"ldu", decode_load},
    {"st", decode_store},
    {"prefetch", decode_prefetch},
    {"membar", decode_fence},
    {"fence", decode_fence},
}};

}  // namespace

std::span<const instruction_row> memory_instructions() { return rows; }

}  // namespace cugraft_sim::ptx
