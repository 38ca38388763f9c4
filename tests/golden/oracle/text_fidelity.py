"""Writes what a model's logits on a plain text are held to: Hugging Face's distributions and llama.cpp's distance.

usage: text_fidelity.py MODEL.gguf LLAMA_CPP_LIBRARIES TEXT FOLDER     (needs: torch, transformers, accelerate, gguf)

FOLDER/top64.bin: for each of 2048 positions the 64 most likely ids (i32), then, again for each position, their
log-probabilities (f32), little-endian; the oracle runs in f32 on the dequantized weights.
FOLDER/bars.json: the ids of the text, and per variant of llama.cpp the mean KL(HF || llama.cpp) over those 64 and the
rest as one bucket, the same over the whole vocabulary, and how often the most likely token agrees.
"""

import json
import pathlib
import sys

import numpy as np
import torch
from transformers import AutoModelForCausalLM

import llama_cpp

POSITIONS, TOP, BLOCK = 2048, 64, 128


def blocks():
    return [slice(at, at + BLOCK) for at in range(0, POSITIONS, BLOCK)]


def hugging_face(path):
    return AutoModelForCausalLM.from_pretrained(
        str(path.parent), gguf_file=path.name, dtype=torch.float32, attn_implementation="eager").eval()


def log_softmax(logits):
    return torch.log_softmax(torch.as_tensor(logits, dtype=torch.float64), -1).numpy()


def bucket_kl(p, q):
    """KL over the buckets at each position; p, q: log-probabilities [positions, TOP] of the same ids."""
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    rest_p = np.maximum(1 - np.exp(p).sum(-1), 1e-9)
    rest_q = np.maximum(1 - np.exp(q).sum(-1), 1e-9)
    return (np.exp(p) * (p - q)).sum(-1) + rest_p * np.log(rest_p / rest_q)


def compare(logits, indices, values, own):
    kl, whole, agrees = [], [], []
    for part in blocks():
        oracle, ours = log_softmax(logits[part]), log_softmax(own[part])
        kl.append(bucket_kl(values[part], np.take_along_axis(ours, indices[part], -1)))
        whole.append((np.exp(oracle) * (oracle - ours)).sum(-1))
        agrees.append(oracle.argmax(-1) == ours.argmax(-1))
    return {"kl": float(np.concatenate(kl).mean()), "kl_whole": float(np.concatenate(whole).mean()),
            "top1_agreement": float(np.concatenate(agrees).mean())}


def main():
    path, libraries, text, folder = map(pathlib.Path, sys.argv[1:5])
    folder.mkdir(parents=True, exist_ok=True)
    peer = llama_cpp.Model(libraries, path, context=POSITIONS)
    ids = peer.with_bos(peer.tokenize(text.read_text(encoding="utf-8"), False))
    if len(ids) < POSITIONS:
        raise SystemExit(f"the text has {len(ids)} tokens, fewer than {POSITIONS}")
    ids = ids[:POSITIONS]
    model = hugging_face(path)
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0].numpy()
    del model
    indices, values = np.empty((POSITIONS, TOP), "<i4"), np.empty((POSITIONS, TOP), "<f4")
    for part in blocks():
        found = torch.topk(torch.as_tensor(log_softmax(logits[part])), TOP, dim=-1)
        indices[part], values[part] = found.indices.numpy(), found.values.numpy()
    (folder / "top64.bin").write_bytes(indices.tobytes() + values.tobytes())
    variants = {name: compare(logits, indices.astype(np.int64), values, peer.logits(ids, chunk))
                for name, chunk in (("batches_of_512", 512), ("token_by_token", 1))}
    bars = {"model": path.name, "positions": POSITIONS, "top": TOP, "llama_cpp": peer.version, "backend": peer.backend,
            "variants": variants, "ids": ids}
    (folder / "bars.json").write_text(json.dumps(bars, indent=1).replace(",\n  ", ", ") + "\n", encoding="utf-8")
    print(json.dumps(variants, indent=1))


if __name__ == "__main__":
    main()
