// Bytes of tokens in, whole characters of text out.
#pragma once

#include <string>
#include <string_view>

namespace infer::tokenize {

/// Turns a stream of token bytes into a stream of well-formed UTF-8: never half a character, and the concatenation of
/// all outputs equals the decode of the whole.
/// Threads: one thread at a time. Copyable: a copy goes on from the same state.
class detokenizer {
 public:
  /// Takes the next bytes; returns all text that is complete. Ill-formed parts become U+FFFD as soon as they are known
  /// to be ill-formed.
  std::string push(std::string_view bytes);

  /// Ends the stream: U+FFFD where it broke off inside a character, else nothing. Ready for a new stream afterwards.
  std::string flush();

  /// Bytes held back: the beginning of a character, at most three.
  std::string_view held() const { return held_; }

 private:
  std::string held_;
};

}  // namespace infer::tokenize
