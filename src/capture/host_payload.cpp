// SPDX-License-Identifier: Apache-2.0
#include "capture/host_payload.hpp"

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "base/access.hpp"
#include "base/report.hpp"

namespace cugraft {
namespace {

using detail::access;

// A CUhostFn as a host function like any other: the same where both pointers are.
struct plain_function {
  void (*function)(void*);
  void* user_data;

  void operator()() const { function(user_data); }
  friend bool operator==(const plain_function&, const plain_function&) = default;
};

void run(const host_function& function) noexcept {
  try {
    access::function_type(function)->call(access::function_object(function));
  } catch (const std::exception& thrown) {
    report(std::string("a host function threw: ") + thrown.what());
  } catch (...) {
    report("a host function threw something that is no std::exception");
  }
}

}  // namespace

host_function::host_function(void (*function)(void*), void* user_data) {
  if (function == nullptr)
    throw usage_error("host_function: the function is null: give a function that can be called");
  *this = host_function(plain_function{function, user_data});
}

host_function::host_function(host_function&& other) noexcept
    : self_(std::exchange(other.self_, nullptr)), type_(std::exchange(other.type_, nullptr)) {}

host_function& host_function::operator=(host_function&& other) noexcept {
  if (this != &other) {
    if (self_ != nullptr) type_->destroy(self_);
    self_ = std::exchange(other.self_, nullptr);
    type_ = std::exchange(other.type_, nullptr);
  }
  return *this;
}

host_function::~host_function() {
  if (self_ != nullptr) type_->destroy(self_);
}

void CUDA_CB run_host_payload(void* payload) noexcept {
  run(static_cast<const host_payload*>(payload)->function);
}

detached_host_payload* detach(const driver_table& table, host_function function, int holders) {
  const std::shared_ptr<detached_host_payload> made(
      new detached_host_payload{{std::move(function)}, holders});
  const auto record = std::make_shared<generation_record>();
  record->foreign = released_relaxed(table, made);
  made->self.push_back(record);
  return made.get();
}

void release(detached_host_payload* payload) noexcept {
  if (payload->holders.fetch_sub(1) == 1)
    release_later(std::exchange(payload->self, record_list()));
}

void CUDA_CB run_host_payload_once(void* payload) noexcept {
  auto* const shared = static_cast<detached_host_payload*>(payload);
  run(shared->payload.function);
  release(shared);
}

bool same_host_function(const host_function& a, const host_function& b) {
  return access::function_type(a) == access::function_type(b) &&
         access::function_type(a)->same(access::function_object(a), access::function_object(b));
}

host_node_params plain_function_of(const host_function& function) noexcept {
  if (access::function_type(function) != &detail::host_function_type_of<plain_function>) return {};
  const auto& plain = *static_cast<const plain_function*>(access::function_object(function));
  return {plain.function, plain.user_data};
}

const host_payload* payload_of(const model::graph& graph, std::size_t node) noexcept {
  if (graph.kind(node) != node_kind::host) return nullptr;
  const void* const owner = graph.owner(node).get();
  const bool ours =
      graph.same(node, model::host_value{reinterpret_cast<std::uintptr_t>(&run_host_payload),
                                         reinterpret_cast<std::uintptr_t>(owner)});
  return ours ? static_cast<const host_payload*>(owner) : nullptr;
}

const host_payload* payload_of(const model::node_value& value) noexcept {
  const auto* host = std::get_if<model::host_value>(&value.data);
  const bool ours = host != nullptr &&
                    host->function == reinterpret_cast<std::uintptr_t>(&run_host_payload) &&
                    host->user_data == reinterpret_cast<std::uintptr_t>(value.owner.get());
  return ours ? static_cast<const host_payload*>(value.owner.get()) : nullptr;
}

}  // namespace cugraft
