// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "cugraft/render.hpp"
#include "render/graph_forms.hpp"
#include "render/json_reader.hpp"
#include "render/read_values.hpp"
#include "render/topological.hpp"

// Reads what graph_json.cpp writes. Everything is checked: a file may come from anywhere.

namespace cugraft {
namespace {

using model::node_value;

struct read_level {
  std::optional<std::uint32_t> parent;
  std::uint32_t body = 0, count = 0;
  std::uint64_t first = 0;  // its nodes
  int depth = 0;
};

// Deeper than any driver takes; more would be there to exhaust the stack.
constexpr int greatest_nesting = 64;

// A node as it is read; its members may come in any order.
struct read_node {
  std::string path, name, tag, form;
  node_kind kind = node_kind::empty;
  std::vector<model::dependency> dependencies;
  node_value value;
};

class graph_reader {
 public:
  explicit graph_reader(std::string_view text) : in_(text) {}

  std::shared_ptr<const detail::saved_state> read() {
    in_.object({{"schema_version", [&] { check_version(in_); }},
                {"generation", [&] { result_->generation = in_.unsigned_number(); }},
                {"levels", [&] { in_.array([&] { read_one_level(); }); }},
                {"nodes", [&] { read_nodes(); }}});
    in_.finish();
    if (next_level_ != levels_.size() || left_ != 0) in_.fail("as many nodes as the levels say");
    return result_;
  }

 private:
  std::size_t size() const noexcept { return result_->nodes.size(); }

  void read_one_level() {
    read_level level;
    in_.object({{"parent",
                 [&] {
                   if (!in_.null()) level.parent = read_unsigned<std::uint32_t>(in_);
                 }},
                {"body", [&] { level.body = read_unsigned<std::uint32_t>(in_); }},
                {"count", [&] { level.count = read_unsigned<std::uint32_t>(in_); }}});
    const bool is_root = levels_.empty();
    if (level.parent.has_value() == is_root)
      in_.fail("the graph's own level first, without parent");
    if (!is_root) check_order(level);
    level.first = total_;
    total_ += level.count;
    if (total_ > UINT32_MAX) in_.fail("fewer nodes");
    levels_.push_back(level);
  }

  // Inner graphs come by ascending position of the node that holds them, and then by body.
  void check_order(read_level& level) const {
    const read_level& last = levels_.back();
    if (*level.parent >= total_) in_.fail("a parent among the nodes of the levels ahead");
    if (levels_.size() > 1 &&
        std::pair(*level.parent, level.body) <= std::pair(*last.parent, last.body))
      in_.fail("levels by ascending parent and body");
    const auto behind =
        std::ranges::upper_bound(levels_, std::uint64_t{*level.parent}, {}, &read_level::first);
    level.depth = std::prev(behind)->depth + 1;
    if (level.depth > greatest_nesting)
      in_.fail(fmt::format("graphs nested up to {} deep", greatest_nesting));
  }

  void read_nodes() {
    if (levels_.empty()) in_.fail("\"levels\" ahead of \"nodes\"");
    begin_levels();
    in_.array([&] { read_one_node(); });
    if (const auto node = node_in_cycle(result_->nodes.structure()))
      in_.fail(fmt::format("dependencies without a cycle, as there is over node {}", *node));
  }

  // The levels that begin at the next node, empty ones too.
  void begin_levels() {
    while (left_ == 0 && next_level_ < levels_.size()) {
      const read_level& level = levels_[next_level_++];
      if (level.parent) result_->nodes.begin_level(*level.parent, level.body);
      first_ = static_cast<std::uint32_t>(size());
      count_ = left_ = level.count;
    }
  }

  void read_one_node() {
    if (left_ == 0) in_.fail("the end of the nodes, as the levels say");
    read_node node;
    in_.object({{"path", [&] { node.path = in_.string(); }},
                {"kind", [&] { node.kind = read_kind(in_); }},
                {"name", [&] { node.name = in_.string(); }},
                {"tag", [&] { node.tag = in_.string(); }},
                {"dependencies", [&] { in_.array([&] { read_dependency(node); }); }},
                {"form", [&] { node.form = read_form(); }},
                {"parameters", [&] { read_parameters(node); }}});
    finish_kernel(node);
    node.value.kind = node.kind;
    check_kind(node);
    result_->nodes.append(std::move(node.value), node.dependencies, node.tag);
    if (const std::string path = to_string(result_->nodes.structure().path_of(size() - 1));
        path != node.path)
      in_.fail(fmt::format("the path \"{}\" in the node that ends here", path));
    --left_;
    begin_levels();
  }

  std::string read_form() {
    std::string name = in_.string();
    if (std::ranges::find(form_names, name) == form_names.end()) in_.fail("a form of parameters");
    return name;
  }

  void read_dependency(read_node& node) {
    model::dependency edge;
    const auto port = [&] { return read_unsigned<std::uint8_t>(in_); };
    in_.object({{"node", [&] { edge.node = read_unsigned<std::uint32_t>(in_); }},
                {"from_port", [&] { edge.data.from_port = port(); }},
                {"to_port", [&] { edge.data.to_port = port(); }},
                {"type", [&] { edge.data.type = port(); }}});
    if (edge.node < first_ || edge.node - first_ >= count_)
      in_.fail("a dependency on a node of the same level");
    node.dependencies.push_back(edge);
  }

  void read_parameters(read_node& node) {
    if (node.form.empty()) in_.fail("\"form\" ahead of \"parameters\"");
    const auto form =
        static_cast<std::size_t>(std::ranges::find(form_names, node.form) - form_names.begin());
    node.value.data = read_data(in_, form);
  }

  // One layout serves all nodes of a kernel, as in a graph that was captured.
  void finish_kernel(read_node& node) {
    auto* const kernel = std::get_if<model::kernel_value>(&node.value.data);
    if (kernel == nullptr || kernel->layout == nullptr) return;
    const auto at = layouts_.find(node.name);
    if (at != layouts_.end() && same_parameters(*at->second, *kernel->layout)) {
      kernel->layout = at->second;
      return;
    }
    model::kernel_layout layout = *kernel->layout;
    layout.name = node.name;
    kernel->layout = layouts_[node.name] = std::make_shared<const model::kernel_layout>(layout);
  }

  static bool same_parameters(const model::kernel_layout& a, const model::kernel_layout& b) {
    return std::ranges::equal(a.parameters, b.parameters,
                              [](const kernel_parameter& x, const kernel_parameter& y) {
                                return x.offset == y.offset && x.size == y.size;
                              });
  }

  void check_kind(const read_node& node) {
    if (!fits(node.kind, node.value))
      in_.fail(fmt::format("parameters of a node of kind {}", to_string(node.kind)));
  }

  json_reader in_;
  std::shared_ptr<detail::saved_state> result_ = std::make_shared<detail::saved_state>();
  std::vector<read_level> levels_;
  std::size_t next_level_ = 0;
  std::uint64_t total_ = 0;                         // nodes of the levels read
  std::uint32_t first_ = 0, count_ = 0, left_ = 0;  // of the level that is being read
  std::map<std::string, std::shared_ptr<const model::kernel_layout>> layouts_;
};

}  // namespace

saved_graph saved_graph::load(std::string_view json) {
  return saved_graph_of(graph_reader(json).read());
}

}  // namespace cugraft
