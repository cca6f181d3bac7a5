// SPDX-License-Identifier: Apache-2.0
#include "cugraft_sim/control.hpp"

#include <stdexcept>
#include <string>

#include "calls.hpp"
#include "capture.hpp"
#include "check.hpp"
#include "context.hpp"
#include "memory.hpp"
#include "memory_pool.hpp"
#include "state.hpp"
#include "version.hpp"
#include "work_queue.hpp"

namespace cugraft_sim {
namespace {

std::size_t index_of(choice which) {
  const auto index = static_cast<std::size_t>(which);
  if (index >= static_cast<std::size_t>(choice::count_))
    throw std::invalid_argument("there is no such choice");
  return index;
}

std::size_t count_primary_contexts() {
  std::size_t retained = 0;
  for (const device& each : the_state().devices) retained += each.retained > 0 ? 1 : 0;
  return retained;
}

std::size_t count_made_contexts() {
  std::size_t made = 0;
  the_state().contexts.for_each(
      [&](const context& each) { made += each.destroyed || is_primary(each) ? 0 : 1; });
  return made;
}

class control final : public simulator {
 public:
  void set_version(int version) override {
    if (!is_version(version))
      throw std::invalid_argument("the simulated driver has no version " + std::to_string(version) +
                                  ", only " + version_list());
    const auto lock = lock_state();
    the_state().version = version;
    the_state().misconfigured = false;
  }

  int version() const override {
    const auto lock = lock_state();
    return the_state().version;
  }

  void set(choice which, int value) override {
    const std::size_t index = index_of(which);
    if (value < 0 || value > 1) throw std::invalid_argument("choices are 0 or 1");
    const auto lock = lock_state();
    the_state().choices[index] = value;
  }

  int get(choice which) const override {
    const std::size_t index = index_of(which);
    const auto lock = lock_state();
    return the_state().choices[index];
  }

  void set_device_count(int count) override {
    const auto lock = lock_state();
    if (count < 0 || the_state().initialised)
      throw std::invalid_argument("the number of devices is set once, before cuInit");
    the_state().device_count = count;
  }

  void plan(const fault& fault) override {
    const auto lock = lock_state();
    the_calls().plan(fault);
  }

  void plan(const random_faults& faults) override {
    const auto lock = lock_state();
    the_calls().plan(faults);
  }

  std::size_t faults_hit() const override {
    const auto lock = lock_state();
    return the_calls().faults_hit();
  }

  void clear_faults() override {
    const auto lock = lock_state();
    the_calls().clear_faults();
  }

  std::uint64_t calls(std::string_view function) const override {
    const auto lock = lock_state();
    return the_calls().count(function);
  }

  void start_log() override {
    const auto lock = lock_state();
    the_calls().start_log();
  }

  std::vector<call> take_log() override {
    const auto lock = lock_state();
    return the_calls().take_log();
  }

  live_handles live() const override {
    const auto lock = lock_state();
    live_handles alive;
    alive.primary_contexts = count_primary_contexts();
    alive.contexts = count_made_contexts();
    alive.streams = the_state().streams.size();
    alive.events = the_state().events.size();
    alive.device_allocations = the_memory().count(memory_kind::device);
    alive.host_allocations = the_memory().count(memory_kind::pinned_host);
    alive.memory_pools = count_pools();
    alive.libraries = the_state().libraries.size();
    alive.capturing_streams = count_capturing_streams();
    count_graph_handles(alive);
    return alive;
  }

  std::size_t context_stack_depth() const override { return cugraft_sim::context_stack_depth(); }

  void settle() override { activity::wait_for_none(); }

  void register_kernel(std::string_view name, kernel_body body) override {
    const auto lock = lock_state();
    the_state().kernel_bodies.insert_or_assign(std::string(name), std::move(body));
  }

  void unregister_kernel(std::string_view name) override {
    const auto lock = lock_state();
    the_state().kernel_bodies.erase(std::string(name));
  }

  void delay(std::string_view function, unsigned microseconds) override {
    the_calls().set_delay(function, microseconds);
  }

  void set_check_mode(bool on) override { check::set(on); }

  void set_device_memory(std::uint64_t bytes) override { the_memory().set_limit(bytes); }

  void hide(std::string_view function) override {
    const auto lock = lock_state();
    the_calls().hide(function);
  }
};

}  // namespace
}  // namespace cugraft_sim

extern "C" __attribute__((visibility("default"))) cugraft_sim::simulator* cugraft_sim_control();

extern "C" cugraft_sim::simulator* cugraft_sim_control() {
  static auto* const instance = new cugraft_sim::control;  // lives as long as the library
  return instance;
}
