// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include "exit_status.hpp"
#include "files.hpp"
#include "look.hpp"
#include "options.hpp"

// The scripts are made of the options themselves, so that none is forgotten.

namespace cugraft::cli {
namespace {

struct described_command {
  std::string name, about;
  std::vector<std::string> options;
};

std::vector<described_command> commands() {
  CLI::App app;
  command_line line;
  declare_options(app, line);
  std::vector<described_command> result;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;  // not for people
    const std::string about = command->get_description();
    described_command described{command->get_name(), about.substr(0, about.find('\n')), {}};
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames()) described.options.push_back("--" + name);
    result.push_back(std::move(described));
  }
  return result;
}

std::string joined(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& word : words) result += (result.empty() ? "" : " ") + word;
  return result;
}

std::string names(const std::vector<described_command>& all) {
  std::vector<std::string> result;
  for (const described_command& each : all) result.push_back(each.name);
  return joined(result);
}

std::string bash_script() {
  const std::vector<described_command> all = commands();
  std::string result =
      "_cugraft() {\n  local word=${COMP_WORDS[COMP_CWORD]} options=\n"
      "  if ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W \"" +
      names(all) +
      " --help --version\" -- \"$word\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n";
  for (const described_command& each : all)
    result += "    " + each.name + ") options=\"" + joined(each.options) + "\" ;;\n";
  return result +
         "  esac\n  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- "
         "\"$word\"))\n  else COMPREPLY=($(compgen -f -- \"$word\")); fi\n}\n"
         "complete -o filenames -F _cugraft cugraft\n";
}

std::string zsh_script() {
  return "#compdef cugraft\nautoload -Uz bashcompinit && bashcompinit\n" + bash_script();
}

std::string fish_script() {
  std::string result;
  for (const described_command& each : commands()) {
    result += "complete -c cugraft -n __fish_use_subcommand -f -a " + each.name + " -d \"" +
              each.about + "\"\n";
    for (const std::string& option : each.options)
      result += "complete -c cugraft -n \"__fish_seen_subcommand_from " + each.name + "\" -l " +
                option.substr(2) + "\n";
  }
  return result;
}

}  // namespace

int run_completion(const std::string& shell) {
  write_output("", shell == "bash" ? bash_script() : shell == "zsh" ? zsh_script() : fish_script());
  return exit_ok;
}

}  // namespace cugraft::cli
