// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "sim/graph_fixture.hpp"

// Graphs as pictures.

namespace cugraft_sim {
namespace {

class DotRules : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    path_ = std::filesystem::temp_directory_path() / ("cugraft_dot_" + std::to_string(::getpid()));
  }

  void TearDown() override {
    std::filesystem::remove(path_);
    GraphTest::TearDown();
  }

  std::string print(CUgraph graph, unsigned flags = 0) {
    EXPECT_EQ(cu().graph_debug_dot_print(graph, path_.c_str(), flags), CUDA_SUCCESS);
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  static std::size_t count(const std::string& text, const std::string& word) {
    std::size_t found = 0;
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
  }

  std::filesystem::path path_;
};

TEST_F(DotRules, R1_2_APictureOfNodesAndEdges) {
  const CUgraph graph = capture([&] {
    EXPECT_EQ(launch(first()), CUDA_SUCCESS);
    EXPECT_EQ(fill(first()), CUDA_SUCCESS);
    EXPECT_EQ(launch(first()), CUDA_SUCCESS);
  });
  const std::string text = print(graph);
  EXPECT_EQ(text.rfind("digraph dot {", 0), 0U) << text;
  EXPECT_EQ(count(text, " -> "), 2U) << text;
  EXPECT_NE(text.find("add"), std::string::npos) << "the kernel's name: " << text;
}

TEST_F(DotRules, VerbosePicturesShowMore) {
  const CUgraph graph = chain(1);
  EXPECT_GT(print(graph, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE).size(), print(graph).size());
}

TEST_F(DotRules, GraphsInsideAreShown) {
  const CUgraph content = chain(2), parent = empty_graph();
  CUgraphNode made = nullptr;
  ASSERT_EQ(cu().graph_add_child_graph_node(&made, parent, nullptr, 0, content), CUDA_SUCCESS);
  EXPECT_EQ(count(print(parent), "subgraph"), 2U);
}

TEST_F(DotRules, ArgumentsAreChecked) {
  const CUgraph graph = chain(1);
  EXPECT_EQ(cu().graph_debug_dot_print(graph, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_debug_dot_print(nullptr, path_.c_str(), 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(cu().graph_debug_dot_print(graph, "/nowhere/at/all.dot", 0), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cugraft_sim
