// One answer everywhere, over everything at once: every pair of weight type, table, batch, chunk, threads, types of
// keys and values, head width and window occurs in some case, and every case equals the normative table fed alone, to
// the bit. Mirrors: cpu_executor.cc
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <string>

#include "engine/quant/blocks.h"
#include "tests/support/allocation_count.h"
#include "tests/support/model_run.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tiny_llama.h"

namespace infer::decode {
namespace {

using test_support::model_run;
using test_support::sequence_record;

constexpr std::uint32_t context = 288;
constexpr std::uint32_t window = 40;
constexpr std::uint32_t longest = 264;  // past the first run of 256 positions, where attention merges

const std::vector<tensor_type> types(quant::supported_types.begin(), quant::supported_types.end());
const std::vector<std::uint32_t> batches{1, 2, 3, 8}, chunks{1, 7, 32, 512}, thread_counts{1, 2},
    widths{64, 80, 128, 256};
const std::vector<plan::kv_type> kv_types{plan::kv_type::f32, plan::kv_type::f16, plan::kv_type::bf16};

enum factor : std::size_t { type, table, batch, chunk, threads, keys, values, width, windowed, factors };
using levels = std::array<std::size_t, factors>;

levels level_counts() {
  return {types.size(),
          kernels::all_ops().size(),
          batches.size(),
          chunks.size(),
          thread_counts.size(),
          kv_types.size(),
          kv_types.size(),
          widths.size(),
          2};
}

/// Rows such that every pair of levels of two factors occurs: of many random rows the one with most new pairs, again
/// and again.
std::vector<levels> covering_rows(std::uint32_t seed) {
  const levels counts = level_counts();
  using pair = std::array<std::size_t, 4>;
  std::set<pair> missing;
  for (std::size_t a = 0; a < factors; ++a)
    for (std::size_t b = a + 1; b < factors; ++b)
      for (std::size_t i = 0; i < counts[a]; ++i)
        for (std::size_t j = 0; j < counts[b]; ++j) missing.insert({a, i, b, j});
  const auto pairs_of = [](const levels& row, const auto& f) {
    for (std::size_t a = 0; a < factors; ++a)
      for (std::size_t b = a + 1; b < factors; ++b) f(pair{a, row[a], b, row[b]});
  };
  std::mt19937 random(seed);
  std::vector<levels> out;
  while (!missing.empty()) {
    levels best{};
    std::size_t most = 0;
    for (int attempt = 0; attempt < 60; ++attempt) {
      levels row;
      for (std::size_t f = 0; f < factors; ++f) row[f] = random() % counts[f];
      const pair& wanted = *missing.begin();
      row[wanted[0]] = wanted[1];
      row[wanted[2]] = wanted[3];
      std::size_t fresh = 0;
      pairs_of(row, [&](const pair& p) { fresh += missing.contains(p) ? 1 : 0; });
      if (fresh > most) {
        most = fresh;
        best = row;
      }
    }
    pairs_of(best, [&](const pair& p) { missing.erase(p); });
    out.push_back(best);
  }
  return out;
}

test_support::tiny_llama shape_of(const levels& row) {
  test_support::tiny_llama shape;
  shape.type = types[row[type]];
  shape.context = context;
  shape.heads = 2;
  shape.kv_heads = 1;
  shape.head_dim = widths[row[width]];
  shape.layers = 2;
  if (quant::form_of(shape.type) == quant::canonical_form::g256) {
    shape.width = shape.ffn_width = 256;
    // Queries of all heads together must fill blocks of 256.
    shape.heads = shape.head_dim == 80 ? 16 : 256 * 2 / shape.head_dim;
  }
  return shape;
}

/// The second layer sees only the last `window` positions and keeps no others.
void narrow_second_layer(plan::plan& p) {
  plan::state_group group = p.groups[0];
  group.kind = plan::state_kind::windowed;
  group.window = window;
  group.layers = p.groups[0].layers = 1;
  p.groups.push_back(group);
  p.layer_in_group = {0, 0};
  for (plan::op& o : p.ops)
    if (o.layer == 1 && (o.kind == plan::op_kind::store_kv || o.kind == plan::op_kind::attention)) o.group = 1;
}

std::vector<token_id> ids(std::size_t count, std::uint32_t seed) {
  std::vector<token_id> out(count);
  for (token_id& id : out) {
    seed = seed * 1664525u + 1013904223u;
    id = static_cast<token_id>((seed >> 8) % test_support::tiny_vocabulary);
  }
  return out;
}

std::string describe(const levels& row) {
  std::string out(info_of(types[row[type]]).name);
  out += " on " + std::string(kernels::all_ops()[row[table]]->name);
  out += ", batch " + std::to_string(batches[row[batch]]) + ", chunk " + std::to_string(chunks[row[chunk]]);
  out += ", threads " + std::to_string(thread_counts[row[threads]]) + ", keys " + std::to_string(row[keys]);
  out += ", values " + std::to_string(row[values]) + ", head width " + std::to_string(widths[row[width]]);
  return out + (row[windowed] != 0 ? ", windowed" : "");
}

// Sanitizers make a case ten times as long; the first rows, which cover most pairs, are enough for what those look for.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t most_cases = 8;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::size_t most_cases = 8;
#else
constexpr std::size_t most_cases = 1000;
#endif
#else
constexpr std::size_t most_cases = 1000;
#endif

TEST(matrix, every_pair_of_circumstances_gives_the_same_bits) {
  const char* chosen = std::getenv("INFER_TEST_SEED");
  const auto seed = static_cast<std::uint32_t>(chosen != nullptr ? std::atoll(chosen) : 20261129);
  std::vector<levels> rows = covering_rows(seed);
  rows.resize(std::min(rows.size(), most_cases));
  std::cout << rows.size() << " cases, INFER_TEST_SEED=" << seed << "\n";
  const test_support::temporary_folder folder;
  for (const levels& row : rows) {
    const auto path = folder / "tiny.gguf";
    test_support::write_tiny_llama(path, shape_of(row));
    plan::program_options options;
    options.keys = kv_types[row[keys]];
    options.values = kv_types[row[values]];
    const auto change = row[windowed] != 0 ? narrow_second_layer : [](plan::plan&) {};
    std::vector<std::vector<token_id>> texts;
    for (std::uint32_t i = 0; i < batches[row[batch]]; ++i) texts.push_back(ids(i == 0 ? longest : 5 + 9 * i, i + 1));
    model_run model(path, options, context, batches[row[batch]], *kernels::all_ops()[row[table]], change,
                    thread_counts[row[threads]]);
    const auto got = model.run(texts, chunks[row[chunk]]);
    // The normative table costs a call for each fused multiply-add; its twin is held to it by the kernels' own tests.
    const kernels::op_table& normative =
        kernels::reference_fma_ops() != nullptr ? *kernels::reference_fma_ops() : kernels::reference_ops();
    model_run alone(path, options, context, 1, normative, change);
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_TRUE(got[i] == alone.run(std::span(texts).subspan(i, 1), 512)[0]) << "text " << i << ": " << describe(row);
  }
}

/// Every form that weights have, with and without a layer that sees a window.
std::vector<levels> forms_and_windows() {
  std::vector<levels> out;
  for (const tensor_type of : {tensor_type::f32, tensor_type::q4_1, tensor_type::q8_0, tensor_type::q4_k}) {
    for (const std::size_t with_window : {0, 1}) {
      levels row{};
      row[type] = static_cast<std::size_t>(std::ranges::find(types, of) - types.begin());
      row[windowed] = with_window;
      out.push_back(row);
    }
  }
  out.resize(std::min(out.size(), most_cases / 4));
  return out;
}

// A whole step of 512, past two merges of attention and two pages of chunks, against the same text in small ones.
TEST(matrix, a_step_of_512_gives_the_bits_of_small_ones) {
  constexpr std::uint32_t long_context = 640;
  const std::vector<token_id> text = ids(600, 11);
  const test_support::temporary_folder folder;
  for (const levels& row : forms_and_windows()) {
    const auto path = folder / "tiny.gguf";
    auto shape = shape_of(row);
    shape.context = long_context;
    test_support::write_tiny_llama(path, shape);
    const auto change = row[windowed] != 0 ? narrow_second_layer : [](plan::plan&) {};
    const auto run = [&](const kernels::op_table& table, std::size_t chunk, std::uint32_t with_threads) {
      model_run model(path, test_support::default_mode, long_context, 1, table, change, with_threads);
      return std::move(model.run(std::span(&text, 1), chunk)[0]);
    };
    const sequence_record expected = run(kernels::best_ops(), 512, 1);
    EXPECT_EQ(expected.logits.size(), text.size() * test_support::tiny_vocabulary);
    for (const std::size_t chunk : {1, 7, 32})
      EXPECT_TRUE(run(kernels::best_ops(), chunk, 1) == expected) << "in chunks of " << chunk << ": " << describe(row);
    EXPECT_TRUE(run(kernels::best_ops(), 512, 2) == expected) << "on two threads: " << describe(row);
    for (const kernels::op_table* table : kernels::all_ops()) {
      // The normative table costs a call for each fused multiply-add; its twin is held to it by the kernels' own tests.
      if (table == &kernels::reference_ops() && kernels::reference_fma_ops() != nullptr) continue;
      EXPECT_TRUE(run(*table, 512, 1) == expected) << table->name << ": " << describe(row);
    }
  }
}

#if INFER_COUNTS_ALLOCATIONS
TEST(step, allocates_nothing_once_it_is_warm) {
  const test_support::temporary_folder folder;
  for (const levels& row : forms_and_windows()) {
    const auto path = folder / "tiny.gguf";
    test_support::write_tiny_llama(path, shape_of(row));
    model_run model(
        path, test_support::default_mode, 256, 2, kernels::best_ops(),
        row[windowed] != 0 ? narrow_second_layer : [](plan::plan&) {}, 2);
    std::vector<plan::sequence> sequences;
    for (int i = 0; i < 2; ++i) sequences.push_back(model.new_sequence());
    const std::vector<token_id> prompt = ids(40, 3), other = ids(40, 4);
    std::uint64_t before = 0, inside = 0;
    model.around_step = [&] {
      const std::uint64_t now = test_support::allocations();
      inside = now - before;
      before = now;
    };
    for (const std::size_t tokens : {40, 1, 1, 1, 7, 1, 40, 40, 1}) {
      const std::span<const token_id> parts[2] = {std::span(prompt).first(tokens), std::span(other).first(tokens)};
      model.step(sequences, parts, plan::want::last, [](auto, auto, auto) {});
      if (sequences[0].length() > 41) {
        EXPECT_EQ(inside, 0u) << tokens << " tokens: " << describe(row);
      }
    }
    EXPECT_GT(before, 0u);
  }
}
#endif

}  // namespace
}  // namespace infer::decode
