// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/module.hpp"
#include "ptx/types.hpp"

// The decoded form of PTX that the interpreter runs. All of it is constant after loading.
namespace cugraft_sim::ptx {

struct thread;
struct instruction;

/// Runs one instruction and returns the one to run next, or null where the thread stops: its state
/// then says why.
using handler = const instruction* (*)(thread&, const instruction*);

inline constexpr std::uint32_t no_slot = ~std::uint32_t{0};

/// One instruction. Operands are slots of the frame: registers, constants and special registers
/// alike, so that a handler reads them all in the same way.
struct instruction {
  handler run = nullptr;
  std::uint32_t d = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t guard = no_slot;
  bool guard_negated = false;
  std::uint8_t variant = 0;  ///< what else the handler needs to know
  std::uint16_t count = 0;   ///< of the slots in a list
  std::uint32_t extra = 0;   ///< second destination, begin of a list, or index of a call
  std::int64_t offset = 0;   ///< displacement of an address or, in instructions, of a branch
};

/// Special registers that keep their value while a thread runs.
enum class special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  dynamic_smem_size,
  total_smem_size,
};

struct special_slot {
  std::uint32_t slot;
  special what;
};

/// A slot that holds the address of a variable of the module.
struct symbol_slot {
  std::uint32_t slot;
  space where;
  std::uint64_t variable;  ///< index of a shared variable; for others, offset in the globals
  std::int64_t addend;
};

/// A slot that holds the address of a variable of the function's own frame.
struct local_slot {
  std::uint32_t slot;
  std::uint64_t offset;
};

/// A piece of a parameter area.
struct parameter_span {
  std::size_t offset = 0;
  std::size_t size = 0;
};

/// What a `call` passes and to whom.
struct call_site {
  std::uint32_t function = no_slot;  ///< index, or `no_slot` for a hook
  const hook* external = nullptr;
  std::vector<parameter_span> arguments;  ///< in the caller's area
  std::vector<parameter_span> results;    ///< in the caller's area
};

/// For messages: where an instruction stood in the text.
struct source_line {
  unsigned line = 0;
  std::string_view opcode;
};

struct function {
  std::string name;
  bool is_entry = false;
  std::vector<instruction> code;
  std::vector<source_line> lines;      ///< one for each instruction
  std::vector<std::uint64_t> image;    ///< the frame as it is at the begin of a call
  std::vector<symbol_slot> symbols;    ///< filled in once a launch
  std::vector<special_slot> specials;  ///< filled in once a call
  std::vector<local_slot> locals;      ///< filled in once a call
  std::vector<std::uint32_t> lists;    ///< slots of vectors
  std::vector<call_site> calls;
  std::vector<parameter_span> parameters;  ///< of a `.func`, in its own area; of an entry,
                                           ///< in the launch's buffer
  std::vector<parameter_span> results;     ///< of a `.func`, in its own area
  std::size_t parameter_bytes = 0;         ///< size of the area, those of its calls included
  std::size_t local_bytes = 0;
};

struct shared_variable {
  std::string name;
  std::size_t size = 0;
  std::size_t alignment = 1;
  bool is_dynamic = false;  ///< `extern .shared name[]`
};

/// What a launch of an entry needs, for all functions that it reaches.
struct kernel {
  std::vector<std::uint32_t> functions;       ///< indices; the entry's own is the first
  std::vector<std::uint64_t> shared_offsets;  ///< by shared variable; of those in use only
  std::size_t dynamic_offset = 0;             ///< where dynamic shared memory begins
};

/// An initial value in the block of globals that is an address.
struct address_value {
  std::size_t at = 0;
  std::size_t target = 0;
};

struct program {
  std::string text;  ///< what the views below point into
  hook_table hooks;
  unsigned version = 0;
  unsigned target = 0;
  std::vector<entry> entries;
  std::vector<kernel> kernels;  ///< one for each entry
  std::vector<function> functions;
  std::vector<shared_variable> shared;
  std::vector<global_variable> variables;
  std::vector<std::byte> initial_globals;
  std::vector<address_value> addresses;
  std::size_t globals_alignment = 1;
};

}  // namespace cugraft_sim::ptx
