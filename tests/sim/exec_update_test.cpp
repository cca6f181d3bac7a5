// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>
#include <utility>

#include "sim/graph_fixture.hpp"

namespace cugraft_sim {
namespace {

void do_nothing(void*) {}
void do_nothing_else(void*) {}

struct outcome {
  CUresult result = CUDA_SUCCESS;
  CUgraphExecUpdateResult why = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  int node = -1;  ///< position of the node at fault in the update graph
  int from = -1;

  friend bool operator==(const outcome&, const outcome&) = default;
  friend std::ostream& operator<<(std::ostream& out, const outcome& of) {
    return out << of.result << '/' << of.why << " node " << of.node << " from " << of.from;
  }
};

outcome refused(CUgraphExecUpdateResult why, int node = -1, int from = -1) {
  return {CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, why, node, from};
}

constexpr auto topology = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
constexpr auto parameters = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
constexpr auto attributes = CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;

class UpdateTest : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    device_memory_ = make_memory(4096);
  }

  void TearDown() override {
    EXPECT_EQ(cu().mem_free(device_memory_), CUDA_SUCCESS);
    GraphTest::TearDown();
  }

  outcome update(CUgraphExec exec, CUgraph from) {
    const std::vector<CUgraphNode> all = nodes(from);
    const auto position = [&](CUgraphNode node) {
      const auto found = std::ranges::find(all, node);
      return found == all.end() ? -1 : static_cast<int>(found - all.begin());
    };
    CUgraphExecUpdateResultInfo info{};
    const CUresult result = cu().graph_exec_update(exec, from, &info);
    return {result, info.result, position(info.errorNode), position(info.errorFromNode)};
  }

  template <class Before, class Now>
  outcome update(Before before, Now now) {
    return update(instantiate(capture(before)), capture(now));
  }

  void launch_attributed(CUlaunchAttributeID id, int value) {
    CUlaunchAttribute attribute{};
    attribute.id = id;
    attribute.value.priority = value;  // each of the attributes used here is an int
    EXPECT_EQ(launch_with(first(), &attribute, 1), CUDA_SUCCESS);
  }

  // Two kernels between two others, on two streams.
  void diamond(bool other_branch_first, bool branches_in_order = false) {
    EXPECT_EQ(launch(first(), 1), CUDA_SUCCESS);
    depend(first(), second(), events_[0]);
    if (!other_branch_first) {
      EXPECT_EQ(launch(first(), 2), CUDA_SUCCESS);
    }
    if (branches_in_order) depend(first(), second(), events_[2]);
    EXPECT_EQ(launch(second(), 3, 1), CUDA_SUCCESS);
    if (other_branch_first) {
      EXPECT_EQ(launch(first(), 2), CUDA_SUCCESS);
    }
    depend(second(), first(), events_[1]);
    EXPECT_EQ(launch(first(), 4), CUDA_SUCCESS);
  }

  // A kernel and a fill without dependents.
  void two_sinks(bool fill_first) {
    EXPECT_EQ(launch(first(), 1), CUDA_SUCCESS);
    depend(first(), second(), events_[0]);
    if (!fill_first) {
      EXPECT_EQ(launch(first(), 2), CUDA_SUCCESS);
    }
    EXPECT_EQ(fill(second(), 3, 1), CUDA_SUCCESS);
    if (fill_first) {
      EXPECT_EQ(launch(first(), 2), CUDA_SUCCESS);
    }
    EXPECT_EQ(cu().stream_update_capture_dependencies(second(), nullptr, nullptr, 0,
                                                      CU_STREAM_SET_CAPTURE_DEPENDENCIES),
              CUDA_SUCCESS);
  }

  // Two roots on two streams; the third and the fourth kernel wait for one root each.
  void two_roots(bool crossed) {
    depend(first(), second(), events_[0]);
    EXPECT_EQ(launch(first(), 1), CUDA_SUCCESS);
    EXPECT_EQ(cu().event_record(events_[1], first()), CUDA_SUCCESS);
    EXPECT_EQ(launch(second(), 5), CUDA_SUCCESS);
    EXPECT_EQ(cu().event_record(events_[2], second()), CUDA_SUCCESS);
    EXPECT_EQ(launch(first(), 2), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_wait_event(first(), events_[crossed ? 2 : 1], 0), CUDA_SUCCESS);
    EXPECT_EQ(launch(first(), 3), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_wait_event(first(), events_[crossed ? 1 : 2], 0), CUDA_SUCCESS);
    EXPECT_EQ(launch(first(), 4), CUDA_SUCCESS);
  }

