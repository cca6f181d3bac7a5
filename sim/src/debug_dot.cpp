// SPDX-License-Identifier: Apache-2.0
#include <concepts>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "entry.hpp"
#include "graph.hpp"
#include "handle_table.hpp"
#include "library.hpp"
#include "overloaded.hpp"

// Graphs as pictures: cuGraphDebugDotPrint. What stands in the picture beside nodes and edges is
// documented nowhere; here it is what the flags name.

namespace cugraft_sim {
namespace {

constexpr unsigned known_print_flags = (1U << 18) - 1;  // 13.5 has the last two

bool shows(unsigned flags, unsigned flag) noexcept {
  return (flags & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)) != 0;
}

std::string_view name_of(CUgraphNodeType type) noexcept {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return "KERNEL";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return "MEMCPY";
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return "MEMSET";
    case CU_GRAPH_NODE_TYPE_HOST:
      return "HOST";
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return "GRAPH";
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return "EMPTY";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return "EVENT_WAIT";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return "EVENT_RECORD";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return "MEM_ALLOC";
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return "MEM_FREE";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return "BATCH_MEM_OP";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return "CONDITIONAL";
    default:
      return "NODE";
  }
}

// Not a stream of the standard library: a program with another one may have loaded this.
class text {
 public:
  text& operator<<(std::string_view more) {
    all_ += more;
    return *this;
  }
  text& operator<<(std::unsigned_integral auto number) { return *this << std::to_string(number); }

  bool save(const char* path) const {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "w"), &std::fclose);
    return file && std::fwrite(all_.data(), 1, all_.size(), file.get()) == all_.size() &&
           std::fflush(file.get()) == 0;
  }

 private:
  std::string all_;
};

void write_details(const operation& work, unsigned flags, text& to) {
  const auto kernel = [&](const kernel_operation& of) {
    to << "\\n" << of.code->code->entry->name;
    if (!shows(flags, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS)) return;
    to << "\\ngrid " << of.grid.x << " " << of.grid.y << " " << of.grid.z << "\\nblock "
       << of.block.x << " " << of.block.y << " " << of.block.z << "\\nshared " << of.shared_bytes;
  };
  const auto copy = [&](const copy_operation& of) {
    if (!shows(flags, CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS)) return;
    const CUDA_MEMCPY3D& all = of.parameters;
    to << "\\n" << all.WidthInBytes << " x " << all.Height << " x " << all.Depth;
  };
  const auto fill = [&](const fill_operation& of) {
    if (!shows(flags, CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS)) return;
    const CUDA_MEMSET_NODE_PARAMS& all = of.parameters;
    to << "\\n" << all.width << " x " << all.height << " of " << all.value;
  };
  const auto conditional = [&](const conditional_operation& of) {
    if (!shows(flags, 1U << 15)) return;  // CONDITIONAL_NODE_PARAMS
    to << "\\nhandle " << of.condition << ", kind " << static_cast<unsigned>(of.kind);
  };
  std::visit(overloaded{kernel, copy, fill, conditional, [](const auto&) {}}, work.what);
}

void write_name(const graph& in, const graph_node& node, text& to) {
  to << "\"graph_" << in.id << "_node_" << node.local_id << "\"";
}

void write_node(const graph& in, const graph_node& node, unsigned flags, text& to) {
  write_name(in, node, to);
  to << "[shape=\"rectangle\" label=\"" << node.local_id << "\\n" << name_of(type_of(node.work));
  write_details(node.work, flags, to);
  if (shows(flags, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)) to << "\\nhandle " << id_of(node.handle);
  to << "\"];\n";
}

// Each graph is a cluster; those inside nodes follow the one around them.
void write(const graph& of, unsigned flags, text& to) {
  to << "subgraph cluster_" << of.id << " {\nlabel=\"graph_" << of.id
     << "\" graph[style=\"dashed\"];\n";
  for (const auto& node : of.nodes) write_node(of, *node, flags, to);
  for (const auto& node : of.nodes)
    for (const dependency& each : node->dependencies) {
      write_name(of, *each.node, to);
      to << " -> ";
      write_name(of, *node, to);
      to << (each.data.type == 0 ? ";\n" : "[style=\"dashed\"];\n");
    }
  to << "}\n";
  for (const auto& node : of.nodes)
    for (const auto& inner : inner_graphs(node->work)) write(*inner, flags, to);
}

}  // namespace

CUresult impl::graph_debug_dot_print(CUgraph of, const char* path, unsigned flags) {
  std::shared_ptr<graph> found;
  if (const CUresult result = find_graph(of, found)) return result;
  if (!path || (flags & ~known_print_flags) != 0) return CUDA_ERROR_INVALID_VALUE;
  text dump;
  dump << "digraph dot {\n";
  write(*found, flags, dump);
  dump << "}\n";
  return dump.save(path) ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

}  // namespace cugraft_sim
