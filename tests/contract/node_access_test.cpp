// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>
#include <memory>

#include "contract/engine_suite.hpp"
#include "support/eventually.hpp"
#include "support/expect.hpp"
#include "support/foreign_calls.hpp"

// Nodes of a graph asked and set one by one, beside re-capture.

namespace cugraft::testing {
namespace {

void count_access(void* data) { ++*static_cast<std::atomic<int>*>(data); }

class NodeAccess : public EngineSuite {
 protected:
  enum { fill, first, second, host, record };  // positions

  void body(graph_builder& gb) {
    fill_async(gb, x_.data(), 0, x_.size());
    gb.tag("first");
    add(gb, x_, value_);
    gb.tag("");
    add(gb, x_, 2);
    gb.host_call({&count_access, &ran_});
    gb.stream().record_external(event_);
  }

  std::size_t changed() {
    return recapture(graph_, [&](graph_builder& gb) { body(gb); }).nodes_changed();
  }

  // With the kinds of memory in the node, which a copy without a direction leaves to the driver.
  void copy_devices(stream_ref stream) {
    const foreign_calls calls(driver());
    EXPECT_EQ(calls.memcpy_d2d(reinterpret_cast<CUdeviceptr>(x_.data()),
                               reinterpret_cast<CUdeviceptr>(y_.data()), x_.size(), stream.get()),
              0);
  }

