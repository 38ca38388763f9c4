// What can go wrong when a model is fetched.
#pragma once

#include "engine/core/result.h"

namespace infer::hub {

enum class fault {
  bad_reference = 1,  // the text does not name a model
  not_found,          // the server has no such repository, revision, file or quantization
  refused,            // the server wants a token, or an accepted licence
  unreachable,        // no connection, or it broke too often
  misbehaves,         // the server's answers contradict each other
  wrong_content,      // the bytes are not those that the listing promised
  no_space,           // the disk is too small
  busy,               // another process fetches the same model
  file_system,        // a local file or folder cannot be made, written or moved
};

}  // namespace infer::hub

INFER_FAULT_ENUM(infer::hub, fault, "pull");
