// Scoring.
#include "engine/decode/scorer.h"

#include <algorithm>
#include <string>

namespace infer::decode {
namespace {

struct forwarding_sink final : plan::row_sink {
  forwarding_sink(std::size_t first, const logits_fn& take) : first_(first), take_(take) {}
  void take(std::uint32_t, std::uint32_t position, std::span<const float> logits) override {
    take_(first_ + position, logits);
  }

  std::size_t first_;
  const logits_fn& take_;
};

}  // namespace

result<scorer> scorer::open(const std::filesystem::path& path, const plan::program_options& options,
                            std::uint32_t context, std::uint32_t threads, const kernels::op_table& ops) {
  scorer out;
  out.state_ = std::make_unique<state>();
  state& s = *out.state_;
  INFER_TRY(s.file, formats::open_model(path));
  INFER_TRY(s.model, models::build(s.file));
  s.context = context != 0 ? context : std::min<std::uint32_t>(s.model.plan.trained_context, 8192);
  INFER_TRY(s.pages, memory::page_pool::make(s.model.plan.groups, options.keys, options.values, s.context,
                                             options.max_batch_tokens));
  s.executor = std::make_unique<cpu_executor>(
      ops, std::make_shared<threads::compute_lane>(threads != 0 ? threads : threads::usable_cores()));
  INFER_TRY(s.program, s.executor->prepare(s.model.plan, s.model.weights, s.pages, options, {}));
  return out;
}

result<void> scorer::logits(std::span<const token_id> ids, std::uint32_t chunk, const logits_fn& take) {
  state& s = *state_;
  plan::sequence sequence(s.pages, s.model.plan.groups, s.context);
  const std::uint32_t long_from = s.model.plan.long_rope_from;
  const bool long_rope = long_from != 0 && ids.size() > long_from;
  for (std::size_t from = 0; from < ids.size(); from += chunk) {
    const auto part = ids.subspan(from, std::min<std::size_t>(chunk, ids.size() - from));
    INFER_TRYV(sequence.reserve(static_cast<std::uint32_t>(part.size())));
    const plan::batch_row row{&sequence, part, plan::want::all, nullptr, long_rope};
    INFER_TRY(const auto ticket, s.executor->submit(*s.program, {&row, 1}));
    forwarding_sink sink(from, take);
    INFER_TRY(const auto step, s.executor->collect(*s.program, ticket, sink));
    if (step.rows[0] != plan::outcome::done)
      return fail(plan::fault::numeric,
                  "a logit at or before position " + std::to_string(from + part.size() - 1) + " is not finite");
  }
  return success();
}

result<std::vector<scored_position>> scorer::score(std::span<const token_id> ids, std::uint32_t top,
                                                   std::uint32_t chunk) {
  std::vector<scored_position> out;
  if (ids.size() < 2) return out;
  out.resize(ids.size() - 1);
  const logits_fn take = [&](std::size_t position, std::span<const float> logits) {
    if (position >= out.size()) return;
    const auto [maximum, log_sum] = log_sum_exp(logits);
    const token_id next = ids[position + 1];
    out[position].next = {next, static_cast<float>(static_cast<double>(logits[next] - maximum) - log_sum)};
    if (top > 0) out[position].top = most_likely(logits, top);
  };
  // The last id has no next one; its logits are not needed, but its own place in the vocabulary is checked.
  if (ids.back() < 0 || static_cast<std::uint32_t>(ids.back()) >= state_->model.plan.vocabulary)
    return fail(plan::fault::bad_row, "token id " + std::to_string(ids.back()) + " is outside the vocabulary");
  INFER_TRYV(logits(ids.first(ids.size() - 1), chunk, take));
  return out;
}

}  // namespace infer::decode
