// Random weights and a vocabulary of bytes.
#include "tests/support/tiny_llama.h"

#include <cmath>
#include <string>
#include <vector>

#include "engine/quant/blocks.h"
#include "tests/support/byte_pieces.h"
#include "tests/support/random_blocks.h"

namespace infer::test_support {
namespace {

void add_vocabulary(gguf_writer& w) {
  std::vector<std::string> pieces{"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
  std::vector<std::int32_t> types(3, 3);
  for (auto& piece : byte_pieces()) pieces.push_back(piece);
  for (int filler = 0; pieces.size() < tiny_vocabulary; ++filler) pieces.push_back("filler" + std::to_string(filler));
  types.resize(pieces.size(), 1);
  w.add_key("tokenizer.ggml.model", "gpt2");
  w.add_key("tokenizer.ggml.pre", "smollm");
  w.add_key("tokenizer.ggml.tokens", pieces);
  w.add_key("tokenizer.ggml.token_type", types);
  w.add_key("tokenizer.ggml.merges", std::vector<std::string>{});
  w.add_key("tokenizer.ggml.bos_token_id", std::uint32_t{tiny_im_start});
  w.add_key("tokenizer.ggml.eos_token_id", std::uint32_t{tiny_im_end});
  w.add_key("tokenizer.ggml.add_bos_token", false);
  w.add_key("tokenizer.chat_template",
            "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + "
            "'<|im_end|>' + '\n' }}"
            "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}");
}

class weights {
 public:
  weights(gguf_writer& w, const tiny_llama& shape) : w_(w), shape_(shape) {}

  void matrix(const std::string& name, std::uint64_t columns, std::uint64_t rows) {
    // Uniform with the variance that keeps activations near 1.
    const float amplitude = 1.7f / std::sqrt(static_cast<float>(columns)) * 1.7f;
    std::vector<float> values = random_floats(columns * rows, seed_++, amplitude);
    if (!has_quantizer(shape_.type))
      w_.add_tensor(name, shape_.type, {columns, rows},
                    random_blocks(shape_.type, columns * rows / info_of(shape_.type).block_elements, seed_++));
    else
      w_.add_tensor(name, shape_.type, {columns, rows}, quantize(shape_.type, values));
  }

  void norm(const std::string& name) {
    std::vector<float> values = random_floats(shape_.width, seed_++, 0.2f);
    for (float& v : values) v += 1.0f;
    w_.add_tensor(name, {shape_.width}, values);
  }

 private:
  gguf_writer& w_;
  const tiny_llama& shape_;
  std::uint32_t seed_ = shape_.seed * 1000;
};

}  // namespace

gguf_writer tiny_llama_writer(const tiny_llama& shape) {
  gguf_writer w;
  w.add_key("general.architecture", "llama");
  w.add_key("llama.context_length", shape.context);
  w.add_key("llama.embedding_length", shape.width);
  w.add_key("llama.block_count", shape.layers);
  w.add_key("llama.feed_forward_length", shape.ffn_width);
  w.add_key("llama.attention.head_count", shape.heads);
  w.add_key("llama.attention.head_count_kv", shape.kv_heads);
  w.add_key("llama.attention.key_length", shape.head_dim);
  w.add_key("llama.attention.value_length", shape.head_dim);
  w.add_key("llama.rope.dimension_count", shape.head_dim);
  w.add_key("llama.rope.freq_base", 10000.0f);
  w.add_key("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  add_vocabulary(w);
  weights add(w, shape);
  const std::uint64_t width = shape.width, q = shape.heads * shape.head_dim, kv = shape.kv_heads * shape.head_dim;
  add.matrix("token_embd.weight", width, tiny_vocabulary);
  add.norm("output_norm.weight");
  if (!shape.tied) add.matrix("output.weight", width, tiny_vocabulary);
  for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
    const std::string prefix = "blk." + std::to_string(layer) + ".";
    add.norm(prefix + "attn_norm.weight");
    add.matrix(prefix + "attn_q.weight", width, q);
    add.matrix(prefix + "attn_k.weight", width, kv);
    add.matrix(prefix + "attn_v.weight", width, kv);
    add.matrix(prefix + "attn_output.weight", q, width);
    add.norm(prefix + "ffn_norm.weight");
    add.matrix(prefix + "ffn_gate.weight", width, shape.ffn_width);
    add.matrix(prefix + "ffn_up.weight", width, shape.ffn_width);
    add.matrix(prefix + "ffn_down.weight", shape.ffn_width, width);
  }
  return w;
}

void write_tiny_llama(const std::filesystem::path& path, const tiny_llama& shape) {
  tiny_llama_writer(shape).write(path);
}

}  // namespace infer::test_support