  CUdeviceptr device_memory_ = 0;
};

class UpdateRules : public UpdateTest {};
class UpdateFacts : public UpdateTest {};

TEST_F(UpdateRules, R4_3_ArgumentsFunctionAndDimensionsMayChange) {
  const CUgraphExec exec = instantiate(chain(2));
  const CUgraph changed = capture([&] {
    EXPECT_EQ(launch(first(), 10), CUDA_SUCCESS);
    CUlaunchConfig config = one_block(first(), 2);
    config.gridDimX = 3;
    config.sharedMemBytes = 512;
    EXPECT_EQ(cu().launch_kernel_ex(&config, nothing_, nullptr, nullptr), CUDA_SUCCESS);
  });
  EXPECT_EQ(update(exec, changed), outcome{});
  EXPECT_EQ(run(exec), 10U);
}

TEST_F(UpdateRules, R4_1_NullHandlesAreInvalidAndTheInfoMayBeNull) {
  const CUgraph graph = chain(1);
  const CUgraphExec exec = instantiate(graph);
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(cu().graph_exec_update(nullptr, graph, &info), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_exec_update(exec, nullptr, &info), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cu().graph_exec_update(exec, graph, nullptr), CUDA_SUCCESS);
}

TEST_F(UpdateRules, R4_1_AnotherCountOfNodesIsAnotherTopology) {
  EXPECT_EQ(update(instantiate(chain(2)), chain(3)), refused(topology));
  EXPECT_EQ(update(instantiate(chain(3)), chain(2)), refused(topology));
}

TEST_F(UpdateRules, R4_1_AnotherKindOfNodeIsNamed) {
  EXPECT_EQ(update(
                [&] {
                  launch(first());
                  launch(first());
                },
                [&] {
                  launch(first());
                  fill(first());
                }),
            refused(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, 1));
}

TEST_F(UpdateRules, R4_1_ANodeWithAnotherNumberOfDependenciesIsNamed) {
  EXPECT_EQ(update([&] { diamond(false); }, [&] { diamond(false, true); }), refused(topology, 2));
}

TEST_F(UpdateRules, R4_1_ADependencyOnAnotherNodeIsNamedWithBothEnds) {
  EXPECT_EQ(update([&] { two_roots(false); }, [&] { two_roots(false); }), outcome{});
  EXPECT_EQ(update([&] { two_roots(false); }, [&] { two_roots(true); }), refused(topology, 2, 0));
}

