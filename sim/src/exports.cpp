// SPDX-License-Identifier: Apache-2.0
#include "exports.hpp"

#include <algorithm>
#include <array>

#include "calls.hpp"
#include "entry.hpp"
#include "forms.hpp"

// One exported function for each line of the lists, under the symbol that the line names. The list
// has types only, so the parameters get their names here; and cuda.h declares some of the symbols
// with other signatures, so ours are C++ functions whose symbol is given beside them.

#define CUGRAFT_EXPORT_COUNT(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, count, ...) count
#define CUGRAFT_EXPORT_ARITY(...) \
  CUGRAFT_EXPORT_COUNT(none __VA_OPT__(, ) __VA_ARGS__, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, none)

#define CUGRAFT_PARAMETERS_0()
#define CUGRAFT_PARAMETERS_1(a) a p1
#define CUGRAFT_PARAMETERS_2(a, b) a p1, b p2
#define CUGRAFT_PARAMETERS_3(a, b, c) a p1, b p2, c p3
#define CUGRAFT_PARAMETERS_4(a, b, c, d) a p1, b p2, c p3, d p4
#define CUGRAFT_PARAMETERS_5(a, b, c, d, e) a p1, b p2, c p3, d p4, e p5
#define CUGRAFT_PARAMETERS_6(a, b, c, d, e, f) a p1, b p2, c p3, d p4, e p5, f p6
#define CUGRAFT_PARAMETERS_7(a, b, c, d, e, f, g) a p1, b p2, c p3, d p4, e p5, f p6, g p7
#define CUGRAFT_PARAMETERS_8(a, b, c, d, e, f, g, h) a p1, b p2, c p3, d p4, e p5, f p6, g p7, h p8
#define CUGRAFT_PARAMETERS_10(a, b, c, d, e, f, g, h, i, j) \
  CUGRAFT_PARAMETERS_8(a, b, c, d, e, f, g, h), i p9, j p10
#define CUGRAFT_PARAMETERS_11(a, b, c, d, e, f, g, h, i, j, k) \
  CUGRAFT_PARAMETERS_10(a, b, c, d, e, f, g, h, i, j), k p11

#define CUGRAFT_ARGUMENTS_0
#define CUGRAFT_ARGUMENTS_1 , p1
#define CUGRAFT_ARGUMENTS_2 CUGRAFT_ARGUMENTS_1, p2
#define CUGRAFT_ARGUMENTS_3 CUGRAFT_ARGUMENTS_2, p3
#define CUGRAFT_ARGUMENTS_4 CUGRAFT_ARGUMENTS_3, p4
#define CUGRAFT_ARGUMENTS_5 CUGRAFT_ARGUMENTS_4, p5
#define CUGRAFT_ARGUMENTS_6 CUGRAFT_ARGUMENTS_5, p6
#define CUGRAFT_ARGUMENTS_7 CUGRAFT_ARGUMENTS_6, p7
#define CUGRAFT_ARGUMENTS_8 CUGRAFT_ARGUMENTS_7, p8
#define CUGRAFT_ARGUMENTS_10 CUGRAFT_ARGUMENTS_8, p9, p10
#define CUGRAFT_ARGUMENTS_11 CUGRAFT_ARGUMENTS_10, p11

#define CUGRAFT_JOIN(a, b) CUGRAFT_JOIN_EXPANDED(a, b)
#define CUGRAFT_JOIN_EXPANDED(a, b) a##b
#define CUGRAFT_PARAMETERS(types) \
  CUGRAFT_JOIN(CUGRAFT_PARAMETERS_, CUGRAFT_EXPORT_ARITY types) types
#define CUGRAFT_ARGUMENTS(types) CUGRAFT_JOIN(CUGRAFT_ARGUMENTS_, CUGRAFT_EXPORT_ARITY types)

