// SPDX-License-Identifier: Apache-2.0
#include "gpu/verdict_case.hpp"

// One change for each field that a rule decides.

namespace cugraft::testing {
namespace {

using body = std::function<void(stage&, graph_builder&, bool)>;

// A kernel that writes down how it was launched.
body launched_with(std::function<launch_config(bool)> config) {
  return [config = std::move(config)](stage& on, graph_builder& gb, bool after) {
    launch(gb, config(after), on.library_.get_kernel("write_launch"), on.out_);
  };
}

body clustered(std::function<launch_config(bool)> config) {
  return [config = std::move(config)](stage& on, graph_builder& gb, bool after) {
    launch(gb, config(after), on.clusters_.get_kernel("write_cluster_size"), on.out_);
  };
}

launch_config cluster_of(unsigned blocks) {
  return {.grid = 4, .block = 32, .cluster = dim3{blocks}};
}

CUdeviceptr address(const device_buffer& buffer, std::size_t offset = 0) {
  return reinterpret_cast<CUdeviceptr>(buffer.data()) + offset;
}

}  // namespace

std::vector<verdict_case> kernel_cases() {
  static launch_attribute domain = [] {
    launch_attribute attribute{.id = 10};  // memory synchronisation domain
    attribute.value[0] = std::byte{1};
    return attribute;
  }();
  const auto swapped = [](stage& on, graph_builder& gb, bool after) {
    launch(gb, {.grid = 1, .block = 64}, on.library_.get_kernel(after ? "scale" : "add_value"),
           on.out_, 7.0F, 64);
  };
  return {
      {"kernel.arguments", "value of an argument",
       [](stage& on, graph_builder& gb, bool after) {
         launch(gb, {.grid = 1, .block = 64}, on.library_.get_kernel("fill_ints"), on.out_,
                after ? 2 : 1, 64);
       }},
      {"kernel.grid", "grid",
       launched_with([](bool after) { return launch_config{.grid = after ? 3 : 2, .block = 32}; })},
      {"kernel.block", "block", launched_with([](bool after) {
         return launch_config{.grid = 2, .block = after ? 64 : 32};
       })},
      {"kernel.shared_memory", "dynamic shared memory", launched_with([](bool after) {
         return launch_config{.grid = 1, .block = 32, .shared_memory_bytes = after ? 512U : 128U};
       })},
      {"kernel.function", "another function, the same parameters", swapped},
      {"kernel.function", "another function, other parameters",
       [](stage& on, graph_builder& gb, bool after) {
         if (after)
           launch(gb, {.grid = 1, .block = 64}, on.library_.get_kernel("copy_ints"), on.out_,
                  on.in_, 64);
         else
           launch(gb, {.grid = 1, .block = 64}, on.library_.get_kernel("fill_ints"), on.out_, 7,
                  64);
       }},
      {"kernel.cluster", "cluster of 1 to 2",
       clustered([](bool after) { return cluster_of(after ? 2 : 1); })},
      {"kernel.cluster", "cluster of 2 to 4",
       clustered([](bool after) { return cluster_of(after ? 4 : 2); })},
      {"kernel.cluster", "no cluster to 2", clustered([](bool after) {
         return after ? cluster_of(2) : launch_config{.grid = 4, .block = 32};
       })},
      {"kernel.cluster", "cluster of 2 to none", clustered([](bool after) {
         return after ? launch_config{.grid = 4, .block = 32} : cluster_of(2);
       })},
      {"kernel.cooperative", "off to on", launched_with([](bool after) {
         return launch_config{.grid = 1, .block = 32, .cooperative = after};
       }),
       false},
      {"kernel.cooperative", "on to off", launched_with([](bool after) {
         return launch_config{.grid = 1, .block = 32, .cooperative = !after};
       }),
       false},
      {"kernel.priority", "priority", launched_with([](bool after) {
         return launch_config{.grid = 1, .block = 32, .priority = after ? -3 : 0};
       }),
       false},
      {"kernel.priority_in_use",
       "priority, use_node_priority",
       launched_with([](bool after) {
         return launch_config{.grid = 1, .block = 32, .priority = after ? -3 : 0};
       }),
       false,
       {.use_node_priority = true}},
      {"kernel.attribute", "memory synchronisation domain", launched_with([](bool after) {
         launch_config config{.grid = 1, .block = 32};
         if (after) config.attributes = {&domain, 1};
         return config;
       }),
       false},
  };
}

std::vector<verdict_case> copy_and_fill_cases() {
  const auto copy_2d = [](auto width, auto source) -> body {
    return [=](stage& on, graph_builder& gb, bool after) {
      EXPECT_EQ(on.foreign_.memcpy_2d(address(on.out_), 32, address(source(on, after)), 32,
                                      width(after), 4, gb.stream().get()),
                0);
    };
  };
  const auto fill_2d = [](auto value, auto width) -> body {
    return [=](stage& on, graph_builder& gb, bool after) {
      EXPECT_EQ(on.foreign_.memset_2d_d8(address(on.out_), 32, value(after), width(after), 4,
                                         gb.stream().get()),
                0);
    };
  };
  const auto always = [](auto value) { return [=](bool) { return value; }; };
  const auto in = [](stage& on, bool) -> device_buffer& { return on.in_; };
  return {
      {"copy.size", "size",
       [](stage& on, graph_builder& gb, bool after) {
         copy_async(gb, on.out_.data(), on.in_.data(), after ? 64 : 32);
       }},
      {"copy.address", "source",
       [](stage& on, graph_builder& gb, bool after) {
         copy_async(gb, on.out_.data(), (after ? on.other_ : on.in_).data(), 64);
       }},
      {"copy.address", "destination",
       [](stage& on, graph_builder& gb, bool after) {
         copy_async(gb, on.out_.as<char>() + (after ? 64 : 0), on.in_.data(), 64);
       }},
      {"copy.memory_kind", "host to device becomes device to device",
       [](stage& on, graph_builder& gb, bool after) {
         const CUdeviceptr from =
             after ? address(on.other_) : reinterpret_cast<CUdeviceptr>(on.host_.data());
         EXPECT_EQ(after ? on.foreign_.memcpy_d2d(address(on.out_), from, 64, gb.stream().get())
                         : on.foreign_.memcpy_h2d(address(on.out_), on.host_.data(), 64,
                                                  gb.stream().get()),
                   0);
       }},
      {"copy.2d", "width", copy_2d([](bool after) { return std::size_t{after ? 8U : 16U}; }, in)},
      {"copy.2d", "source",
       copy_2d(always(std::size_t{16}),
               [](stage& on, bool after) -> device_buffer& { return after ? on.other_ : on.in_; })},
      {"fill.1d", "value",
       [](stage& on, graph_builder& gb, bool after) {
         fill_async(gb, on.out_.data(), after ? 2 : 1, 64);
       }},
      {"fill.1d", "destination",
       [](stage& on, graph_builder& gb, bool after) {
         fill_async(gb, on.out_.as<char>() + (after ? 64 : 0), 1, 64);
       }},
      {"fill.1d", "width, larger",
       [](stage& on, graph_builder& gb, bool after) {
         fill_async(gb, on.out_.data(), 1, after ? 128 : 64);
       }},
      {"fill.1d", "element size",
       [](stage& on, graph_builder& gb, bool after) {
         fill_async(gb, on.out_.data(), 1, 16, after ? 4 : 1);
       }},
      {"fill.rows", "one row to several",
       [](stage& on, graph_builder& gb, bool after) {
         if (after) {
           EXPECT_EQ(on.foreign_.memset_2d_d8(address(on.out_), 32, 1, 16, 4, gb.stream().get()),
                     0);
         } else {
           fill_async(gb, on.out_.data(), 1, 16);
         }
       }},
      {"fill.2d.shape", "width",
       fill_2d(always(static_cast<unsigned char>(1)),
               [](bool after) { return std::size_t{after ? 8U : 16U}; })},
      {"fill.2d.value", "value",
       fill_2d([](bool after) { return static_cast<unsigned char>(after ? 2 : 1); },
               always(std::size_t{16}))},
  };
}

std::vector<verdict_case> other_cases() {
  return {
      {"kernel.function.foreign", "another function, launched by others",
       [](stage& on, graph_builder& gb, bool after) {
         const kernel which = on.library_.get_kernel(after ? "scale" : "add_value");
         EXPECT_EQ(
             on.foreign_.launch_kernel(which.get(), address(on.out_), 7.0F, 64, gb.stream().get()),
             0);
       }},
      {"host.function", "function and data",
       [](stage& on, graph_builder& gb, bool after) {
         int* const to = static_cast<int*>(on.host_.data()) + 32;
         host_call(gb, [to, after] { *to = after ? 2 : 1; });
         copy_async(gb, on.out_.data(), to, sizeof *to);
       }},
      {"event.event", "the event of an external record",
       [](stage& on, graph_builder& gb, bool after) {
         gb.stream().record_external(after ? on.second_ : on.first_);
       },
       false},
      {"event.event", "the event of an external wait",
       [](stage& on, graph_builder& gb, bool after) {
         gb.stream().wait_external(after ? on.second_ : on.first_);
       },
       false},
  };
}

}  // namespace cugraft::testing
