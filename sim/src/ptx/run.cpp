// SPDX-License-Identifier: Apache-2.0
#include "ptx/run.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "ptx/barriers.hpp"
#include "ptx/program.hpp"
#include "ptx/thread.hpp"

namespace cugraft_sim::ptx {
namespace {

constexpr unsigned turn = 10'000;     ///< backward branches until the next thread's turn
constexpr std::byte undefined{0xA5};  ///< shared memory begins undefined
constexpr std::size_t most_threads = 1024;
constexpr std::size_t most_shared_bytes = 1U << 20;

std::uint64_t count_of(const dimensions& size) { return std::uint64_t{size.x} * size.y * size.z; }

std::string text_of(const dimensions& what) {
  return "(" + std::to_string(what.x) + ", " + std::to_string(what.y) + ", " +
         std::to_string(what.z) + ")";
}

/// What does not fit, or nothing.
std::string find_problem(const entry& kernel, const launch& how) {
  const std::uint64_t threads = count_of(how.block);
  if (count_of(how.grid) == 0 || threads == 0 || count_of(how.cluster) == 0)
    return "a dimension is zero: grid " + text_of(how.grid) + ", block " + text_of(how.block) +
           ", cluster " + text_of(how.cluster);
  if (threads > most_threads) return "block " + text_of(how.block) + " has more than 1024 threads";
  if (how.grid.x % how.cluster.x != 0 || how.grid.y % how.cluster.y != 0 ||
      how.grid.z % how.cluster.z != 0)
    return "grid " + text_of(how.grid) + " does not divide into clusters of " +
           text_of(how.cluster);
  if (kernel.max_threads && threads > count_of(*kernel.max_threads))
    return "block " + text_of(how.block) + " has more threads than .maxntid says";
  if (kernel.required_threads && how.block != *kernel.required_threads)
    return "block " + text_of(how.block) + " is not the .reqntid " +
           text_of(*kernel.required_threads);
  if (kernel.required_cluster && how.cluster != *kernel.required_cluster)
    return "cluster " + text_of(how.cluster) + " is not the .reqnctapercluster " +
           text_of(*kernel.required_cluster);
  if (how.parameters.size() < kernel.parameter_bytes)
    return std::to_string(how.parameters.size()) + " bytes of parameters, of " +
           std::to_string(kernel.parameter_bytes);
  if (kernel.static_shared_bytes + how.dynamic_shared_bytes > most_shared_bytes)
    return "more than 1 MiB of shared memory";
  return {};
}

/// Fills in the addresses of variables, which differ from launch to launch.
std::vector<std::uint64_t> make_image(const launch_state& state, const function& body) {
  std::vector<std::uint64_t> image = body.image;
  const auto globals = reinterpret_cast<std::uintptr_t>(state.how->globals);
  for (const symbol_slot& next : body.symbols) {
    const std::uint64_t begin = next.where == space::shared
                                    ? state.kernel_code->shared_offsets[next.variable]
                                    : globals + next.variable;
    image[next.slot] = begin + static_cast<std::uint64_t>(next.addend);
  }
  return image;
}

void begin(thread& t, launch_state& launch, block_state& block, unsigned number) {
  const dimensions& size = launch.how->block;
  t.launch = &launch;
  t.block = &block;
  t.number = number;
  t.index = {number % size.x, number / size.x % size.y, number / size.x / size.y};
  t.carry = false;
  t.callers.clear();
  t.stack.clear();
  t.parameters.clear();
  t.local.clear();
  t.state = thread_state::runnable;
  if (enter(t, launch.kernel_code->functions.front()))
    t.next = t.body->code.data();
  else
    fail(t, t.body->code.data(), outcome::stack_overflow, "needs more local memory than there is");
}

/// Runs until the thread stops: at a barrier, at its end, or because its turn is over.
void run_turn(thread& t) {
  t.fuel = turn;
  const instruction* i = t.next;
  while (i != nullptr) {
    if (i->guard != no_slot && get<bool>(t, i->guard) == i->guard_negated)
      ++i;
    else
      i = i->run(t, i);
  }
}

bool is_cancelled(launch_state& launch) {
  if (launch.how->cancelled == nullptr || !launch.how->cancelled->load(std::memory_order_relaxed))
    return false;
  launch.result = {outcome::cancelled, "kernel '" + launch.kernel_entry->name + "' was cancelled"};
  return true;
}

/// Gives each thread that can run a turn; whether there was one.
bool run_turns(std::span<thread> threads) {
  bool any = false;
  for (thread& t : threads) {
    if (t.state != thread_state::runnable) continue;
    run_turn(t);
    if (t.state == thread_state::failed) return true;
    any = true;
  }
  return any;
}

void report_deadlock(std::span<thread> threads) {
  const auto waiting = std::find_if(threads.begin(), threads.end(), [](const thread& t) {
    return t.state != thread_state::exited;
  });
  fail(*waiting, waiting->pending.at, outcome::barrier, "waits for threads that never come");
}

void run_block(std::span<thread> threads, launch_state& launch, block_state& block) {
  for (unsigned k = 0; k < threads.size(); ++k) begin(threads[k], launch, block, k);
  while (launch.result && !is_cancelled(launch)) {
    const bool ran = run_turns(threads);
    if (!launch.result) return;
    if (std::all_of(threads.begin(), threads.end(),
                    [](const thread& t) { return t.state == thread_state::exited; }))
      return;
    const bool released = release_barriers(threads, block);
    if (!release_warps(threads) && !released && !ran) report_deadlock(threads);
  }
}

void run_grid(launch_state& launch) {
  const dimensions& grid = launch.how->grid;
  std::vector<thread> threads(count_of(launch.how->block));
  block_state block;
  for (std::uint64_t k = 0; k < count_of(grid) && launch.result; ++k) {
    block.index = {static_cast<unsigned>(k % grid.x), static_cast<unsigned>(k / grid.x % grid.y),
                   static_cast<unsigned>(k / grid.x / grid.y)};
    block.shared.assign(launch.kernel_code->dynamic_offset + launch.how->dynamic_shared_bytes,
                        undefined);
    block.arrived = {};
    run_block(threads, launch, block);
  }
}

}  // namespace

const instruction* fail(thread& t, const instruction* at, outcome kind, const std::string& what) {
  const source_line& where = t.body->lines[static_cast<std::size_t>(at - t.body->code.data())];
  std::string text = "kernel '" + t.launch->kernel_entry->name + "', block " +
                     text_of(t.block->index) + ", thread " + text_of(t.index) + ": " + what +
                     " in " + std::string(where.opcode) + ", line " + std::to_string(where.line);
  if (!t.body->is_entry) text += ", function '" + t.body->name + "'";
  t.state = thread_state::failed;
  t.launch->result = {kind, std::move(text)};
  return nullptr;
}

run_result run(const ptx_module& code, const entry& kernel, const launch& how, memory& global) {
  const std::string problem = find_problem(kernel, how);
  if (!problem.empty()) return {outcome::bad_launch, "kernel '" + kernel.name + "': " + problem};
  launch_state state;
  state.code = &code.code();
  state.kernel_entry = &kernel;
  state.kernel_code = &state.code->kernels[kernel.index];
  state.how = &how;
  state.global = &global;
  state.parameters.assign(
      how.parameters.begin(),
      how.parameters.begin() + static_cast<std::ptrdiff_t>(kernel.parameter_bytes));
  state.images.resize(state.code->functions.size());
  for (const std::uint32_t index : state.kernel_code->functions)
    state.images[index] = make_image(state, state.code->functions[index]);
  run_grid(state);
  return state.result;
}

}  // namespace cugraft_sim::ptx
