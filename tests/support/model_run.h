// Runs a model file over the executor's own interface: batches, chunks, and the stored keys and values of each
// sequence.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/decode/cpu_executor.h"
#include "engine/formats/model_file.h"
#include "engine/memory/page_pool.h"
#include "engine/models/builder.h"

namespace infer::test_support {

inline constexpr plan::program_options default_mode{};
inline constexpr plan::program_options f32_mode{plan::kv_type::f32, plan::kv_type::f32, plan::activation_mode::f32,
                                                512};

/// What a sequence left behind. Shapes: logits [positions, vocabulary]; kv [positions, bytes per position].
struct sequence_record {
  std::vector<float> logits;
  std::vector<std::byte> kv;

  /// To the bit, so that −0 is not 0.
  bool operator==(const sequence_record& other) const {
    return logits.size() == other.logits.size() && kv == other.kv &&
           std::memcmp(logits.data(), other.logits.data(), logits.size() * sizeof(float)) == 0;
  }
};

/// Called with each wanted position of each row.
using take_fn = std::function<void(std::size_t row, std::size_t position, std::span<const float> logits)>;

/// A model prepared once, with a pool for `sequences` sequences of `context` positions. Errors: std::runtime_error.
class model_run {
 public:
  /// `change` may alter the plan before it is prepared.
  model_run(const std::filesystem::path& path, plan::program_options options, std::uint32_t context,
            std::uint32_t sequences = 1, const kernels::op_table& ops = kernels::best_ops(),
            const std::function<void(plan::plan&)>& change = {}, std::uint32_t threads = 1)
      : context_(context),
        executor_(ops, std::make_shared<threads::compute_lane>(threads)),
        max_batch_tokens_(options.max_batch_tokens),
        options_(options) {
    model_ = take(models::build(take(formats::open_model(path))));
    if (change) change(model_.plan);
    std::vector<memory::group_pages> groups;
    for (const plan::state_group& group : model_.plan.groups)
      groups.push_back(
          {plan::pages_for(context) * sequences, plan::page_bytes_of(group, options.keys, options.values)});
    pages_ = take(memory::page_pool::make(groups));
    program_ = take(executor_.prepare(model_.plan, model_.weights, pages_, options));
  }

  model_run(const model_run&) = delete;
  model_run& operator=(const model_run&) = delete;

  /// Called right before the executor gets a step and right after it has given its result.
  std::function<void()> around_step;
  /// Of the rows of every step; `run` sets it by its longest text.
  bool long_rope = false;

  const plan::plan& plan() const { return model_.plan; }
  memory::page_pool& pages() { return pages_; }
  plan::sequence new_sequence() { return plan::sequence(pages_, model_.plan.groups, context_); }

  /// Fills every free page with ones, so that each value in it is not a number.
  void poison_free_pages() {
    for (std::uint32_t group = 0; group < pages_.groups(); ++group) {
      std::vector<page_index> taken;
      while (const auto page = pages_.take(group)) {
        std::ranges::fill(pages_.bytes(*page), std::byte{0xFF});
        taken.push_back(*page);
      }
      for (std::size_t i = taken.size(); i-- > 0;) pages_.release(taken[i]);
    }
  }

  /// One step: row r feeds ids[r], which may be empty, to sequences[r].
  void step(std::span<plan::sequence> sequences, std::span<const std::span<const token_id>> ids, plan::want out,
            const take_fn& take_logits) {
    std::vector<plan::batch_row> rows;
    std::vector<std::size_t> names;
    for (std::size_t r = 0; r < ids.size(); ++r) {
      if (ids[r].empty()) continue;
      if (auto room = sequences[r].reserve(static_cast<std::uint32_t>(ids[r].size())); !room)
        throw std::runtime_error(room.error().message());
      rows.push_back({&sequences[r], ids[r], out, nullptr, long_rope});
      names.push_back(r);
    }
    sink s(names, take_logits);
    if (around_step) around_step();
    const auto ticket = take(executor_.submit(*program_, rows));
    const auto done = take(executor_.collect(*program_, ticket, s));
    if (around_step) around_step();
    for (const plan::outcome o : done.rows) {
      if (o != plan::outcome::done) throw std::runtime_error("a row was not computed");
    }
  }

