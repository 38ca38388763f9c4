"""Writes tiny random llama checkpoints as GGUF files and hub folders, with the logits that Hugging Face's modelling code gives for them.

usage: tiny_llama_checkpoints.py FOLDER     (needs: torch, transformers, accelerate, gguf)

Per variant FOLDER/NAME.gguf, the folder FOLDER/NAME and FOLDER/NAME.logits: i32 positions, i32 vocabulary, the ids (i32), then the logits f32
[positions, vocabulary], little-endian. Every parameter is drawn anew, norms around 1, biases around 0, so that none is
left at a value that hides it. Every parameter that transformers reads back from the file must be the one that was
written, and the logits of the plain variants the same (its reader knows neither scaled positions nor biases).
"""

import pathlib
import sys

import gguf
import numpy as np
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

from hub_folders import write_hub

POSITIONS = 48
VOCABULARY = 200
BASE = dict(vocab_size=VOCABULARY, hidden_size=64, intermediate_size=56, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=256, rms_norm_eps=1e-5, tie_word_embeddings=True,
            attention_bias=False, mlp_bias=False, rope_parameters={"rope_type": "default", "rope_theta": 10000.0})
LLAMA3 = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}
VARIANTS = {
    "plain_tied": dict(num_hidden_layers=3, intermediate_size=32),
    "plain_untied": dict(tie_word_embeddings=False, head_dim=24, intermediate_size=24, rms_norm_eps=1e-6,
                         rope_parameters={"rope_type": "default", "rope_theta": 500000.0}),
    "linear_rope": dict(num_key_value_heads=1,
                        rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}),
    "llama3_rope": dict(rope_parameters=LLAMA3),
    "biases": dict(attention_bias=True, mlp_bias=True, num_key_value_heads=4, intermediate_size=40),
}


def randomise(model, seed):
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=random)
            if "norm" in name:
                parameter.copy_(1 + 0.2 * noise.clamp(-2.5, 2.5))
            elif name.endswith("bias"):
                parameter.copy_(0.3 * noise)
            else:
                parameter.copy_(noise * (1.5 / parameter.shape[-1] ** 0.5))


def paired(values, heads):
    """Rows (i, i + d/2) of each head side by side, as llama files hold q and k."""
    head_dim = values.shape[0] // heads
    return values.reshape(heads, 2, head_dim // 2, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)


NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
         "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
         "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
TOP_NAMES = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
             "lm_head.weight": "output.weight"}


def file_name(name):
    if name in TOP_NAMES:
        return TOP_NAMES[name]
    _, _, layer, rest = name.split(".", 3)
    module, kind = rest.rsplit(".", 1)
    return f"blk.{layer}.{NAMES[module]}.{kind}"


def llama3_divisors(rope, head_dim):
    """What each inverse frequency is divided by, from the definition of llama3 scaling."""
    out = []
    for i in range(head_dim // 2):
        wavelength = 2 * np.pi * rope["rope_theta"] ** (2 * i / head_dim)
        original, factor = rope["original_max_position_embeddings"], rope["factor"]
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        if wavelength < original / high:
            out.append(1.0)
        elif wavelength > original / low:
            out.append(factor)
        else:
            smooth = (original / wavelength - low) / (high - low)
            out.append(1 / ((1 - smooth) / factor + smooth))
    return np.array(out, dtype=np.float32)


def write(path, model):
    config = model.config
    rope = config.rope_parameters
    head_dim = config.head_dim
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_rope_dimension_count(head_dim)
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    if rope["rope_type"] == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([f"t{i}" for i in range(config.vocab_size)])
    writer.add_token_types([1] * config.vocab_size)
    writer.add_token_merges(["t 0"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    for name, parameter in model.named_parameters():
        values = parameter.detach().numpy()
        if ".q_proj." in name:
            values = paired(values, config.num_attention_heads)
        elif ".k_proj." in name:
            values = paired(values, config.num_key_value_heads)
        writer.add_tensor(file_name(name), np.ascontiguousarray(values))
    if rope["rope_type"] == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_divisors(rope, head_dim))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def logits_of(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].float().numpy()


def check_read_back(path, model, ids, logits):
    read = AutoModelForCausalLM.from_pretrained(str(path.parent), gguf_file=path.name, dtype=torch.float32,
                                                attn_implementation="eager").eval()
    written = dict(model.named_parameters())
    for name, parameter in read.named_parameters():
        if not torch.equal(parameter, written[name]):
            raise SystemExit(f"{path.name}: transformers reads back another {name}")
    if path.stem.startswith("plain") and not np.allclose(logits_of(read, ids), logits, rtol=0, atol=1e-6):
        raise SystemExit(f"{path.name}: transformers reads back another model")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (name, changes) in enumerate(VARIANTS.items()):
        options = BASE | changes
        options.setdefault("head_dim", options["hidden_size"] // options["num_attention_heads"])
        config = LlamaConfig(**options)
        config._attn_implementation = "eager"
        model = LlamaForCausalLM(config).float().eval()
        randomise(model, 4000 + seed)
        ids = np.random.default_rng(seed).integers(0, VOCABULARY, POSITIONS).tolist()
        logits = logits_of(model, ids)
        path = folder / f"{name}.gguf"
        write(path, model)
        write_hub(folder / name, model)
        header = np.array([POSITIONS, VOCABULARY, *ids], dtype="<i4").tobytes()
        (folder / f"{name}.logits").write_bytes(header + logits.astype("<f4").tobytes())
        check_read_back(path, model, ids, logits)
        print(f"{name}: {path.stat().st_size} bytes; logits within {np.abs(logits).max():.1f}")


if __name__ == "__main__":
    main()
