// Choosing, computing and finishing a step.
#include "actors/model/decode_state.h"

#include <algorithm>
#include <stdexcept>

namespace infer::actors {
namespace {

/// Prompt tokens of a step that also decodes: keeps the gap between tokens of others short.
constexpr std::uint32_t prefill_beside_decode = 64;

decode::sampling_params params_of(const msg::sampling& from, std::uint32_t choice) {
  return {from.temperature.value(), from.top_k, from.top_p.value(), from.min_p.value(), from.seed, choice};
}

}  // namespace

running_batch::running_batch(std::shared_ptr<model_core> core, std::uint64_t epoch, batch_output& out)
    : core_(std::move(core)), epoch_(epoch), out_(out) {
  if (core_->hooks.tap) {
    auto tap = core_->hooks.tap;
    core_->executor->set_tap(
        [tap](const plan::op& o, std::uint32_t, std::uint32_t, std::span<const float>) { tap(o); });
  }
}

running_batch::stream* running_batch::find(const msg::stream_key& key) {
  const auto at = std::ranges::find(streams_, key, &stream::key);
  return at == streams_.end() ? nullptr : &*at;
}

void running_batch::open(const msg::open_stream& message, std::uint32_t flag) {
  if (const stream* known = find(message.key)) {
    if (known->attempt >= message.attempt) return;
    erase(*known);
  }
  const auto refuse = [&](msg::refusal code, std::string why) {
    out_.refused({message.key, message.attempt, code, std::move(why), 0});
  };
  const std::uint64_t fed = message.prompt_ids.size() + message.accepted_ids.size();
  if (message.prompt_ids.empty()) return refuse(msg::refusal::invalid_value, "the prompt is empty");
  if (message.prompt_ids.size() >= core_->context || fed > core_->context)
    return refuse(msg::refusal::context_length_exceeded, "the prompt has " + std::to_string(message.prompt_ids.size()) +
                                                             " tokens and leaves no room in a context of " +
                                                             std::to_string(core_->context));
  stream s;
  s.key = message.key;
  s.attempt = message.attempt;
  s.flag = flag;
  s.sampling = message.sampling;
  s.pending.assign(message.prompt_ids.begin(), message.prompt_ids.end());
  s.pending.insert(s.pending.end(), message.accepted_ids.begin(), message.accepted_ids.end());
  s.next_index = static_cast<std::uint32_t>(message.accepted_ids.size());
  const auto room = core_->context - static_cast<std::uint32_t>(message.prompt_ids.size());
  s.max_tokens = std::min(message.max_tokens, room);
  s.upto = message.upto;
  s.reserved_pages = plan::pages_for(static_cast<std::uint32_t>(message.prompt_ids.size()) + s.max_tokens);
  for (const token_id id : s.pending) {
    if (id < 0 || static_cast<std::uint32_t>(id) >= core_->model.plan.vocabulary)
      return refuse(msg::refusal::invalid_value, "token id " + std::to_string(id) + " is outside the vocabulary");
  }
  if (s.next_index >= s.max_tokens) return refuse(msg::refusal::invalid_value, "the stream is complete already");
  streams_.push_back(std::move(s));
  count();
}

void running_batch::grant(const msg::grant& message) {
  if (stream* s = find(message.key)) s->upto = std::max(s->upto, message.upto);
}

void running_batch::close(const msg::stream_key& key) {
  if (const stream* s = find(key)) erase(*s);
}

void running_batch::erase(const stream& s) {
  if (s.sequence) reserved_pages_ -= s.reserved_pages;
  streams_.remove_if([&](const stream& other) { return &other == &s; });
  count();
}

void running_batch::count() {
  std::uint32_t waiting = 0;
  for (const stream& s : streams_) waiting += s.sequence ? 0 : 1;
  core_->counters.streams_open = static_cast<std::uint32_t>(streams_.size());
  core_->counters.streams_waiting = waiting;
  core_->counters.pages_free = core_->pages.free_pages();
}

bool running_batch::has_work() const {
  return std::ranges::any_of(streams_, [&](const stream& s) {
    if (flag_of(s).is_set()) return true;
    if (!s.sequence) return reserved_pages_ + s.reserved_pages <= core_->pages.pages();
    return s.remaining() > 1 || s.has_credit();
  });
}

void running_batch::drop_cancelled() {
  for (auto at = streams_.begin(); at != streams_.end();) {
    const stream& s = *at++;
    if (flag_of(s).is_set()) erase(s);
  }
}

void running_batch::admit() {
  std::uint32_t running = 0;
  for (const stream& s : streams_) running += s.sequence ? 1 : 0;
  for (stream& s : streams_) {
    if (s.sequence) continue;
    // In order of arrival: nobody overtakes who waits for pages.
    if (running >= core_->source.slots || reserved_pages_ + s.reserved_pages > core_->pages.pages()) return;
    s.sequence.emplace(core_->pages, core_->context);
    reserved_pages_ += s.reserved_pages;
    ++running;
  }
}

void running_batch::add_row(stream& s, std::uint32_t tokens) {
  if (auto room = s.sequence->reserve(tokens); !room)
    throw std::runtime_error("an admitted stream found no page: " + room.error().message());
  const bool last = tokens == s.remaining();
  const std::span<const token_id> ids(s.pending.data() + s.fed, tokens);
  rows_.push_back({&*s.sequence, ids, last ? plan::want::last : plan::want::none, &flag_of(s)});
  chosen_.push_back(&s);
  core_->journal.push_back({s.key, s.sequence->length(), tokens, s.next_index});
}

void running_batch::choose_rows() {
  rows_.clear();
  chosen_.clear();
  core_->journal.clear();
  const std::uint32_t batch = std::max(core_->source.batch, core_->source.slots);
  std::uint32_t used = 0;
  for (stream& s : streams_) {
    if (s.sequence && s.remaining() == 1 && s.has_credit() && used < batch) {
      add_row(s, 1);
      ++used;
    }
  }
  std::uint32_t room = used == 0 ? batch : std::min(batch - used, prefill_beside_decode);
  for (stream& s : streams_) {
    if (!s.sequence || s.remaining() <= 1 || room == 0) continue;
    // The last prompt token waits for credit, so that no token is made that may not be sent.
    const std::uint32_t ready = s.has_credit() ? s.remaining() : s.remaining() - 1;
    const std::uint32_t tokens = std::min(ready, room);
    if (tokens == 0) continue;
    add_row(s, tokens);
    room -= tokens;
  }
}

/// Samples while the logits are at hand.
struct running_batch::sampling_sink final : plan::row_sink {
  explicit sampling_sink(running_batch& batch) : batch_(batch) {}