namespace cugraft_sim {
namespace exported {

#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types)               \
  __attribute__((visibility("default"))) CUresult member types __asm__(symbol);           \
  CUresult member(CUGRAFT_PARAMETERS(types)) {                                            \
    return enter({function_id::member, version}, &impl::member CUGRAFT_ARGUMENTS(types)); \
  }
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION

#define CUGRAFT_DRIVER_FORM(form, member, version, symbol, types)                       \
  __attribute__((visibility("default"))) CUresult form types __asm__(symbol);           \
  CUresult form(CUGRAFT_PARAMETERS(types)) {                                            \
    return enter({function_id::member, version}, &impl::form CUGRAFT_ARGUMENTS(types)); \
  }
#include "forms.def"
#undef CUGRAFT_DRIVER_FORM

}  // namespace exported

// Of every function; those that have a twin get its symbol beside this one.
namespace per_thread {

#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types)  \
  CUresult member types __asm__("cugraft_sim_per_thread_" #member);          \
  CUresult member(CUGRAFT_PARAMETERS(types)) {                               \
    return enter({function_id::member, version, null_stream_is::per_thread}, \
                 &impl::member CUGRAFT_ARGUMENTS(types));                    \
  }
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION

#define CUGRAFT_DRIVER_FORM(form, member, version, symbol, types)            \
  CUresult form types __asm__("cugraft_sim_per_thread_" #form);              \
  CUresult form(CUGRAFT_PARAMETERS(types)) {                                 \
    return enter({function_id::member, version, null_stream_is::per_thread}, \
                 &impl::form CUGRAFT_ARGUMENTS(types));                      \
  }
#include "forms.def"
#undef CUGRAFT_DRIVER_FORM

}  // namespace per_thread

namespace twin {

#define CUGRAFT_PER_THREAD(member, symbol)                    \
  decltype(per_thread::member) member __asm__(symbol "_ptsz") \
      __attribute__((alias("cugraft_sim_per_thread_" #member), visibility("default")));
#include "per_thread.def"
#undef CUGRAFT_PER_THREAD

}  // namespace twin

namespace {

struct form_facts {
  function_id id;
  int version;
  void* address;
};

const std::array forms{
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, types) \
  form_facts{function_id::member, version, reinterpret_cast<void*>(&exported::member)},
#include "functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
#define CUGRAFT_DRIVER_FORM(form, member, version, symbol, types) \
  form_facts{function_id::member, version, reinterpret_cast<void*>(&exported::form)},
#include "forms.def"
#undef CUGRAFT_DRIVER_FORM
};

void* find_twin(void* address) noexcept {
  struct pair {
    void* address;
    void* twin;
  };
  static const std::array twins{
#define CUGRAFT_PER_THREAD(member, symbol) \
  pair{reinterpret_cast<void*>(&exported::member), reinterpret_cast<void*>(&twin::member)},
#include "per_thread.def"
#undef CUGRAFT_PER_THREAD
  };
  const auto found = std::ranges::find(twins, address, &pair::address);
  return found == twins.end() ? nullptr : found->twin;
}

}  // namespace

void* find_form(function_id id, int version, null_stream_is null_stream) noexcept {
  const form_facts* newest = nullptr;
  for (const form_facts& each : forms)
    if (each.id == id && each.version <= version && (!newest || each.version > newest->version))
      newest = &each;
  if (!newest) return nullptr;
  const bool has_twins = version >= first_version_with_twins;
  void* const twin =
      has_twins && null_stream == null_stream_is::per_thread ? find_twin(newest->address) : nullptr;
  return twin ? twin : newest->address;
}

}  // namespace cugraft_sim

#undef CUGRAFT_ARGUMENTS
#undef CUGRAFT_PARAMETERS
#undef CUGRAFT_JOIN_EXPANDED
#undef CUGRAFT_JOIN
#undef CUGRAFT_ARGUMENTS_11
#undef CUGRAFT_ARGUMENTS_10
#undef CUGRAFT_ARGUMENTS_8
#undef CUGRAFT_ARGUMENTS_7
#undef CUGRAFT_ARGUMENTS_6
#undef CUGRAFT_ARGUMENTS_5
#undef CUGRAFT_ARGUMENTS_4
#undef CUGRAFT_ARGUMENTS_3
#undef CUGRAFT_ARGUMENTS_2
#undef CUGRAFT_ARGUMENTS_1
#undef CUGRAFT_ARGUMENTS_0
#undef CUGRAFT_PARAMETERS_11
#undef CUGRAFT_PARAMETERS_10
#undef CUGRAFT_PARAMETERS_8
#undef CUGRAFT_PARAMETERS_7
#undef CUGRAFT_PARAMETERS_6
#undef CUGRAFT_PARAMETERS_5
#undef CUGRAFT_PARAMETERS_4
#undef CUGRAFT_PARAMETERS_3
#undef CUGRAFT_PARAMETERS_2
#undef CUGRAFT_PARAMETERS_1
#undef CUGRAFT_PARAMETERS_0
#undef CUGRAFT_EXPORT_ARITY
#undef CUGRAFT_EXPORT_COUNT
