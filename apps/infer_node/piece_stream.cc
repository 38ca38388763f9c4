// Text to pieces, with the clock.
#include "apps/infer_node/answer_source.h"

namespace infer::apps {

piece_stream::piece_stream(bool split, bool inside, const answer_source::sink& show)
    : split_(split), cut_(inside), show_(show) {}

void piece_stream::note() {
  if (!first_s_) first_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::optional<double> piece_stream::since_first_s() const {
  if (!first_s_) return std::nullopt;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() - *first_s_;
}

void piece_stream::text(std::string_view text) {
  if (text.empty()) return;
  note();
  if (!split_) return show_({false, std::string(text)});
  for (const templates::answer_piece& piece : cut_.push(text)) show_(piece);
}

void piece_stream::reasoning(std::string_view text) {
  if (text.empty()) return;
  note();
  split_ = false;  // it comes apart already
  show_({true, std::string(text)});
}

void piece_stream::finish() {
  for (const templates::answer_piece& piece : cut_.finish()) show_(piece);
}

}  // namespace infer::apps
