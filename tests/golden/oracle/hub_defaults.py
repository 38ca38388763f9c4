"""Writes what the configuration classes of transformers have where a config.json does not name a member.

usage: hub_defaults.py FILE     (needs: transformers)

FILE is tests/golden/hub_defaults.json: model_type → member → number; flags are numbers. Members without a class value, or
with null, are left out.
"""

import json
import pathlib
import sys

from transformers import CONFIG_MAPPING

TYPES = ("llama", "mistral", "ministral", "ministral3", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "phi3",
         "granite", "olmo2", "olmo3", "smollm3", "exaone4", "cohere", "cohere2", "gpt2", "starcoder2", "glm4")
MEMBERS = ("hidden_size", "n_embd", "num_hidden_layers", "n_layer", "intermediate_size", "max_position_embeddings",
           "n_positions", "num_attention_heads", "n_head", "num_key_value_heads", "head_dim", "rms_norm_eps",
           "layer_norm_eps", "norm_epsilon", "layer_norm_epsilon", "sliding_window", "use_sliding_window",
           "max_window_layers", "sliding_window_pattern", "attention_multiplier", "query_pre_attn_scalar",
           "attn_logit_softcapping", "final_logit_softcapping", "embedding_multiplier", "residual_multiplier",
           "logits_scaling", "logit_scale", "no_rope_layer_interval", "original_max_position_embeddings")


def defaults_of(kind):
    out = {name: getattr(kind, name) for name in MEMBERS if isinstance(getattr(kind, name, None), (int, float))}
    if kind.model_type == "gpt2":
        return out
    theta = kind.default_theta
    if isinstance(theta, dict):
        return out | {"rope_theta": theta["global"], "rope_local_base_freq": theta["local"]}
    return out | {"rope_theta": theta}


def main():
    table = {name: defaults_of(CONFIG_MAPPING[name]) for name in TYPES}
    text = json.dumps({name: {k: float(v) for k, v in sorted(row.items())} for name, row in table.items()}, indent=1)
    pathlib.Path(sys.argv[1]).write_text(text + "\n")


if __name__ == "__main__":
    main()
