// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "contract/engine_suite.hpp"
#include "support/foreign_calls.hpp"

// Copies and fills of several rows, through cugraft and by foreign code.

namespace cugraft::testing {
namespace {

class EngineRows : public EngineSuite {
 protected:
  static constexpr std::size_t pitch = 32, rows = 4;  // bytes of a row with its gap; rows

  static CUdeviceptr address(const device_buffer& of) {
    return reinterpret_cast<CUdeviceptr>(of.data());
  }

  // The bytes of `x` after all work of `stream_`.
  std::vector<int> bytes_of(const device_buffer& x) {
    read(x);
    const auto* const first = reinterpret_cast<const unsigned char*>(host_.as<float>());
    return {first, first + x.size()};
  }

  // Which bytes of `x` are `value`, told by the first row and the last.
  void expect_rows(const device_buffer& x, int value, std::size_t width) {
    const std::vector<int> bytes = bytes_of(x);
    for (const std::size_t row : {std::size_t{0}, rows - 1}) {
      EXPECT_EQ(bytes[row * pitch], value) << row;
      EXPECT_EQ(bytes[row * pitch + width - 1], value) << row;
      EXPECT_NE(bytes[row * pitch + width], value) << row;
    }
    EXPECT_NE(bytes[rows * pitch], value);
  }

  std::vector<std::string> fields(const change_report& report, std::size_t change = 0) {
    std::vector<std::string> names;
    for (const field_change& each : report.changes()[change].fields) names.push_back(each.field);
    return names;
  }
  using names = std::vector<std::string>;

  foreign_calls calls_{driver()};
};

TEST_P(EngineRows, RunOutsideSessionsToo) {
  fill_2d_async(stream_, x_.data(), pitch, 7, 16, rows);
  expect_rows(x_, 7, 16);
  copy_2d_async(stream_, y_.data(), pitch, x_.data(), pitch, 8, rows);
  expect_rows(y_, 7, 8);
}

TEST_P(EngineRows, OtherCopiesNeedANewExecutable) {
  std::size_t width = 16;
  const device_buffer* source = &x_;
  const auto body = [&](graph_builder& gb) {
    copy_2d_async(gb, y_.data(), pitch, source->data(), pitch, width, rows);
  };
  graph g = capture(stream_, body);
  EXPECT_EQ(g.node(0).kind(), node_kind::copy);
  graph_exec e = g.instantiate();
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);

  width = 8;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(fields(report), names{"width"});
  EXPECT_EQ(report.changes()[0].rule, "copy.2d");
  EXPECT_EQ(report.overall(), verdict::needs_instantiate);

  const exec_update refused = e.update({.may_instantiate = false});
  EXPECT_FALSE(refused);
  ASSERT_EQ(refused.refused.size(), 1U);
  EXPECT_EQ(refused.refused[0].rule, "copy.2d");
  EXPECT_EQ(e.update().method, update_method::instantiated);
  fill_async(stream_, x_.data(), 9, x_.size());
  clear(y_);
  e.launch(stream_);
  expect_rows(y_, 9, 8);

