// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "cugraft/error.hpp"
#include "exit_status.hpp"
#include "failure_checks.hpp"

namespace cugraft::cli {
namespace {

// Both ends of a pipe, closed at the end of the scope.
struct pipe_ends {
  std::array<int, 2> ends{-1, -1};

  pipe_ends() {
    if (pipe(ends.data()) != 0)
      throw error(fmt::format("no pipe to the child process: {}", std::strerror(errno)));
  }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;
  ~pipe_ends() {
    for (const int end : ends)
      if (end >= 0) close(end);
  }
  void close_writing() {
    close(ends[1]);
    ends[1] = -1;
  }
};

pid_t start_child(const std::string& library, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  std::string tool = "/proc/self/exe", command = failure_checks_command, option = "--driver",
              path = library;
  std::array<char*, 5> arguments{tool.data(), command.data(), option.data(), path.data(), nullptr};
  pid_t child = -1;
  const int failed =
      posix_spawn(&child, tool.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    throw error(fmt::format("the checks' child process does not start: {}", std::strerror(failed)));
  return child;
}

std::vector<std::string> read_lines(int from) {
  std::string text;
  std::array<char, 4096> block{};
  for (ssize_t size = 0; (size = read(from, block.data(), block.size())) > 0;)
    text.append(block.data(), static_cast<std::size_t>(size));
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::vector<std::string> failure_checks_in_child(const chosen_driver& chosen) {
  pipe_ends output;
  const pid_t child = start_child(chosen.driver.path().string(), output.ends[1]);
  output.close_writing();
  std::vector<std::string> findings = read_lines(output.ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    findings.push_back(fmt::format("the process that provoked failures was ended by signal {} ({})",
                                   WTERMSIG(status), strsignal(WTERMSIG(status))));
  else if (WEXITSTATUS(status) != exit_ok && findings.empty())
    findings.push_back("the process that provoked failures ended without a word");
  return findings;
}

}  // namespace cugraft::cli
