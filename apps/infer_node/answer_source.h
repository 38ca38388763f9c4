// Where answers come from: a model in this process, or a server.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/infer_node/chat/answer_stats.h"
#include "apps/infer_node/chat/chat_settings.h"
#include "apps/infer_node/chat/conversation.h"
#include "apps/infer_node/model_options.h"
#include "engine/core/result.h"
#include "engine/templates/reasoning_split.h"

namespace infer::apps {

/// What is to be answered: a conversation, or where `raw` a text to continue as it is.
struct question {
  const std::vector<chat_turn>& turns;
  const chat_settings& settings;
  bool raw = false;  // the one turn is the text
};

/// An answer, or what there was of one.
struct answer_report {
  std::string model, finish_reason;
  std::string failure;     // why it broke off; empty: it did not, or `cancelled`
  bool cancelled = false;  // by the flag
  bool too_long = false;   // the failure: the context does not hold the question
  answer_stats stats;
};

/// Threads: one caller. The sink is called on another thread while `answer` waits.
class answer_source {
 public:
  using sink = std::function<void(const templates::answer_piece&)>;

  virtual ~answer_source() = default;

  /// What answers: the model's name.
  virtual std::string name() const = 0;
  /// Streams the answer into `show`, with what the model thinks set apart where `split`. Ends early when `cancel`
  /// becomes true; null: never.
  virtual answer_report answer(const question& asked, bool split, const sink& show,
                               const std::atomic<bool>* cancel) = 0;
};

/// A node in this process with the model of these options loaded.
/// Errors:  what loading failed with.
result<std::unique_ptr<answer_source>> local_source(const model_options& model);

/// A server at http://host:port. `model` may be empty: the server's default. Connects at the first question.
std::unique_ptr<answer_source> remote_source(std::string url, std::string api_key, std::string model);

/// Cuts text into pieces as it streams, or passes it on whole; notes when the first came. Used by both sources.
class piece_stream {
 public:
  piece_stream(bool split, bool inside, const answer_source::sink& show);

  void text(std::string_view text);
  void reasoning(std::string_view text);
  void finish();
  /// From the construction to the first text or reasoning; absent: none came.
  std::optional<double> first_s() const { return first_s_; }
  /// From the first to now.
  std::optional<double> since_first_s() const;

 private:
  void note();

  bool split_;
  templates::reasoning_split cut_;
  const answer_source::sink& show_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::optional<double> first_s_;
};

}  // namespace infer::apps
