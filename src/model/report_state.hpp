// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cugraft/change_report.hpp"
#include "model/difference.hpp"
#include "model/values.hpp"

namespace cugraft {

/// A changed node before anything is formatted.
struct raw_change {
  std::uint32_t position = 0;
  node_path path;  ///< empty: of the root's node at `position`
  model::node_value before, after;
  std::string tag;
  std::optional<recapture_status> native_status;
  CUgraphNode node = nullptr;
  model::judgement judgement;
  /// A node of another graph that has its new launch attributes, while it is applied; or null.
  CUgraphNode attributes_from = nullptr;
};

/// One change as the report shows it.
node_change format_change(const raw_change& change);

/// What a failure's sentence is made of.
struct mismatch_facts {
  mismatch why = mismatch::node_count;
  std::optional<node_summary> expected, found;
  std::size_t position = 0;  ///< that many nodes matched
  std::size_t expected_count = 0, found_count = 0;
  std::optional<node_summary> from{};  ///< the other end of the edge that differs
};

/// The sentence for a difference in structure: position, both sides by kind, kernel name and tag,
/// both counts where they differ, and what to do.
std::string mismatch_message(const mismatch_facts& facts);

namespace detail {

/// What a `change_report` shares; formatted at the first `changes()`.
struct report_state {
  engine used = engine::automatic;
  std::size_t nodes_total = 0;
  std::vector<raw_change> raw;
  std::vector<node_change> given;  ///< beside `raw`: changes that came as text
  verdict overall = verdict::unchanged;
  bool structure_replaced = false;
  std::uint64_t generation = 0;
  report_timing timing;

  const std::vector<node_change>& formatted() const;

  /// Gives a finished state to a report.
  static change_report make(std::shared_ptr<const report_state> state) noexcept;

 private:
  mutable std::once_flag once_;
  mutable std::vector<node_change> formatted_;
};

}  // namespace detail
}  // namespace cugraft
