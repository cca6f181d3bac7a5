// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "sim/graph_fixture.hpp"

namespace cugraft_sim {

/// Kernels that set a condition through the device runtime's function:
///   set(handle, unsigned value)                        the value
///   set_while_less(handle, unsigned* at, unsigned n)   whether *at < n
inline constexpr const char* condition_ptx = R"(
.version 8.3
.target sm_90
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

.visible .entry set(.param .u64 handle, .param .u32 value)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [value];
  {
  .param .b64 param0;
  st.param.b64 [param0+0], %rd1;
  .param .b32 param1;
  st.param.b32 [param1+0], %r1;
  call.uni cudaGraphSetConditional, (param0, param1);
  }
  ret;
}

.visible .entry set_while_less(.param .u64 handle, .param .u64 at, .param .u32 limit)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [at];
  ld.param.u32 %r1, [limit];
  cvta.to.global.u64 %rd3, %rd2;
  ld.global.u32 %r2, [%rd3];
  setp.lt.u32 %p1, %r2, %r1;
  selp.u32 %r3, 1, 0, %p1;
  {
  .param .b64 param0;
  st.param.b64 [param0+0], %rd1;
  .param .b32 param1;
  st.param.b32 [param1+0], %r3;
  call.uni cudaGraphSetConditional, (param0, param1);
  }
  ret;
}
)";

/// A test with conditional nodes.
class ConditionTest : public GraphTest {
 protected:
  static constexpr unsigned if_kind = 0, while_kind = 1, switch_kind = 2;  // 12.8 brought the last

  void SetUp() override {
    GraphTest::SetUp();
    setters_ = driver().is_simulator() ? load(condition_ptx) : load(linked().c_str());
    set_ = find(setters_, "set");
    set_while_less_ = find(setters_, "set_while_less");
  }

  void TearDown() override {
    destroy_graphs();
    EXPECT_EQ(cu().library_unload(setters_), CUDA_SUCCESS);
    GraphTest::TearDown();
  }

  CUgraphConditionalHandle condition(CUgraph of, unsigned default_value = 0,
                                     unsigned flags = CU_GRAPH_COND_ASSIGN_DEFAULT) {
    CUgraphConditionalHandle made = 0;
    EXPECT_EQ(
        cu().graph_conditional_handle_create(&made, of, current_context(), default_value, flags),
        CUDA_SUCCESS);
    return made;
  }

  CUgraphNodeParams parameters_of(CUgraphConditionalHandle handle, unsigned kind, unsigned size) {
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional.handle = handle;
    parameters.conditional.type = static_cast<CUgraphConditionalNodeType>(kind);
    parameters.conditional.size = size;
    parameters.conditional.ctx = current_context();
    return parameters;
  }

  CUresult try_conditional(CUgraph to, CUgraphConditionalHandle handle, unsigned kind = if_kind,
                           unsigned size = 1) {
    CUgraphNodeParams parameters = parameters_of(handle, kind, size);
    CUgraphNode made = nullptr;
    return cu().graph_add_node(&made, to, nullptr, nullptr, 0, &parameters);
  }

  struct conditional {
    CUgraphNode node = nullptr;
    std::vector<CUgraph> bodies;
  };

  conditional add_conditional(CUgraph to, CUgraphConditionalHandle handle, unsigned kind = if_kind,
                              unsigned size = 1, std::vector<CUgraphNode> after = {}) {
    CUgraphNodeParams parameters = parameters_of(handle, kind, size);
    conditional made;
    EXPECT_EQ(cu().graph_add_node(&made.node, to, after.data(), nullptr, after.size(), &parameters),
              CUDA_SUCCESS);
    if (made.node)
      made.bodies.assign(parameters.conditional.phGraph_out,
                         parameters.conditional.phGraph_out + size);
    return made;
  }

  CUgraphNode add_kernel(CUgraph to, unsigned value, std::vector<CUgraphNode> after = {},
                         std::size_t slot = 0) {
    const add_parameters parameters(add_, address(slot), value);
    CUgraphNode made = nullptr;
    EXPECT_EQ(cu().graph_add_kernel_node(&made, to, after.data(), after.size(), &parameters.all),
              CUDA_SUCCESS);
    return made;
  }

  CUgraphNode add_setter(CUgraph to, CUfunction function, std::vector<void*> arguments,
                         std::vector<CUgraphNode> after = {}) {
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.func = function;
    parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
    parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
    parameters.kernelParams = arguments.data();
    CUgraphNode made = nullptr;
    EXPECT_EQ(cu().graph_add_kernel_node(&made, to, after.data(), after.size(), &parameters),
              CUDA_SUCCESS);
    return made;
  }

  CUgraphNode add_set(CUgraph to, CUgraphConditionalHandle handle, unsigned value,
                      std::vector<CUgraphNode> after = {}) {
    return add_setter(to, set_, {&handle, &value}, std::move(after));
  }

  CUgraphNode add_set_while_less(CUgraph to, CUgraphConditionalHandle handle, std::size_t slot,
                                 unsigned limit, std::vector<CUgraphNode> after = {}) {
    CUdeviceptr at = address(slot);
    return add_setter(to, set_while_less_, {&handle, &at, &limit}, std::move(after));
  }

  CUresult try_instantiate(CUgraph from) {
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    CUgraphExec made = nullptr;
    const CUresult result = cu().graph_instantiate_with_params(&made, from, &parameters);
    if (made) execs_.push_back(made);
    return result;
  }

  CUlibrary setters_ = nullptr;
  CUfunction set_ = nullptr;
  CUfunction set_while_less_ = nullptr;

 private:
  // A real driver takes the device runtime from the toolkit's library.
  std::string linked() {
    const auto create =
        driver().symbol<CUresult (*)(unsigned, CUjit_option*, void**, CUlinkState*)>(
            "cuLinkCreate_v2");
    const auto add_data =
        driver()
            .symbol<CUresult (*)(CUlinkState, CUjitInputType, void*, std::size_t, const char*,
                                 unsigned, CUjit_option*, void**)>("cuLinkAddData_v2");
    const auto add_file =
        driver()
            .symbol<CUresult (*)(CUlinkState, CUjitInputType, const char*, unsigned, CUjit_option*,
                                 void**)>("cuLinkAddFile_v2");
    const auto complete =
        driver().symbol<CUresult (*)(CUlinkState, void**, std::size_t*)>("cuLinkComplete");
    const auto destroy = driver().symbol<CUresult (*)(CUlinkState)>("cuLinkDestroy");
    const char* const given = std::getenv("CUGRAFT_CUDADEVRT");
    const char* const runtime = given ? given : "/usr/local/cuda/lib64/libcudadevrt.a";
    CUlinkState state = nullptr;
    EXPECT_EQ(create(0, nullptr, nullptr, &state), CUDA_SUCCESS);
    EXPECT_EQ(add_data(state, CU_JIT_INPUT_PTX, const_cast<char*>(condition_ptx),
                       std::strlen(condition_ptx) + 1, "conditions", 0, nullptr, nullptr),
              CUDA_SUCCESS);
    EXPECT_EQ(add_file(state, CU_JIT_INPUT_LIBRARY, runtime, 0, nullptr, nullptr), CUDA_SUCCESS)
        << runtime << ": name the toolkit's libcudadevrt.a in CUGRAFT_CUDADEVRT";
    void* image = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(complete(state, &image, &size), CUDA_SUCCESS);
    const std::string result(static_cast<const char*>(image), size);
    EXPECT_EQ(destroy(state), CUDA_SUCCESS);
    return result;
  }
};

}  // namespace cugraft_sim
