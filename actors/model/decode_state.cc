// Choosing, computing and finishing a step.
#include "actors/model/decode_state.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "actors/model/footprint.h"
#include "actors/model/sampling_of.h"

namespace infer::actors {
namespace {

using namespace std::chrono_literals;

/// What a step may take while somebody waits for its end.
constexpr auto step_budget = 50ms;
/// At least so long lies between two parkings of one stream.
constexpr auto parking_interval = 1s;
/// Positions for which pages are taken before they are needed.
constexpr std::uint32_t pages_ahead = 256;

std::uint32_t whole_pages(std::size_t positions) {
  return static_cast<std::uint32_t>(positions / plan::page_positions * plan::page_positions);
}

}  // namespace

running_batch::running_batch(std::shared_ptr<model_core> core, std::uint64_t epoch, batch_output& out, batch_clock now)
    : core_(std::move(core)), epoch_(epoch), out_(out), now_(std::move(now)), pages_(*core_) {
  if (const auto options = options_of(core_->source)) {
    prefix_.keys = options.value().keys;
    prefix_.values = options.value().values;
  }
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

std::uint32_t running_batch::running() const {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(streams_, [](const stream& s) { return s.sequence.has_value(); }));
}

void running_batch::open(const msg::open_stream& message, std::uint32_t flag) {
  if (const stream* known = find(message.key)) {
    if (known->attempt >= message.attempt) return;
    erase(*known);
  }
  std::erase_if(cancelled_, [&](const stream& s) { return s.key == message.key; });
  const auto refuse = [&](msg::refusal code, std::string why) {
    out_.refused({message.key, message.attempt, code, std::move(why), 0});
  };
  const std::uint64_t fed = message.prompt_ids.size() + message.accepted_ids.size();
  if (message.prompt_ids.empty()) return refuse(msg::refusal::invalid_value, "the prompt is empty");
  const bool embeds = message.pooling != msg::pooling::none;
  // A prompt that counts for itself may fill the context.
  const std::size_t most_prompt = core_->context - (embeds || message.score_prompt ? 0 : 1);
  if (message.prompt_ids.size() > most_prompt || fed > core_->context)
    return refuse(msg::refusal::context_length_exceeded, "the prompt has " + std::to_string(message.prompt_ids.size()) +
                                                             " tokens and leaves no room in a context of " +
                                                             std::to_string(core_->context));
  stream s;
  s.key = message.key;
  s.attempt = message.attempt;
  s.flag = flag;
  s.sampling = sampling_of(message.sampling, *core_);
  s.sampler_state = message.accepted_ids.empty() ? decode::first_state(s.sampling) : message.sampler_state.value();
  s.top_logprobs = message.sampling.top_logprobs;
  s.min_tokens = message.sampling.min_tokens;
  s.ignore_end = message.sampling.ignore_end;
  s.prefix = prefix_;
  s.prefix.salt = message.cache_salt;
  s.priority = message.priority;
  s.ids.assign(message.prompt_ids.begin(), message.prompt_ids.end());
  s.ids.insert(s.ids.end(), message.accepted_ids.begin(), message.accepted_ids.end());
  s.prompt = static_cast<std::uint32_t>(message.prompt_ids.size());
  s.next_index = static_cast<std::uint32_t>(message.accepted_ids.size());
  // Scores come with a token, even where it has no place any more.
  const std::uint32_t room = std::max(core_->context - s.prompt, message.score_prompt ? 1u : 0u);
  s.max_tokens = embeds ? 0 : std::min(message.max_tokens, room);
  s.upto = message.upto;
  const std::uint32_t long_from = core_->model.plan.long_rope_from;
  s.long_rope = long_from != 0 && s.prompt + s.max_tokens > long_from;
  s.prefix.rope_variant = s.long_rope ? 1 : 0;
  s.about_prompt = prompt_results(message.score_prompt, message.pooling, s.prompt, s.top_logprobs);
  for (const token_id id : s.ids) {
    if (id < 0 || static_cast<std::uint32_t>(id) >= core_->model.plan.vocabulary)
      return refuse(msg::refusal::invalid_value, "token id " + std::to_string(id) + " is outside the vocabulary of " +
                                                     std::to_string(core_->model.plan.vocabulary) +
                                                     " tokens that the model has embeddings for");
  }
  if (!embeds && s.next_index >= s.max_tokens)
    return refuse(msg::refusal::invalid_value, "the stream is complete already");
  streams_.push_back(std::move(s));
  count();
}

void running_batch::grant(const msg::grant& message) {
  if (stream* s = find(message.key)) s->upto = std::max(s->upto, message.upto);
}

void running_batch::close(const msg::close_stream& message) {
  for (std::list<stream>* among : {&streams_, &cancelled_}) {
    const auto at = std::ranges::find(*among, message.key, &stream::key);
    if (at == among->end()) continue;
    if (at->sequence) {
      const std::uint64_t accepted = std::uint64_t{at->prompt} + message.accepted;
      const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(accepted, at->length()));
      keep(*at, at->sequence->truncate(most));
    }
    among->erase(at);
  }
  count();
}

