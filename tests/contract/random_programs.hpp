// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <random>

// What suites of random programs share.

namespace cugraft::testing {

/// Chance that a seed fixes.
class dice {
 public:
  explicit dice(unsigned seed) : bits_(seed) {}

  unsigned below(unsigned count) { return static_cast<unsigned>(bits_() % count); }
  bool one_in(unsigned count) { return below(count) == 0; }

 private:
  std::mt19937_64 bits_;
};

/// The seed to begin with.
inline unsigned first_seed() {
  const char* const value = std::getenv("CUGRAFT_AGREEMENT_FIRST_SEED");
  return value != nullptr ? static_cast<unsigned>(std::atoi(value)) : 1;
}

/// How many seeds follow.
inline unsigned seed_count() {
  const char* const value = std::getenv("CUGRAFT_AGREEMENT_SEEDS");
  return value != nullptr ? static_cast<unsigned>(std::atoi(value)) : CUGRAFT_SOAK_STEPS / 10;
}

}  // namespace cugraft::testing
