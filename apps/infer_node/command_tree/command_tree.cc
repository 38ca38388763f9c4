// From CLI11's objects to entries.
#include "apps/infer_node/command_tree/command_tree.h"

namespace infer::apps {
namespace {

/// "{a,b,c}" inside a type's name: the values that are allowed.
std::vector<std::string> choices_of(const std::string& type) {
  std::vector<std::string> out;
  const std::size_t open = type.find('{'), close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return out;
  for (std::size_t from = open + 1; from < close;) {
    const std::size_t end = std::min(type.find(',', from), close);
    out.push_back(type.substr(from, end - from));
    from = end + 1;
  }
  return out;
}

option_entry entry_of(const CLI::Option& option) {
  option_entry out;
  for (const std::string& name : option.get_snames()) out.flags.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.flags.push_back("--" + name);
  out.help = option.get_description();
  for (const short_flag& also : short_flags) {
    if (!option.check_lname(std::string(also.means.substr(2)))) continue;
    out.flags.insert(out.flags.begin(), std::string(also.given));
    // For people the help of CLI11 says so in words.
    const std::string said = std::string(also.given) + ": ";
    if (out.help.starts_with(said)) out.help.erase(0, said.size());
  }
  out.required = option.get_required();
  out.environment = option.get_envname();
  const bool is_switch = option.get_items_expected_max() == 0;
  if (is_switch) return out;
  const std::string type = option.get_type_name();
  out.value = type.substr(0, type.find(':'));
  out.choices = choices_of(type);
  out.kind = !out.choices.empty()   ? value_kind::choice
             : out.value == "MODEL" ? value_kind::model
             : out.value == "DIR"   ? value_kind::folder
                                    : value_kind::text;
  if (option.get_positional()) out.value = option.get_name(true);
  out.fallback = option.get_default_str();
  out.repeats = option.get_items_expected_max() > 1;
  return out;
}

void take_options(const CLI::App& app, std::vector<option_entry>& options, std::vector<option_entry>* positionals) {
  for (const CLI::Option* option : app.get_options()) {
    option_entry entry = entry_of(*option);
    if (!option->get_positional())
      options.push_back(std::move(entry));
    else if (positionals != nullptr)
      positionals->push_back(std::move(entry));
  }
}

}  // namespace

command_tree tree_of(const CLI::App& app) {
  command_tree out;
  out.name = app.get_name();
  out.help = app.get_description();
  out.version = app.version();
  take_options(app, out.options, nullptr);
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    command_entry command;
    command.name = sub->get_name();
    command.help = sub->get_description();
    take_options(*sub, command.options, &command.positionals);
    out.commands.push_back(std::move(command));
  }
  return out;
}

}  // namespace infer::apps
