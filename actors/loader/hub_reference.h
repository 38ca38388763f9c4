// The names of models on a hub: OWNER/NAME, with a quantization, a file or a revision.
#pragma once

#include <string>
#include <string_view>

#include "actors/loader/hub_fault.h"

namespace infer::hub {

struct reference {
  std::string owner, name;
  std::string quant;  // "Q4_K_M", as it was written; empty: not said
  std::string file;   // path inside the repository; empty: not said
  std::string revision = "main";

  std::string repository() const { return owner + "/" + name; }
};

/// Takes OWNER/NAME, OWNER/NAME:QUANT, OWNER/NAME/FILE.gguf, each with @REVISION after it and `hf:` before it, apart;
/// and the same with a host before it, also as addresses of pages and files: https://HOST/OWNER/NAME/tree/REVISION,
/// …/blob/REVISION/FILE.gguf, …/resolve/REVISION/FILE.gguf. The host says nothing: who is asked is said elsewhere.
/// Errors:  fault::bad_reference.
result<reference> parse_reference(std::string_view text);

/// Whether `path` stays inside the folder it is joined to: relative, without "..", empty parts, "\" or control bytes.
bool is_safe_path(std::string_view path);

}  // namespace infer::hub