TEST_F(UpdateRules, R4_1_MoreSinksAreAnotherTopology) {
  const outcome found = update(
      [&] {
        launch(first());
        launch(first());
        launch(first());
      },
      [&] { two_sinks(false); });
  EXPECT_EQ(found.result, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(found.why, topology);
  EXPECT_NE(found.node, 0) << "one of the sinks";
  EXPECT_NE(found.node, -1);
}

TEST_F(UpdateRules, R4_2_TheOrderAcrossStreamsDoesNotMatter) {
  const CUgraphExec exec = instantiate(capture([&] { diamond(false); }));
  EXPECT_EQ(update(exec, capture([&] { diamond(true); })), outcome{});
  EXPECT_EQ(run(exec), 7U);
  EXPECT_EQ(values_[1], 3U);
}

TEST_F(UpdateRules, R4_2_TheOrderOfTheWaitsDoes) {
  const auto join = [&](bool swapped) {
    depend(first(), second(), events_[0]);
    depend(first(), third(), events_[0]);
    launch(second());
    fill(third(), 1, 1);
    EXPECT_EQ(cu().event_record(events_[1], second()), CUDA_SUCCESS);
    EXPECT_EQ(cu().event_record(events_[2], third()), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_wait_event(first(), events_[swapped ? 2 : 1], 0), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_wait_event(first(), events_[swapped ? 1 : 2], 0), CUDA_SUCCESS);
    launch(first());
  };
  EXPECT_EQ(update([&] { join(false); }, [&] { join(true); }),
            refused(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, 1));
}

// What counts is when they were left without a dependent, not when they were made.
TEST_F(UpdateRules, R4_2_SinksArePairedInTheOrderTheyWereLeft) {
  const CUgraphExec exec = instantiate(capture([&] { two_sinks(false); }));
  EXPECT_EQ(update(exec, capture([&] { two_sinks(true); })), outcome{});
  EXPECT_EQ(run(exec), 3U);
}

TEST_F(UpdateFacts, AnotherKindOfEdgeIsAnotherTopology) {
  const auto plain = [&] {
    launch(first());
    launch(first());
    launch(first());
  };
  const auto programmatic = [&] {
    launch(first());
    launch_programmatic(first());
    launch(first());
  };
  EXPECT_EQ(update(plain, programmatic), refused(topology, 1, 0));
  EXPECT_EQ(update(programmatic, plain), refused(topology, 1, 0));
  EXPECT_EQ(update(programmatic, programmatic), outcome{});
}

TEST_F(UpdateFacts, R4_1_CooperativeIsRefusedBothWays) {
  const auto plain = [&] {
    launch(first());
    launch(first());
  };
  const auto cooperative = [&] {
    launch(first());
    launch_attributed(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1);
  };
  EXPECT_EQ(update(plain, cooperative), refused(attributes, 1));
  EXPECT_EQ(update(cooperative, plain), refused(attributes, 1));
}

TEST_F(UpdateFacts, APriorityMayChangeUnlessTheExecutableUsesIt) {
  const auto urgent = [&] { launch_attributed(CU_LAUNCH_ATTRIBUTE_PRIORITY, -2); };
  EXPECT_EQ(update(instantiate(chain(1)), capture(urgent)), outcome{});
  EXPECT_EQ(
      update(instantiate(chain(1), CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY), capture(urgent)),
      refused(attributes, 0));
}

TEST_F(UpdateRules, R4_3_HostFunctionsAndEventsAreFree) {
  const auto body = [&](CUhostFn function, CUevent event) {
    EXPECT_EQ(cu().launch_host_func(first(), function, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cu().event_record_with_flags(event, first(), CU_EVENT_RECORD_EXTERNAL), CUDA_SUCCESS);
    EXPECT_EQ(cu().stream_wait_event(first(), event, CU_EVENT_WAIT_EXTERNAL), CUDA_SUCCESS);
  };
  EXPECT_EQ(
      update([&] { body(do_nothing, events_[0]); }, [&] { body(do_nothing_else, events_[1]); }),
      outcome{});
}

TEST_F(UpdateFacts, ARowMayChangeWithinItsKindsOfMemory) {
  const auto copy = [&](CUdeviceptr from, std::size_t size) {
    EXPECT_EQ(cu().memcpy_async(device_memory_, from, size, first()), CUDA_SUCCESS);
  };
  EXPECT_EQ(
      update([&] { copy(device_memory_ + 512, 256); }, [&] { copy(device_memory_ + 1024, 16); }),
      outcome{});
}

TEST_F(UpdateFacts, AFillOfARowMayChange) {
  EXPECT_EQ(update([&] { fill(first(), 7, 0, 64); },
                   [&] {
                     EXPECT_EQ(cu().memset_d8_async(device_memory_, 8, 32, first()), CUDA_SUCCESS);
                   }),
            outcome{});
}

// A graph of one copy or fill whose parameters are set afterwards.
class ShapeFacts : public UpdateTest {
 protected:
  CUgraph rows_copied(std::size_t width) {
    const CUgraph graph = capture([&] {
      EXPECT_EQ(cu().memcpy_async(device_memory_, device_memory_ + 1024, 16, first()),
                CUDA_SUCCESS);
    });
    CUDA_MEMCPY3D to{};
    EXPECT_EQ(cu().graph_memcpy_node_get_params(nodes(graph).at(0), &to), CUDA_SUCCESS);
    to.srcMemoryType = to.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    to.srcPitch = to.dstPitch = 64;
    to.WidthInBytes = width;
    to.Height = 4;
    EXPECT_EQ(cu().graph_memcpy_node_set_params(nodes(graph).at(0), &to), CUDA_SUCCESS);
    return graph;
  }

  CUgraph rows_filled(std::size_t width, unsigned value = 7) {
    const CUgraph graph = capture([&] {
      EXPECT_EQ(cu().memset_d32_async(device_memory_, value, width, first()), CUDA_SUCCESS);
    });
    CUDA_MEMSET_NODE_PARAMS to{};
    EXPECT_EQ(cu().graph_memset_node_get_params(nodes(graph).at(0), &to), CUDA_SUCCESS);
    to.height = 2;
    to.pitch = 64;
    EXPECT_EQ(cu().graph_memset_node_set_params(nodes(graph).at(0), &to), CUDA_SUCCESS);
    return graph;
  }
};

TEST_F(ShapeFacts, ACopyOfSeveralRowsMayNotChange) {
  const CUgraph own = rows_copied(32);
  const CUgraphExec exec = instantiate(own);
  EXPECT_EQ(update(exec, rows_copied(16)), refused(parameters, 0));
  EXPECT_EQ(update(exec, own), outcome{});
}

// Rows that a setter gave; copies that are captured with several rows are refused (driver facts).
TEST_F(ShapeFacts, ACopyThatASetterGaveSeveralRowsIsTakenUnchanged) {
  const CUgraphExec exec = instantiate(rows_copied(32));
  EXPECT_EQ(update(exec, rows_copied(32)), outcome{});
}

TEST_F(ShapeFacts, AFillOfSeveralRowsKeepsItsShape) {
  const CUgraphExec exec = instantiate(rows_filled(8));
  EXPECT_EQ(update(exec, rows_filled(8, 9)), outcome{});
  EXPECT_EQ(update(exec, rows_filled(4)), refused(parameters, 0));
  EXPECT_EQ(update([&] { fill(first(), 7, 0, 8); }, [] {}).why, topology);
  EXPECT_EQ(update(instantiate(capture([&] { fill(first(), 7, 0, 8); })), rows_filled(8)),
            refused(parameters, 0));
}

TEST_F(ShapeFacts, ACopyKeepsItsKindsOfMemory) {
  const auto row = [&](bool from_host) {
    const CUgraph graph = capture([&] {
      EXPECT_EQ(cu().memcpy_async(device_memory_, device_memory_ + 64, 16, first()), CUDA_SUCCESS);
    });
    CUDA_MEMCPY3D to{};
    EXPECT_EQ(cu().graph_memcpy_node_get_params(nodes(graph).at(0), &to), CUDA_SUCCESS);
    to.srcMemoryType = from_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    to.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    if (from_host) to.srcDevice = 0;
    if (from_host) to.srcHost = values_;
    EXPECT_EQ(cu().graph_memcpy_node_set_params(nodes(graph).at(0), &to), CUDA_SUCCESS);
    return graph;
  };
  const CUgraphExec exec = instantiate(row(false));
  EXPECT_EQ(update(exec, row(false)), outcome{});
  EXPECT_EQ(update(exec, row(true)), refused(parameters, 0));
}

TEST_F(UpdateFacts, ARefusedUpdateLeavesTheExecutableAsItWas) {
  for (const unsigned where : {0U, 1U, 2U}) {
    const auto body = [&](unsigned value, bool cooperative) {
      for (unsigned i = 0; i < 3; ++i)
        if (cooperative && i == where)
          launch_attributed(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1);
        else
          launch(first(), value);
    };
    const CUgraphExec exec = instantiate(capture([&] { body(10, false); }));
    EXPECT_EQ(update(exec, capture([&] { body(500, true); })),
              refused(attributes, static_cast<int>(where)));
    EXPECT_EQ(run(exec), 30U);
  }
}

TEST_F(UpdateFacts, TheUpdateGraphMayBeTheOwnOneOrGoAway) {
  const CUgraph own = chain(1);
  const CUgraphExec exec = instantiate(own);
  const add_parameters changed(add_, address(0), 20);
  ASSERT_EQ(cu().graph_kernel_node_set_params(nodes(own).at(0), &changed.all), CUDA_SUCCESS);
  EXPECT_EQ(update(exec, own), outcome{});
  EXPECT_EQ(run(exec), 20U);
  destroy(own);
  const CUgraph other = chain(1);
  EXPECT_EQ(update(exec, other), outcome{});
  destroy(other);
  EXPECT_EQ(run(exec), 1U);
}

class ClusterFacts : public UpdateTest {
 protected:
  void SetUp() override {
    UpdateTest::SetUp();
    cluster_library_ = load(cluster_ptx);
    write_cluster_ = find(cluster_library_, "cluster_size");
  }

  void TearDown() override {
    EXPECT_EQ(cu().library_unload(cluster_library_), CUDA_SUCCESS);
    UpdateTest::TearDown();
  }

  // A kernel that writes the size of its cluster; 0 asks for none.
  CUgraph in_clusters_of(unsigned size, unsigned grid = 8) {
    return capture([&] {
      CUlaunchAttribute attribute{};
      attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attribute.value.clusterDim.x = size;
      attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
      CUlaunchConfig config = one_block(first(), 1);
      config.gridDimX = grid;
      config.attrs = &attribute;
      config.numAttrs = size > 0 ? 1 : 0;
      CUdeviceptr out = address(3);
      void* arguments[] = {&out};
      EXPECT_EQ(cu().launch_kernel_ex(&config, write_cluster_, arguments, nullptr), CUDA_SUCCESS);
    });
  }

  unsigned cluster_of(CUgraphExec exec) {
    values_[3] = 99;
    run(exec);
    return values_[3];
  }

  CUlibrary cluster_library_ = nullptr;
  CUfunction write_cluster_ = nullptr;
};

TEST_F(ClusterFacts, ClusterSizeIsSilentlyKept) {
  for (const auto& [before, now] : {std::pair{1U, 2U}, {2U, 4U}, {4U, 1U}, {0U, 2U}, {2U, 0U}}) {
    const CUgraphExec exec = instantiate(in_clusters_of(before));
    const unsigned size = cluster_of(exec);
    EXPECT_EQ(size, before == 0 ? 1 : before);
    EXPECT_EQ(update(exec, in_clusters_of(now)), outcome{}) << "it says that it was applied";
    EXPECT_EQ(cluster_of(exec), size);
    EXPECT_EQ(cluster_of(instantiate(in_clusters_of(now))), now == 0 ? 1 : now);
  }
}

TEST_F(ClusterFacts, AGridThatTheOldClusterDoesNotDivideLaunchesNevertheless) {
  const CUgraphExec exec = instantiate(in_clusters_of(4));
  EXPECT_EQ(update(exec, in_clusters_of(0, 6)), outcome{});
  EXPECT_EQ(cu().graph_launch(exec, first()), CUDA_SUCCESS);
  EXPECT_EQ(cu().stream_synchronize(first()), CUDA_SUCCESS);
}

TEST_F(ClusterFacts, AClusterSizeSetOnTheGraphTakesEffectInTheNextInstantiation) {
  const CUgraph graph = in_clusters_of(2);
  const CUgraphExec exec = instantiate(graph);
  CUkernelNodeAttrValue value{};
  value.clusterDim.x = 4;
  value.clusterDim.y = value.clusterDim.z = 1;
  ASSERT_EQ(cu().graph_kernel_node_set_attribute(
                nodes(graph).at(0),
                static_cast<CUkernelNodeAttrID>(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION), &value),
            CUDA_SUCCESS);
  EXPECT_EQ(cluster_of(exec), 2U);
  EXPECT_EQ(cluster_of(instantiate(graph)), 4U);
}

TEST_F(ClusterFacts, TheSettersHoldTheClusterToTheGrid) {
  const CUgraph graph = in_clusters_of(4);
  const CUgraphExec exec = instantiate(graph);
  const CUgraphNode node = nodes(graph).at(0);
  CUDA_KERNEL_NODE_PARAMS changed = kernel(node);
  changed.gridDimX = 6;
  EXPECT_EQ(cu().graph_exec_kernel_node_set_params(exec, node, &changed),
            CUDA_ERROR_INVALID_CLUSTER_SIZE);
  changed.gridDimX = 12;
  EXPECT_EQ(cu().graph_exec_kernel_node_set_params(exec, node, &changed), CUDA_SUCCESS);
  EXPECT_EQ(cluster_of(exec), 4U);
}

}  // namespace
}  // namespace cugraft_sim