void running_batch::erase(const stream& s) {
  streams_.remove_if([&](const stream& other) { return &other == &s; });
  count();
}

/// Lets others share the pages of the first `positions` positions.
void running_batch::keep(stream& s, std::uint32_t positions) {
  const std::uint32_t sealed = whole_pages(std::min(positions, s.length()));
  if (sealed <= s.shared) return;
  core_->prefixes->insert(s.prefix, std::span(s.ids).first(sealed), *s.sequence);
  s.shared = sealed;
}

void running_batch::count() {
  core_->counters.streams_open = static_cast<std::uint32_t>(streams_.size());
  core_->counters.streams_waiting = static_cast<std::uint32_t>(streams_.size()) - running();
  std::uint32_t free = 0;
  for (std::uint32_t group = 0; group < core_->pages.groups(); ++group) free += pages_.available(group);
  core_->counters.pages_free = free;
  core_->counters.pages_total = core_->pages.all_pages();
  show_slots();
}

void running_batch::show_slots() {
  std::bitset<max_streams> busy;
  for (const stream& s : streams_) {
    if (!s.sequence) continue;
    slot_counters& slot = core_->slots[s.flag];
    slot.request_id = s.key.request_id;
    slot.choice = s.key.choice;
    slot.prompt = s.prompt;
    slot.held = s.length();
    slot.made = s.next_index;
    slot.busy = true;
    busy.set(s.flag);
  }
  if (const auto gone = shown_ & ~busy; gone.any()) {
    for (std::uint32_t flag = 0; flag < max_streams; ++flag)
      if (gone.test(flag)) core_->slots[flag].busy = false;
  }
  shown_ = busy;
}

bool running_batch::has_work() {
  looked_at_ = now_();
  drop_cancelled();
  admit();
  return std::ranges::any_of(streams_, [&](const stream& s) { return s.sequence && s.ready() > 0; });
}

std::optional<batch_time> running_batch::due() const {
  for (const stream& s : streams_) {
    if (s.sequence || !s.parked_at) continue;
    // Once it was looked at after that, what is missing are pages, and those come with a message.
    const batch_time due = *s.parked_at + parking_interval;
    return due > looked_at_ ? std::optional(due) : std::nullopt;
  }
  return std::nullopt;
}

void running_batch::drop_cancelled() {
  for (auto at = streams_.begin(); at != streams_.end();) {
    stream& s = *at++;
    if (flag_of(s).is_set()) cancel(s);
  }
}

void running_batch::cancel(stream& s) {
  const auto at = std::ranges::find_if(streams_, [&](const stream& other) { return &other == &s; });
  if (s.sequence)
    cancelled_.splice(cancelled_.end(), streams_, at);
  else
    streams_.erase(at);
  count();
}