  /// Feeds all of `texts` side by side, up to `chunk` ids of each in a step, and returns everything they left. Fills
  /// the pool's pages with ones first: every value that nobody wrote is not a number.
  std::vector<sequence_record> run(std::span<const std::vector<token_id>> texts, std::size_t chunk) {
    poison_free_pages();
    std::vector<plan::sequence> sequences;
    std::size_t longest = 0;
    for (const auto& text : texts) {
      sequences.push_back(new_sequence());
      longest = std::max(longest, text.size());
    }
    const std::uint32_t long_from = model_.plan.long_rope_from;
    long_rope = long_from != 0 && longest > long_from;
    std::vector<sequence_record> out(texts.size());
    const take_fn keep = [&](std::size_t row, std::size_t, std::span<const float> logits) {
      out[row].logits.insert(out[row].logits.end(), logits.begin(), logits.end());
    };
    chunk = std::min<std::size_t>(chunk, max_batch_tokens_ / texts.size());
    for (std::size_t from = 0; from < longest; from += chunk) {
      std::vector<std::span<const token_id>> part;
      for (const auto& text : texts) {
        const std::size_t begin = std::min(from, text.size());
        part.push_back(std::span(text).subspan(begin, std::min(chunk, text.size() - begin)));
      }
      step(sequences, part, plan::want::all, keep);
    }
    for (std::size_t r = 0; r < texts.size(); ++r) out[r].kv = stored(sequences[r]);
    return out;
  }

  /// Keys and values of the committed positions from `first` on, position by position, in the order of the layers;
  /// layers of a windowed group leave those out that it gave back.
  std::vector<std::byte> stored(const plan::sequence& sequence, std::uint32_t first = 0) const {
    std::vector<std::byte> out;
    for (std::uint32_t position = first; position < sequence.length(); ++position) {
      for (const auto& [group, layer] : layers_in_order()) append_position(sequence, group, layer, position, out);
    }
    return out;
  }

 private:
  /// (group, index in the group) of each layer.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> layers_in_order() const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> out(model_.plan.layers);
    for (const plan::op& o : model_.plan.ops) {
      if (o.kind == plan::op_kind::store_kv) out[o.layer] = {o.group, model_.plan.layer_in_group[o.layer]};
    }
    return out;
  }

  void append_position(const plan::sequence& sequence, std::uint32_t group, std::uint32_t layer, std::uint32_t position,
                       std::vector<std::byte>& out) const {
    const plan::kv_layout layout = plan::layout_of(model_.plan.groups[group], options_.keys, options_.values);
    const std::size_t key_size = plan::bytes_of(layout.keys), value_size = plan::bytes_of(layout.values);
    const page_index index = sequence.pages(group)[position / plan::page_positions];
    if (index == plan::no_page) return;
    const std::byte* page = pages_.data(index);
    const std::size_t inside = position % plan::page_positions;
    const std::size_t block = inside / plan::key_block_positions, lane = inside % plan::key_block_positions;
    for (std::uint32_t head = 0; head < layout.kv_heads; ++head) {
      const std::byte* keys = page + layout.key_offset(layer, head);
      for (std::size_t d = 0; d < layout.head_dim; ++d) {
        const std::byte* key = keys + ((block * layout.head_dim + d) * plan::key_block_positions + lane) * key_size;
        out.insert(out.end(), key, key + key_size);
      }
      const std::byte* value = page + layout.value_offset(layer, head) + inside * layout.head_dim * value_size;
      out.insert(out.end(), value, value + layout.head_dim * value_size);
    }
  }

  template <class T>
  static T take(result<T> r) {
    if (!r) throw std::runtime_error(r.error().message());
    return std::move(r).value();
  }

  struct sink final : plan::row_sink {
    sink(std::span<const std::size_t> names, const take_fn& to) : names_(names), to_(to) {}
    void take(std::uint32_t row, std::uint32_t position, std::span<const float> logits) override {
      to_(names_[row], position, logits);
    }
    std::span<const std::size_t> names_;
    const take_fn& to_;
  };

  std::uint32_t context_;
  decode::cpu_executor executor_;
  std::uint32_t max_batch_tokens_;
  plan::program_options options_;
  models::model model_;
  memory::page_pool pages_;
  plan::program_ptr program_;
};

}  // namespace infer::test_support
