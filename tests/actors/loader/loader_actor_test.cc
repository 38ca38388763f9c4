// Loads: what can go wrong with a file, progress, cancel, memory, and a worker that dies.
// Mirrors: load_model.cc
#include "actors/loader/loader_actor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "actors/support/shutdown.h"
#include "tests/actors/virtual_clock.h"
#include "tests/support/hub_writer.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace infer::actors {
namespace {

using test_support::virtual_clock;

struct heard {
  std::vector<std::uint32_t> progress;
  std::vector<msg::model_measured> measured;
  std::vector<msg::model_loaded> loaded;
  std::vector<msg::load_failed> failed;
  msg::model_handle handle;
};

loader_sink::behavior_type listen(loader_sink::pointer, std::shared_ptr<heard> h) {
  return {
      [h](const msg::load_progress& m) { h->progress.push_back(m.percent); },
      [h](const msg::model_measured& m) { h->measured.push_back(m); },
      [h](const msg::model_loaded& m, const msg::model_handle& handle) {
        h->loaded.push_back(m);
        h->handle = handle;
      },
      [h](const msg::load_failed& m) { h->failed.push_back(m); },
  };
}

class loading : public testing::Test {
 protected:
  void start(core_hooks hooks = {}) {
    test_support::write_tiny_llama(folder_ / "tiny.gguf");
    source_.id = "tiny";
    source_.path = (folder_ / "tiny.gguf").string();
    loader_ = clock_.system().spawn(run_loader, loader_config{budget_, std::make_shared<threads::compute_lane>(),
                                                              std::move(hooks), thread_kind::pooled});
    sink_ = clock_.system().spawn(listen, h_);
    clock_.settle();
  }
  ~loading() override {
    h_->handle = {};
    exit_now(caf::actor_cast<caf::actor>(loader_), caf::exit_reason::user_shutdown);
    exit_now(caf::actor_cast<caf::actor>(sink_), caf::exit_reason::user_shutdown);
    loader_ = nullptr;
    sink_ = nullptr;
  }
  std::uint64_t measure_it() {
    caf::anon_send(loader_, msg::measure_model{1, source_}, sink_);
    clock_.settle();
    return h_->measured.empty() ? 0 : h_->measured.back().floor_bytes;
  }
  void load_it() {
    caf::anon_send(loader_, msg::load_weights{1, 5, source_}, sink_);
    clock_.settle();
  }

  virtual_clock clock_;
  test_support::temporary_folder folder_;
  std::shared_ptr<memory::budget> budget_ = memory::budget::make(std::uint64_t{1} << 30);
  std::shared_ptr<heard> h_ = std::make_shared<heard>();
  msg::model_source source_;
  loader_actor loader_;
  loader_sink sink_;
};

TEST_F(loading, takes_what_was_measured_and_gives_it_back_with_the_model) {
  start();
  const std::uint64_t floor = measure_it();
  ASSERT_GT(floor, 0u);
  source_.slots = 1;
  ASSERT_TRUE(budget_->earmark(5, floor));
  load_it();
  ASSERT_EQ(h_->loaded.size(), 1u);
  // What loading needed beside the rest has been given back already.
  const std::uint64_t transient = measure(source_).value().bytes.transient;
  EXPECT_GT(transient, 0u);
  EXPECT_EQ(h_->loaded[0].bytes, floor - transient);
  EXPECT_EQ(budget_->numbers().earmarked, 0u);
  EXPECT_EQ(budget_->numbers().free, budget_->numbers().total - floor + transient);
  EXPECT_EQ(h_->progress.front(), 0u);
  EXPECT_EQ(h_->progress.back(), 100u);
  EXPECT_TRUE(std::is_sorted(h_->progress.begin(), h_->progress.end()));
  h_->handle = {};
  EXPECT_EQ(budget_->numbers().free, budget_->numbers().total);
}

TEST_F(loading, holds_one_context_and_addresses_for_every_slot) {
  start();
  const std::uint64_t floor = measure_it();
  source_.slots = 4;
  budget_->earmark(5, floor);
  load_it();
  ASSERT_EQ(h_->loaded.size(), 1u);
  EXPECT_EQ(h_->handle.core->pages.pages(), plan::pages_for(256));
  EXPECT_EQ(h_->handle.core->pages.capacity(), 4 * plan::pages_for(256));
}

TEST_F(loading, a_context_beyond_what_page_numbers_hold_is_refused_with_both_numbers) {
  source_.context = 0xffffffffu;
  const auto measured = measure(source_);
  ASSERT_FALSE(measured);
  EXPECT_NE(measured.error().message().find("4294967295"), std::string::npos);
  EXPECT_NE(measured.error().message().find(std::to_string(most_context)), std::string::npos);
}

TEST_F(loading, a_folder_whose_tokenizer_is_larger_than_its_embedding_loads_without_the_added_token) {
  const std::filesystem::path from = "tests/golden/fidelity/tiny/plain_tied";  // 200 rows
  for (const char* name : {"config.json", "model.safetensors"}) std::filesystem::copy(from / name, folder_ / name);
  test_support::write_text(folder_ / "tokenizer.json", R"({"normalizer": null,
      "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}, "post_processor": null,
      "decoder": {"type": "ByteLevel"}, "added_tokens": [{"id": 200, "content": "<a>", "special": true}],
      "model": {"type": "BPE", "vocab": {"a": 0, "<": 1, ">": 2}, "merges": []}})");
  start();
  source_.path = folder_.path().string();
  budget_->earmark(5, measure_it());
  load_it();
  ASSERT_EQ(h_->loaded.size(), 1u) << (h_->failed.empty() ? "" : h_->failed[0].message);
  EXPECT_EQ(h_->handle.core->tokenizer->encode("<a>", true), (std::vector<token_id>{1, 0, 2}));
}

