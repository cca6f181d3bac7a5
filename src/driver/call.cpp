// SPDX-License-Identifier: Apache-2.0
#include "driver/call.hpp"

#include <fmt/format.h>

#include "base/result_names.hpp"
#include "cugraft/error.hpp"

namespace cugraft {

void refuse_empty_handle() {
  throw usage_error("the stream or event is empty: it was moved from, closed or released");
}

const char* function_name(const driver_table& table, const void* slot) noexcept {
#define CUGRAFT_DRIVER_FUNCTION(member, name, version, need, symbol, parameters) \
  if (slot == &table.member) return name;
#include "driver/functions.def"
#undef CUGRAFT_DRIVER_FUNCTION
  return "a driver function";
}

std::string failure_sentence(CUresult result, const char* function,
                             std::initializer_list<object> objects) {
  std::string sentence = failure_text(result, function, objects);
  if (const result_name* known = find_result_name(result))
    sentence += fmt::format(" ({})", known->meaning);
  return sentence;
}

void throw_failure(CUresult result, const char* function, std::initializer_list<object> objects) {
  throw cuda_error(result, function, failure_sentence(result, function, objects));
}

}  // namespace cugraft