  template <class T>
  static T value_of(std::span<const std::byte> bytes) {
    T value{};
    EXPECT_EQ(bytes.size(), sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  float value_ = 1;
  std::atomic<int> ran_{0};
  event event_{context_};
  graph graph_ = capture(stream_, [&](graph_builder& gb) { body(gb); });
  graph_exec exec_ = graph_.instantiate();
};

TEST_P(NodeAccess, ParametersOfEachKindAreTold) {
  const kernel_node_params kernel = graph_.node(first).kernel_params();
  EXPECT_EQ(kernel.name, "add_value");
  EXPECT_EQ(kernel.function, add_.get());
  EXPECT_EQ(kernel.grid, dim3(2));
  EXPECT_EQ(kernel.block, dim3(32));
  EXPECT_EQ(kernel.shared_memory_bytes, 0U);
  EXPECT_FALSE(kernel.cluster);
  EXPECT_TRUE(kernel.has_all_attributes);
  EXPECT_EQ(value_of<void*>(kernel.argument(0)), x_.data());
  EXPECT_EQ(value_of<float>(kernel.argument(1)), 1.0F);
  EXPECT_EQ(value_of<int>(kernel.argument(2)), static_cast<int>(count));
  const fill_node_params filled = graph_.node(fill).fill_params();
  EXPECT_EQ(filled.destination, x_.data());
  EXPECT_EQ(filled.width * filled.element_size * filled.height, x_.size());
  const host_node_params called = graph_.node(host).host_params();
  EXPECT_EQ(called.function, &count_access);
  EXPECT_EQ(called.user_data, &ran_);
  EXPECT_EQ(graph_.node(record).event(), event_.get());
}

TEST_P(NodeAccess, CopiesAreTold) {
  const graph g = capture(stream_, [&](graph_builder& gb) { copy_devices(gb.stream()); });
  const copy_node_params copy = g.node(0).copy_params();
  EXPECT_EQ(copy.destination.address, x_.data());
  EXPECT_EQ(copy.source.address, y_.data());
  EXPECT_EQ(copy.source.kind, memory_kind::device);
  EXPECT_EQ(copy.destination.kind, memory_kind::device);
  EXPECT_EQ(copy.width_bytes, x_.size());
  EXPECT_EQ(copy.height, 1U);
}

TEST_P(NodeAccess, WhatANodeIsNotIsRefused) {
  EXPECT_THROW(graph_.node(first).fill_params(), usage_error);
  EXPECT_THROW(graph_.node(fill).copy_params(), usage_error);
  EXPECT_THROW(graph_.node(fill).kernel_params(), usage_error);
  EXPECT_THROW(graph_.node(first).host_params(), usage_error);
  EXPECT_THROW(graph_.node(first).event(), usage_error);
  EXPECT_THROW(graph_.node(first).kernel_params().argument(3), usage_error);
  EXPECT_THROW(node_ref().kernel_params(), usage_error);
  if (has_real_driver()) return;  // its handles are addresses
  const std::string first_text = "node 1 (kernel \"add_value\", tag \"first\") of graph 0x1";
  EXPECT_THROW_MSG(graph_.node(first).update(fill_node_params{x_.data(), 0, 1}), usage_error,
                   first_text + " is no fill");
}

TEST_P(NodeAccess, C013_KernelsAreFoundByNameAndOccurrence) {
  EXPECT_EQ(graph_.find_kernel("add_value")->path(), graph_.node(first).path());
  EXPECT_EQ(graph_.find_kernel("add_value", 1)->path(), graph_.node(second).path());
  EXPECT_FALSE(graph_.find_kernel("add_value", 2));
  EXPECT_FALSE(graph_.find_kernel("scale"));
  EXPECT_FALSE(graph_.find_kernel(""));
  EXPECT_EQ(exec_.find_kernel("add_value", 1)->path(), graph_.node(second).path());
  EXPECT_EQ(exec_.find("first")->path(), graph_.node(first).path());
  EXPECT_FALSE(exec_.find_kernel("add_value", 2));
  EXPECT_FALSE(exec_.find("second"));
}

TEST_P(NodeAccess, AKernelGetsAnotherLaunch) {
  const node_update done = graph_.node(first).update({.grid = 1, .block = 64}, scale_, x_, 5.0F,
                                                     static_cast<int>(count));
  EXPECT_TRUE(done);
  EXPECT_EQ(done.effect, verdict::patchable);
  EXPECT_EQ(done.rule, "kernel.function");
  EXPECT_EQ(graph_.generation(), 1U);
  EXPECT_EQ(graph_.node(first).name(), "scale");
  EXPECT_EQ(graph_.node(first).tag(), "first");
  EXPECT_FALSE(exec_.is_current());
  EXPECT_EQ(run(exec_, x_), 3.0F);  // until it is updated
  EXPECT_EQ(exec_.update().nodes_patched, 1U);
  EXPECT_EQ(run(exec_, x_), 2.0F);  // 0 * 5 + 2
  EXPECT_EQ(exec_.generation(), 1U);
}

// What one engine was told of the graph before counts for none of them any more.
TEST_P(NodeAccess, RecapturesCompareWithWhatWasSet) {
  EXPECT_EQ(changed(), 0U);
  EXPECT_TRUE(graph_.node(first).update_argument(1, 7.0F));
  EXPECT_EQ(changed(), 1U);
  EXPECT_EQ(graph_.generation(), 2U);
  EXPECT_TRUE(graph_.node(first).update_argument(1, 7.0F));
  value_ = 7;
  EXPECT_EQ(changed(), 0U);
  exec_.update();
  EXPECT_EQ(run(exec_, x_), 9.0F);
}

TEST_P(NodeAccess, TheSameAgainChangesNothing) {
  const node_update done = graph_.node(first).update({.grid = 2, .block = 32}, add_, x_, value_,
                                                     static_cast<int>(count));
  EXPECT_TRUE(done);
  EXPECT_EQ(done.effect, verdict::unchanged);
  EXPECT_EQ(done.rule, "");
  EXPECT_TRUE(graph_.node(host).update({&count_access, &ran_}));
  EXPECT_TRUE(graph_.node(record).update(event_));
  EXPECT_TRUE(graph_.node(fill).update(graph_.node(fill).fill_params()));
  EXPECT_EQ(graph_.generation(), 0U);
  EXPECT_TRUE(exec_.is_current());
}

TEST_P(NodeAccess, TypedKernelsConvertTheirArguments) {
  const auto add = library_.get_kernel<void(float*, float, int)>("add_value");
  EXPECT_TRUE(graph_.node(first).update({.grid = 2, .block = 32}, add, x_.as<float>(), 4, count));
  exec_.update();
  EXPECT_EQ(run(exec_, x_), 6.0F);
}

TEST_P(NodeAccess, FillsHostFunctionsAndEventsAreSet) {
  fill_node_params filled = graph_.node(fill).fill_params();
  filled.value = 0x40;
  filled.element_size = 1;
  filled.width = x_.size();
  EXPECT_EQ(graph_.node(fill).update(filled).rule, "fill.1d");
  std::atomic<int> other{0};
  EXPECT_EQ(graph_.node(host).update({&count_access, &other}).rule, "host.function");
  EXPECT_EQ(graph_.node(host).host_params().user_data, &other);
  event another(context_);
  EXPECT_EQ(graph_.node(record).update(another).rule, "event.event");
  EXPECT_EQ(graph_.node(record).event(), another.get());
  EXPECT_EQ(graph_.generation(), 3U);
  EXPECT_EQ(exec_.update().nodes_patched, 3U);
  EXPECT_FLOAT_EQ(run(exec_, x_), 6.0039215F);  // bytes of 0x40, and 3
  EXPECT_EQ(other, 1);
  EXPECT_EQ(ran_, 0);
  EXPECT_EQ(graph_.node(record).update(event_).rule, "event.event");
}

TEST_P(NodeAccess, CopiesAreSetByAddressOrWhole) {
  graph g = capture(stream_, [&](graph_builder& gb) { copy_devices(gb.stream()); });
  graph_exec e = g.instantiate();
  EXPECT_EQ(g.node(0).update(copy_node_params::of_row(x_.data(), y_.data(), 4)).rule, "copy.size");
  EXPECT_EQ(g.node(0).copy_params().source.kind, memory_kind::device);
  EXPECT_TRUE(e.update({.may_instantiate = false}));
  const node_update done =
      g.node(0).update(copy_node_params::of_row(x_.data(), host_.data(), x_.size()));
  EXPECT_TRUE(done);
  EXPECT_EQ(done.effect, verdict::needs_instantiate);
  EXPECT_EQ(done.rule, "copy.memory_kind");
  EXPECT_EQ(g.node(0).copy_params().source.kind, memory_kind::host);
  host_.as<float>()[0] = 8;
  EXPECT_EQ(e.update().method, update_method::instantiated);
  e.launch(stream_);
  EXPECT_EQ(read(x_).front(), 8.0F);
}

TEST_P(NodeAccess, LaunchAttributesAreSetAndTakenBack) {
  launch_attribute domain{.id = 10};
  domain.value[0] = std::byte{1};
  const auto set = [&](const launch_config& config) {
    return graph_.node(first).update(config, add_, x_, value_, static_cast<int>(count));
  };
  const node_update done =
      set({.grid = 2, .block = 32, .cluster = dim3(2), .attributes = {&domain, 1}});
  EXPECT_EQ(done.effect, verdict::needs_instantiate);
  EXPECT_EQ(done.rule, "kernel.cluster");
  EXPECT_EQ(graph_.node(first).kernel_params().cluster, dim3(2));
  EXPECT_EQ(graph_.node(first).kernel_params().attributes.size(), 1U);
  graph_.resync();  // the driver's graph has it
  EXPECT_EQ(graph_.node(first).kernel_params().cluster, dim3(2));
  EXPECT_EQ(graph_.generation(), 1U);
  EXPECT_EQ(exec_.update().method, update_method::instantiated);
  EXPECT_EQ(set({.grid = 2, .block = 32}).rule, "kernel.cluster");
  EXPECT_FALSE(graph_.node(first).kernel_params().cluster);
  graph_.resync();
  EXPECT_EQ(graph_.generation(), 2U);
  EXPECT_EQ(changed(), 0U);
}

TEST_P(NodeAccess, APriorityThatIsNotSetStays) {
  constexpr int priority = -1;
  EXPECT_TRUE(graph_.node(first).update({.grid = 2, .block = 32, .priority = priority}, add_, x_,
                                        value_, static_cast<int>(count)));
  EXPECT_TRUE(graph_.node(first).update({.grid = 1, .block = 64}, add_, x_, value_,
                                        static_cast<int>(count)));
  EXPECT_EQ(graph_.node(first).kernel_params().priority, priority);
}

TEST_P(NodeAccess, ArgumentsAreCheckedAsLaunchDoes) {
  node_ref node = graph_.node(first);
  const launch_config config{.grid = 2, .block = 32};
  EXPECT_THROW(node.update(config, add_, x_, value_), usage_error);
  EXPECT_THROW(node.update(config, add_, x_, 1.0, static_cast<int>(count)), usage_error);
  EXPECT_THROW(node.update({.grid = 0, .block = 32}, add_, x_, value_, 1), usage_error);
  EXPECT_THROW(node.update({.grid = 1, .block = 1025}, add_, x_, value_, 1), usage_error);
  EXPECT_THROW(node.update(config, kernel(), x_, value_, 1), usage_error);
  EXPECT_THROW(node.update_argument(1, 2.0), usage_error);
  EXPECT_THROW(node.update_argument(3, 2), usage_error);
  EXPECT_THROW(node.update(copy_node_params{}), usage_error);
  fill_node_params filled = graph_.node(fill).fill_params();
  filled.element_size = 3;
  EXPECT_THROW(graph_.node(fill).update(filled), usage_error);
  filled.element_size = 1;
  filled.value = 0x100;
  EXPECT_THROW(graph_.node(fill).update(filled), usage_error);
  filled.width = 0;
  EXPECT_THROW(graph_.node(fill).update(filled), usage_error);
  host_function moved([] {});
  const host_function taken(std::move(moved));
  EXPECT_THROW(graph_.node(host).update(std::move(moved)), usage_error);
  EXPECT_THROW(node.update([] {}), usage_error);
  EXPECT_EQ(graph_.generation(), 0U);
  EXPECT_EQ(changed(), 0U);
}

// An update changes no edges, so the launch may not ask for others.
TEST_P(NodeAccess, EdgesStayWhatTheyAre) {
  const auto programmatic = [&](graph_builder& gb) {
    add(gb, x_, 1);
    launch(gb, {.grid = 2, .block = 32, .programmatic_serialization = true}, add_, x_, 2.0F,
           static_cast<int>(count));
  };
  graph g = capture(stream_, programmatic);
  const auto set = [&](std::size_t node, const launch_config& config) {
    return g.node(node).update(config, add_, x_, 3.0F, static_cast<int>(count));
  };
  EXPECT_THROW(set(1, {.grid = 2, .block = 32}), usage_error);
  EXPECT_TRUE(set(1, {.grid = 2, .block = 32, .programmatic_serialization = true}));
  EXPECT_TRUE(set(0, {.grid = 2, .block = 32, .programmatic_serialization = true}));  // it waits
  EXPECT_THROW(
      graph_.node(second).update({.grid = 2, .block = 32, .programmatic_serialization = true}, add_,
                                 x_, 3.0F, static_cast<int>(count)),
      usage_error);
  for (const unsigned id : {6U, 7U, 12U, 13U}) {
    const launch_attribute attribute{.id = id};
    EXPECT_THROW(graph_.node(second).update({.grid = 2, .block = 32, .attributes = {&attribute, 1}},
                                            add_, x_, 3.0F, static_cast<int>(count)),
                 usage_error);
  }
}

TEST_P(NodeAccess, NothingIsSetWhileASessionIsOpen) {
  {
    recapture_session open = graph_.begin_recapture(stream_, with());
    EXPECT_THROW(graph_.node(first).update_argument(1, 2.0F), usage_error);
    EXPECT_THROW(exec_.node(first).update_argument(1, 2.0F), usage_error);
    EXPECT_THROW(exec_.node(first).disable(), usage_error);
    EXPECT_EQ(graph_.node(first).kernel_params().name, "add_value");  // reading is fine
    body(open);
    EXPECT_EQ(open.end().nodes_changed(), 0U);
  }
  EXPECT_EQ(graph_.generation(), 0U);
}

TEST_P(NodeAccess, HostFunctionsLiveUntilNobodyRunsThem) {
  auto owned = std::make_shared<int>(1);
  std::weak_ptr<int> watched = owned;
  graph_.node(host).update([kept = std::move(owned)] { static_cast<void>(*kept); });
  EXPECT_EQ(graph_.node(host).host_params().function, nullptr);
  exec_.update();
  exec_.launch(stream_);
  graph_.node(host).update({&count_access, &ran_});
  EXPECT_FALSE(watched.expired());  // the executable still runs it
  exec_.update();
  exec_.launch(stream_);
  stream_.synchronize();
  exec_.launch(stream_);  // sees that the launch behind the update is done
  EXPECT_TRUE(eventually([&] { return watched.expired(); }));
  stream_.synchronize();
}

// C092: what is read is a copy; setting it back and again leaves nothing behind.
TEST_P(NodeAccess, C092_ArgumentsAreReadAndSetAHundredTimes) {
  for (int i = 0; i < 100; ++i) {
    const kernel_node_params read_back = graph_.node(first).kernel_params();
    EXPECT_EQ(value_of<float>(read_back.argument(1)), i == 0 ? 1.0F : static_cast<float>(i));
    EXPECT_TRUE(graph_.node(first).update_argument(1, static_cast<float>(i + 1)));
  }
  exec_.update();
  EXPECT_EQ(run(exec_, x_), 102.0F);
}

INSTANTIATE_TEST_SUITE_P(Engines, NodeAccess, ::testing::ValuesIn(all_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
