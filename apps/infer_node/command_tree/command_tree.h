// The command line as plain data, read from CLI11's tree, for whoever writes about it: completions and the manual.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace infer::apps {

/// llama-server's short flags of more than one letter, which CLI11 does not know: rewritten before it sees them.
struct short_flag {
  std::string_view given, means;
};
inline constexpr std::array<short_flag, 4> short_flags{{
    {"-np", "--parallel"},
    {"-ctk", "--cache-type-k"},
    {"-ctv", "--cache-type-v"},
    {"-sys", "--system-prompt"},
}};

/// What a shell offers for a value.
enum class value_kind : std::uint8_t { none, text, model, folder, choice };

struct option_entry {
  std::vector<std::string> flags;  // "-m", "--model", with the dashes; empty: a positional
  std::string value;               // "MODEL", "UINT", a positional's name; empty: a switch
  value_kind kind = value_kind::none;
  std::vector<std::string> choices;  // kind choice: all of them
  std::string help, fallback, environment;
  bool required = false, repeats = false;
};

struct command_entry {
  std::string name, help;
  std::vector<option_entry> options;  // as they were added
  std::vector<option_entry> positionals;
};

struct command_tree {
  std::string name, help, version;
  std::vector<option_entry> options;
  std::vector<command_entry> commands;
};

/// Reads the whole tree.
command_tree tree_of(const CLI::App& app);

/// A script that the shell reads: bash, zsh or fish; empty for another name.
std::string completion_script(const command_tree& tree, std::string_view shell);
/// The names that completion_script knows.
std::vector<std::string> completed_shells();

/// The manual's page in roff's man macros, pure ASCII. The text before and behind the commands is written by hand.
std::string manual_page(const command_tree& tree);

}  // namespace infer::apps