TEST_F(loading, without_its_earmark_a_load_fails_as_retryable) {
  start();
  load_it();
  ASSERT_EQ(h_->failed.size(), 1u);
  EXPECT_TRUE(h_->failed[0].retryable);
  EXPECT_EQ(budget_->numbers().free, budget_->numbers().total);
}

TEST_F(loading, a_file_that_is_missing_or_broken_is_named) {
  start();
  source_.path = (folder_ / "absent.gguf").string();
  measure_it();
  ASSERT_EQ(h_->failed.size(), 1u);
  EXPECT_NE(h_->failed[0].message.find("absent.gguf"), std::string::npos);
  EXPECT_FALSE(h_->failed[0].retryable);
  test_support::write_bytes(folder_ / "page.gguf", test_support::bytes_of("<!DOCTYPE html><html></html>"));
  source_.path = (folder_ / "page.gguf").string();
  measure_it();
  ASSERT_EQ(h_->failed.size(), 2u);
  EXPECT_NE(h_->failed[1].message.find("web page"), std::string::npos) << h_->failed[1].message;
}

TEST_F(loading, a_cancel_ends_the_load_and_gives_everything_back) {
  loader_actor* loader = &loader_;
  core_hooks hooks;
  hooks.on_load_progress = [loader](std::uint32_t percent) {
    if (percent == 0) caf::anon_send(*loader, msg::cancel_load{1, "tiny"});
  };
  start(hooks);
  budget_->earmark(5, measure_it());
  // The worker computes in one go: let the loader hear of the cancel first.
  caf::anon_send(loader_, msg::load_weights{1, 5, source_}, sink_);
  caf::anon_send(loader_, msg::cancel_load{1, "tiny"});
  clock_.settle();
  ASSERT_EQ(h_->failed.size(), 1u);
  EXPECT_TRUE(h_->failed[0].cancelled);
  EXPECT_EQ(budget_->numbers().free, budget_->numbers().total);
}

TEST_F(loading, a_worker_that_dies_fails_its_load_alone) {
  core_hooks hooks;
  auto armed = std::make_shared<bool>(true);
  hooks.on_load_progress = [armed](std::uint32_t percent) {
    if (percent > 0 && std::exchange(*armed, false)) throw std::runtime_error("bad luck");
  };
  start(hooks);
  const std::uint64_t floor = measure_it();
  budget_->earmark(5, floor);
  load_it();
  ASSERT_EQ(h_->failed.size(), 1u);
  EXPECT_TRUE(h_->failed[0].retryable);
  EXPECT_NE(h_->failed[0].message.find("bad luck"), std::string::npos) << h_->failed[0].message;
  budget_->drop_earmark(5);
  EXPECT_EQ(budget_->numbers().free, budget_->numbers().total);
  budget_->earmark(5, floor);
  load_it();
  EXPECT_EQ(h_->loaded.size(), 1u) << "the loader itself goes on";
}

}  // namespace
}  // namespace infer::actors
