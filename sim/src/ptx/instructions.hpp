// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "ptx/program.hpp"

namespace cugraft_sim::ptx {

class decoding;

/// Turns one instruction of the text into its decoded form.
using decoder = instruction (*)(decoding&);

/// An instruction by the first part of its opcode.
struct instruction_row {
  std::string_view name;
  decoder decode;
};

/// Whether there is a decoder for the first part of `opcode`.
bool knows_instruction(std::string_view opcode);

/// The decoder for the first part of `opcode`; null if there is none.
decoder find_decoder(std::string_view opcode);

/// One table a family; each has a file of its own.
std::span<const instruction_row> integer_instructions();
std::span<const instruction_row> bit_instructions();
std::span<const instruction_row> float_instructions();
std::span<const instruction_row> compare_instructions();
std::span<const instruction_row> convert_instructions();
std::span<const instruction_row> move_instructions();
std::span<const instruction_row> memory_instructions();
std::span<const instruction_row> atomic_instructions();
std::span<const instruction_row> control_instructions();
std::span<const instruction_row> barrier_instructions();
std::span<const instruction_row> warp_instructions();

}  // namespace cugraft_sim::ptx
