// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/identify.hpp"
#include "capture/session.hpp"
#include "driver/call.hpp"
#include "model/memory_nodes.hpp"

// What builders allocate and free. In a capture the driver makes the nodes; in a re-capture that is
// compared at its end the graph's own addresses are handed out, and an empty node stands for each
// call: two captures of one allocation get two addresses (driver facts, Order).

namespace cugraft {
namespace {

void* pointer_of(std::uintptr_t address) noexcept { return reinterpret_cast<void*>(address); }

// Whether the call does what the graph's node does.
bool is_same(const memory_call& call, const model::graph& graph, std::size_t node) noexcept {
  if (const model::allocation_value* allocation = graph.allocation(node))
    return call.bytes == allocation->bytes;
  const model::free_value* const freed = graph.free(node);
  return freed == nullptr || call.address == freed->address;
}

}  // namespace

namespace detail {

void* session_state::allocate(std::uint32_t builder, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const lane& where = lanes_[require_building(builder).lane];
  require_own_thread(where);
  if (bytes == 0)
    throw usage_error("allocate: nothing to allocate for 0 bytes; leave the call out");
  if (allocations_.size() == allocations_.capacity())
    allocations_.reserve(2 * allocations_.size() + 8);
  const std::uintptr_t own = next_own_address();
  const std::uintptr_t address = allocate_on(where.stream, bytes, own);
  allocations_.push_back({address, own, bytes});  // reserved
  return pointer_of(address);
}

// The address of the graph's allocation that the next one is matched with; 0 if there is none.
std::uintptr_t session_state::next_own_address() {
  if (!client_ || parent_ != nullptr) return 0;  // a body holds none
  const model::graph& expected = client_->expected();
  const std::size_t next = allocations_.size();
  if (next == 0) expected_allocations_ = model::allocation_nodes(expected);
  return next < expected_allocations_.size()
             ? expected.allocation(expected_allocations_[next])->address
             : 0;
}

std::uintptr_t session_state::allocate_on(stream_ref stream, std::size_t bytes,
                                          std::uintptr_t own) {
  if (is_eager_) return allocate_eagerly(stream, bytes);
  node_note note;
  note.memory = memory_call{.kind = node_kind::allocation, .bytes = bytes};
  if (client_ && client_->hands_out_memory()) {
    const std::uintptr_t address = !failure_ && own != 0 ? own : take_placeholder(bytes);
    note.memory->address = address;
    stand_in(stream, std::move(note));
    return address;
  }
  CUdeviceptr made = 0;
  add_memory_node(stream, std::move(note), [&] {
    return call_result{table_->mem_alloc_async(&made, bytes, stream.get()), "cuMemAllocAsync"};
  });
  if (failure_) return take_placeholder(bytes);
  notes_.back().memory->address = static_cast<std::uintptr_t>(made);
  return static_cast<std::uintptr_t>(made);
}

void session_state::free(std::uint32_t builder, void* pointer) {
  const std::lock_guard lock(mutex_);
  const lane& where = lanes_[require_building(builder).lane];
  require_own_thread(where);
  const stream_ref stream = where.stream;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  // The last of that address: it may be that of memory which was freed before.
  const auto found = std::find_if(allocations_.rbegin(), allocations_.rend(),
                                  [&](const auto& each) { return each.address == address; });
  if (found == allocations_.rend())
    throw usage_error("free: " + identify(object("memory", pointer)) + " is no allocation of " +
                      describe() + ": give what graph_builder::allocate gave in this session");
  if (found->is_freed)
    throw usage_error(
        "free: " + identify(object("memory", pointer)) + " was freed in " + describe() +
        " already: " + (is_eager_ ? "memory is freed once" : "a graph frees its memory once"));
  if (is_eager_) {
    free_eagerly(stream, address);
    found->is_freed = true;
    return;
  }
  node_note note;
  note.memory =
      memory_call{.kind = node_kind::free, .address = found->own != 0 ? found->own : address};
  if (client_ && client_->hands_out_memory())
    stand_in(stream, std::move(note));
  else
    add_memory_node(stream, std::move(note), [&] {
      return call_result{table_->mem_free_async(static_cast<CUdeviceptr>(address), stream.get()),
                         "cuMemFreeAsync"};
    });
  found->is_freed = true;
}

// A driver takes kernels and fills of memory that another graph allocates into a capture, and
// refuses copies (docs/driver/observations.md): an empty node stands for them, too.
bool session_state::copies_own_memory(const void* dst, const void* src) const noexcept {
  if (!client_ || !client_->hands_out_memory()) return false;
  const auto is_in = [](const session_allocation& of, const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) - of.address < of.bytes;
  };
  return std::any_of(allocations_.begin(), allocations_.end(),
                     [&](const auto& each) { return is_in(each, dst) || is_in(each, src); });
}

// Nothing may be mapped there, so that foreign work with it fails instead of harming others.
std::uintptr_t session_state::take_placeholder(std::size_t bytes) noexcept {
  constexpr std::size_t alignment = 512;
  const std::uintptr_t taken = next_placeholder_;
  next_placeholder_ += (std::min(bytes, std::size_t{1} << 48) / alignment + 1) * alignment;
  return taken;
}

// An empty node takes the place in the capture. A node that was added stays, whatever fails behind
// it: none can be taken out of a capture (driver rules, 2.2).
void session_state::stand_in(stream_ref stream, node_note note) {
  const node_kind kind = note.memory->kind;
  lane& where = lane_of(stream);
  if (comparer_ != nullptr) return compare_memory(where, std::move(note));
  note.tag = tree_->tag;
  ++where.added;
  where.joined = false;
  if (failure_ || !refresh(where)) return track(where, kind, std::move(note));
  if (notes_.size() == notes_.capacity()) notes_.reserve(2 * notes_.size() + 16);
  CUgraphNode added = nullptr;
  call_result result{table_->graph_add_empty_node(&added, captured_graph_, where.at.nodes.data(),
                                                  where.at.nodes.size()),
                     "cuGraphAddEmptyNode"};
  if (result.ok())
    result = {table_->stream_update_capture_dependencies(stream.get(), &added, nullptr, 1,
                                                         CU_STREAM_SET_CAPTURE_DEPENDENCIES),
              "cuStreamUpdateCaptureDependencies"};
  if (!result.ok()) {
    found_unknown_ |= added != nullptr;  // there may be a node that the calls did not make
    fail({mismatch::driver_failure, result});
    return track(where, kind, std::move(note));
  }
  note.node = added;
  notes_.push_back(std::move(note));  // reserved
  if (refresh(where, true)) return;
  // It is among what was captured, if that could be read.
  if (const auto position = captured_positions_.find(added)) where.front.assign(1, {*position, {}});
}

// Where calls are compared as they are made, what is the same has nothing to change but its tag.
void session_state::compare_memory(lane& where, node_note note) {
  const bool is_graphs = is_comparing_ && is_next(where, note.memory->kind, false);
  if (is_graphs && is_same(*note.memory, client_->expected(), matched_)) {
    const auto nothing = [](CUstream) { return call_result{}; };
    model::node_value same = client_->expected().value(matched_);
    return compare_call(where, std::move(note), std::move(same), repetition(nothing));
  }
  diverge();
  ++where.added;
  where.joined = false;
  const node_kind kind = note.memory->kind;
  note.tag = tree_->tag;
  track(where, kind, std::move(note));
}

void session_state::stand_in_for_copy(stream_ref stream, const model::copy_value& copy) {
  node_note note;
  note.memory = memory_call{.kind = node_kind::copy, .copy = copy};
  stand_in(stream, std::move(note));
}

void session_state::note_unread(const std::exception& thrown) noexcept {
  const auto* const failed = dynamic_cast<const cuda_error*>(&thrown);
  leaves_unread_ =
      failed != nullptr ? static_cast<CUresult>(failed->code()) : CUDA_ERROR_OUT_OF_MEMORY;
}

// The driver takes a node for joined that was added and not captured (driver facts, Conditions), so
// it says nothing where the last that a fork did was to allocate or free.
call_result session_state::unjoined_memory(
    const std::vector<node_summary>& unjoined) const noexcept {
  if (!client_ || !client_->hands_out_memory() || allocations_.empty()) return {};
  if (leaves_unread_) return {*leaves_unread_, "cuGraphNodeGetDependencies"};
  const bool is_joined =
      std::none_of(unjoined.begin(), unjoined.end(), [](const node_summary& leaf) {
        return model::is_memory_kind(leaf.kind) || leaf.kind == node_kind::copy;
      });
  return {is_joined ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "cuStreamEndCapture"};
}

std::optional<model::structure_mismatch> session_state::first_memory_mismatch() const {
  const model::graph& expected = client_->expected();
  const std::size_t count = std::min(found_.size(), expected.size());
  const std::size_t first = matches_at_calls() ? first_tracked() : 0;
  for (std::size_t i = first; i < count; ++i) {
    if (!model::is_memory_kind(expected.kind(i)) || found_.kind(i) != expected.kind(i)) continue;
    const node_note* const note = found_note(i);
    if (note == nullptr || !note->memory)
      return model::structure_mismatch{mismatch::foreign_allocation, i};
    if (!is_same(*note->memory, expected, i))
      return model::structure_mismatch{mismatch::allocation, i};
  }
  return std::nullopt;
}

}  // namespace detail
}  // namespace cugraft
