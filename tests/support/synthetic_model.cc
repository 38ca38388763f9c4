// A header from the GGUF writer, then the tensors as they are made.
#include "tests/support/synthetic_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/half.h"
#include "tests/support/byte_pieces.h"
#include "tests/support/gguf_writer.h"

namespace infer::test_support {
namespace {

constexpr std::size_t alignment = 32;
constexpr std::size_t blocks_at_once = 8192;

constexpr std::array shapes{
    synthetic_shape{"0.5B", 896, 24, 4864, 14, 2, 64},
    synthetic_shape{"1.5B", 1536, 28, 8960, 12, 2, 128},
};

/// xorshift64*, eight bytes at a time: a file of 1.5 GB takes seconds.
class random_bytes {
 public:
  explicit random_bytes(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}

  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Du;
  }

  void fill(std::span<std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
      const std::uint64_t value = next();
      std::memcpy(bytes.data() + at, &value, std::min(sizeof value, bytes.size() - at));
    }
  }

  /// [0, 1)
  float unit() { return static_cast<float>(next() >> 40) * 0x1p-24f; }

 private:
  std::uint64_t state_;
};

void store_f16(std::byte* to, float value) {
  const std::uint16_t code = f32_to_f16(value);
  std::memcpy(to, &code, sizeof code);
}

/// Sets the scales of one block of random codes so that its values have the deviation `sd` and no mean.
void set_scales(tensor_type type, std::byte* block, float sd, random_bytes& random) {
  const float size = (0.75f + 0.5f * random.unit()) * (random.next() % 2 == 0 ? sd : -sd);
  switch (type) {
    case tensor_type::q4_0:
      return store_f16(block, size / 4.6f);
    case tensor_type::q4_1:
      store_f16(block, size / 4.6f);
      return store_f16(block + 2, -7.5f * size / 4.6f);
    case tensor_type::q5_0:
      return store_f16(block, size / 9.2f);
    case tensor_type::q5_1:
      store_f16(block, size / 9.2f);
      return store_f16(block + 2, -15.5f * size / 9.2f);
    case tensor_type::q8_0:
      return store_f16(block, size / 74.0f);
    case tensor_type::iq4_nl:
      return store_f16(block, size / 69.0f);
    case tensor_type::mxfp4:
      // The nearest power of two: twice the deviation of the codes' halves is 6.3.
      block[0] = static_cast<std::byte>(128 + static_cast<int>(std::lround(std::log2(sd / 6.3f))));
      return;
    case tensor_type::q2_k:
      store_f16(block + 80, size / 10.0f);
      return store_f16(block + 82, 1.5f * size / 10.0f);
    case tensor_type::q3_k:
      return store_f16(block + 108, size / (18.5f * 2.3f));
    case tensor_type::q5_k:
      store_f16(block, size / 520.0f);
      return store_f16(block + 2, 15.5f * size / 520.0f);
    case tensor_type::iq4_xs:
      return store_f16(block, size / (18.5f * 69.0f));
    case tensor_type::q4_k:
      store_f16(block, size / 257.0f);
      return store_f16(block + 2, 7.5f * size / 257.0f);
    case tensor_type::q6_k:
      return store_f16(block + 208, size / (74.0f * 18.5f));
    default:
      throw std::invalid_argument("no random weights of this type");
  }
}

/// `count` blocks into `out`.
void make_blocks(tensor_type type, std::span<std::byte> out, float sd, random_bytes& random) {
  const std::size_t size = info_of(type).block_bytes;
  if (type == tensor_type::f32 || type == tensor_type::f16 || type == tensor_type::bf16) {
    for (std::size_t at = 0; at < out.size(); at += size) {
      const float value = 1.732f * sd * (2 * random.unit() - 1);
      const std::uint16_t half = type == tensor_type::f16 ? f32_to_f16(value) : f32_to_bf16(value);
      if (type == tensor_type::f32)
        std::memcpy(out.data() + at, &value, sizeof value);
      else
        std::memcpy(out.data() + at, &half, sizeof half);
    }
    return;
  }
  random.fill(out);
  for (std::size_t at = 0; at < out.size(); at += size) set_scales(type, out.data() + at, sd, random);
}

struct planned_tensor {
  std::string name;
  tensor_type type;
  std::uint64_t columns, rows;
  bool norm;

  std::size_t blocks() const { return columns * rows / info_of(type).block_elements; }
  std::size_t bytes() const { return blocks() * info_of(type).block_bytes; }
  std::size_t padded() const { return (bytes() + alignment - 1) / alignment * alignment; }
};