/// What cancelled streams still hold goes first.
bool running_batch::make_room(stream& s, std::uint32_t more, std::uint32_t ahead) {
  while (!pages_.make_room(*s.sequence, more, ahead)) {
    if (cancelled_.empty()) return false;
    cancelled_.pop_front();
  }
  return true;
}

/// Whether another stream is about to compute a longer prefix of this one than is kept already.
bool running_batch::waits_for_prefix(const stream& s) const {
  if (s.about_prompt.incomplete()) return false;
  std::uint32_t kept = 0;
  bool looked = false;
  for (const stream& other : streams_) {
    if (!other.sequence || other.prefix != s.prefix) continue;
    const std::size_t most = std::min<std::size_t>({s.ids.size() - 1, other.ids.size() - 1, other.prompt});
    if (other.length() >= whole_pages(most)) continue;
    const auto differ =
        std::mismatch(s.ids.begin(), s.ids.begin() + static_cast<std::ptrdiff_t>(most), other.ids.begin());
    const std::uint32_t common = whole_pages(static_cast<std::size_t>(differ.first - s.ids.begin()));
    if (common <= other.length()) continue;
    if (!std::exchange(looked, true))
      kept = core_->prefixes->match(s.prefix, s.ids, static_cast<std::uint32_t>(s.ids.size()) - 1);
    if (common > kept) return true;
  }
  return false;
}

bool running_batch::may_resume(const stream& s) const {
  return !s.parked_at || running() == 0 || looked_at_ >= *s.parked_at + parking_interval;
}

/// In order of arrival: nobody overtakes who waits for pages, and nobody is admitted while one is parked.
void running_batch::admit() {
  std::uint32_t places = running();
  for (stream& s : streams_) {
    const bool waits = !s.sequence;
    const bool parked = std::ranges::any_of(streams_, [](const stream& o) { return !o.sequence && o.parked_at; });
    if (!waits || (parked && !s.parked_at)) continue;
    if (places >= core_->source.slots) return;
    ++places;
    if (waits_for_prefix(s)) continue;
    if (!may_resume(s) || !admit(s)) return;
  }
}

/// Tokens beyond the next `tokens` for which pages are taken with them.
std::uint32_t running_batch::ahead_of(const stream& s, std::uint32_t tokens) const {
  return std::min(tokens + pages_ahead, s.most() - s.length());
}

bool running_batch::admit(stream& s) {
  auto most = static_cast<std::uint32_t>(s.ids.size()) - 1;
  if (s.about_prompt.incomplete()) most = std::min(most, s.about_prompt.seen());
  const auto hit = core_->prefixes->find(s.prefix, s.ids, most);
  s.sequence.emplace(core_->pages, core_->model.plan.groups, core_->context);
  s.sequence->attach(hit.length, hit.tables);
  const std::uint32_t chunk = std::min(s.remaining(), core_->source.batch);
  if (!make_room(s, chunk, ahead_of(s, s.remaining())) && !make_room(s, chunk, s.remaining())) {
    s.sequence.reset();
    return false;
  }
  s.shared = hit.length;
  if (s.reported) return true;
  s.reported = true;
  const std::uint32_t cached = std::min(hit.length, s.prompt);
  core_->prefixes->count(hit);
  core_->counters.cached_tokens += cached;
  out_.opened({s.key, s.attempt, epoch_, cached});
  return true;
}

/// The youngest of the lowest priority, but never the senior.
running_batch::stream* running_batch::victim() {
  stream* chosen = nullptr;
  bool senior = true;
  for (stream& s : streams_) {
    if (!s.sequence || std::exchange(senior, false)) continue;
    if (chosen == nullptr || s.priority <= chosen->priority) chosen = &s;
  }
  return chosen;
}

void running_batch::park(stream& s) {
  keep(s, s.length());
  s.sequence.reset();
  s.shared = 0;
  s.parked_at = now_();
  ++core_->counters.parkings;
}

