// SPDX-License-Identifier: Apache-2.0
#include "callback.hpp"

namespace cugraft_sim {
namespace {

thread_local bool in_callback = false;

}  // namespace

callback_scope::callback_scope() noexcept : outer_(in_callback) { in_callback = true; }

callback_scope::~callback_scope() { in_callback = outer_; }

bool callback_scope::is_open() noexcept { return in_callback; }

}  // namespace cugraft_sim
