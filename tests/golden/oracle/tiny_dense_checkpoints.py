"""Writes tiny random checkpoints of dense families as GGUF files and hub folders, with the logits that Hugging Face's
modelling code gives.

usage: tiny_dense_checkpoints.py FOLDER [NAME…]     (needs: torch, transformers, accelerate, gguf)
NAMEs are variants; without one all are written.

Files as in tiny_llama_checkpoints.py. The names of tensors are those of gguf-py's table for the architecture; windows are
shorter than the text, and there are layers of every kind. Where transformers can read the family from GGUF, every
parameter it reads back must be the one that was written.
"""

import copy
import pathlib
import sys

import gguf
import numpy as np
import torch
import transformers
from transformers import AutoModelForCausalLM
from transformers.integrations.ggml import GGUF_CONFIG_MAPPING

from hub_folders import grouped, rewrite_config, rewrite_tensors, write_hub
from tiny_gemma3_checkpoints import centre_norms
from tiny_llama_checkpoints import LLAMA3, POSITIONS, VOCABULARY, llama3_divisors, logits_of, paired, randomise

BASE = dict(vocab_size=VOCABULARY, hidden_size=48, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=256, rms_norm_eps=1e-5, pad_token_id=None, bos_token_id=0,
            eos_token_id=1, tie_word_embeddings=True, rope_parameters={"rope_type": "default", "rope_theta": 10000.0})
GEMMA = dict(hidden_size=32, head_dim=16, num_attention_heads=4, num_key_value_heads=1, rms_norm_eps=1e-6,
             hidden_activation="gelu_pytorch_tanh")
