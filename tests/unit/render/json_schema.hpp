// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

namespace cugraft::testing {

inline bool is_of_type(const nlohmann::json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "boolean") return value.is_boolean();
  return type == "null" && value.is_null();
}

/// Knows the part of JSON Schema that the project's own schemas use, complains about any other
/// keyword, and about every member that a schema does not name.
class schema_validator {
 public:
  explicit schema_validator(const nlohmann::json& root) : root_(root) {}

  void check(const nlohmann::json& schema, const nlohmann::json& value, const std::string& at) {
    for (const auto& [keyword, rule] : schema.items()) check(keyword, rule, value, at);
  }

  std::vector<std::string> errors;

 private:
  void expect(bool met, const std::string& at, const std::string& what) {
    if (!met) errors.push_back(at + ": " + what);
  }

  void check(const std::string& keyword, const nlohmann::json& rule, const nlohmann::json& value,
             const std::string& at) {
    if (keyword == "$schema" || keyword == "title" || keyword == "$defs") return;
    if (keyword == "properties") return check_members(rule, value, at);
    if (keyword == "additionalProperties" && rule == false) return;  // as if each schema had it
    if (keyword == "$ref")
      return check(root_.at(nlohmann::json::json_pointer(rule.get<std::string>().substr(1))), value,
                   at);
    if (keyword == "oneOf") return check_one_of(rule, value, at);
    if (keyword == "items") return check_items(rule, value, at);
    if (keyword == "required") return check_required(rule, value, at);
    expect(meets(keyword, rule, value), at, keyword + " " + rule.dump());
  }

  static bool meets(const std::string& keyword, const nlohmann::json& rule,
                    const nlohmann::json& value) {
    if (keyword == "const") return value == rule;
    if (keyword == "enum") return std::ranges::find(rule, value) != rule.end();
    if (keyword == "minimum") return !value.is_number() || value >= rule;
    if (keyword == "pattern")
      return !value.is_string() ||
             std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>()));
    if (keyword != "type") return false;
    const nlohmann::json types = rule.is_array() ? rule : nlohmann::json::array({rule});
    return std::ranges::any_of(types,
                               [&](const nlohmann::json& type) { return is_of_type(value, type); });
  }

  void check_members(const nlohmann::json& members, const nlohmann::json& value,
                     const std::string& at) {
    if (!value.is_object()) return;
    for (const auto& [name, member] : value.items()) {
      const auto known = members.find(name);
      expect(known != members.end(), at, "unknown member " + name);
      if (known != members.end()) check(*known, member, at + "/" + name);
    }
  }

  void check_required(const nlohmann::json& names, const nlohmann::json& value,
                      const std::string& at) {
    for (const nlohmann::json& name : names)
      expect(!value.is_object() || value.contains(name.get<std::string>()), at,
             "no member " + name.dump());
  }

  void check_items(const nlohmann::json& schema, const nlohmann::json& value,
                   const std::string& at) {
    if (!value.is_array()) return;
    for (std::size_t i = 0; i < value.size(); ++i)
      check(schema, value[i], at + "/" + std::to_string(i));
  }

  void check_one_of(const nlohmann::json& schemas, const nlohmann::json& value,
                    const std::string& at) {
    const auto fit = std::ranges::count_if(schemas, [&](const nlohmann::json& schema) {
      schema_validator one(root_);
      one.check(schema, value, at);
      return one.errors.empty();
    });
    expect(fit == 1, at, std::to_string(fit) + " of oneOf fit");
  }

  const nlohmann::json& root_;
};

/// Where `value` breaks `schema`, each place with what is wrong; empty if nowhere.
inline std::vector<std::string> schema_errors(const nlohmann::json& schema,
                                              const nlohmann::json& value) {
  schema_validator result(schema);
  result.check(schema, value, "");
  return result.errors;
}

}  // namespace cugraft::testing
