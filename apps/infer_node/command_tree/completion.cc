// Scripts of the three shells.
#include <utility>

#include "apps/infer_node/command_tree/command_tree.h"

namespace infer::apps {
namespace {

/// `text` in single quotes, as sh, zsh and bash read them.
std::string sh_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

std::string joined(const std::vector<std::string>& all, std::string_view between) {
  std::string out;
  for (const std::string& one : all) out += (out.empty() ? "" : std::string(between)) + one;
  return out;
}

/// "infer-node" → "_infer_node".
std::string function_name(const std::string& program) {
  std::string out = "_" + program;
  for (char& c : out) {
    if (c == '-') c = '_';
  }
  return out;
}

std::string flags_of(const std::vector<option_entry>& options) {
  std::string out;
  for (const option_entry& option : options) out += (out.empty() ? "" : " ") + joined(option.flags, " ");
  return out;
}

std::string command_names(const command_tree& tree) {
  std::string out;
  for (const command_entry& command : tree.commands) out += (out.empty() ? "" : " ") + command.name;
  return out;
}

// bash

/// What completes the value of an option or positional: a call of one of the functions in bash_head.
std::string bash_action(const std::string& name, const option_entry& option) {
  switch (option.kind) {
    case value_kind::model:
      return name + "_models";
    case value_kind::folder:
      return name + "_files -d";
    case value_kind::choice:
      return name + "_words " + sh_quoted(joined(option.choices, " "));
    case value_kind::text:
    case value_kind::none:
      break;
  }
  return ":";
}

/// The cases of one command: values after flags, else flags or what stands alone.
std::string bash_cases(const std::string& name, const std::vector<option_entry>& options,
                       const std::vector<option_entry>& positionals, const std::string& words) {
  std::string out = "      case $previous in\n";
  for (const option_entry& option : options) {
    if (option.kind == value_kind::none) continue;
    out += "        " + joined(option.flags, "|") + ") " + bash_action(name, option) + "; return ;;\n";
  }
  out += "      esac\n      case $current in\n        -*) " + name + "_words " + sh_quoted(flags_of(options)) + " ;;\n";
  std::string alone = words.empty() ? ":" : name + "_words " + sh_quoted(words);
  if (!positionals.empty() && positionals.front().kind != value_kind::text)
    alone = bash_action(name, positionals.front());
  return out + "        *) " + alone + " ;;\n      esac ;;\n";
}

constexpr std::string_view bash_head = R"sh(# bash completion of @program@; written by `@program@ completion bash`.

# Offers words that begin with what is typed. Of what holds a colon bash wants the part behind it.
@name@_words() {
  local word head=
  [[ $current == *:* && $COMP_WORDBREAKS == *:* ]] && head=${current%"${current##*:}"}
  for word in $1; do
    [[ $word == "$current"* ]] && COMPREPLY+=("${word#"$head"}")
  done
}

@name@_files() {
  local path
  compopt -o filenames 2> /dev/null
  while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$current")
}

@name@_models() {
  @name@_words "$("${words[0]}" list --names 2> /dev/null)"
  @name@_files -f
}

@name@() {
  local line=${COMP_LINE:0:COMP_POINT} current previous command= word
  local -a words
  COMPREPLY=()
  read -r -a words <<< "$line"
  current=${line##*[[:space:]]}
  [[ -n $current ]] && unset 'words[-1]'
  previous=${words[-1]}
  if [[ $current == --*=* ]]; then
    previous=${current%%=*}
    current=${current#*=}
  fi
  for word in "${words[@]:1}"; do
    [[ $word != -* ]] && { command=$word; break; }
  done
  case $command in
)sh";

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string out(text);
  for (std::size_t at = out.find(what); at != std::string::npos; at = out.find(what, at + by.size()))
    out.replace(at, what.size(), by);
  return out;
}

std::string bash_script(const command_tree& tree) {
  const std::string name = function_name(tree.name);
  std::string out = replaced(replaced(bash_head, "@program@", tree.name), "@name@", name);
  out += "    '')\n" + bash_cases(name, tree.options, {}, command_names(tree));
  for (const command_entry& command : tree.commands)
    out += "    " + command.name + ")\n" + bash_cases(name, command.options, command.positionals, "");
  return out + "  esac\n}\n\ncomplete -F " + name + " " + tree.name + "\n";
}

// zsh

/// Text inside a specification of _arguments, where brackets and colons mean something.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const std::string& name, const option_entry& option) {
  switch (option.kind) {
    case value_kind::model:
      return name + "_models";
    case value_kind::folder:
      return "_files -/";
    case value_kind::choice:
      return "(" + joined(option.choices, " ") + ")";
    case value_kind::text:
    case value_kind::none:
      break;
  }
  return " ";
}

/// Flags as _arguments wants them: one that takes a value says that it may follow "=" or a letter at once.
std::vector<std::string> zsh_flags(const option_entry& option) {
  std::vector<std::string> out = option.flags;
  if (option.kind == value_kind::none) return out;
  for (std::string& flag : out) {
    if (flag.starts_with("--"))
      flag += '=';
    else if (flag.size() == 2)
      flag += '+';
  }
  return out;
}

std::string zsh_option(const std::string& name, const option_entry& option) {
  std::string value;
  if (option.kind != value_kind::none) value = ":" + zsh_text(option.value) + ":" + zsh_action(name, option);
  const std::vector<std::string> flags = zsh_flags(option);
  const std::string text = "[" + zsh_text(option.help) + "]" + value;
  if (flags.size() == 1) return sh_quoted((option.repeats ? "*" : "") + flags.front() + text);
  const std::string rivals = option.repeats ? "*" : "(" + joined(option.flags, " ") + ")";
  return sh_quoted(rivals) + "{" + joined(flags, ",") + "}" + sh_quoted(text);
}

std::string zsh_script(const command_tree& tree) {
  const std::string name = function_name(tree.name);
  std::string out = "#compdef " + tree.name + "\n# zsh completion of " + tree.name + "; written by `" + tree.name +
                    " completion zsh`.\n\n" + name + "_models() {\n  local -a names\n  names=(${(f)\"$(" + tree.name +
                    " list --names 2> /dev/null)\"})\n  compadd -a names\n  _files\n}\n\n" + name +
                    "() {\n  local curcontext=$curcontext state line\n  typeset -A opt_args\n  _arguments -C \\\n";
  for (const option_entry& option : tree.options) out += "    " + zsh_option(name, option) + " \\\n";
  out +=
      "    '1:command:->command' \\\n    '*::argument:->argument'\n  case $state in\n    command)\n      local -a "
      "all\n      all=(\n";
  for (const command_entry& command : tree.commands)
    out += "        " + sh_quoted(zsh_text(command.name) + ":" + command.help) + "\n";
  out += "      )\n      _describe command all ;;\n    argument)\n      case $line[1] in\n";
  for (const command_entry& command : tree.commands) {
    out += "        " + command.name + ")\n          _arguments";
    for (const option_entry& option : command.options) out += " \\\n            " + zsh_option(name, option);
    for (const option_entry& option : command.positionals)
      out += " \\\n            " + sh_quoted(":" + zsh_text(option.value) + ":" + zsh_action(name, option));
    out += " ;;\n";
  }
  return out + "      esac ;;\n  esac\n}\n\n" + "if [[ $funcstack[1] == _" + tree.name + " ]]; then\n  " + name +
         " \"$@\"\nelse\n  compdef " + name + " " + tree.name + "\nfi\n";
}

// fish

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// -s x for -x, -l word for --word, -o word for -word.
std::string fish_flags(const option_entry& option) {
  std::string out;
  for (const std::string& flag : option.flags) {
    if (flag.starts_with("--"))
      out += " -l " + flag.substr(2);
    else
      out += (flag.size() == 2 ? " -s " : " -o ") + flag.substr(1);
  }
  return out;
}

std::string fish_value(const command_tree& tree, const option_entry& option) {
  switch (option.kind) {
    case value_kind::none:
      return "";
    case value_kind::model:
      return " -r -F -a '(" + tree.name + " list --names 2>/dev/null)'";
    case value_kind::folder:
      return " -x -a '(__fish_complete_directories)'";
    case value_kind::choice:
      return " -x -a " + fish_quoted(joined(option.choices, " "));
    case value_kind::text:
      return " -x";
  }
  return "";
}

std::string fish_script(const command_tree& tree) {
  const std::string complete = "complete -c " + tree.name;
  std::string out =
      "# fish completion of " + tree.name + "; written by `" + tree.name + " completion fish`.\n" + complete + " -f\n";
  for (const option_entry& option : tree.options)
    out += complete + " -n __fish_use_subcommand" + fish_flags(option) + fish_value(tree, option) + " -d " +
           fish_quoted(option.help) + "\n";
  for (const command_entry& command : tree.commands)
    out += complete + " -n __fish_use_subcommand -a " + command.name + " -d " + fish_quoted(command.help) + "\n";
  for (const command_entry& command : tree.commands) {
    const std::string here = complete + " -n '__fish_seen_subcommand_from " + command.name + "'";
    for (const option_entry& option : command.options)
      out += here + fish_flags(option) + fish_value(tree, option) + " -d " + fish_quoted(option.help) + "\n";
    for (const option_entry& option : command.positionals) {
      if (option.kind != value_kind::text)
        out += here + (option.kind == value_kind::model ? " -F" : "") + " -a " +
               (option.kind == value_kind::model ? "'(" + tree.name + " list --names 2>/dev/null)'"
                                                 : fish_quoted(joined(option.choices, " "))) +
               "\n";
    }
  }
  return out;
}

using script_writer = std::string (*)(const command_tree&);
constexpr std::pair<std::string_view, script_writer> shells[]{
    {"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

}  // namespace

std::vector<std::string> completed_shells() {
  std::vector<std::string> out;
  for (const auto& [name, writer] : shells) out.emplace_back(name);
  return out;
}

std::string completion_script(const command_tree& tree, std::string_view shell) {
  for (const auto& [name, writer] : shells) {
    if (name == shell) return writer(tree);
  }
  return {};
}

}  // namespace infer::apps