UNTIED = dict(tie_word_embeddings=False, hidden_size=32)
# Name: architecture in the file (None: no GGUF), class, changes of the configuration. A variant's place is its seed: new
# ones go to the end. Keys of the file that only some architectures have are in write_keys.
VARIANTS = {
    "qwen2": ("qwen2", "Qwen2", dict(num_hidden_layers=3)),
    "qwen2_linear_rope": ("qwen2", "Qwen2", UNTIED | dict(
        num_key_value_heads=1, rope_parameters={"rope_type": "linear", "rope_theta": 1000000.0, "factor": 4.0})),
    "qwen3": ("qwen3", "Qwen3", dict(head_dim=16, num_hidden_layers=3)),
    "qwen3_untied": ("qwen3", "Qwen3", UNTIED | dict(head_dim=24, num_key_value_heads=4, rms_norm_eps=1e-6)),
    "gemma": ("gemma", "Gemma", GEMMA | dict(hidden_act="gelu_pytorch_tanh", num_hidden_layers=3)),
    "gemma2": ("gemma2", "Gemma2", GEMMA | dict(
        query_pre_attn_scalar=16, sliding_window=11, num_hidden_layers=4, attn_logit_softcapping=5.0,
        final_logit_softcapping=3.0)),
    "granite": ("granite", "Granite", dict(
        embedding_multiplier=3.0, attention_multiplier=0.125, residual_multiplier=0.625, logits_scaling=6.0,
        num_hidden_layers=3)),
    "granite_biases": ("granite", "Granite", UNTIED | dict(
        embedding_multiplier=0.5, attention_multiplier=0.3, residual_multiplier=0.22, logits_scaling=0.75,
        attention_bias=True, mlp_bias=True)),
    "olmo2": ("olmo2", "Olmo2", dict(num_hidden_layers=3, tie_word_embeddings=False, hidden_size=32)),
    "olmo3": ("olmo2", "Olmo3", dict(num_hidden_layers=5, hidden_size=32, sliding_window=13)),
    "smollm3": ("smollm3", "SmolLM3", dict(num_hidden_layers=5, hidden_size=32)),
    "phi3": ("phi3", "Phi3", dict(num_hidden_layers=3, tie_word_embeddings=False, hidden_size=32, sliding_window=17)),
    "phi3_partial": ("phi3", "Phi3", dict(
        num_attention_heads=3, num_key_value_heads=1, hidden_size=48, sliding_window=None, partial_rotary_factor=0.75,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.75})),
    "exaone4": ("exaone4", "Exaone4", dict(
        num_hidden_layers=5, hidden_size=32, sliding_window=13, sliding_window_pattern=4, rope_parameters=dict(LLAMA3))),
    "exaone4_full": ("exaone4", "Exaone4", UNTIED | dict(
        sliding_window=None, num_key_value_heads=1, layer_types=["full_attention"] * 2)),
    "internlm2": ("internlm2", "Llama", dict(attention_bias=True)),
    "cohere": ("command-r", "Cohere", dict(logit_scale=0.25, layer_norm_eps=1e-5)),
    "cohere_biases": ("command-r", "Cohere", dict(
        logit_scale=1.5, layer_norm_eps=1e-3, attention_bias=True, num_key_value_heads=1, hidden_size=32)),
    "cohere2": ("cohere2", "Cohere2", dict(
        num_hidden_layers=5, hidden_size=32, head_dim=16, sliding_window=12, logit_scale=0.5, layer_norm_eps=1e-5)),
    "starcoder2": ("starcoder2", "Starcoder2", dict(
        hidden_size=32, norm_epsilon=1e-5, use_bias=True, hidden_act="gelu_pytorch_tanh", sliding_window=None)),
    "starcoder2_window": (None, "Starcoder2", dict(
        hidden_size=32, norm_epsilon=1e-5, use_bias=True, hidden_act="gelu_pytorch_tanh", sliding_window=12)),
    "mistral": (None, "Mistral", UNTIED | dict(sliding_window=13)),
    "ministral": (None, "Ministral", UNTIED | dict(
        head_dim=16, sliding_window=11, num_hidden_layers=4,
        layer_types=["sliding_attention", "full_attention", "full_attention", "sliding_attention"])),
    "ministral3": ("mistral3", "Ministral3", UNTIED | dict(head_dim=16, num_hidden_layers=3, rope_parameters=dict(
        rope_type="yarn", rope_theta=10000.0, factor=8.0, original_max_position_embeddings=16, beta_fast=32.0,
        beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.3))),
    "llama_yarn": ("llama", "Llama", UNTIED | dict(head_dim=16, rope_parameters=dict(
        rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=32))),
    "olmo3_yarn": ("olmo2", "Olmo3", dict(
        num_hidden_layers=5, hidden_size=32, sliding_window=13, rope_parameters={
            "full_attention": dict(rope_type="yarn", rope_theta=500000.0, factor=8.0, attention_factor=1.3,
                                   original_max_position_embeddings=32, beta_fast=32.0, beta_slow=1.0),
            "sliding_attention": dict(rope_type="default", rope_theta=500000.0)})),
    "phi3_long": ("phi3", "Phi3", UNTIED | dict(
        sliding_window=None, original_max_position_embeddings=24, max_position_embeddings=192, rope_parameters=dict(
            rope_type="longrope", rope_theta=10000.0, original_max_position_embeddings=24,
            short_factor=[1.0, 1.25, 1.5, 2.0], long_factor=[1.0, 3.5, 9.0, 20.5]))),
    "phi3_short": ("phi3", "Phi3", UNTIED | dict(
        sliding_window=17, original_max_position_embeddings=64, max_position_embeddings=192, rope_parameters=dict(
            rope_type="longrope", rope_theta=10000.0, original_max_position_embeddings=64,
            short_factor=[1.0, 1.25, 1.5, 2.0], long_factor=[1.0, 3.5, 9.0, 20.5]))),
    "internlm3": (None, "Llama", UNTIED | dict(attention_bias=True, head_dim=16)),
    "qwen2_window": (None, "Qwen2", dict(
        num_hidden_layers=3, use_sliding_window=True, sliding_window=12, max_window_layers=1)),
    "qwen3_sharded": (None, "Qwen3", dict(head_dim=16, num_hidden_layers=2)),
    "gpt2": ("gpt2", "GPT2", dict(
        n_positions=64, n_embd=48, n_layer=2, n_head=4, n_inner=None, layer_norm_epsilon=1e-5,
        activation_function="gelu_new")),
    "glm4": ("glm4", "Glm4", dict(head_dim=16, num_hidden_layers=3, hidden_size=32)),
    "glm4_quarter": ("glm4", "Glm4", UNTIED | dict(
        attention_bias=False, head_dim=24, num_key_value_heads=1,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25})),
    "cohere_norms": ("command-r", "Cohere", dict(
        logit_scale=0.8, layer_norm_eps=1e-5, use_qk_norm=True, head_dim=16, hidden_size=64)),
    "gemma_untied": (None, "Gemma", GEMMA | dict(hidden_act="gelu_pytorch_tanh", tie_word_embeddings=False)),
    "gemma2_own_head": (None, "Gemma2", GEMMA | dict(
        query_pre_attn_scalar=16, sliding_window=11, tie_word_embeddings=False)),
    "cohere_untied": (None, "Cohere", UNTIED | dict(logit_scale=0.25, layer_norm_eps=1e-5)),
    "cohere2_untied": (None, "Cohere2", UNTIED | dict(
        head_dim=16, sliding_window=12, logit_scale=0.5, layer_norm_eps=1e-5)),
    "llama_yarn_whole": (None, "Llama", UNTIED | dict(head_dim=16, rope_parameters=dict(
        rope_type="yarn", rope_theta=10000.0, factor=4.0))),
    "qwen3_window_yarn": (None, "Qwen3", dict(
        head_dim=16, num_hidden_layers=3, use_sliding_window=True, sliding_window=12, max_window_layers=1,
        rope_parameters=dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=32))),
    "gpt2_erf": (None, "GPT2", dict(
        n_positions=64, n_embd=48, n_layer=3, n_head=4, n_inner=40, layer_norm_epsilon=1e-5,
        activation_function="gelu", scale_attn_by_inverse_layer_idx=True)),
    "llama_gelu": (None, "Llama", UNTIED | dict(head_dim=16, hidden_act="gelu")),
    "smollm3_window": (None, "SmolLM3", dict(num_hidden_layers=5, hidden_size=32, use_sliding_window=True, sliding_window=12)),
    "ministral3_window": (None, "Ministral3", dict(
        head_dim=16, num_hidden_layers=3, hidden_size=32, sliding_window=12, rope_parameters=dict(
            rope_type="yarn", rope_theta=10000.0, factor=1.0, original_max_position_embeddings=32,
            llama_4_scaling_beta=0.1))),
}
# Saved with a configuration that calls the head tied, which transformers does not where both are there and differ.
CALLED_TIED = ("gemma2_own_head",)
PAIRED = ("granite", "smollm3", "internlm2", "llama", "mistral3")
SHARDED = ("qwen3_sharded",)
CENTRED = ("gemma", "gemma2")


