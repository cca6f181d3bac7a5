// SPDX-License-Identifier: Apache-2.0
#include "ptx/calls.hpp"

#include <cstring>
#include <span>
#include <vector>

#include "ptx/access.hpp"
#include "ptx/align.hpp"
#include "ptx/specials.hpp"

namespace cugraft_sim::ptx {
namespace {

constexpr std::size_t most_frames = 4096;
constexpr std::size_t most_local_bytes = 512 * 1024;  // per thread, as on a GPU
constexpr std::byte undefined{0xA5};  // local memory begins undefined; zeros would hide mistakes

void copy_spans(std::byte* to, const std::vector<parameter_span>& to_spans, const std::byte* from,
                const std::vector<parameter_span>& from_spans) {
  for (std::size_t k = 0; k < to_spans.size(); ++k)
    std::memcpy(to + to_spans[k].offset, from + from_spans[k].offset, to_spans[k].size);
}

class thread_hook_call final : public hook_call {
 public:
  explicit thread_hook_call(thread& t) : thread_(t) {}

  bool read(std::uint64_t address, void* to, std::size_t size) override {
    const std::byte* from = locate_unaligned<space::generic>(thread_, address, size, access::read);
    if (from == nullptr) return false;
    std::memcpy(to, from, size);
    return true;
  }

 private:
  thread& thread_;
};

}  // namespace

bool enter(thread& t, std::uint32_t function_index) {
  const function& body = t.launch->code->functions[function_index];
  t.body = &body;
  t.current = {&body,
               nullptr,
               nullptr,
               t.stack.size(),
               align_up(t.parameters.size(), 16),
               align_up(t.local.size(), 16)};
  if (t.callers.size() > most_frames || t.current.local + body.local_bytes > most_local_bytes)
    return false;
  const std::vector<std::uint64_t>& image = t.launch->images[function_index];
  t.stack.insert(t.stack.end(), image.begin(), image.end());
  t.parameters.resize(t.current.parameters + body.parameter_bytes);
  t.local.resize(t.current.local + body.local_bytes, undefined);
  t.slots = t.stack.data() + t.current.slots;
  for (const special_slot& next : body.specials) t.slots[next.slot] = value_of(next.what, t);
  for (const local_slot& next : body.locals) t.slots[next.slot] = t.current.local + next.offset;
  return true;
}

const instruction* call_function(thread& t, const instruction* i) {
  const call_site& site = t.body->calls[i->extra];
  const frame caller = t.current;
  const function& body = *t.body;
  t.callers.push_back(caller);
  t.callers.back().resume = i + 1;
  t.callers.back().site = &site;
  if (!enter(t, site.function)) {
    t.body = &body;
    return fail(t, i, outcome::stack_overflow, "calls too deep");
  }
  copy_spans(t.parameters.data() + t.current.parameters, t.body->parameters,
             t.parameters.data() + caller.parameters, site.arguments);
  return t.body->code.data();
}

const instruction* return_to_caller(thread& t, const instruction*) {
  if (t.callers.empty()) {
    t.state = thread_state::exited;
    return nullptr;
  }
  const frame returning = t.current;
  t.current = t.callers.back();
  t.callers.pop_back();
  copy_spans(t.parameters.data() + t.current.parameters, t.current.site->results,
             t.parameters.data() + returning.parameters, returning.body->results);
  t.body = t.current.body;
  t.stack.resize(returning.slots);
  t.parameters.resize(returning.parameters);
  t.local.resize(returning.local);
  t.slots = t.stack.data() + t.current.slots;
  return t.current.resume;
}

const instruction* call_external(thread& t, const instruction* i) {
  const call_site& site = t.body->calls[i->extra];
  std::byte* area = t.parameters.data() + t.current.parameters;
  std::vector<std::span<const std::byte>> arguments;
  for (const parameter_span& next : site.arguments)
    arguments.emplace_back(area + next.offset, next.size);
  thread_hook_call call(t);
  call.context = t.launch->how->hook_context;
  call.arguments = arguments;
  if (!site.results.empty())
    call.result = {area + site.results.front().offset, site.results.front().size};
  const std::string problem = (*site.external)(call);
  if (!problem.empty()) return fail(t, i, outcome::hook_failed, problem);
  return i + 1;
}

}  // namespace cugraft_sim::ptx
