// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "cuda_api.hpp"
#include "operation.hpp"
#include "user_object.hpp"

namespace cugraft_sim {

class parameter_view;
struct graph;
struct graph_node;

/// An edge, as its later end holds it.
struct dependency {
  graph_node* node = nullptr;
  CUgraphEdgeData data{};
};

bool operator==(const dependency& left, const dependency& right) noexcept;

/// Orders nodes of one graph by their making.
struct made_before {
  bool operator()(const graph_node* left, const graph_node* right) const noexcept;
};

struct graph_node {
  CUgraphNode handle = nullptr;
  graph* owner = nullptr;
  operation work;
  std::list<dependency> dependencies;  ///< in the order of their making; maybe of later nodes
  /// The edges to its dependents, where those hold them.
  std::map<graph_node*, std::list<dependency>::iterator, made_before> dependents;
  unsigned local_id = 0;

  /// When the node was last left without a dependent: made by hand, taken out of a stream's
  /// dependency set, or there when the capture ended. Sinks are paired in this order (driver-rules
  /// 4.2).
  std::uint64_t left_open = ~std::uint64_t{0};

  /// When the node was last left without a dependency; 0 with some.
  std::uint64_t made_root = 0;

  /// What the getters handed out; gone when the parameters change.
  std::shared_ptr<parameter_view> view;
};

/// A condition, which kernels set and a conditional node asks.
struct condition {
  CUcontext context = nullptr;
  unsigned default_value = 0;
  bool assigns_default = false;  ///< each launch begins with the default value
  bool used = false;             ///< by a node, for ever
};

struct graph {
  CUgraph handle = nullptr;
  unsigned id = 0;          ///< of the process's graphs and executables
  bool is_child = false;    ///< it belongs to a node of another graph
  bool is_moved = false;    ///< into that node, as it was
  bool has_memory = false;  ///< memory nodes, here or in a graph inside: they are never taken away
  bool is_body = false;     ///< that is a conditional node
  graph* around = nullptr;  ///< of a body: the graph with its node
  std::vector<condition> conditions;              ///< by handle, from 1 on; of bodies too
  std::deque<std::shared_ptr<graph_node>> nodes;  ///< in creation order
  user_references objects;
  CUgraph cloned_from = nullptr;
  std::unordered_map<CUgraphNode, CUgraphNode> copies;  ///< of a clone, by the original's node
  bool capturing = false;                               ///< a capture or re-capture adds to it
  bool recapturing = false;                             ///< it is a re-capture
  bool undefined = false;  ///< a re-capture failed: only destroying it works (driver-rules, R9)
  unsigned next_local_id = 0;
  std::uint64_t next_left_open = 1;
  std::uint64_t next_made_root = 1;
};

/// The graph of this handle; INVALID_VALUE where there is none or it is undefined.
CUresult find_graph(CUgraph handle, std::shared_ptr<graph>& found);

/// The graph of this handle, also an undefined one; null where there is none.
std::shared_ptr<graph> find_any_graph(CUgraph handle);

/// The node of this handle, with the same errors.
CUresult find_node(CUgraphNode handle, std::shared_ptr<graph_node>& found);

/// Makes a graph without nodes and its handle.
std::shared_ptr<graph> make_graph();

/// Forgets a graph, its nodes, their handles, and the graphs that belong to them.
void drop_graph(graph& gone);

/// A graph of its own that does the same; graphs inside it are copied too.
std::shared_ptr<graph> copy_graph(const graph& original);

/// Forgets a node and its edges.
void drop_node(graph_node& gone);

/// A number that no graph and no executable has.
unsigned take_graph_id() noexcept;

/// Adds a node; `dependencies` are nodes of the same graph, without duplicates.
graph_node& add_node(graph& to, operation work, const std::vector<dependency>& dependencies);

/// Makes `from` the last dependency of a node; it is none yet.
void add_edge(graph_node& to, const dependency& from);

/// Takes an edge away; a node without dependents is left open by that, one without dependencies
/// becomes a root.
void remove_edge(graph_node& from, graph_node& to);

/// The graphs inside a node: the content of a child, the bodies of a conditional node.
std::span<const std::shared_ptr<graph>> inner_graphs(const operation& work) noexcept;

/// Gives a node another operation; what its getters handed out is gone.
void set_work(graph_node& of, operation work);

/// Gives every node a new handle.
void renew_handles(graph& of);

/// Says that `node` has no dependent at this moment.
void leave_open(graph_node& node) noexcept;

/// Whether a node of its graph depends on it.
bool has_dependents(const graph_node& node) noexcept;

/// Nodes without dependents, in the order in which they were left so.
std::vector<graph_node*> sinks_of(const graph& of);

/// Nodes without dependencies, the last to become so first (H200).
std::vector<graph_node*> roots_of(const graph& of);

/// Turns the arrays of an API call into dependencies: INVALID_VALUE for null, foreign or stale
/// nodes, and for edge data that there is not. `data` may be null.
CUresult read_dependencies(const graph& of, const CUgraphNode* nodes, const CUgraphEdgeData* data,
                           std::size_t count, std::vector<dependency>& read);

bool is_kernel(const graph_node& node) noexcept;

/// Whether there may be such an edge between two nodes (driver-rules 9.3).
bool is_edge(const graph_node& from, const graph_node& to, const CUgraphEdgeData& data) noexcept;

/// The nodes in an order in which each comes after those that it depends on: that of creation where
/// it is one. Fewer nodes than there are where some depend on themselves.
std::vector<const graph_node*> execution_order(const graph& of);

/// The kind of node that an operation makes.
CUgraphNodeType type_of(const operation& work) noexcept;

/// How many graphs there are.
std::size_t count_graphs();

}  // namespace cugraft_sim