void running_batch::add_row(const chosen_row& row) {
  stream& s = *row.who;
  const bool last = row.tokens == s.remaining();
  const std::span<const token_id> ids(s.ids.data() + s.length(), row.tokens);
  plan::want out = last ? plan::want::last : plan::want::none;
  if (s.about_prompt.incomplete()) out = s.about_prompt.pools() ? plan::want::hidden : plan::want::all;
  rows_.push_back({&*s.sequence, ids, out, &flag_of(s), s.long_rope});
  core_->journal.push_back({s.key, s.length(), row.tokens, s.next_index});
}

/// Prompt tokens of a step: as many as fit, or as are computed in time where somebody waits.
std::uint32_t running_batch::prefill_room(std::uint32_t decode_rows) const {
  const std::uint32_t room = std::max(core_->source.batch, core_->source.slots) - decode_rows;
  if (decode_rows == 0 && core_->lane->waiting() == 0) return room;
  const std::uint32_t in_time = pace_.tokens_within(step_budget);
  return std::min(room, std::max(prefill_pace::fewest, in_time - std::min(in_time, decode_rows)));
}

void running_batch::choose_rows() {
  chosen_.clear();
  std::uint32_t decode_rows = 0;
  for (stream& s : streams_) {
    if (!s.sequence || s.remaining() != 1 || !s.has_credit()) continue;
    chosen_.push_back({&s, 1});
    ++decode_rows;
  }
  std::uint32_t room = prefill_room(decode_rows);
  for (stream& s : streams_) {
    if (!s.sequence || s.remaining() <= 1 || room == 0) continue;
    const std::uint32_t tokens = std::min(s.ready(), room);
    if (tokens > 0) chosen_.push_back({&s, tokens});
    room -= tokens;
  }
  secure_rows();
  rows_.clear();
  core_->journal.clear();
  for (const chosen_row& row : chosen_) add_row(row);
}

/// Sees to it that every row has its pages, and takes those out whose stream was parked for others.
void running_batch::secure_rows() {
  for (const chosen_row& row : chosen_) {
    stream& s = *row.who;
    while (s.sequence && !s.sequence->has_room(row.tokens)) {
      if (make_room(s, row.tokens, ahead_of(s, row.tokens)) || make_room(s, row.tokens, 0)) break;
      stream* gives = victim();
      if (gives == nullptr) throw std::runtime_error("the only stream that runs found no page");
      park(*gives);
    }
  }
  std::erase_if(chosen_, [](const chosen_row& row) { return !row.who->sequence; });
}

/// Samples while the logits are at hand.
struct running_batch::sampling_sink final : plan::row_sink {
  explicit sampling_sink(running_batch& batch) : batch_(batch) {}

  void take(std::uint32_t row, std::uint32_t position, std::span<const float> logits) override {
    stream& s = *batch_.chosen_[row].who;
    const plan::batch_row& fed = batch_.rows_[row];
    const auto skipped = fed.out == plan::want::all ? position : static_cast<std::uint32_t>(fed.ids.size()) - 1;
    const std::uint32_t next = s.length() + skipped + 1;
    if (next < s.prompt) s.about_prompt.take_logits(next - 1, s.ids[next], logits);
    if (next == s.ids.size()) pick(row, s, logits);
  }

  void take_hidden(std::uint32_t row, std::uint32_t position, std::span<const float> values) override {
    stream& s = *batch_.chosen_[row].who;
    s.about_prompt.take_hidden(s.length() + position, values);
  }

  void pick(std::uint32_t row, const stream& s, std::span<const float> logits) {
    decode::sampling_place place{s.next_index, s.ids, {}, s.sampler_state};
    if (s.next_index < s.min_tokens) place.forbidden = batch_.core_->tokenizer->end_tokens();
    const auto picked = batch_.sampler_.sample(logits, s.sampling, place, s.top_logprobs);
    msg::raw_token token{picked.token.id, picked.token.logprob, {}, {}, picked.state};
    for (const auto& [id, logprob] : picked.top) {
      token.top_ids.push_back(id);
      token.top_logprobs.emplace_back(logprob);
    }
    batch_.made_[row] = std::move(token);
  }

