// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>

#include "cugraft/error.hpp"
#include "exit_status.hpp"
#include "failure_checks.hpp"
#include "json_output.hpp"
#include "options.hpp"

namespace cugraft::cli {
namespace {

/// With --json the answer is one object on stdout whatever happens, else one line on stderr.
void print_error(const std::exception& failure, bool as_json, const json& more = json::object()) {
  if (!as_json) {
    fmt::print(stderr, "cugraft: {}\n", failure.what());
    return;
  }
  json all{{"error", failure.what()}};
  all.update(more);
  print_object(all);
}

void print_error(const unsupported_error& failure, bool as_json) {
  print_error(failure, as_json,
              {{"asked", failure.asked()},
               {"required_version", failure.required_version()},
               {"found_version", failure.found_version()},
               {"instead", failure.instead()}});
}

int run_command(const std::string& command, const command_line& line) {
  if (command == "demo") return run_demo(line.demo);
  if (command == "doctor") return run_doctor(line.doctor);
  if (command == "render") return run_render(line.render);
  if (command == "diff") return run_diff(line.diff);
  if (command == "rules") return run_rules(line.rules);
  if (command == "completion") return run_completion(line.shell);
  return run_failure_checks_command(line.failure_checks);
}

// What is wrong with a file is trouble, as with a command line: 1 means a difference to `diff`.
bool looks_at_files(const std::string& command) {
  return command == "render" || command == "diff" || command == "rules" || command == "completion";
}

int run(const CLI::App& app, const command_line& line) {
  const std::string command = app.get_subcommands().front()->get_name();
  const bool as_json = command == "demo" ? line.demo.json : line.doctor.json;
  try {
    return run_command(command, line);
  } catch (const unsupported_error& failure) {
    print_error(failure, as_json);
    return exit_unsupported;
  } catch (const not_implemented_error& failure) {
    print_error(failure, as_json);
    return exit_usage;
  } catch (const std::exception& failure) {
    print_error(failure, as_json);
    return looks_at_files(command) ? exit_usage : exit_failed;
  }
}

int parse_and_run(int argc, char** argv) {
  command_line line;
  CLI::App app;
  declare_options(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::ParseError& failure) {
    fmt::print(stderr, "cugraft: {}; see --help\n", failure.what());
    return exit_usage;
  }
  return run(app, line);
}

}  // namespace
}  // namespace cugraft::cli

int main(int argc, char** argv) { return cugraft::cli::parse_and_run(argc, argv); }
