// SPDX-License-Identifier: Apache-2.0
#include "base/identify.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace cugraft {
namespace {

template <class Handle>
std::string text(std::uintptr_t value) {
  return identify(reinterpret_cast<Handle>(value));
}

TEST(IdentifyTest, EveryKindOfHandle) {
  EXPECT_EQ(text<CUcontext>(1), "context 0x1");
  EXPECT_EQ(text<CUstream>(0x10), "stream 0x10");
  EXPECT_EQ(text<CUevent>(1), "event 0x1");
  EXPECT_EQ(text<CUfunction>(2), "function 0x2");
  EXPECT_EQ(text<CUkernel>(2), "kernel 0x2");
  EXPECT_EQ(text<CUlibrary>(1), "library 0x1");
  EXPECT_EQ(text<CUgraph>(3), "graph 0x3");
  EXPECT_EQ(text<CUgraphNode>(0xabc), "node 0xabc");
  EXPECT_EQ(text<CUgraphExec>(1), "executable graph 0x1");
  EXPECT_EQ(identify(object("memory", reinterpret_cast<void*>(0x1000))), "memory 0x1000");
}

TEST(IdentifyTest, StreamsThatAreNoObjects) {
  EXPECT_EQ(text<CUstream>(0), "the null stream");
  EXPECT_EQ(text<CUstream>(1), "the legacy stream");
  EXPECT_EQ(text<CUstream>(2), "the per-thread stream");
}

TEST(IdentifyTest, NullHandle) { EXPECT_EQ(text<CUgraph>(0), "no graph"); }

TEST(ObjectOfTest, OnlyHandlesAreObjects) {
  int number = 0;
  const auto stream = reinterpret_cast<CUstream>(std::uintptr_t{0x10});
  EXPECT_STREQ(object_of(stream).kind, "stream");
  EXPECT_EQ(object_of(number).kind, nullptr);
  EXPECT_EQ(object_of(&number).kind, nullptr);
  EXPECT_EQ(object_of(&stream).kind, nullptr);  // where a handle goes to is not the handle
  EXPECT_EQ(object_of("name").kind, nullptr);
  EXPECT_EQ(object_of(nullptr).kind, nullptr);
}

}  // namespace
}  // namespace cugraft
