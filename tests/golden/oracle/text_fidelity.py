"""Writes what SmolLM2's logits on a plain text are held to: Hugging Face's distributions and llama.cpp's distance.

usage: smollm2_fidelity.py MODEL.gguf LLAMA_CPP_LIBRARIES FOLDER     (needs: torch, transformers, accelerate, gguf,
                                                                      tokenizers; FOLDER holds text.txt)

FOLDER/top64.bin: for each of 512 positions the 64 most likely ids (i32), then, again for each position, their
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
from tokenizer_strings import load

POSITIONS, TOP = 512, 64


def log_softmax(logits):
    return torch.log_softmax(torch.as_tensor(logits, dtype=torch.float64), -1).numpy()


def hugging_face(path):
    return AutoModelForCausalLM.from_pretrained(
        str(path.parent), gguf_file=path.name, dtype=torch.float32, attn_implementation="eager").eval()


def bucket_kl(p, q):
    """Mean KL over the buckets; p, q: log-probabilities [positions, TOP] of the same ids."""
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    rest_p = np.maximum(1 - np.exp(p).sum(-1), 1e-9)
    rest_q = np.maximum(1 - np.exp(q).sum(-1), 1e-9)
    return float(((np.exp(p) * (p - q)).sum(-1) + rest_p * np.log(rest_p / rest_q)).mean())


def compare(oracle, top, own):
    ids = top.indices
    return {
        "kl": bucket_kl(top.values, np.take_along_axis(own, ids, -1)),
        "kl_whole": float((np.exp(oracle) * (oracle - own)).sum(-1).mean()),
        "top1_agreement": float((oracle.argmax(-1) == own.argmax(-1)).mean()),
    }


class Top:
    def __init__(self, oracle):
        found = torch.topk(torch.as_tensor(oracle), TOP, dim=-1)
        self.indices, self.values = found.indices.numpy(), found.values.numpy().astype(np.float32)


def main():
    path, libraries, folder = map(pathlib.Path, sys.argv[1:4])
    plain, _, _ = load(path)
    ids = plain.encode((folder / "text.txt").read_text(encoding="utf-8")).ids
    if len(ids) < POSITIONS:
        raise SystemExit(f"the text has {len(ids)} tokens, fewer than {POSITIONS}")
    ids = ids[:POSITIONS]
    with torch.no_grad():
        oracle = log_softmax(hugging_face(path)(torch.tensor([ids])).logits[0])
    top = Top(oracle)
    (folder / "top64.bin").write_bytes(top.indices.astype("<i4").tobytes() + top.values.astype("<f4").tobytes())
    peer = llama_cpp.Model(libraries, path)
    variants = {name: compare(oracle, top, log_softmax(peer.logits(ids, chunk)))
                for name, chunk in (("one_batch", POSITIONS), ("token_by_token", 1))}
    bars = {"model": path.name, "positions": POSITIONS, "top": TOP, "llama_cpp": peer.version, "backend": peer.backend,
            "variants": variants, "ids": ids}
    (folder / "bars.json").write_text(json.dumps(bars, indent=1).replace(",\n  ", ", ") + "\n", encoding="utf-8")
    print(json.dumps(variants, indent=1))


if __name__ == "__main__":
    main()
