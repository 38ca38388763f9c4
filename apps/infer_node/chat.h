// infer-node run without a prompt: a chat on the terminal.
#pragma once

#include <string>

#include "apps/infer_node/answer_source.h"

namespace infer::apps {

/// Chats until the user leaves; the exit code. Standard input and output are terminals.
int chat(answer_source& source, chat_settings settings, const std::string& system);

}  // namespace infer::apps