def head_dim_of(config):
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def rope_of(config):
    if not getattr(config, "rope_parameters", None):
        return {"rope_type": "default"}
    return config.rope_parameters.get("full_attention", config.rope_parameters)


def write_scaling(writer, rope, config):
    writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    if rope["rope_type"] == "longrope":
        factor = config.max_position_embeddings / rope["original_max_position_embeddings"]
        writer.add_rope_scaling_attn_factors((1 + np.log(factor) / np.log(rope["original_max_position_embeddings"])) ** 0.5)
        return
    writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    writer.add_rope_scaling_factor(rope["factor"])
    if rope.get("attention_factor"):
        writer.add_rope_scaling_attn_factors(rope["attention_factor"])
    if rope.get("mscale_all_dim"):
        writer.add_rope_scaling_yarn_log_mul(rope["mscale_all_dim"])
    if "llama_4_scaling_beta" in rope:
        writer.add_attn_temperature_scale(rope["llama_4_scaling_beta"])


def write_keys(writer, architecture, config):
    rope = rope_of(config)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(4 * config.hidden_size if architecture == "gpt2" else config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    if architecture == "gpt2":
        writer.add_layer_norm_eps(config.layer_norm_epsilon)
        return
    writer.add_head_count_kv(config.num_key_value_heads)
    if hasattr(config, "norm_epsilon"):
        writer.add_layer_norm_eps(config.norm_epsilon)
    elif hasattr(config, "layer_norm_eps"):
        writer.add_layer_norm_eps(config.layer_norm_eps)
        writer.add_logit_scale(config.logit_scale)
    else:
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(rope["rope_theta"])
    if head_dim_of(config) * config.num_attention_heads != config.hidden_size:
        writer.add_key_length(head_dim_of(config))
        writer.add_value_length(head_dim_of(config))
    if rope["rope_type"] == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    if rope["rope_type"] in ("yarn", "longrope"):
        write_scaling(writer, rope, config)
    if architecture in ("phi3", "glm4"):
        writer.add_rope_dimension_count(int(head_dim_of(config) * rope.get("partial_rotary_factor", 1.0)))
    if architecture in ("gemma2", "phi3", "olmo2", "exaone4", "cohere2") and getattr(config, "sliding_window", None):
        writer.add_sliding_window(config.sliding_window)
    if architecture == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if architecture == "granite":
        writer.add_attention_scale(config.attention_multiplier)
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_logit_scale(config.logits_scaling)


def write_vocabulary(writer, size):
    writer.add_vocab_size(size)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([f"t{i}" for i in range(size)])
    writer.add_token_types([1] * size)
    writer.add_token_merges(["t 0"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)


def write(path, architecture, model):
    config = model.config
    writer = gguf.GGUFWriter(str(path), architecture)
    write_keys(writer, architecture, config)
    write_vocabulary(writer, config.vocab_size)
    kind = next(k for k, v in gguf.MODEL_ARCH_NAMES.items() if v == architecture)
    names = gguf.get_tensor_name_map(kind, config.num_hidden_layers)
    for name, parameter in model.named_parameters():
        values = parameter.detach().numpy()
        if architecture in PAIRED and ".q_proj." in name:
            values = paired(values, config.num_attention_heads)
        elif architecture in PAIRED and ".k_proj." in name:
            values = paired(values, config.num_key_value_heads)
        elif architecture in CENTRED and "norm" in name:
            values = values + 1
        elif architecture == "gpt2" and ".c_" in name and name.endswith(".weight"):
            values = values.T
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight", ".bias")), np.ascontiguousarray(values))
    if rope_of(config)["rope_type"] == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_divisors(rope_of(config), head_dim_of(config)))
    if rope_of(config)["rope_type"] == "longrope":
        for kind in ("long", "short"):
            factors = np.array(rope_of(config)[f"{kind}_factor"], dtype=np.float32)
            writer.add_tensor(f"rope_factors_{kind}.weight", factors)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_folder(folder, name, model):
    write_hub(folder, model, 60_000 if name in SHARDED else None)
    if name == "llama_yarn_whole":
        rope = {k: v for k, v in model.config.rope_parameters.items() if k != "original_max_position_embeddings"}
        rewrite_config(folder, "llama", rope_parameters=rope)
    if name in CALLED_TIED:
        rewrite_config(folder, model.config.model_type, tie_word_embeddings=True)
    if name == "internlm2":
        rewrite_tensors(folder, grouped(model))
        rewrite_config(folder, "internlm2", bias=True)
    if name == "internlm3":
        rewrite_config(folder, "internlm3", qkv_bias=True, bias=True)


def check_read_back(path, architecture, model):
    if architecture not in GGUF_CONFIG_MAPPING:
        return "not read back"
    read = AutoModelForCausalLM.from_pretrained(str(path.parent), gguf_file=path.name, config=model.config,
                                                dtype=torch.float32).eval()
    written = dict(model.named_parameters())
    for name, parameter in read.named_parameters():
        if not torch.equal(parameter, written[name]):
            raise SystemExit(f"{path.name}: transformers reads back another {name}")
    return "read back"


def main():
    folder, wanted = pathlib.Path(sys.argv[1]), sys.argv[2:]
    if unknown := set(wanted) - set(VARIANTS):
        raise SystemExit(f"no such variants: {', '.join(sorted(unknown))}")
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (name, (architecture, family, changes)) in enumerate(VARIANTS.items()):
        if wanted and name not in wanted:
            continue
        base = dict(vocab_size=VOCABULARY, bos_token_id=0, eos_token_id=1) if family == "GPT2" else BASE
        config = getattr(transformers, family + "Config")(**copy.deepcopy(base | changes))
        config._attn_implementation = "eager"
        model = getattr(transformers, family + ("LMHeadModel" if family == "GPT2" else "ForCausalLM"))(config).float().eval()
        randomise(model, 9000 + seed)
        if architecture in CENTRED:
            centre_norms(model)
        ids = np.random.default_rng(seed).integers(0, VOCABULARY, POSITIONS).tolist()
        logits = logits_of(model, ids)
        path = folder / f"{name}.gguf"
        if architecture:
            write(path, architecture, model)
        write_folder(folder / name, name, model)
        header = np.array([POSITIONS, VOCABULARY, *ids], dtype="<i4").tobytes()
        (folder / f"{name}.logits").write_bytes(header + logits.astype("<f4").tobytes())
        checked = check_read_back(path, architecture, model) if architecture else "no GGUF"
        print(f"{name}: {checked}; {getattr(config, 'layer_types', None)}; logits within "
              f"{np.abs(logits).max():.1f}")


if __name__ == "__main__":
    main()
