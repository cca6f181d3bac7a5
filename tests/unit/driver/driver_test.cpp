// SPDX-License-Identifier: Apache-2.0
#include "cugraft/driver.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <thread>
#include <vector>

#include "cugraft/error.hpp"
#include "support/simulated_driver.hpp"

namespace cugraft {
namespace {

using testing::simulator_copy;

class DriverTest : public testing::SimulatedDriverTest {};

TEST_F(DriverTest, SameFileIsTheSameDriver) {
  const auto path = driver().path();
  const auto link = path.parent_path() / "link.so";
  std::filesystem::remove(link);
  std::filesystem::create_symlink(path, link);

  EXPECT_EQ(driver::load(path), driver());
  EXPECT_EQ(driver::load(link), driver());
}

TEST_F(DriverTest, AnotherFileIsAnotherDriver) {
  const cugraft::driver other = simulator_copy::shared(13000).load();
  EXPECT_NE(other, driver());
  EXPECT_EQ(other.version(), 13000);
  EXPECT_EQ(driver().version(), 13030);
  EXPECT_EQ(other.path(), simulator_copy::shared(13000).path());
}

TEST_F(DriverTest, EnvironmentNamesTheDriver) {
  ASSERT_EQ(setenv("CUGRAFT_DRIVER", driver().path().c_str(), 1), 0);
  EXPECT_EQ(driver::load(), driver());
  ASSERT_EQ(unsetenv("CUGRAFT_DRIVER"), 0);
}

TEST_F(DriverTest, ThreadsThatLoadAtOnceGetOneDriver) {
  const simulator_copy copy;
  constexpr int count = 8;
  std::vector<const std::filesystem::path*> paths(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] { paths[static_cast<std::size_t>(i)] = &copy.load().path(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto* path : paths) EXPECT_EQ(path, paths.front());
}

TEST_F(DriverTest, CountsDevices) { EXPECT_EQ(driver().device_count(), 1); }

TEST_F(DriverTest, FailedCallNamesTheFunction) {
  fail_next("cuDeviceGetCount", 999);
  EXPECT_THROW_MSG(driver().device_count(), cuda_error,
                   "cuDeviceGetCount failed: 999 CUDA_ERROR_UNKNOWN (an internal error of the "
                   "driver)");
}

TEST_F(DriverTest, EntryPointAsksForNoMoreThanTheDriverHas) {
  EXPECT_NE(driver().entry_point("cuStreamGetFlags", 99000), nullptr);
  EXPECT_EQ(driver().entry_point("cuNoSuchFunction", 12000), nullptr);
}

class DriverVersionTest : public ::testing::TestWithParam<int> {};

TEST_P(DriverVersionTest, SupportsWhatItsVersionBrought) {
  const driver loaded = simulator_copy::shared(GetParam()).load();
  for (int i = 0; i <= static_cast<int>(feature::recapture_to_graph); ++i) {
    const auto which = static_cast<feature>(i);
    EXPECT_EQ(loaded.supports(which), required_version(which) <= GetParam()) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, DriverVersionTest,
                         ::testing::Values(12040, 12080, 13000, 13020, 13030, 13050));

TEST(DriverRequireTest, SaysWhatItNeedsWhatThereIsAndWhatToDo) {
  const driver old = simulator_copy::shared(13000).load();
  EXPECT_NO_THROW(old.require(feature::child_graph_move));
  EXPECT_THROW_MSG(old.require(feature::recapture_to_graph, "use the engine compare"),
                   unsupported_error,
                   "native re-capture needs a driver of CUDA 13.3 or newer; this one has 13.0: "
                   "update the driver, or use the engine compare");
}

TEST(DriverRequireTest, VersionsOfTheFeatures) {
  EXPECT_EQ(required_version(feature::parameter_layouts), 12040);
  EXPECT_EQ(required_version(feature::conditional_switch), 12080);
  EXPECT_EQ(required_version(feature::recapture_to_graph), 13030);
}

TEST(DriverLoadTest, MissingRequiredFunction) {
  const simulator_copy copy(13000);
  copy.control().hide("cuGraphClone");
  EXPECT_THROW_MSG(
      copy.load(), error,
      fmt::format("the CUDA driver {} has no function cuGraphClone, which every driver "
                  "from CUDA 10.0 on has; this one says that it is 13.0: repair its "
                  "installation",
                  copy.path().string()));
}

TEST(DriverLoadTest, MissingOptionalFunctionIsAMissingFeature) {
  const simulator_copy copy(13030);
  copy.control().hide("cuStreamBeginRecaptureToGraph");
  const driver loaded = copy.load();
  EXPECT_FALSE(loaded.supports(feature::recapture_to_graph));
  EXPECT_TRUE(loaded.supports(feature::node_params_query));
  EXPECT_THROW_MSG(loaded.require(feature::recapture_to_graph), unsupported_error,
                   "native re-capture needs a driver of CUDA 13.3 or newer; this one has 13.3 but "
                   "lacks it: repair its installation");
}

TEST(DriverLoadTest, NoSuchFile) {
  try {
    driver::load("/nonexistent/libcuda.so.1");
    FAIL() << "no error";
  } catch (const error& thrown) {
    const std::string text = thrown.what();
    EXPECT_EQ(text.find("the CUDA driver /nonexistent/libcuda.so.1 cannot be loaded: "), 0U)
        << text;
    EXPECT_NE(text.find("; install the NVIDIA driver, or set CUGRAFT_DRIVER to the path of one"),
              std::string::npos)
        << text;
  }
}

TEST(DriverLoadTest, LibraryThatIsNoDriver) {
  try {
    driver::load("libm.so.6");
    FAIL() << "no error";
  } catch (const error& thrown) {
    const std::string text = thrown.what();
    EXPECT_NE(text.find("libm.so.6 is no CUDA driver: it has no function cuDriverGetVersion; set "
                        "CUGRAFT_DRIVER to the path of one"),
              std::string::npos)
        << text;
  }
}

TEST(DriverLoadTest, DriverThatDoesNotInitialiseIsTriedAgain) {
  const simulator_copy copy;
  copy.control().plan({.function = "cuInit", .code = 100});
  EXPECT_THROW_MSG(copy.load(), cuda_error,
                   "cuInit failed: 100 CUDA_ERROR_NO_DEVICE (there is no CUDA device)");
  EXPECT_EQ(copy.load().version(), testing::default_version);
}

}  // namespace
}  // namespace cugraft
