// The sentences of the faults, for errors without a detail of their own.
#include "actors/loader/hub_fault.h"

namespace infer::hub {

const char* fault_sentence(fault value) noexcept {
  switch (value) {
    case fault::bad_reference:
      return "this does not name a model: write OWNER/NAME, OWNER/NAME:QUANT, OWNER/NAME/FILE.gguf or its page's "
             "address";
    case fault::not_found:
      return "the server has no such model";
    case fault::refused:
      return "the server wants a token, or an accepted licence";
    case fault::unreachable:
      return "the server cannot be reached";
    case fault::misbehaves:
      return "the server contradicts itself";
    case fault::wrong_content:
      return "the file is not the one that the server promised";
    case fault::no_space:
      return "the disk is full";
    case fault::busy:
      return "another process fetches the same model";
    case fault::file_system:
      return "a file cannot be written";
  }
  return "unknown fault of pull";
}

}  // namespace infer::hub
