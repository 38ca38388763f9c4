"""Writes the greedy texts of SmolLM2 as Hugging Face continues them, with how sure it was at each token.

usage: smollm2_greedy.py MODEL.gguf OUTPUT.json     (needs: torch, transformers, accelerate, gguf, tokenizers)

{"prompts": [{"name", "ids", "greedy", "gap"}]}: the prompt's ids, 64 ids that follow (f32, dequantized weights, no stop)
and for each of them the difference in nats between the most likely token and the next.
"""

import json
import pathlib
import sys

import torch

from text_fidelity import hugging_face
from tokenizer_strings import load

LENGTH = 64
PLAIN = [
    "The first thing I noticed about the house was",
    "Water boils at a lower temperature in the mountains because",
    "def fibonacci(n):\n",
    "1, 2, 3, 4, 5, 6,",
    "Dear Ms. Okafor,\n\nThank you for your letter of 12 March.",
    "The three primary colours of light are",
]
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
CHAT = [
    (SYSTEM, ["Name the capital of Norway."]),
    (SYSTEM, ["Write two sentences about bees."]),
    ("Answer in one word.", ["Is the sea salty?"]),
    (SYSTEM, ["How do I reverse a list in Python?"]),
    (SYSTEM, ["Hello!", "Hello! How can I help you today?", "Tell me a fact about the moon."]),
    ("You are a strict teacher.", ["What is 12 times 12?"]),
]


def chat_text(system, turns):
    text = f"<|im_start|>system\n{system}<|im_end|>\n"
    for i, turn in enumerate(turns):
        text += f"<|im_start|>{'user' if i % 2 == 0 else 'assistant'}\n{turn}<|im_end|>\n"
    return text + "<|im_start|>assistant\n"


def continue_greedily(model, prompts):
    """All prompts in one batch, padded on the left."""
    longest = max(map(len, prompts))
    ids = torch.tensor([[0] * (longest - len(p)) + p for p in prompts])
    mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts])
    model.generation_config.eos_token_id = None
    with torch.no_grad():
        out = model.generate(ids, attention_mask=mask, do_sample=False, max_new_tokens=LENGTH, pad_token_id=0,
                             output_logits=True, return_dict_in_generate=True)
    best = torch.topk(torch.stack(out.logits, 1).double(), 2)
    gaps = best.values[..., 0] - best.values[..., 1]
    return best.indices[..., 0].tolist(), [[round(gap, 6) for gap in row] for row in gaps.tolist()]


def main():
    path, output = map(pathlib.Path, sys.argv[1:3])
    plain, special, _ = load(path)
    prompts = [(text.split("\n")[0], plain.encode(text).ids) for text in PLAIN]
    prompts += [(turns[-1], special.encode(chat_text(system, turns)).ids) for system, turns in CHAT]
    model = hugging_face(path)
    lines = []
    for (name, ids), greedy, gaps in zip(prompts, *continue_greedily(model, [ids for _, ids in prompts])):
        lines.append(json.dumps({"name": name, "ids": ids, "greedy": greedy, "gap": gaps}))
        print(f"{name}: {min(gaps):.4f} nats at the closest")
    output.write_text('{"prompts": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
