"""Saves a model as a folder of the Hugging Face hub, as small as it can be: config.json and safetensors."""

import json

import torch
from safetensors.torch import save_file


def write_hub(folder, model, shard_bytes=None):
    model.save_pretrained(folder, **({"max_shard_size": shard_bytes} if shard_bytes else {}))
    (folder / "generation_config.json").unlink(missing_ok=True)


def grouped(model):
    """q, k and v of each layer as the one matrix of internlm2: for each key/value head its queries, the key, the value."""
    config, out = model.config, {}
    head_dim = config.hidden_size // config.num_attention_heads
    groups = config.num_key_value_heads
    names = {"model.embed_tokens.weight": "model.tok_embeddings.weight", "lm_head.weight": "output.weight"}
    parts = {"input_layernorm": "attention_norm", "post_attention_layernorm": "ffn_norm", "self_attn.o_proj": "attention.wo",
             "mlp.gate_proj": "feed_forward.w1", "mlp.up_proj": "feed_forward.w3", "mlp.down_proj": "feed_forward.w2"}
    for name, tensor in model.state_dict().items():
        if any(f".{p}_proj." in name for p in "qkv") or (name == "lm_head.weight" and config.tie_word_embeddings):
            continue
        for old, new in parts.items():
            name = name.replace(old, new)
        out[names.get(name, name)] = tensor.contiguous()
    for layer, block in enumerate(model.model.layers):
        attention = block.self_attn
        shapes = [(attention.q_proj, -1), (attention.k_proj, head_dim), (attention.v_proj, head_dim)]
        for kind in ("weight", "bias"):
            if getattr(attention.q_proj, kind) is None:
                continue
            rows = [getattr(p, kind).detach().reshape(groups, size, *getattr(p, kind).shape[1:]) for p, size in shapes]
            out[f"model.layers.{layer}.attention.wqkv.{kind}"] = side_by_side(rows)
    return out


def side_by_side(rows):
    joined = torch.cat(rows, dim=1)
    return joined.reshape(-1, *joined.shape[2:]).contiguous()


def rewrite_config(folder, model_type, **changes):
    path = folder / "config.json"
    config = json.loads(path.read_text()) | {"model_type": model_type} | changes
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def rewrite_tensors(folder, tensors):
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
