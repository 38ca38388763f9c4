// The manual: hand-written parts around what the tree says.
#include <cstdint>
#include <cstdio>

#include "apps/infer_node/command_tree/command_tree.h"

namespace infer::apps {
namespace {

constexpr std::string_view head = R"roff(.SH SYNOPSIS
.B infer\-node
.I COMMAND
.RI [ OPTION "]... [" ARGUMENT ]...
.SH DESCRIPTION
.B infer\-node
runs open-weight language models on the machine you have: as a server that speaks OpenAI's API, as a chat on the
terminal, and as tools that look into models and machines. A model is a GGUF file (of a split one the first part), a
folder as on the Hugging Face hub, or the name of one that
.B infer\-node pull
has fetched.
.PP
The same weights and the same seed give the same text, alone or in a batch, on one thread or many, on every instruction
set, with a cached prefix or without.
.PP
Commands that print take
.BR \-\-json :
one document on standard output and nothing else. What goes wrong is said on standard error.
)roff";

constexpr std::string_view tail = R"roff(.SH IN A CHAT
.B infer\-node run
without a prompt, on a terminal, is a chat. Ctrl\-C stops an answer and keeps what there is of it; in a line it clears
the line. Ctrl\-D leaves. The arrow keys and Ctrl\-R bring earlier prompts back.
.B \(dq\(dq\(dq
begins and ends a prompt of several lines; a backslash at the end of a line goes on in the next; pasted text comes in
whole.
.B /help
lists the commands.
.SH EXIT STATUS
.TP
.B 0
All went well.
.TP
.B 1
What was asked for could not be done; standard error says why and what to do.
.B doctor
found a failure.
.TP
.B 2
The command line was not understood.
.SH ENVIRONMENT
.TP
.B INFER_MODELS
Folder of fetched models; else
.I infer\-node/models
in
.B XDG_DATA_HOME
or
.IR ~/.local/share .
.TP
.B INFER_API_KEY
Key that
.B serve
asks clients for and
.B run \-\-server
shows.
.TP
.BR HF_ENDPOINT ", " HF_TOKEN
Address of the hub that
.B pull
fetches from, and the token for gated models.
.TP
.B NO_COLOR
Where it is set and not empty, nothing is coloured or dimmed.
.SH FILES
.TP
.I ~/.local/state/infer\-node/history
Prompts of chats
.RB ( XDG_STATE_HOME
moves it).
.TP
.I ~/.cache/infer\-node/kernels.tsv
What was measured to suit this CPU
.RB ( XDG_CACHE_HOME
moves it).
.SH EXAMPLES
.nf
infer\-node pull OWNER/NAME:Q4_K_M
infer\-node run \-m OWNER/NAME
infer\-node run \-m model.gguf \-\-temp 0 \-\-json \(dqName the capital of France.\(dq
infer\-node serve \-m model.gguf \-\-port 8080
infer\-node inspect \-\-json model.gguf
infer\-node doctor
.fi
)roff";

/// The code point that begins at `at`, which moves behind it.
std::uint32_t next_character(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  std::uint32_t out = first & (0x3fu >> more);
  for (int i = 0; i < more && at < text.size(); ++i) out = out << 6 | (static_cast<unsigned char>(text[at++]) & 0x3fu);
  return out;
}

/// Text that roff prints as it is.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins_line = out.empty() || out.back() == '\n';
    const std::uint32_t c = next_character(text, at);
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    if (c >= 0x80) {
      char name[16];
      std::snprintf(name, sizeof name, "\\[u%04X]", c);
      out += name;
    } else if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '"') {
      out += "\\(dq";
    } else {
      out += static_cast<char>(c);
    }
  }
  return out;
}

/// Sentences about an option or positional, a line each.
std::string about(const option_entry& option) {
  std::string out = escaped(option.help) + ".\n";
  if (option.kind == value_kind::choice) {
    std::string list;
    for (const std::string& one : option.choices) list += (list.empty() ? "" : ", ") + one;
    out += "One of: " + escaped(list) + ".\n";
  }
  if (!option.fallback.empty()) out += "Default: " + escaped(option.fallback) + ".\n";
  if (!option.environment.empty()) out += "Else from the environment: " + escaped(option.environment) + ".\n";
  if (option.required && !option.flags.empty()) out += "It must be given.\n";
  return out;
}

std::string option_text(const option_entry& option) {
  std::string out = ".TP\n.BR ";
  for (std::size_t at = 0; at < option.flags.size(); ++at)
    out += (at == 0 ? "" : " \", \" ") + escaped(option.flags[at]);
  // BR sets every other word in roman: the value follows the last flag in italics of its own.
  if (!option.value.empty()) out += " \" \\fI" + escaped(option.value) + "\\fR\"";
  return out + "\n" + about(option);
}

std::string command_text(const command_tree& tree, const command_entry& command) {
  std::string out =
      ".SS " + escaped(command.name) + "\n.B " + escaped(tree.name + " " + command.name) + "\n.RI [ OPTION ]...";
  for (const option_entry& one : command.positionals)
    out += one.required ? " \" \" " + escaped(one.value) : " \" [\" " + escaped(one.value) + " ]";
  out += "\n.PP\n" + escaped(command.help) + ".\n";
  for (const option_entry& one : command.positionals) out += ".TP\n.I " + escaped(one.value) + "\n" + about(one);
  for (const option_entry& one : command.options) out += option_text(one);
  return out;
}

}  // namespace

std::string manual_page(const command_tree& tree) {
  std::string out = ".\\\" Written by `" + tree.name + " man`.\n.TH INFER\\-NODE 1 \"\" \"" + escaped(tree.version) +
                    "\" \"User Commands\"\n.SH NAME\n" + escaped(tree.name) + " \\- " + escaped(tree.help) + "\n";
  out += head;
  out += ".SH OPTIONS\n";
  for (const option_entry& one : tree.options) out += option_text(one);
  out += ".SH COMMANDS\n";
  for (const command_entry& command : tree.commands) out += command_text(tree, command);
  out += tail;
  return out;
}

}  // namespace infer::apps
