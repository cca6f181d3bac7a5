// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

#include "cugraft/version.hpp"
#include "failure_checks.hpp"

namespace cugraft::cli {
namespace {

const std::map<std::string, engine> engines{{"automatic", engine::automatic},
                                            {"native", engine::native},
                                            {"compare", engine::compare},
                                            {"direct", engine::direct}};

void declare_driver(CLI::App& command, driver_options& options) {
  command
      .add_option("--driver", options.which,
                  "The driver: sim, system, or a library's path. Left out: the system's if it "
                  "loads and has a device, else the simulated one; CUGRAFT_DRIVER names another")
      ->type_name("sim|system|PATH");
  command
      .add_option("--sim-version", options.sim_version,
                  "The version that the simulated driver takes on")
      ->check(CLI::IsMember({"12.4", "12.8", "13.0", "13.2", "13.3", "13.5"}));
}

// Else the version would be ignored in silence.
void check_driver(const driver_options& options) {
  if (options.which == "system" && !options.sim_version.empty())
    throw CLI::ValidationError("--sim-version", "the system's driver has a version of its own");
}

void declare_demo(CLI::App& app, demo_options& options) {
  CLI::App& command = *app.add_subcommand(
      "demo", "Runs a decode loop eagerly, by whole-graph update and by re-capture; compares them");
  declare_driver(command, options.driver);
  command
      .add_option_function<std::string>(
          "--engine", [&options](const std::string& name) { options.with = engines.at(name); },
          "How re-captures are done")
      ->check(CLI::IsMember(&engines));
  command.add_option("--layers", options.layers, "Layers of the transformer")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--steps", options.steps, "Tokens to decode")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_flag("--json", options.json, "Prints one JSON object");
  command.final_callback([&options] { check_driver(options.driver); });
}

void declare_doctor(CLI::App& app, doctor_options& options) {
  CLI::App& command = *app.add_subcommand(
      "doctor", "Says what this machine's driver can do, what is missing and what to do");
  declare_driver(command, options.driver);
  command.add_flag("--json", options.json, "Prints one JSON object");
  command.final_callback([&options] { check_driver(options.driver); });
}

// Started by doctor, not by people.
void declare_failure_checks(CLI::App& app, driver_options& options) {
  declare_driver(*app.add_subcommand(failure_checks_command)->group(""), options);
}

}  // namespace

void declare_options(CLI::App& app, command_line& line) {
  app.description("Updates CUDA graphs by running the code that built them again");
  app.set_version_flag("--version",
                       fmt::format("{}.{}.{}", version_major, version_minor, version_patch));
  app.require_subcommand(1);
  declare_doctor(app, line.doctor);
  declare_demo(app, line.demo);
  declare_failure_checks(app, line.failure_checks);
  app.add_subcommand("render", "Not delivered yet: draws a report or a graph")->allow_extras();
  app.add_subcommand("diff", "Not delivered yet: compares two graphs")->allow_extras();
}

}  // namespace cugraft::cli
