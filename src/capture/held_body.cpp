// SPDX-License-Identifier: Apache-2.0
#include "capture/held_body.hpp"

#include <utility>

namespace cugraft {
namespace {

class held_body final : public capture_client, private call_comparer {
 public:
  held_body(call_comparer& whole, const model::graph& expected, CUcontext context) noexcept
      : whole_(whole), expected_(expected), context_(context) {}

  call_result begin(CUstream stream, CUstreamCaptureMode mode) override {
    held_ = &whole_.held_for_body(context_);
    return held_->begin(stream, mode);
  }

  CUgraph target() const noexcept override { return held_ != nullptr ? held_->graph() : nullptr; }
  bool matches_at_calls() const noexcept override { return true; }
  const model::graph& expected() const noexcept override { return expected_; }
  call_comparer* comparer() noexcept override { return this; }
  std::optional<std::uint32_t> position(CUgraphNode) const noexcept override { return {}; }
  bool hands_out_memory() const noexcept override { return true; }  // which a body may not hold
  void dropped() noexcept override {}
  void over(detail::session_state&) noexcept override {}

 private:
  call_result compare(std::uint32_t position, const node_note& note, std::string_view tag,
                      model::node_value&& now, const repetition& again) override {
    return whole_.compare(position, note, tag, std::move(now), again);
  }
  bool relaunch(std::uint32_t position, dim3 grid,
                std::span<const detail::argument> arguments) noexcept override {
    return whole_.relaunch(position, grid, arguments);
  }
  held_capture& held() noexcept override { return *held_; }
  held_capture& held_for_body(CUcontext context) override { return whole_.held_for_body(context); }

  call_comparer& whole_;
  const model::graph& expected_;
  CUcontext context_;
  held_capture* held_ = nullptr;
};

}  // namespace

std::unique_ptr<capture_client> make_held_body(call_comparer& whole, const model::graph& expected,
                                               CUcontext context) {
  return std::make_unique<held_body>(whole, expected, context);
}

}  // namespace cugraft
