// SPDX-License-Identifier: Apache-2.0
#include "failure_checks.hpp"

#include <fmt/format.h>

#include <functional>

#include "cugraft/cugraft.hpp"
#include "exit_status.hpp"

namespace cugraft::cli {
namespace {

// A graph of a fill, a copy and a fill, re-captured in ways that must fail.
class failure_checks {
 public:
  explicit failure_checks(const driver& driver)
      : context_(context::primary(driver)),
        stream_(context_),
        side_(context_),
        memory_(context_, 256) {}

  std::vector<std::string> run() {
    expect_failure("another kind of node", mismatch::node_kind, [this](graph_builder& gb) {
      fill(gb, 0);
      fill(gb, 1);
      fill(gb, 2);
    });
    expect_failure("a node more", mismatch::node_count, [this](graph_builder& gb) {
      original(gb);
      fill(gb, 3);
    });
    expect_failure("a node less", mismatch::node_count, [this](graph_builder& gb) {
      fill(gb, 0);
      copy(gb);
    });
    expect_failure("another dependency", mismatch::dependencies, [this](graph_builder& gb) {
      graph_builder side = gb.fork(side_);
      fill(gb, 0);
      copy(side);
      gb.join(side);
      fill(gb, 2);
    });
    recapture_options rejecting;
    rejecting.on_native_mismatch = [](CUgraphNode, const CUgraphNodeParams_st*,
                                      const CUgraphNodeParams_st*,
                                      recapture_status) { return hook_answer::reject; };
    expect_failure(
        "a change that the callback rejects", mismatch::rejected,
        [this](graph_builder& gb) {
          value_ = 9;
          original(gb);
          value_ = 1;
        },
        rejecting);
    return std::move(findings_);
  }

 private:
  using body = std::function<void(graph_builder&)>;

  void fill(stream_ref stream, std::size_t place) {
    fill_async(stream, memory_.as<char>() + 64 * place, place == 0 ? value_ : 1, 64);
  }
  void copy(stream_ref stream) { copy_async(stream, memory_.as<char>() + 64, memory_.data(), 64); }
  void original(graph_builder& gb) {
    fill(gb, 0);
    copy(gb);
    fill(gb, 2);
  }

  void expect_failure(const char* what, mismatch why, const body& changed,
                      recapture_options options = {}) {
    options.with = engine::native;
    const recapture_result result = graph_.try_recapture(stream_, changed, options);
    if (result)
      findings_.push_back(fmt::format("a re-capture with {} is accepted", what));
    else if (result.failure().why != why)
      findings_.push_back(
          fmt::format("a re-capture with {} fails otherwise: {}", what, result.failure().message));
    if (stream_.is_capturing() || side_.is_capturing())
      findings_.push_back(fmt::format("after a re-capture with {} a stream still captures", what));
    expect_intact(what);
  }

  // Graph and executable are what they were.
  void expect_intact(const char* what) {
    recapture_options options;
    options.with = engine::native;
    const recapture_result again = graph_.try_recapture(
        stream_, [this](graph_builder& gb) { original(gb); }, options);
    if (!again || again.report().nodes_changed() != 0)
      findings_.push_back(fmt::format("after a re-capture with {} the graph is another", what));
    exec_.launch(stream_);
    stream_.synchronize();
  }

  context context_;
  stream stream_, side_;
  device_buffer memory_;
  std::uint32_t value_ = 1;
  graph graph_ = capture(stream_, [this](graph_builder& gb) { original(gb); });
  graph_exec exec_ = graph_.instantiate();
  std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> run_failure_checks(const driver& driver) {
  return failure_checks(driver).run();
}

int run_failure_checks_command(const driver_options& options) {
  const std::vector<std::string> findings = run_failure_checks(choose_driver(options).driver);
  for (const std::string& finding : findings) fmt::print("{}\n", finding);
  return findings.empty() ? exit_ok : exit_failed;
}

}  // namespace cugraft::cli