  device_buffer other(context_, x_.size());
  fill_async(stream_, other.data(), 5, other.size());
  source = &other;
  EXPECT_EQ(fields(recapture(g, body)), names{"source"});
  EXPECT_EQ(e.update().method, update_method::instantiated);
  clear(y_);
  e.launch(stream_);
  expect_rows(y_, 5, 8);
}

TEST_P(EngineRows, C096_AnUnchangedCopyBlocksNoUpdateOfOthers) {
  float value = 1;
  const auto body = [&](graph_builder& gb) {
    add(gb, x_, value);
    copy_2d_async(gb, y_.data(), pitch, x_.data(), pitch, 16, rows);
    add(gb, x_, value);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  value = 3;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 2U);
  EXPECT_EQ(e.update({.may_instantiate = false}).method, update_method::patched);
  EXPECT_EQ(run(e, x_), 6.0F);
  EXPECT_EQ(read(y_).front(), 3.0F);
  value = 4;
  recapture(g, body);
  EXPECT_EQ(e.update({.may_instantiate = false, .force = update_method::whole}).method,
            update_method::whole);  // from its own graph
  EXPECT_EQ(run(e, x_), 8.0F);
}

TEST_P(EngineRows, FillsArePatchedButForTheirShape) {
  std::uint32_t value = 1;
  std::size_t width = 4, height = rows;
  unsigned element = 4;
  const device_buffer* target = &x_;
  const auto body = [&](graph_builder& gb) {
    fill_2d_async(gb, target->data(), pitch, value, width, height, element);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);

  value = 0x05050505;
  target = &y_;
  change_report report = recapture(g, body);
  EXPECT_EQ(fields(report), (names{"destination", "value"}));
  EXPECT_EQ(report.changes()[0].rule, "fill.2d.value");
  EXPECT_EQ(e.update({.may_instantiate = false}).method, update_method::patched);
  e.launch(stream_);
  expect_rows(y_, 5, 16);

  width = 2;
  report = recapture(g, body);
  EXPECT_EQ(fields(report), names{"width"});
  EXPECT_EQ(report.changes()[0].rule, "fill.2d.shape");
  EXPECT_FALSE(e.update({.may_instantiate = false}));
  EXPECT_EQ(e.update().method, update_method::instantiated);
  clear(y_);
  e.launch(stream_);
  expect_rows(y_, 5, 8);

  element = 1;
  value = 5;
  EXPECT_EQ(fields(recapture(g, body)), (names{"value", "element_size"}));
  height = 1;
  report = recapture(g, body);
  EXPECT_EQ(report.changes()[0].rule, "fill.rows");
  EXPECT_EQ(report.overall(), verdict::needs_instantiate);
}

TEST_P(EngineRows, OneRowIsAsACallForOneRow) {
  std::size_t bytes = 16;
  const auto body = [&](graph_builder& gb) {
    copy_2d_async(gb, y_.data(), 0, x_.data(), 0, bytes, 1);
    fill_2d_async(gb, x_.data(), 0, 1, bytes, 1);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  bytes = 8;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 2U);
  EXPECT_EQ(report.changes()[0].rule, "copy.size");
  EXPECT_EQ(report.changes()[1].rule, "fill.1d");
  EXPECT_EQ(e.update({.may_instantiate = false}).nodes_patched, 2U);
}

TEST_P(EngineRows, CopyThatTurnsFromOneRowToSeveralNeedsANewExecutable) {
  std::size_t height = 1;
  const auto body = [&](graph_builder& gb) {
    copy_2d_async(gb, y_.data(), pitch, x_.data(), pitch, 16, height);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  height = rows;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(report.changes()[0].rule, "copy.2d");
  EXPECT_EQ(e.update().method, update_method::instantiated);
  fill_async(stream_, x_.data(), 9, x_.size());
  e.launch(stream_);
  expect_rows(y_, 9, 16);
}

// What foreign code does, on engines that record it.
class ForeignRows : public EngineRows {};

TEST_P(ForeignRows, ForeignCopiesOfRowsAndPlanesAreComparedAndJudged) {
  std::size_t depth = 2;
  float value = 1;
  const auto body = [&](graph_builder& gb) {
    const CUstream on = gb.stream().get();
    EXPECT_EQ(calls_.memcpy_2d(address(y_), pitch, address(x_), pitch, 16, 2, on), 0);
    EXPECT_EQ(calls_.memcpy_3d(address(y_), pitch, address(x_), pitch, 2, 16, 2, depth, on), 0);
    add(gb, x_, value);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  value = 2;
  EXPECT_EQ(recapture(g, body).nodes_changed(), 1U);
  EXPECT_EQ(e.update().method, update_method::patched);

  depth = 1;
  const change_report report = recapture(g, body);
  ASSERT_EQ(report.nodes_changed(), 1U);
  EXPECT_EQ(to_string(report.changes()[0].path), "1");
  EXPECT_EQ(fields(report).back(), "depth");
  EXPECT_EQ(report.changes()[0].rule, "copy.2d");
  EXPECT_EQ(e.update().method, update_method::instantiated);
}

TEST_P(EngineRows, WholeUpdatesFromOtherCapturesAreLeftToPatches) {
  const auto body = [&](graph_builder& gb) {
    copy_2d_async(gb, y_.data(), pitch, x_.data(), pitch, 16, rows);
    add(gb, x_, 1);
  };
  graph g = capture(stream_, body);
  graph_exec e = g.instantiate();
  EXPECT_EQ(g.update_from(capture(stream_, body)).nodes_changed(), 0U);
  EXPECT_EQ(e.update().method, update_method::none);
}

TEST_P(EngineRows, BadArgumentsSayWhatToDo) {
  const auto body = [&](graph_builder& gb) { add(gb, x_, 1); };
  graph g = capture(stream_, body);
  recapture_session session = g.begin_recapture(stream_, with());
  const auto copy = [&](std::size_t to_pitch, std::size_t from_pitch, std::size_t width,
                        std::size_t height) {
    copy_2d_async(session, y_.data(), to_pitch, x_.data(), from_pitch, width, height);
  };
  const auto fill = [&](std::size_t of, std::uint32_t value, std::size_t width, std::size_t height,
                        unsigned element) {
    fill_2d_async(session, x_.data(), of, value, width, height, element);
  };
  EXPECT_THROW_MSG(copy(32, 32, 16, 0), usage_error,
                   "copy_2d_async: nothing to do for 0 rows; leave the call out");
  EXPECT_THROW_MSG(copy(8, 32, 16, 4), usage_error,
                   "copy_2d_async: the destination's pitch of 8 bytes is less than the 16 bytes of "
                   "a row; give the distance from the start of a row to the next");
  EXPECT_THROW_MSG(copy(32, 8, 16, 4), usage_error,
                   "copy_2d_async: the source's pitch of 8 bytes is less than the 16 bytes of a "
                   "row; give the distance from the start of a row to the next");
  EXPECT_THROW(copy(32, 32, 0, 4), usage_error);
  EXPECT_THROW(fill(32, 1, 0, 4, 1), usage_error);
  EXPECT_THROW(fill(32, 1, 4, 4, 3), usage_error);
  EXPECT_THROW_MSG(fill(32, 1, 16, 0, 1), usage_error,
                   "fill_2d_async: nothing to do for 0 rows; leave the call out");
  EXPECT_THROW_MSG(fill(32, 256, 4, 4, 1), usage_error,
                   "fill_2d_async: the value 256 does not fit an element of 1 byte");
  EXPECT_THROW_MSG(fill(31, 1, 8, 4, 4), usage_error,
                   "fill_2d_async: the pitch of 31 bytes is less than the 32 bytes of a row; give "
                   "the distance from the start of a row to the next");
  EXPECT_THROW_MSG(fill(34, 1, 8, 4, 4), usage_error,
                   "fill_2d_async: the pitch of 34 bytes is no multiple of an element of 4 bytes, "
                   "and every row must start at one");
  EXPECT_THROW_MSG(fill(32, 1, std::size_t{1} << 62, 4, 4), usage_error,
                   "fill_2d_async: a row of 4611686018427387904 elements has more bytes than there "
                   "are addresses; give the width in elements");
  add(session, x_, 1);
  EXPECT_EQ(session.end().nodes_changed(), 0U);
}

TEST_P(EngineRows, CopyThatTheDriverRefusesIsNamed) {
  std::size_t width = 16;
  const auto body = [&](graph_builder& gb) {
    copy_2d_async(gb, y_.data(), pitch, x_.data(), pitch, width, rows);
    fill_2d_async(gb, x_.data(), pitch, 1, width, rows);
  };
  graph g = capture(stream_, body);
  for (const char* const function : {"cuMemcpy2DAsync", "cuMemsetD2D8Async"}) {
    recapture_session session = g.begin_recapture(stream_, with());
    fail_next(function, 999);
    width = 8;  // a change, so that every engine asks the driver
    try {
      body(session);
      ADD_FAILURE() << "no error";
    } catch (const cuda_error& error) {
      EXPECT_EQ(error.function(), function);
    }
    session.abandon();
    width = 16;
    EXPECT_EQ(recapture(g, body).nodes_changed(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, ForeignRows, ::testing::ValuesIn(capturing_cases()), &case_name);
INSTANTIATE_TEST_SUITE_P(Engines, EngineRows, ::testing::ValuesIn(all_cases()), &case_name);

}  // namespace
}  // namespace cugraft::testing
