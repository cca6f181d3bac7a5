// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

// Expects `statement` to throw `type` with exactly the text `message`.
#define EXPECT_THROW_MSG(statement, type, message)                                              \
  ::cugraft::testing::expect_throw<type>([&] { static_cast<void>(statement); }, #type, message, \
                                         __FILE__, __LINE__)

namespace cugraft::testing {

template <class Exception, class Statement>
void expect_throw(Statement&& statement, const char* type, const std::string& message,
                  const char* file, int line) {
  try {
    statement();
  } catch (const Exception& thrown) {
    if (thrown.what() != message)
      ADD_FAILURE_AT(file, line) << "the " << type << " says\n  " << thrown.what()
                                 << "\nand not\n  " << message;
    return;
  } catch (const std::exception& thrown) {
    ADD_FAILURE_AT(file, line) << "no " << type << ", but: " << thrown.what();
    return;
  }
  ADD_FAILURE_AT(file, line) << "no " << type << " was thrown";
}

}  // namespace cugraft::testing
