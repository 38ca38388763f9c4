// A running batch over a tiny model, on a clock of its own, and what leaves it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/loader/load_model.h"
#include "actors/model/decode_state.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace infer::actors {

struct recorder final : batch_output {
  std::map<std::uint32_t, std::vector<std::int32_t>> ids;  // by choice
  std::map<std::uint32_t, msg::stream_end> ends;
  std::vector<msg::stream_refused> refusals;
  std::vector<std::string> faults;
  std::map<std::uint32_t, std::uint32_t> cached;  // by choice
  std::map<std::uint32_t, std::vector<msg::raw_token>> tokens, prompts;
  std::map<std::uint32_t, std::vector<msg::f32_bits>> embeddings;
  void opened(msg::stream_opened o) override { cached[o.key.choice] = o.cached; }
  void made(msg::raw_tokens t) override {
    auto& log = ids[t.key.choice];
    for (const auto& token : t.tokens) log.push_back(token.id), tokens[t.key.choice].push_back(token);
    if (!t.prompt.empty()) prompts[t.key.choice] = t.prompt;
    if (!t.embedding.empty()) embeddings[t.key.choice] = t.embedding;
    if (t.end != 0) ends[t.key.choice] = static_cast<msg::stream_end>(t.end);
    if (!t.fault.empty()) faults.push_back(t.fault);
  }
  void refused(msg::stream_refused r) override { refusals.push_back(std::move(r)); }
};

class batch : public testing::Test {
 protected:
  /// Takes `memory` bytes beside what the model needs at least.
  void load(std::uint32_t slots = 4, std::uint64_t memory = std::uint64_t{1} << 30, std::uint32_t context = 256) {
    test_support::tiny_llama shape;
    shape.context = context;
    test_support::write_tiny_llama(folder_ / "tiny.gguf", shape);
    msg::model_source source;
    source.id = "tiny";
    source.path = (folder_ / "tiny.gguf").string();
    source.slots = slots;
    source.batch = 32;
    const auto measured = measure(source);
    ASSERT_TRUE(measured);
    budget_ = memory::budget::make(measured.value().bytes.floor() + memory);
    ASSERT_TRUE(budget_->earmark(1, measured.value().bytes.floor()));
    const load_resources resources{budget_, 1, std::make_shared<threads::compute_lane>(), hooks_};
    auto loaded = actors::load(source, 1, resources, [](std::uint32_t) {}, {});
    ASSERT_TRUE(loaded) << loaded.error().message();
    core_ = loaded.value();
    // What loading took for a while is not to be had for pages.
    rest_ = budget_->try_take(memory::memory_kind::scratch, measured.value().bytes.transient);
    ASSERT_TRUE(rest_);
    batch_.emplace(core_, 1, out_, [this] { return now_; });
  }

  msg::open_stream stream(std::uint32_t choice, std::size_t prompt, std::uint32_t max_tokens,
                          std::uint32_t upto = 1000) {
    msg::open_stream m;
    m.key = {1, 1, choice};
    m.attempt = 1;
    for (std::size_t i = 0; i < prompt; ++i)
      m.prompt_ids.push_back(static_cast<std::int32_t>(3 + (i * 7 + choice * 13) % 250));
    m.sampling.temperature = 0.0f;
    m.sampling.ignore_end = true;
    m.max_tokens = max_tokens;
    m.upto = upto;
    return m;
  }
  void open(const msg::open_stream& m) { batch_->open(m, m.key.choice); }
  void run(int most = 2000) {
    for (int i = 0; i < most && batch_->has_work(); ++i) batch_->step();
  }

  /// Pages that nobody uses: free ones, and those that are only kept for later.
  std::uint32_t unused_pages() const { return core_->pages.free_pages() + core_->prefixes->evictable(0); }

  test_support::temporary_folder folder_;
  batch_time now_{};
  core_hooks hooks_;
  std::shared_ptr<memory::budget> budget_;
  std::optional<memory::memory_lease> rest_;
  std::shared_ptr<model_core> core_;
  recorder out_;
  std::optional<running_batch> batch_;
};

}  // namespace infer::actors
