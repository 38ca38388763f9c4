// Timed steps.
#include "engine/decode/speed_run.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "engine/formats/gguf.h"
#include "engine/plan/fault.h"

namespace infer::decode {
namespace {

struct last_logit final : plan::row_sink {
  void take(std::uint32_t, std::uint32_t, std::span<const float> logits) override { seen = logits.back(); }
  volatile float seen = 0;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::vector<token_id> bench_ids(std::uint32_t count, std::uint32_t vocabulary, std::uint32_t seed) {
  std::vector<token_id> ids(count);
  std::uint64_t state = seed + 1;
  for (token_id& id : ids) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    id = static_cast<token_id>((state >> 33) % vocabulary);
  }
  return ids;
}

result<speed_run> speed_run::open(const std::filesystem::path& path, const plan::program_options& options,
                                  std::uint32_t context, std::unique_ptr<plan::executor> on) {
  speed_run out;
  out.state_ = std::make_unique<state>();
  state& s = *out.state_;
  INFER_TRY(auto file, formats::open_model(path));
  INFER_TRY(s.model, models::build(std::move(file)));
  INFER_TRY(s.pages, memory::page_pool::make(s.model.plan.groups, options.keys, options.values, context,
                                             options.max_batch_tokens));
  s.executor = std::move(on);
  INFER_TRY(s.program, s.executor->prepare(s.model.plan, s.model.weights, s.pages, options, {}));
  s.sequence = std::make_unique<plan::sequence>(s.pages, s.model.plan.groups, context);
  s.batch = options.max_batch_tokens;
  s.ids = bench_ids(context, s.model.plan.vocabulary, 0);
  return out;
}

result<void> speed_run::feed(std::uint32_t tokens, plan::want out) {
  state& s = *state_;
  last_logit sink;
  const std::uint32_t long_from = s.model.plan.long_rope_from;
  const bool long_rope = long_from != 0 && s.sequence->context() > long_from;
  while (tokens > 0) {
    const std::uint32_t count = std::min(tokens, s.batch);
    INFER_TRYV(s.sequence->reserve(count));
    const plan::batch_row row{s.sequence.get(), std::span(s.ids).subspan(s.sequence->length(), count),
                              count == tokens ? out : plan::want::none, nullptr, long_rope};
    INFER_TRY(const auto ticket, s.executor->submit(*s.program, {&row, 1}));
    INFER_TRY(const auto step, s.executor->collect(*s.program, ticket, sink));
    if (step.rows[0] != plan::outcome::done) return fail(plan::fault::numeric, "a logit is not finite");
    tokens -= count;
  }
  return success();
}

result<void> speed_run::go_to(std::uint32_t depth) {
  const std::uint32_t length = state_->sequence->truncate(depth);
  return feed(depth - length, plan::want::none);
}

result<double> speed_run::prefill(std::uint32_t depth, std::uint32_t tokens) {
  INFER_TRYV(go_to(depth));
  const auto start = std::chrono::steady_clock::now();
  INFER_TRYV(feed(tokens, plan::want::last));
  return seconds_since(start);
}

result<double> speed_run::decode(std::uint32_t depth, std::uint32_t tokens) {
  INFER_TRYV(go_to(depth));
  const auto start = std::chrono::steady_clock::now();
  for (std::uint32_t token = 0; token < tokens; ++token) {
    INFER_TRYV(feed(1, plan::want::last));
  }
  return seconds_since(start);
}

std::uint64_t speed_run::matrix_bytes() const {
  std::set<std::uint32_t> used;
  for (const plan::op& o : state_->model.plan.ops) {
    if (o.kind == plan::op_kind::linear || o.kind == plan::op_kind::output) used.insert(o.w[0].index);
  }
  std::uint64_t bytes = 0;
  for (const std::uint32_t index : used) bytes += state_->model.weights.weights[index].bytes.size();
  return bytes;
}

}  // namespace infer::decode
