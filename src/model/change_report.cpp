// SPDX-License-Identifier: Apache-2.0
#include "cugraft/change_report.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/access.hpp"
#include "model/report_state.hpp"

namespace cugraft {
namespace {

const detail::report_state& state_or_empty(
    const std::shared_ptr<const detail::report_state>& state) noexcept {
  static const detail::report_state empty;
  return state ? *state : empty;
}

}  // namespace

change_report detail::report_state::make(std::shared_ptr<const report_state> state) noexcept {
  change_report result;
  access::state(result) = std::move(state);
  return result;
}

engine change_report::engine_used() const noexcept { return state_or_empty(state_).used; }

std::size_t change_report::nodes_total() const noexcept {
  return state_or_empty(state_).nodes_total;
}

std::size_t change_report::nodes_changed() const noexcept {
  const detail::report_state& state = state_or_empty(state_);
  return state.raw.size() + state.given.size();
}

std::span<const node_change> change_report::changes() const& {
  return state_or_empty(state_).formatted();
}

std::vector<node_change> change_report::changes() && { return state_or_empty(state_).formatted(); }

verdict change_report::overall() const noexcept { return state_or_empty(state_).overall; }

bool change_report::structure_replaced() const noexcept {
  return state_or_empty(state_).structure_replaced;
}

std::uint64_t change_report::generation() const noexcept {
  return state_or_empty(state_).generation;
}

report_timing change_report::timing() const noexcept { return state_or_empty(state_).timing; }

capture_error::capture_error(recapture_failure failure)
    : cuda_error(failure.code, failure.function, failure.message),
      failure_(std::make_shared<const recapture_failure>(std::move(failure))) {}

const recapture_failure& capture_error::failure() const noexcept { return *failure_; }

mismatch recapture_error::reason() const noexcept { return failure().why; }

bool recapture_error::graph_lost() const noexcept { return failure().graph_lost; }

recapture_result::recapture_result(change_report report) noexcept : report_(std::move(report)) {}

recapture_result::recapture_result(recapture_failure failure)
    : failure_(std::make_shared<const recapture_failure>(std::move(failure))) {}

recapture_result::operator bool() const noexcept { return report_.has_value(); }

const change_report& recapture_result::report() const& {
  if (!report_) throw recapture_error(*failure_);
  return *report_;
}

change_report recapture_result::report() && {
  if (!report_) throw recapture_error(*failure_);
  return std::move(*report_);
}

const recapture_failure& recapture_result::failure() const {
  if (!failure_)
    throw usage_error("recapture_result::failure of a re-capture that did not fail: ask first");
  return *failure_;
}

}  // namespace cugraft