  running_batch& batch_;
};

void running_batch::end_with_fault(stream& s, std::string why) {
  out_.made(
      {s.key, epoch_, s.next_index, {}, static_cast<std::uint8_t>(msg::stream_end::fault), std::move(why), {}, {}});
  erase(s);
}

void running_batch::finish_row(stream& s, const plan::batch_row& row, plan::outcome outcome, msg::raw_token* made) {
  if (outcome == plan::outcome::cancelled) {
    ++core_->counters.rows_cancelled;
    return cancel(s);
  }
  if (outcome == plan::outcome::numeric_fault)
    return end_with_fault(s, "the model produced a number that is not finite");
  const std::uint32_t before = s.length() - static_cast<std::uint32_t>(row.ids.size());
  core_->counters.prompt_tokens += std::min(s.length(), s.prompt) - std::min(before, s.prompt);
  keep(s, s.prompt);
  if (s.about_prompt.pools() && s.remaining() == 0) return finish_embedding(s);
  if (made == nullptr) return;
  const token_id id = made->id;
  const float state = made->sampler_state.value();
  const bool stop = !s.ignore_end && core_->tokenizer->is_end_of_generation(id);
  const bool full = s.next_index + 1 >= s.max_tokens;
  const auto end = stop ? msg::stream_end::stop_token : full ? msg::stream_end::length : msg::stream_end::none;
  out_.made({s.key,
             epoch_,
             s.next_index,
             {std::move(*made)},
             static_cast<std::uint8_t>(end),
             {},
             s.about_prompt.take_scores(s.ids.front()),
             {}});
  ++core_->counters.tokens_made;
  if (end != msg::stream_end::none) {
    keep(s, s.length());
    return erase(s);
  }
  ++s.next_index;
  s.ids.push_back(id);
  s.sampler_state = state;
}

void running_batch::finish_embedding(stream& s) {
  const auto end = static_cast<std::uint8_t>(msg::stream_end::length);
  out_.made({s.key, epoch_, s.next_index, {}, end, {}, {}, s.about_prompt.embedding()});
  erase(s);
}

void running_batch::step() {
  if (!has_work()) return count();
  choose_rows();
  if (rows_.empty()) return count();
  if (core_->hooks.before_step) core_->hooks.before_step(core_->journal);
  made_.assign(rows_.size(), std::nullopt);
  plan::step_result result;
  {
    const threads::compute_lane::turn turn(*core_->lane);
    const batch_time started = now_();
    auto submitted = core_->executor->submit(*core_->program, rows_);
    if (!submitted) throw std::runtime_error("the executor refused a step: " + submitted.error().message());
    sampling_sink sink(*this);
    auto collected = core_->executor->collect(*core_->program, submitted.value(), sink);
    if (!collected) throw std::runtime_error("the executor failed a step: " + collected.error().message());
    result = std::move(collected.value());
    note_pace(now_() - started);
  }
  ++core_->counters.steps;
  core_->counters.layers_run += result.layers_run;
  for (std::size_t row = 0; row < rows_.size(); ++row)
    finish_row(*chosen_[row].who, rows_[row], result.rows[row], made_[row] ? &*made_[row] : nullptr);
  core_->journal.clear();
  count();
}

void running_batch::note_pace(std::chrono::nanoseconds took) {
  std::uint32_t tokens = 0;
  bool prefill = false;
  for (const chosen_row& row : chosen_) {
    tokens += row.tokens;
    prefill = prefill || row.tokens > 1;
  }
  if (prefill) pace_.note(tokens, took);
}

}  // namespace infer::actors