  void take(std::uint32_t row, std::uint32_t, std::span<const float> logits) override {
    const stream& s = *batch_.chosen_[row];
    const auto picked =
        batch_.sampler_.sample(logits, params_of(s.sampling, s.key.choice), s.next_index, s.sampling.top_logprobs);
    msg::raw_token token{picked.token.id, picked.token.logprob, {}, {}};
    for (const auto& [id, logprob] : picked.top) {
      token.top_ids.push_back(id);
      token.top_logprobs.emplace_back(logprob);
    }
    batch_.made_[row] = std::move(token);
  }

  running_batch& batch_;
};

void running_batch::end_with_fault(stream& s, std::string why) {
  out_.made({s.key, epoch_, s.next_index, {}, static_cast<std::uint8_t>(msg::stream_end::fault), std::move(why)});
  erase(s);
}

void running_batch::finish_row(stream& s, const plan::batch_row& row, plan::outcome outcome, msg::raw_token* made) {
  if (outcome == plan::outcome::cancelled) {
    ++core_->counters.rows_cancelled;
    return erase(s);
  }
  if (outcome == plan::outcome::numeric_fault)
    return end_with_fault(s, "the model produced a number that is not finite");
  s.fed += static_cast<std::uint32_t>(row.ids.size());
  if (made == nullptr) return;
  const token_id id = made->id;
  const bool stop = !s.sampling.ignore_end && core_->tokenizer->is_end_of_generation(id);
  const bool full = s.next_index + 1 >= s.max_tokens;
  const auto end = stop ? msg::stream_end::stop_token : full ? msg::stream_end::length : msg::stream_end::none;
  out_.made({s.key, epoch_, s.next_index, {std::move(*made)}, static_cast<std::uint8_t>(end), {}});
  ++core_->counters.tokens_made;
  if (end != msg::stream_end::none) return erase(s);
  ++s.next_index;
  s.pending.assign(1, id);
  s.fed = 0;
}

void running_batch::step() {
  drop_cancelled();
  admit();
  choose_rows();
  if (rows_.empty()) return count();
  if (core_->hooks.before_step) core_->hooks.before_step(core_->journal);
  made_.assign(rows_.size(), std::nullopt);
  plan::step_result result;
  {
    const threads::compute_lane::turn turn(*core_->lane);
    auto submitted = core_->executor->submit(*core_->program, rows_);
    if (!submitted) throw std::runtime_error("the executor refused a step: " + submitted.error().message());
    sampling_sink sink(*this);
    auto collected = core_->executor->collect(*core_->program, submitted.value(), sink);
    if (!collected) throw std::runtime_error("the executor failed a step: " + collected.error().message());
    result = std::move(collected.value());
  }
  ++core_->counters.steps;
  core_->counters.layers_run += result.layers_run;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (rows_[row].ids.size() > 1) core_->counters.prompt_tokens += rows_[row].ids.size();
    finish_row(*chosen_[row], rows_[row], result.rows[row], made_[row] ? &*made_[row] : nullptr);
  }
  core_->journal.clear();
  count();
}

}  // namespace infer::actors
