// The flags that say how tokens are picked: the same names as llama-server's, shared by the subcommands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "engine/core/result.h"
#include "protocol/messages/streams.h"

namespace infer::apps {

struct sampling_options {
  msg::sampling values;

  /// Flags for everything in `values`, whose present values are the defaults.
  void add_to(CLI::App& command);
  /// What takes more than a number: biases, the order of the chain, breakers. A sentence where one of them is wrong.
  std::string finish();

 private:
  std::vector<std::string> biases_, breakers_;
  std::string names_, letters_;
  bool ignore_eos_ = false;
};

}  // namespace infer::apps
