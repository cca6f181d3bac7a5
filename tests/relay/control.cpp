// SPDX-License-Identifier: Apache-2.0
#include "cugraft_sim/control.hpp"

#include <stdexcept>
#include <string>

#include "relay/relayed.hpp"

namespace cugraft_relay {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw std::logic_error(std::string(what) +
                         ": a real driver cannot be told that; the test needs the simulator's "
                         "control");
}

// What can be seen and done from outside a driver.
class control final : public cugraft_sim::simulator {
 public:
  int version() const override { return real().version; }

  void plan(const cugraft_sim::fault& fault) override { locked().books.plan(fault); }
  void plan(const cugraft_sim::random_faults& faults) override { locked().books.plan(faults); }
  std::size_t faults_hit() const override { return locked().books.faults_hit(); }
  void clear_faults() override { locked().books.clear_faults(); }

  std::uint64_t calls(std::string_view function) const override {
    return locked().books.count(function);
  }
  void start_log() override { locked().books.start_log(); }
  std::vector<cugraft_sim::call> take_log() override { return locked().books.take_log(); }

  cugraft_sim::live_handles live() const override { return count_live(); }
  std::size_t context_stack_depth() const override { return context_depth(); }
  void settle() override { cugraft_relay::settle(); }

  void delay(std::string_view function, unsigned microseconds) override {
    the_calls().books.set_delay(function, microseconds);
  }
  void hide(std::string_view function) override { locked().books.hide(function); }

  void set_version(int) override { refuse("set_version"); }
  void set(cugraft_sim::choice, int) override { refuse("set"); }
  int get(cugraft_sim::choice) const override { refuse("get"); }
  void set_device_count(int) override { refuse("set_device_count"); }
  void register_kernel(std::string_view, cugraft_sim::kernel_body) override {
    refuse("register_kernel");
  }
  void unregister_kernel(std::string_view) override { refuse("unregister_kernel"); }
  void set_check_mode(bool) override { refuse("set_check_mode"); }
  void set_device_memory(std::uint64_t) override { refuse("set_device_memory"); }

 private:
  struct access {
    std::unique_lock<std::mutex> lock;
    cugraft_sim::call_books& books;
  };
  static access locked() { return {std::unique_lock(the_calls().mutex), the_calls().books}; }
};

}  // namespace
}  // namespace cugraft_relay

extern "C" __attribute__((visibility("default"))) cugraft_sim::simulator* cugraft_sim_control();

extern "C" cugraft_sim::simulator* cugraft_sim_control() {
  static auto* const instance = new cugraft_relay::control;  // lives as long as the library
  return instance;
}
