"""Writes tiny random gemma3 checkpoints as GGUF files and hub folders, with the logits that Hugging Face's modelling code gives for them.

usage: tiny_gemma3_checkpoints.py FOLDER [NAME…]     (needs: torch, transformers, accelerate, gguf)
NAMEs are variants; without one all are written.

Files and checks as in tiny_llama_checkpoints.py. The window is shorter than the text and there are layers of both kinds,
so that windows and both rotations are seen. The wrapped one is a folder as of the models that see images: its
configuration names what google/gemma-3-4b-it's does and leaves the rest to the class, and has no GGUF file.
"""

import json
import pathlib
import sys

import gguf
import numpy as np
import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM, Gemma3ForCausalLM, Gemma3TextConfig

from hub_folders import write_hub
from tiny_llama_checkpoints import POSITIONS, VOCABULARY, logits_of, randomise

BASE = dict(vocab_size=VOCABULARY, hidden_size=32, intermediate_size=24, num_hidden_layers=7, num_attention_heads=4,
            num_key_value_heads=1, head_dim=16, query_pre_attn_scalar=16, max_position_embeddings=256, rms_norm_eps=1e-6,
            sliding_window=16, hidden_activation="gelu_pytorch_tanh", attention_bias=False)
GLOBAL = {"rope_type": "default", "rope_theta": 1000000.0}
LINEAR = {"rope_type": "linear", "rope_theta": 1000000.0, "factor": 8.0}
LOCAL = {"rope_type": "default", "rope_theta": 10000.0}
VARIANTS = {
    "gemma3_window": (dict(), GLOBAL),
    "gemma3_linear_rope": (dict(num_hidden_layers=6, head_dim=24, query_pre_attn_scalar=24, num_key_value_heads=2,
                                sliding_window=20), LINEAR),
    "gemma3_local_only": (dict(num_hidden_layers=3, num_attention_heads=2, sliding_window=9), GLOBAL),
    "gemma3_wrapped": (dict(num_hidden_layers=6, hidden_size=8, sliding_window=12), LINEAR),
}
WRAPPED = ("gemma3_wrapped",)
CLASS_VALUES = ("num_attention_heads", "num_key_value_heads", "head_dim", "query_pre_attn_scalar",
                "max_position_embeddings", "rms_norm_eps")
NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
         "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
         "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
         "input_layernorm": "attn_norm", "post_attention_layernorm": "post_attention_norm",
         "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm"}
TOP_NAMES = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}


def file_name(name):
    if name in TOP_NAMES:
        return TOP_NAMES[name]
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{NAMES[rest.removesuffix('.weight')]}.weight"


def centre_norms(model):
    """The norms of this family multiply by 1 + weight; multiples of 2⁻¹⁰ make that sum exact."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter.copy_(torch.round((parameter - 1) * 1024) / 1024)


def write(path, model):
    config = model.config
    rope = config.rope_parameters["full_attention"]
    writer = gguf.GGUFWriter(str(path), "gemma3")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_sliding_window(config.sliding_window)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    if rope["rope_type"] == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    writer.add_tokenizer_model("llama")
    writer.add_token_list([f"t{i}" for i in range(config.vocab_size)])
    writer.add_token_scores([-float(i) for i in range(config.vocab_size)])
    writer.add_token_types([1] * config.vocab_size)
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    for name, parameter in model.named_parameters():
        values = parameter.detach().numpy()
        writer.add_tensor(file_name(name), np.ascontiguousarray(values + 1 if "norm" in name else values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_wrapped(folder, model):
    named = ("hidden_size", "intermediate_size", "num_hidden_layers", "sliding_window")
    text = {name: getattr(model.config, name) for name in named}
    text |= {"model_type": "gemma3_text", "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}
    config = {"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "text_config": text,
              "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 4}}
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    tensors = {"language_model." + name: tensor.detach() for name, tensor in model.named_parameters()}
    tensors["vision_tower.vision_model.embeddings.patch_embedding.weight"] = torch.zeros(4, 3, 2, 2)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def check_class_values(folder, model):
    read = AutoConfig.from_pretrained(folder).text_config
    for name in (*CLASS_VALUES, "rope_parameters", "layer_types", "hidden_activation"):
        if getattr(read, name) != getattr(model.config, name):
            raise SystemExit(f"{folder}: transformers reads another {name}: {getattr(read, name)}")


def check_read_back(path, model):
    read = AutoModelForCausalLM.from_pretrained(str(path.parent), gguf_file=path.name, dtype=torch.float32,
                                                attn_implementation="eager").eval()
    written = dict(model.named_parameters())
    for name, parameter in read.named_parameters():
        if not torch.equal(parameter, written[name]):
            raise SystemExit(f"{path.name}: transformers reads back another {name}")


def main():
    folder, wanted = pathlib.Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (name, (changes, rope)) in enumerate(VARIANTS.items()):
        if wanted and name not in wanted:
            continue
        base = {k: v for k, v in BASE.items() if name not in WRAPPED or k not in CLASS_VALUES}
        config = Gemma3TextConfig(**(base | changes))
        config.rope_parameters = {"full_attention": dict(rope), "sliding_attention": dict(LOCAL)}
        config._attn_implementation = "eager"
        model = Gemma3ForCausalLM(config).float().eval()
        randomise(model, 7000 + seed)
        centre_norms(model)
        ids = np.random.default_rng(seed).integers(0, VOCABULARY, POSITIONS).tolist()
        logits = logits_of(model, ids)
        header = np.array([POSITIONS, VOCABULARY, *ids], dtype="<i4").tobytes()
        (folder / f"{name}.logits").write_bytes(header + logits.astype("<f4").tobytes())
        if name in WRAPPED:
            write_wrapped(folder / name, model)
            check_class_values(folder / name, model)
        else:
            path = folder / f"{name}.gguf"
            write(path, model)
            write_hub(folder / name, model)
            check_read_back(path, model)
        print(f"{name}: {config.layer_types}; logits within {np.abs(logits).max():.1f}")


if __name__ == "__main__":
    main()
