// SPDX-License-Identifier: Apache-2.0
#include "ptx/instructions.hpp"

#include <unordered_map>

namespace cugraft_sim::ptx {
namespace {

using decoder_table = std::unordered_map<std::string_view, decoder>;

decoder_table make_table() {
  decoder_table result;
  for (const auto rows :
       {integer_instructions(), bit_instructions(), float_instructions(), compare_instructions(),
        convert_instructions(), move_instructions(), memory_instructions(), atomic_instructions(),
        control_instructions(), barrier_instructions(), warp_instructions()})
    for (const instruction_row& row : rows) result.emplace(row.name, row.decode);
  return result;
}

}  // namespace

decoder find_decoder(std::string_view opcode) {
  static const decoder_table table = make_table();
  const auto found = table.find(opcode.substr(0, opcode.find('.')));
  return found != table.end() ? found->second : nullptr;
}

bool knows_instruction(std::string_view opcode) { return find_decoder(opcode) != nullptr; }

}  // namespace cugraft_sim::ptx
