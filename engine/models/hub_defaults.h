// What the configuration classes of the Hugging Face hub have where a config.json does not name a member.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace infer::models {

/// A member of config.json and the value its class has for it. Flags are 0 and 1.
struct hub_default {
  std::string_view model_type, member;
  double value = 0;
};

/// All of them. Source: configuration_*.py of transformers, written out by tests/golden/oracle/hub_defaults.py.
std::span<const hub_default> hub_defaults();

/// The value of a member that a configuration of this type leaves out; none where the class has none either.
std::optional<double> hub_default_of(std::string_view model_type, std::string_view member);

}  // namespace infer::models