std::vector<planned_tensor> tensors_of(const synthetic_model& m) {
  const synthetic_shape& s = m.shape;
  std::vector<planned_tensor> out;
  const auto matrix = [&](std::string name, std::uint64_t columns, std::uint64_t rows, tensor_type type) {
    if (columns % info_of(type).block_elements != 0)
      throw std::invalid_argument(name + ": " + std::to_string(columns) + " columns do not fill whole blocks of " +
                                  std::string(info_of(type).name));
    out.push_back({std::move(name), type, columns, rows, false});
  };
  const auto norm = [&](std::string name) { out.push_back({std::move(name), tensor_type::f32, s.width, 1, true}); };
  const std::uint64_t q = s.heads * s.head_dim, kv = s.kv_heads * s.head_dim;
  matrix("token_embd.weight", s.width, m.vocabulary, embedding_type(m.type));
  norm("output_norm.weight");
  for (std::uint32_t layer = 0; layer < s.layers; ++layer) {
    const std::string prefix = "blk." + std::to_string(layer) + ".";
    norm(prefix + "attn_norm.weight");
    matrix(prefix + "attn_q.weight", s.width, q, m.type);
    matrix(prefix + "attn_k.weight", s.width, kv, m.type);
    matrix(prefix + "attn_v.weight", s.width, kv, m.type);
    matrix(prefix + "attn_output.weight", q, s.width, m.type);
    norm(prefix + "ffn_norm.weight");
    matrix(prefix + "ffn_gate.weight", s.width, s.ffn_width, m.type);
    matrix(prefix + "ffn_up.weight", s.width, s.ffn_width, m.type);
    matrix(prefix + "ffn_down.weight", s.ffn_width, s.width, m.type);
  }
  return out;
}

void add_vocabulary(gguf_writer& w, std::uint32_t size) {
  std::vector<std::string> pieces{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, merges;
  std::vector<std::int32_t> types(pieces.size(), 3);
  for (auto& piece : byte_pieces()) pieces.push_back(std::move(piece));
  for (const auto& [left, right] : {std::pair{"h", "e"}, {"l", "l"}, {"he", "ll"}, {"hell", "o"}, {"i", "n"}}) {
    merges.push_back(std::string(left) + " " + right);
    pieces.push_back(std::string(left) + right);
  }
  for (std::uint32_t filler = 0; pieces.size() < size; ++filler) pieces.push_back("filler" + std::to_string(filler));
  types.resize(pieces.size(), 1);
  w.add_key("tokenizer.ggml.model", "gpt2");
  w.add_key("tokenizer.ggml.pre", "smollm");
  w.add_key("tokenizer.ggml.tokens", pieces);
  w.add_key("tokenizer.ggml.token_type", types);
  w.add_key("tokenizer.ggml.merges", merges);
  w.add_key("tokenizer.ggml.bos_token_id", std::uint32_t{1});
  w.add_key("tokenizer.ggml.eos_token_id", std::uint32_t{2});
  w.add_key("tokenizer.ggml.add_bos_token", false);
}

void write_tensor(std::ofstream& out, const planned_tensor& t, random_bytes& random) {
  const float sd = 1.0f / std::sqrt(static_cast<float>(t.columns));
  std::vector<std::byte> bytes;
  const auto put = [&] {
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  };
  for (std::size_t done = 0; done < t.blocks();) {
    const std::size_t count = std::min(blocks_at_once, t.blocks() - done);
    bytes.resize(count * info_of(t.type).block_bytes);
    if (t.norm) {
      for (std::size_t i = 0; i < count; ++i) {
        const float value = 0.9f + 0.2f * random.unit();
        std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
      }
    } else {
      make_blocks(t.type, bytes, sd, random);
    }
    put();
    done += count;
  }
  bytes.assign(t.padded() - t.bytes(), std::byte{0});
  put();
}

}  // namespace

std::optional<synthetic_shape> synthetic_shape_named(std::string_view name) {
  const auto* found = std::ranges::find(shapes, name, &synthetic_shape::name);
  return found == shapes.end() ? std::nullopt : std::optional(*found);
}

tensor_type embedding_type(tensor_type type) {
  return type == tensor_type::q4_k ? tensor_type::q6_k : type;
}

void write_synthetic_model(const std::filesystem::path& path, const synthetic_model& model) {
  const synthetic_shape& s = model.shape;
  const std::vector<planned_tensor> tensors = tensors_of(model);
  gguf_writer header;
  header.add_key("general.architecture", "llama");
  header.add_key("general.name", "synthetic " + std::string(s.name));
  header.add_key("llama.context_length", model.context);
  header.add_key("llama.embedding_length", s.width);
  header.add_key("llama.block_count", s.layers);
  header.add_key("llama.feed_forward_length", s.ffn_width);
  header.add_key("llama.attention.head_count", s.heads);
  header.add_key("llama.attention.head_count_kv", s.kv_heads);
  header.add_key("llama.attention.key_length", s.head_dim);
  header.add_key("llama.attention.value_length", s.head_dim);
  header.add_key("llama.rope.dimension_count", s.head_dim);
  header.add_key("llama.rope.freq_base", 1e6f);
  header.add_key("llama.attention.layer_norm_rms_epsilon", 1e-6f);
  add_vocabulary(header, model.vocabulary);
  std::uint64_t offset = 0;
  for (const planned_tensor& t : tensors) {
    std::vector<std::uint64_t> shape{t.columns};
    if (!t.norm) shape.push_back(t.rows);
    header.add_raw_tensor(t.name, static_cast<std::uint32_t>(t.type), std::move(shape), offset);
    offset += t.padded();
  }
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  const std::vector<std::byte> front = header.build();
  out.write(reinterpret_cast<const char*>(front.data()), static_cast<std::streamsize>(front.size()));
  random_bytes random(model.seed);
  for (const planned_tensor& t : tensors) write_tensor(out, t, random);
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace infer::test_support
