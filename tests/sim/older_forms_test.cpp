// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "sim/graph_fixture.hpp"

// The forms of functions that programs get who were built against older headers, or who ask for an
// older version.

namespace cugraft_sim {
namespace {

class FormRules : public GraphTest {
 protected:
  /// What the name stands for at that version.
  template <class Function>
  Function at(int version, const char* name) {
    void* address = nullptr;
    EXPECT_EQ(cu().get_proc_address(name, &address, version, 0, nullptr), CUDA_SUCCESS);
    EXPECT_NE(address, nullptr) << name << " at " << version;
    return reinterpret_cast<Function>(address);
  }

  /// Two kernels, the second after the first.
  std::array<CUgraphNode, 2> pair_in(CUgraph graph) {
    std::array<CUgraphNode, 2> made{};
    EXPECT_EQ(cu().graph_add_empty_node(&made[0], graph, nullptr, 0), CUDA_SUCCESS);
    EXPECT_EQ(cu().graph_add_empty_node(&made[1], graph, made.data(), 1), CUDA_SUCCESS);
    return made;
  }

  CUDA_KERNEL_NODE_PARAMS_v1 older(const add_parameters& given) {
    CUDA_KERNEL_NODE_PARAMS_v1 all{};
    all.func = given.all.func;
    all.gridDimX = all.gridDimY = all.gridDimZ = 1;
    all.blockDimX = all.blockDimY = all.blockDimZ = 1;
    all.kernelParams = given.all.kernelParams;
    return all;
  }
};

using add_kernel_v1 = CUresult (*)(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,
                                   const CUDA_KERNEL_NODE_PARAMS_v1*);
using exec_update_v1 = CUresult (*)(CUgraphExec, CUgraph, CUgraphNode*, CUgraphExecUpdateResult*);

TEST_F(FormRules, R1_1_1_EachFormBeginsAtItsVersion) {
  struct form {
    std::string_view symbol;
    int version;
  };
  constexpr std::array forms{
#define CUGRAFT_DRIVER_FORM(name, member, version, symbol, types) form{symbol, version},
#include "forms.def"
#undef CUGRAFT_DRIVER_FORM
  };
  for (const auto& [symbol, version] : forms) {
    if (version > driver().version()) continue;
    const std::string name(symbol.substr(0, symbol.find("_v")));
    void* const found = at<void*>(version, name.c_str());
    if (driver().is_simulator()) {
      EXPECT_EQ(found, driver().symbol<void*>(symbol.data())) << symbol;
    }
  }
}

TEST_F(FormRules, R1_1_3_BeforeItsFirstFormAFunctionIsNotThere) {
  CUdriverProcAddressQueryResult status{};
  void* address = this;
  EXPECT_EQ(cu().get_proc_address("cuStreamGetCaptureInfo", &address, 10000, 0, &status),
            CUDA_SUCCESS);
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

TEST_F(FormRules, R1_1_5_TheSearchItselfHadFourArguments) {
  using search_v1 = CUresult (*)(const char*, void**, int, cuuint64_t);
  const auto search = at<search_v1>(11030, "cuGetProcAddress");
  void* found = nullptr;
  EXPECT_EQ(search("cuGraphLaunch", &found, 12000, 0), CUDA_SUCCESS);
  EXPECT_EQ(found, at<void*>(12000, "cuGraphLaunch"));
  EXPECT_EQ(search("cuInit", &found, 99000, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(at<void*>(12000, "cuGetProcAddress"), driver().symbol<void*>("cuGetProcAddress_v2"));
}

TEST_F(FormRules, R1_1_6_ACaptureHadNoMode) {
  const auto begin_without = at<CUresult (*)(CUstream)>(10000, "cuStreamBeginCapture");
  ASSERT_EQ(begin_without(first()), CUDA_SUCCESS);
  on_another_thread([&] {
    CUdeviceptr made = 0;
    EXPECT_EQ(cu().ctx_push_current(context_), CUDA_SUCCESS);
    EXPECT_EQ(cu().mem_alloc(&made, 16), CUDA_SUCCESS) << "which would end a global capture";
    EXPECT_EQ(cu().mem_free(made), CUDA_SUCCESS);
    EXPECT_EQ(cu().ctx_pop_current(nullptr), CUDA_SUCCESS);
  });
  EXPECT_TRUE(nodes(end(first())).empty());
}

TEST_F(FormRules, R1_1_6_CaptureInfoHadThreeArgumentsThenSix) {
  const auto three = at<CUresult (*)(CUstream, CUstreamCaptureStatus*, cuuint64_t*)>(
      10010, "cuStreamGetCaptureInfo");
  const auto six =
      at<CUresult (*)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**,
                      std::size_t*)>(11030, "cuStreamGetCaptureInfo");
  capture([&] {
    EXPECT_EQ(launch(first()), CUDA_SUCCESS);
    const capture_info expected = info(first());
    capture_info found;
    EXPECT_EQ(three(first(), &found.status, &found.id), CUDA_SUCCESS);
    EXPECT_EQ(found.status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    EXPECT_EQ(found.id, expected.id);
    const CUgraphNode* nodes = nullptr;
    std::size_t count = 0;
    EXPECT_EQ(six(first(), &found.status, &found.id, &found.graph, &nodes, &count), CUDA_SUCCESS);
    EXPECT_EQ(found.graph, expected.graph);
    EXPECT_EQ(std::vector<CUgraphNode>(nodes, nodes + count), expected.nodes);
  });
}

TEST_F(FormRules, R1_1_6_DependenciesOfACaptureHadNoData) {
  const auto update = at<CUresult (*)(CUstream, CUgraphNode*, std::size_t, unsigned)>(
      11030, "cuStreamUpdateCaptureDependencies");
  const CUgraph graph = capture([&] {
    EXPECT_EQ(launch(first()), CUDA_SUCCESS);
    EXPECT_EQ(update(first(), nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES), CUDA_SUCCESS);
    EXPECT_EQ(launch(first()), CUDA_SUCCESS);
  });
  for (const CUgraphNode each : nodes(graph)) EXPECT_TRUE(dependencies(each).nodes.empty());
}

TEST_F(FormRules, R1_1_6_EdgesHadNoData) {
  using change = CUresult (*)(CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t);
  using query = CUresult (*)(CUgraphNode, CUgraphNode*, std::size_t*);
  const CUgraph graph = empty_graph();
  const auto [from, to] = pair_in(graph);
  CUgraphNode a = nullptr, b = nullptr;
  std::size_t count = 1;
  EXPECT_EQ((at<CUresult (*)(CUgraph, CUgraphNode*, CUgraphNode*, std::size_t*)>(
                10000, "cuGraphGetEdges")(graph, &a, &b, &count)),
            CUDA_SUCCESS);
  EXPECT_EQ(a, from);
  EXPECT_EQ(b, to);
  EXPECT_EQ(at<query>(10000, "cuGraphNodeGetDependencies")(to, &a, &count), CUDA_SUCCESS);
  EXPECT_EQ(a, from);
  EXPECT_EQ(at<query>(10000, "cuGraphNodeGetDependentNodes")(from, &b, &count), CUDA_SUCCESS);
  EXPECT_EQ(b, to);
  EXPECT_EQ(at<change>(10000, "cuGraphRemoveDependencies")(graph, &from, &to, 1), CUDA_SUCCESS);
  EXPECT_TRUE(dependencies(to).nodes.empty());
  EXPECT_EQ(at<change>(10000, "cuGraphAddDependencies")(graph, &from, &to, 1), CUDA_SUCCESS);
  EXPECT_EQ(dependencies(to).nodes, std::vector{from});
}

TEST_F(FormRules, R9_3_AFormWithoutDataCannotTellOfIt) {
  capture([&] {
    EXPECT_EQ(launch(first()), CUDA_SUCCESS);
    EXPECT_EQ(launch_programmatic(first()), CUDA_SUCCESS);
    const CUgraphNode later = info(first()).nodes.at(0);
    CUgraphNode found = nullptr;
    std::size_t count = 1;
    EXPECT_EQ((at<CUresult (*)(CUgraphNode, CUgraphNode*, std::size_t*)>(
                  10000, "cuGraphNodeGetDependencies")(later, &found, &count)),
              CUDA_ERROR_LOSSY_QUERY);
  });
}

TEST_F(FormRules, R1_1_6_AddNodeHadFiveArguments) {
  const auto add =
      at<CUresult (*)(CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t, CUgraphNodeParams*)>(
          12020, "cuGraphAddNode");
  const CUgraph graph = empty_graph();
  CUgraphNodeParams all{};
  all.type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUgraphNode before = nullptr, made = nullptr;
  ASSERT_EQ(add(&before, graph, nullptr, 0, &all), CUDA_SUCCESS);
  ASSERT_EQ(add(&made, graph, &before, 1, &all), CUDA_SUCCESS);
  EXPECT_EQ(dependencies(made).nodes, std::vector{before});
}

TEST_F(FormRules, R1_1_6_KernelNodesWereNamedByTheirFunctionAlone) {
  using set = CUresult (*)(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1*);
  const CUgraph graph = empty_graph();
  const add_parameters one(add_, address(0), 1), two(add_, address(0), 20),
      three(add_, address(0), 300);
  const auto first_form = older(one), second_form = older(two), third_form = older(three);
  CUgraphNode node = nullptr;
  ASSERT_EQ(at<add_kernel_v1>(10000, "cuGraphAddKernelNode")(&node, graph, nullptr, 0, &first_form),
            CUDA_SUCCESS);
  EXPECT_EQ(run(instantiate(graph)), 1U);
  ASSERT_EQ(at<set>(10000, "cuGraphKernelNodeSetParams")(node, &second_form), CUDA_SUCCESS);
  const CUgraphExec exec = instantiate(graph);
  EXPECT_EQ(run(exec), 20U);
  ASSERT_EQ((at<CUresult (*)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1*)>(
                10010, "cuGraphExecKernelNodeSetParams")(exec, node, &third_form)),
            CUDA_SUCCESS);
  EXPECT_EQ(run(exec), 300U);
}

TEST_F(FormRules, R1_1_6_TheOlderGetterWritesTheOlderStructure) {
  const CUgraph graph = capture([&] { EXPECT_EQ(launch(first(), 7), CUDA_SUCCESS); });
  struct {
    CUDA_KERNEL_NODE_PARAMS_v1 all{};
    unsigned long long after = ~0ULL;
  } found;
  const auto get = at<CUresult (*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v1*)>(
      10000, "cuGraphKernelNodeGetParams");
  ASSERT_EQ(get(nodes(graph).at(0), &found.all), CUDA_SUCCESS);
  EXPECT_NE(found.all.func, nullptr);
  EXPECT_EQ(*static_cast<unsigned*>(found.all.kernelParams[1]), 7U);
  EXPECT_EQ(found.after, ~0ULL) << "56 bytes, not 72";
}

TEST_F(FormRules, R1_1_6_AnUpdateToldANodeAndAResult) {
  const auto update = at<exec_update_v1>(10020, "cuGraphExecUpdate");
  const CUgraphExec exec = instantiate(chain(2));
  auto result = CU_GRAPH_EXEC_UPDATE_ERROR;
  CUgraphNode at_fault = reinterpret_cast<CUgraphNode>(this);
  EXPECT_EQ(update(exec, chain(2), &at_fault, &result), CUDA_SUCCESS);
  EXPECT_EQ(result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  const CUgraph other = capture([&] {
    EXPECT_EQ(launch(first()), CUDA_SUCCESS);
    EXPECT_EQ(fill(first()), CUDA_SUCCESS);
  });
  EXPECT_EQ(update(exec, other, &at_fault, &result), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
  EXPECT_EQ(at_fault, nodes(other).at(1));
}

TEST_F(FormRules, R1_1_6_InstantiateHasALogInBothItsForms) {
  using form = CUresult (*)(CUgraphExec*, CUgraph, CUgraphNode*, char*, std::size_t);
  const CUgraph graph = chain(3);
  for (const int version : {10000, 11000, 12040}) {
    CUgraphExec made = nullptr;
    CUgraphNode at_fault = nullptr;
    char log[64] = "before";
    ASSERT_EQ(at<form>(version, "cuGraphInstantiate")(&made, graph, &at_fault, log, sizeof log),
              CUDA_SUCCESS)
        << version;
    EXPECT_EQ(run(made), 6U);
    EXPECT_EQ(cu().graph_exec_destroy(made), CUDA_SUCCESS);
  }
}

TEST_F(FormRules, R6_3_ACycleIsNamedByTheOlderInstantiateToo) {
  CUGRAFT_NEEDS_SIMULATOR();  // what a real driver writes to the log is not documented
  const CUgraph graph = empty_graph();
  const auto [from, to] = pair_in(graph);
  ASSERT_EQ(cu().graph_add_dependencies(graph, &to, &from, nullptr, 1), CUDA_SUCCESS);
  CUgraphExec made = nullptr;
  CUgraphNode at_fault = nullptr;
  char log[8] = "";
  EXPECT_NE(cu().graph_instantiate(&made, graph, &at_fault, log, sizeof log), CUDA_SUCCESS);
  EXPECT_NE(at_fault, nullptr);
  EXPECT_EQ(std::strlen(log), sizeof log - 1) << "cut to the buffer";
}

TEST_F(FormRules, R1_2F_ElapsedTimeHasALaterForm) {
  if (driver().version() < 12080) GTEST_SKIP() << "the form came with 12.8";
  const auto elapsed = at<CUresult (*)(float*, CUevent, CUevent)>(12080, "cuEventElapsedTime");
  const CUevent begin = make_event(CU_EVENT_DEFAULT), end = make_event(CU_EVENT_DEFAULT);
  ASSERT_EQ(cu().event_record(begin, first()), CUDA_SUCCESS);
  ASSERT_EQ(cu().event_record(end, first()), CUDA_SUCCESS);
  ASSERT_EQ(cu().event_synchronize(end), CUDA_SUCCESS);
  float milliseconds = -1;
  EXPECT_EQ(elapsed(&milliseconds, begin, end), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(elapsed(&milliseconds, begin, events_[0]), CUDA_ERROR_INVALID_HANDLE);
  for (const CUevent each : {begin, end}) EXPECT_EQ(cu().event_destroy(each), CUDA_SUCCESS);
}

TEST_F(FormRules, R1_2_FormsOfTheSameSignatureDoTheSame) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(cu().stream_create_with_priority(&stream, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cu().event_create(&event, 0), CUDA_SUCCESS);
  EXPECT_EQ(at<CUresult (*)(CUstream)>(2000, "cuStreamDestroy")(stream), CUDA_SUCCESS);
  EXPECT_EQ(at<CUresult (*)(CUevent)>(2000, "cuEventDestroy")(event), CUDA_SUCCESS);
}

// They need an option of the kernel module that is off by default.
TEST_F(FormRules, R1_2D_TheFirstOperationsOnMemoryAreNotSupported) {
  CUGRAFT_NEEDS_SIMULATOR();
  using operation = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
  EXPECT_EQ(at<operation>(8000, "cuStreamWriteValue32")(first(), address(0), 1, 0),
            CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(at<operation>(8000, "cuStreamWaitValue32")(first(), address(0), 1, 0),
            CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(FormRules, R1_1_6_NoFormIsThereBeforeItsDriver) {
  CUGRAFT_NEEDS_SIMULATOR();
  driver_under_test older_driver = driver_under_test::fresh_simulator(12040);
  ASSERT_EQ(older_driver->init(0), CUDA_SUCCESS);
  const auto synchronize = older_driver.symbol<CUresult (*)(CUcontext)>("cuCtxSynchronize_v2");
  constexpr auto needs_newer = static_cast<CUresult>(36);
  EXPECT_EQ(synchronize(nullptr), needs_newer);
}

}  // namespace
}  // namespace cugraft_sim
