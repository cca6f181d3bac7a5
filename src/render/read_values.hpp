// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "cugraft/change_report.hpp"
#include "model/values.hpp"
#include "render/json_reader.hpp"

// Reads single values of the JSON forms.

namespace cugraft {

template <class T>
T read_unsigned(json_reader& in) {
  return static_cast<T>(in.unsigned_number(std::numeric_limits<T>::max()));
}

/// The version of this build. @throws format_error  if it is another
void check_version(json_reader& in);

/// A kind's name, or "kind 18".
node_kind read_kind(json_reader& in);

/// "5[1]/2".
node_path read_path(json_reader& in);

/// Parameters in the form of that index in `form_names`; of a kernel the layout has no name yet.
decltype(model::node_value::data) read_data(json_reader& in, std::size_t form);

/// Whether a node of this kind can have these parameters.
bool fits(node_kind kind, const model::node_value& value) noexcept;

}  // namespace cugraft
