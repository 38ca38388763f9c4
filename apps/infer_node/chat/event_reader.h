// The stream of a chat or completion as a server sends it: server-sent events to text, reasoning, counts and faults.
#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "apps/infer_node/chat/answer_stats.h"

namespace infer::apps {

/// The message of an answer that is an error in the form of OpenAI's API; else the answer itself.
std::string refusal_text(const std::string& body);
/// Whether such an answer says that the context does not hold the prompt, as OpenAI's or llama.cpp's servers do.
bool is_too_long(const std::string& body);

class event_reader {
 public:
  struct handlers {
    std::function<void(std::string_view)> text, reasoning;
  };
  explicit event_reader(handlers to) : to_(std::move(to)) {}

  void push(std::string_view data);

  /// Whether the end was announced.
  bool finished() const { return finished_; }
  /// The sentence of an error that came in the stream; empty: none.
  const std::string& failure() const { return failure_; }
  /// "stop", "length"; empty before the end.
  const std::string& finish_reason() const { return finish_reason_; }
  const std::string& model() const { return model_; }
  /// Counts and the time of decoding, as far as the server told them.
  const answer_stats& stats() const { return stats_; }

 private:
  void line(std::string_view text);
  void event(const boost::json::value& event);
  void counts(const boost::json::value& event);

  handlers to_;
  std::string rest_, failure_, finish_reason_, model_;
  answer_stats stats_;
  bool finished_ = false;
};

}  // namespace infer::apps
