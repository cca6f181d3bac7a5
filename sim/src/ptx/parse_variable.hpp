// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ptx/cursor.hpp"
#include "ptx/syntax.hpp"

namespace cugraft_sim::ptx {

/// The state space that a directive (".shared") names, if it names one that holds variables.
std::optional<space> find_space(std::string_view directive) noexcept;

/// Parses one variable after its state space: `.align 4 .b8 name[16] = {1, 2}`.
syntax::variable parse_variable(cursor& at, space where, bool external);

/// Parses the parameters of a function, from '(' to ')'; none if there is no '('.
std::vector<syntax::variable> parse_parameters(cursor& at);

/// Parses the registers after `.reg`, up to the semicolon.
std::vector<syntax::registers> parse_registers(cursor& at);

}  // namespace cugraft_sim::ptx
