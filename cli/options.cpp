// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

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

const std::vector<std::string> formats{"text", "json", "dot", "svg", "html"};

void declare_output(CLI::App& command, std::string& format, std::string& output) {
  command.add_option("--format", format, "How it is written; svg needs Graphviz")
      ->check(CLI::IsMember(formats));
  command.add_option("-o,--output", output, "The file to write; left out: stdout")
      ->type_name("OUT");
}

void declare_render(CLI::App& app, render_options& options) {
  CLI::App& command = *app.add_subcommand("render", "Draws a report or a graph");
  command.add_option("FILE", options.file, "JSON of to_json, or a driver's dump; - for stdin")
      ->required();
  command.add_option("--report", options.report, "A report whose changes are marked in the graph")
      ->type_name("FILE");
  declare_output(command, options.format, options.output);
  command.footer(
      "Examples:\n"
      "  cugraft render report.json\n"
      "  cugraft render graph.json --report report.json --format html -o graph.html\n"
      "  cugraft render dump.dot --format svg -o graph.svg");
}

void declare_diff(CLI::App& app, diff_options& options) {
  CLI::App& command =
      *app.add_subcommand("diff", "Says which nodes of two graphs differ, and what takes that");
  command.add_option("A", options.before, "A saved graph, or a driver's dump")->required();
  command.add_option("B", options.after, "Another one of the same sort")->required();
  command
      .add_option("--driver-version", options.driver_version,
                  "The driver that verdicts are for, from 12.4 on")
      ->type_name("V");
  command.add_flag("--kernels-by-name", options.kernels_by_name,
                   "Kernels of one name and layout are one: for graphs of two processes");
  declare_output(command, options.format, options.output);
  command.footer(
      "The exit status is 0 where nothing differs, 1 where something does, 2 for trouble.\n"
      "Examples:\n"
      "  cugraft diff before.json after.json\n"
      "  cugraft diff before.json after.json --format html -o diff.html\n"
      "  cugraft diff before.dot after.dot --driver-version 12.4");
}

void declare_rules(CLI::App& app, rules_options& options) {
  CLI::App& command =
      *app.add_subcommand("rules", "Lists what an executable can take, by whose word");
  command.add_flag("--json", options.json, "Prints one JSON object");
}

void declare_completion(CLI::App& app, std::string& shell) {
  CLI::App& command =
      *app.add_subcommand("completion", "Prints a script of completions for a shell");
  command.add_option("SHELL", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command.footer("Example:\n  source <(cugraft completion bash)");
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
  declare_render(app, line.render);
  declare_diff(app, line.diff);
  declare_rules(app, line.rules);
  declare_completion(app, line.shell);
}

}  // namespace cugraft::cli
