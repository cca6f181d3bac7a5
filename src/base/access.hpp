// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace cugraft::detail {

struct driver_table;

/// The way of the library's own sources to the private state of its public classes, each of which
/// names this type as its friend.
struct access {
  /// Makes an object by a private constructor.
  template <class T, class... Arguments>
  static T make(Arguments&&... arguments) {
    return T(std::forward<Arguments>(arguments)...);
  }

  template <class T>
  static auto& state(T& object) noexcept {
    return object.state_;
  }

  template <class T>
  static auto& session(T& object) noexcept {
    return object.session_;
  }

  /// The session that a session object ends.
  template <class T>
  static auto& own_session(T& object) noexcept {
    return object.own_;
  }

  template <class T>
  static const driver_table* table(const T& object) noexcept {
    return object.table_;
  }

  /// The graph and the place of a `node_ref`.
  template <class T>
  static auto& graph_of(T& node) noexcept {
    return node.graph_;
  }

  /// The executable of an `exec_node_ref`.
  template <class T>
  static auto& exec_of(T& node) noexcept {
    return node.exec_;
  }

  template <class T>
  static auto& path_of(T& node) noexcept {
    return node.path_;
  }

  /// Which of its session's builders a `graph_builder` is.
  template <class T>
  static auto& builder_index(T& builder) noexcept {
    return builder.stream_;
  }

  /// The object and the operations of a `host_function`.
  template <class T>
  static auto& function_object(T& function) noexcept {
    return function.self_;
  }

  template <class T>
  static auto& function_type(T& function) noexcept {
    return function.type_;
  }
};

}  // namespace cugraft::detail
