// SPDX-License-Identifier: Apache-2.0
// Why did my update fail? Two captures of one step are looked at, as a program would that gets
// CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE and wants to know which node is to blame: saved as JSON,
// read back without a driver, and compared. What the driver itself prints of them
// (cuGraphDebugDotPrint) is compared too: it knows less, arguments of kernels for instance.
//
// Given a folder, it leaves all files there, for `cugraft diff` and `cugraft render`:
//
//     example_08_why_did_it_fail /tmp
//     cugraft diff /tmp/before.json /tmp/after.json
//
// Runs on the driver that CUGRAFT_DRIVER names, else on the system's.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "cugraft/cugraft.hpp"

namespace {

constexpr const char* scale_ptx = R"(
.version 7.8
.target sm_70
.address_size 64

.visible .entry scale(.param .u64 x, .param .f32 factor)
{
  .reg .b32 %r<2>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [x];
  ld.param.f32 %f1, [factor];
  mov.u32 %r1, %tid.x;
  cvta.to.global.u64 %rd1, %rd1;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  mul.f32 %f2, %f2, %f1;
  st.global.f32 [%rd3], %f2;
  ret;
}
)";

void check(int result, const char* what) {
  if (result != 0) throw std::runtime_error(what + (" gave " + std::to_string(result)));
}

class program {
 public:
  program() : device_(cugraft::context::primary(cugraft::driver::load())), stream_(device_) {}

  // The buffer is 8 rows of 64 bytes; how many bytes of each are copied is what no executable can
  // change. The factor is what any can.
  cugraft::graph capture(float factor, std::size_t row_bytes) {
    return cugraft::capture(stream_, [&](cugraft::graph_builder& g) {
      g.tag("scale the input");
      launch(g, {.grid = 1, .block = 32}, scale_, x_.data(), factor);
      g.tag("");
      copy_2d_async(g, y_.data(), 64, x_.data(), 64, row_bytes, 8);
    });
  }

  // The verbose dump, flag 1.
  void dump(const cugraft::graph& graph, const std::filesystem::path& file) {
    using function = int (*)(CUgraph, const char*, unsigned);
    const auto print =
        reinterpret_cast<function>(device_.get_driver().entry_point("cuGraphDebugDotPrint", 11030));
    check(print(graph.get(), file.c_str(), 1), "cuGraphDebugDotPrint");
  }

 private:
  cugraft::context device_;
  cugraft::stream stream_;
  cugraft::kernel scale_ = cugraft::library::from_image(device_, scale_ptx).get_kernel("scale");
  cugraft::device_buffer x_{device_, 512}, y_{device_, 512};
};

void save(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream result;
  result << std::ifstream(file).rdbuf();
  return result.str();
}

// The copy needs a new executable; the kernel alone would not.
bool is_explained(const cugraft::change_report& report) {
  return report.nodes_changed() == 2 && report.changes()[1].rule == "copy.2d" &&
         report.overall() == cugraft::verdict::needs_instantiate;
}

int run(const std::filesystem::path& folder) {
  program p;
  const cugraft::graph before = p.capture(1.0F, 64), after = p.capture(2.0F, 32);
  save(folder / "before.json", to_json(before));
  save(folder / "after.json", to_json(after));
  p.dump(before, folder / "before.dot");
  p.dump(after, folder / "after.dot");

  const auto saved_before = cugraft::saved_graph::load(text_of(folder / "before.json"));
  const auto saved_after = cugraft::saved_graph::load(text_of(folder / "after.json"));
  const cugraft::change_report report = compare(saved_before, saved_after).report();
  save(folder / "report.json", to_json(report));
  save(folder / "diff.html", to_html(saved_before, report));
  std::cout << to_text(report);

  const auto dump_before = cugraft::saved_graph::load_dot(text_of(folder / "before.dot"));
  const auto dump_after = cugraft::saved_graph::load_dot(text_of(folder / "after.dot"));
  std::cout << "\nby the driver's dumps\n" << to_text(compare(dump_before, dump_after).report());
  return is_explained(report) ? 0 : 1;
}

// A folder that goes away again.
struct temporary_folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "cugraft_why_XXXXXX";
  temporary_folder() {
    std::string name = path.string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path = name;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1) return run(argv[1]);
    return run(temporary_folder().path);
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
