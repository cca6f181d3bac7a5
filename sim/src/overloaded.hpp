// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cugraft_sim {

/// One visitor made of a function for each alternative.
template <class... Cases>
struct overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
overloaded(Cases...) -> overloaded<Cases...>;

}  // namespace cugraft_sim
