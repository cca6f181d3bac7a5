// SPDX-License-Identifier: Apache-2.0
#include "state.hpp"

#include <cstdio>
#include <cstdlib>

#include "check.hpp"
#include "version.hpp"

namespace cugraft_sim {
namespace {

std::mutex& state_mutex() noexcept {
  static auto* const mutex = new std::mutex;  // lives as long as any worker thread
  return *mutex;
}

state* make_state() {
  auto* const made = new state;
  made->version = default_version;
  if (const char* const asked = std::getenv("CUGRAFT_SIM_VERSION")) {
    const int version = parse_version(asked);
    made->misconfigured = !is_version(version);
    if (made->misconfigured)
      say("CUGRAFT_SIM_VERSION=" + std::string(asked) + " is none of " + version_list());
    else
      made->version = version;
  }
  if (const char* const asked = std::getenv("CUGRAFT_SIM_CHECK")) {
    const std::string_view value = asked;
    check::set(value == "1");
    if (value != "0" && value != "1") {
      made->misconfigured = true;
      say("CUGRAFT_SIM_CHECK=" + std::string(value) + " is neither 0 nor 1");
    }
  }
  return made;
}

}  // namespace

state& the_state() noexcept {
  static state* const instance = make_state();
  return *instance;
}

std::unique_lock<std::mutex> lock_state() { return std::unique_lock(state_mutex()); }

unlock_guard::unlock_guard() { state_mutex().unlock(); }

unlock_guard::~unlock_guard() { state_mutex().lock(); }

bool is_device(CUdevice device) noexcept {
  return device >= 0 && device < static_cast<int>(the_state().devices.size());
}

int chosen(choice which) noexcept { return the_state().choices[static_cast<std::size_t>(which)]; }

void say(std::string_view text) {
  std::fprintf(stderr, "cugraft_sim: %.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace cugraft_sim
