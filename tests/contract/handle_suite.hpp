// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "contract/contract_driver.hpp"
#include "cugraft/context.hpp"
#include "cugraft/error.hpp"

// What every type that owns something of the driver promises. A type takes part with a few lines of
// traits:
//
//   struct event_traits {
//     using handle = event;
//     static constexpr const char* releases = "cuEventDestroy";  // the call that releases it
//     static constexpr bool keeps_context = true;
//     static event make(const context&);
//     static bool has(const event&);                              // whether there is one
//     static std::size_t live(const cugraft_sim::live_handles&);
//     static void dispose(const driver&, CUevent);                // move-only types: what was
//     given up
//   };

namespace cugraft::testing {

template <class Traits>
class HandleSuite : public ContractTest {
 protected:
  typename Traits::handle make() const { return Traits::make(context::primary(driver())); }

  std::size_t live() const { return Traits::live(simulator().live()); }

  /// Releasing calls so far.
  std::uint64_t releases() const { return simulator().calls(Traits::releases); }

  /// What does not keep its context needs somebody else to do so.
  std::optional<context> kept_ =
      Traits::keeps_context ? std::nullopt : std::optional(context::primary(driver()));
};

TYPED_TEST_SUITE_P(HandleSuite);

TYPED_TEST_P(HandleSuite, OwnsOneThingUntilItsEnd) {
  {
    const auto handle = this->make();
    EXPECT_TRUE(TypeParam::has(handle));
    EXPECT_EQ(this->live(), 1U);
  }
  EXPECT_EQ(this->live(), 0U);
}

TYPED_TEST_P(HandleSuite, MovedFromIsEmpty) {
  auto first = this->make();
  const auto second = std::move(first);
  EXPECT_FALSE(TypeParam::has(first));
  EXPECT_TRUE(TypeParam::has(second));
  EXPECT_EQ(this->live(), 1U);
}

TYPED_TEST_P(HandleSuite, MoveAssignmentReleasesWhatThereWas) {
  auto first = this->make();
  auto second = this->make();
  const auto before = this->releases();
  first = std::move(second);
  EXPECT_EQ(this->releases(), before + 1);
  EXPECT_EQ(this->live(), 1U);
  EXPECT_TRUE(TypeParam::has(first));
  EXPECT_FALSE(TypeParam::has(second));
}

TYPED_TEST_P(HandleSuite, SelfMoveChangesNothing) {
  auto handle = this->make();
  auto& same = handle;
  handle = std::move(same);
  EXPECT_TRUE(TypeParam::has(handle));
  EXPECT_EQ(this->live(), 1U);
}

TYPED_TEST_P(HandleSuite, MovedFromCanBeAssignedTo) {
  auto first = this->make();
  { const auto second = std::move(first); }
  EXPECT_EQ(this->live(), 0U);
  first = this->make();
  EXPECT_TRUE(TypeParam::has(first));
}

TYPED_TEST_P(HandleSuite, KeepsItsContext) {
  auto handle = this->make();
  this->kept_.reset();
  EXPECT_EQ(this->simulator().live().primary_contexts, TypeParam::keeps_context ? 1U : 0U);
  { const auto last = std::move(handle); }
  EXPECT_EQ(this->simulator().live().primary_contexts, 0U);
}

TYPED_TEST_P(HandleSuite, FailedReleaseInTheDestructorIsReportedOnceAndTriedAgainIfRefused) {
  {
    const auto handle = this->make();
    this->fail_next(TypeParam::releases, 900);  // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  }
  const auto reports = this->take_reports();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports.front().find(std::string(TypeParam::releases) + " failed for "), 0U);
  EXPECT_EQ(this->live(), 0U);
}

TYPED_TEST_P(HandleSuite, ReleaseThatFailedAfterItsWorkIsNotTriedAgain) {
  const auto before = this->releases();
  {
    const auto handle = this->make();
    this->fail_after_next(TypeParam::releases, 700);  // CUDA_ERROR_ILLEGAL_ADDRESS, of earlier work
  }
  EXPECT_EQ(this->take_reports().size(), 1U);
  EXPECT_EQ(this->releases(), before + 1);
  EXPECT_EQ(this->live(), 0U);
}

TYPED_TEST_P(HandleSuite, DriverThatShutsDownIsExpected) {
  {
    const auto handle = this->make();
    this->fail_after_next(TypeParam::releases, 4);  // CUDA_ERROR_DEINITIALIZED
  }
  EXPECT_TRUE(this->take_reports().empty());
}

TYPED_TEST_P(HandleSuite, GoesBackToItsOwnDriverOfTwo) {
  simulator_copy& other = simulator_copy::shared(contract_driver(13000));
  const world_check world(other.control());
  {
    const context other_context = context::primary(other.load());
    const auto here = this->make();
    const auto there = TypeParam::make(other_context);
    EXPECT_EQ(this->live(), 1U);
    EXPECT_EQ(TypeParam::live(other.control().live()), 1U);
  }
  EXPECT_EQ(this->live(), 0U);
  world.expect_unchanged();
}

REGISTER_TYPED_TEST_SUITE_P(HandleSuite, OwnsOneThingUntilItsEnd, MovedFromIsEmpty,
                            MoveAssignmentReleasesWhatThereWas, SelfMoveChangesNothing,
                            MovedFromCanBeAssignedTo, KeepsItsContext,
                            FailedReleaseInTheDestructorIsReportedOnceAndTriedAgainIfRefused,
                            ReleaseThatFailedAfterItsWorkIsNotTriedAgain,
                            DriverThatShutsDownIsExpected, GoesBackToItsOwnDriverOfTwo);

/// What move-only handles promise beside that.
template <class Traits>
class UniqueHandleSuite : public HandleSuite<Traits> {
  using owner = typename Traits::handle;
  static_assert(!std::is_copy_constructible_v<owner> && !std::is_copy_assignable_v<owner>);
  static_assert(std::is_nothrow_move_constructible_v<owner>);
  static_assert(std::is_nothrow_move_assignable_v<owner>);
};

TYPED_TEST_SUITE_P(UniqueHandleSuite);

TYPED_TEST_P(UniqueHandleSuite, ResetReleasesAndMayBeRepeated) {
  auto handle = this->make();
  handle.reset();
  handle.reset();
  EXPECT_FALSE(handle);
  EXPECT_EQ(this->live(), 0U);
}

TYPED_TEST_P(UniqueHandleSuite, CloseReleasesAndMayBeRepeated) {
  auto handle = this->make();
  handle.close();
  handle.close();
  EXPECT_FALSE(handle);
  EXPECT_EQ(this->live(), 0U);
}

TYPED_TEST_P(UniqueHandleSuite, FailedCloseThrowsAndLeavesItEmpty) {
  auto handle = this->make();
  this->fail_next(TypeParam::releases, 900);
  try {
    handle.close();
    ADD_FAILURE() << "no error";
  } catch (const cuda_error& error) {
    EXPECT_EQ(error.code(), 900);
    EXPECT_EQ(error.function(), TypeParam::releases);
  }
  EXPECT_FALSE(handle);
  EXPECT_EQ(this->live(), 0U);
}

TYPED_TEST_P(UniqueHandleSuite, ReleaseGivesUpOwnership) {
  const context home = context::primary(this->driver());
  auto handle = this->make();
  const auto native = handle.release();
  EXPECT_FALSE(handle);
  handle.reset();
  EXPECT_EQ(this->live(), 1U);
  TypeParam::dispose(home, native);
  EXPECT_EQ(this->live(), 0U);
}

REGISTER_TYPED_TEST_SUITE_P(UniqueHandleSuite, ResetReleasesAndMayBeRepeated,
                            CloseReleasesAndMayBeRepeated, FailedCloseThrowsAndLeavesItEmpty,
                            ReleaseGivesUpOwnership);

/// What shared values promise beside that.
template <class Traits>
class SharedHandleSuite : public HandleSuite<Traits> {};

TYPED_TEST_SUITE_P(SharedHandleSuite);

TYPED_TEST_P(SharedHandleSuite, LivesUntilTheLastCopyIsGone) {
  auto first = this->make();
  {
    const auto second = first;
    first = typename TypeParam::handle();
    EXPECT_EQ(this->live(), 1U);
    EXPECT_TRUE(TypeParam::has(second));
  }
  EXPECT_EQ(this->live(), 0U);
}

REGISTER_TYPED_TEST_SUITE_P(SharedHandleSuite, LivesUntilTheLastCopyIsGone);

}  // namespace cugraft::testing
