// SPDX-License-Identifier: Apache-2.0
#include "render/graphviz.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "cugraft/error.hpp"

namespace cugraft {
namespace {

struct file_closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using temporary_file = std::unique_ptr<std::FILE, file_closer>;

[[noreturn]] void fail(const std::string& what, int code) {
  throw usage_error("SVG by Graphviz: " + what + ": " + std::generic_category().message(code));
}

// Files and not pipes: neither side waits for the other, whatever it writes first.
temporary_file make_file() {
  temporary_file result(std::tmpfile());
  if (!result || ::fcntl(::fileno(result.get()), F_SETFD, FD_CLOEXEC) != 0)
    fail("no temporary file", errno);
  return result;
}

std::string content(std::FILE* file) {
  std::string result;
  std::rewind(file);
  char part[1 << 14];
  while (const std::size_t size = std::fread(part, 1, sizeof part, file)) result.append(part, size);
  return result;
}

class file_actions {
 public:
  file_actions() { ::posix_spawn_file_actions_init(&all_); }
  file_actions(const file_actions&) = delete;
  file_actions& operator=(const file_actions&) = delete;
  ~file_actions() { ::posix_spawn_file_actions_destroy(&all_); }

  void use(std::FILE* file, int as) {
    if (const int code = ::posix_spawn_file_actions_adddup2(&all_, ::fileno(file), as))
      fail("no child process", code);
  }
  const posix_spawn_file_actions_t* get() const noexcept { return &all_; }

 private:
  posix_spawn_file_actions_t all_;
};

// The child's status, or -1 where it did not end by itself.
int wait_for(::pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail("waiting for it", errno);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::string run_graphviz(std::string_view dot) {
  const temporary_file in = make_file(), out = make_file(), errors = make_file();
  if (std::fwrite(dot.data(), 1, dot.size(), in.get()) != dot.size() || std::fflush(in.get()) != 0)
    fail("writing its input", errno);
  std::rewind(in.get());
  file_actions actions;
  actions.use(in.get(), STDIN_FILENO);
  actions.use(out.get(), STDOUT_FILENO);
  actions.use(errors.get(), STDERR_FILENO);
  char program[] = "dot", format[] = "-Tsvg";
  char* const arguments[] = {program, format, nullptr};
  ::pid_t child = 0;
  const int code = ::posix_spawnp(&child, program, actions.get(), nullptr, arguments, environ);
  const int status = code == 0 ? wait_for(child) : 127;
  if (code == ENOENT || status == 127)
    throw usage_error(
        "SVG is drawn by Graphviz, and there is no program dot on PATH: install the package "
        "graphviz, or use to_html or to_dot");
  if (code != 0) fail("no child process", code);
  if (status != 0)
    throw usage_error("SVG by Graphviz: dot ended with status " + std::to_string(status) + ": " +
                      content(errors.get()));
  return content(out.get());
}

}  // namespace cugraft
