// SPDX-License-Identifier: Apache-2.0
#include "ptx/parser.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

#include "ptx/parse_body.hpp"
#include "ptx/parse_variable.hpp"

namespace cugraft_sim::ptx {
namespace {

dimensions parse_dimensions(cursor& at) {
  dimensions result;
  result.x = static_cast<unsigned>(at.expect_integer());
  if (at.accept(',')) result.y = static_cast<unsigned>(at.expect_integer());
  if (at.accept(',')) result.z = static_cast<unsigned>(at.expect_integer());
  return result;
}

/// Directives between the parameters of a function and its body.
void parse_tuning(cursor& at, syntax::function& result) {
  while (!at.peek().is('{') && !at.peek().is(';')) {
    const std::string_view directive = at.peek().text;
    if (at.accept(".maxntid")) {
      result.max_threads = parse_dimensions(at);
    } else if (at.accept(".reqntid")) {
      result.required_threads = parse_dimensions(at);
    } else if (at.accept(".reqnctapercluster")) {
      result.required_cluster = parse_dimensions(at);
    } else if (at.accept(".explicitcluster")) {
      result.explicit_cluster = true;
    } else if (at.accept(".minnctapersm") || at.accept(".maxnctapersm") || at.accept(".maxnreg") ||
               at.accept(".maxclusterrank")) {
      at.expect_integer();  // says how to compile, not what to do
    } else if (!at.accept(".noreturn")) {
      at.unsupported("directive", directive);
    }
  }
}

syntax::function parse_function(cursor& at, bool is_entry) {
  syntax::function result;
  result.is_entry = is_entry;
  if (!is_entry) result.results = parse_parameters(at);
  result.line = at.line();
  result.name = at.expect_word();
  result.parameters = parse_parameters(at);
  parse_tuning(at, result);
  result.has_body = at.peek().is('{');
  if (result.has_body)
    result.body = parse_body(at);
  else
    at.expect(';');
  return result;
}

/// The number that `text` begins with.
unsigned leading_number(const cursor& at, std::string_view text) {
  unsigned result = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), result);
  if (parsed.ec != std::errc() || result > 9999) at.fail("expected a small number");
  return result;
}

unsigned parse_version(cursor& at) {
  const std::string_view text = at.peek().text;
  const std::size_t dot = text.find('.');
  if (at.peek().kind != token_kind::real || dot == std::string_view::npos) at.fail("not a version");
  const unsigned major = leading_number(at, text);
  const unsigned minor = leading_number(at, text.substr(dot + 1));
  at.next();
  return major * 10 + minor;
}

unsigned parse_target(cursor& at) {
  const std::string_view text = at.peek().text;
  if (text.substr(0, 3) != "sm_") at.unsupported("target", text);
  const unsigned result = leading_number(at, text.substr(3));
  at.next();
  while (at.accept(',')) at.expect_word();  // `debug` and texture modes
  return result;
}

void skip_section(cursor& at) {
  at.next();
  while (!at.peek().is('{') && !at.at_end()) at.next();
  while (!at.peek().is('}') && !at.at_end()) at.next();
  at.expect('}');
}

void parse_header(cursor& at, syntax::source& result) {
  if (!at.accept(".version")) at.fail("the text does not begin with .version");
  result.version = parse_version(at);
  if (!at.accept(".target")) at.fail("no .target after .version");
  result.target = parse_target(at);
  if (at.accept(".address_size") && at.expect_integer() != 64) at.unsupported("address size", "32");
}

void parse_declaration(cursor& at, syntax::source& result) {
  bool external = false;
  for (;;) {
    if (at.accept(".extern")) {
      external = true;
    } else if (!at.accept(".visible") && !at.accept(".weak") && !at.accept(".common")) {
      break;
    }
  }
  const std::string_view directive = at.peek().text;
  const std::optional<space> where = find_space(directive);
  if (directive == ".entry" || directive == ".func") {
    at.next();
    result.functions.push_back(parse_function(at, directive == ".entry"));
  } else if (where && where != space::param) {
    at.next();
    do {
      result.variables.push_back(parse_variable(at, *where, external));
    } while (at.accept(','));
    at.expect(';');
  } else {
    at.unsupported("directive", directive);
  }
}

}  // namespace

syntax::source parse(std::string_view text) {
  cursor at(tokenize(text));
  syntax::source result;
  parse_header(at, result);
  while (!at.at_end()) {
    if (at.peek().is(".file") || at.peek().is(".loc"))
      at.skip_line();
    else if (at.peek().is(".section"))
      skip_section(at);
    else if (!at.accept(';'))
      parse_declaration(at, result);
  }
  return result;
}

}  // namespace cugraft_sim::ptx
