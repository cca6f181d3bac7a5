// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>

// The counting tool knows the parts by this name.
extern "C" __attribute__((noinline)) void measured_part(const std::function<void()>& part);

namespace cugraft_sim {

/// Runs a part that is counted. Says before what it is, and by how many its cost is to be divided.
inline void run_part(const char* name, const std::function<void()>& what, std::size_t units) {
  std::printf("%zu %s\n", units, name);
  std::fflush(stdout);
  measured_part(what);
}

}  // namespace cugraft_sim
