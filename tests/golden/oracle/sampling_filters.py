"""Writes what Hugging Face's logits processors make of random logits.

usage: sampling_filters.py OUTPUT.tsv     (needs: torch, transformers)

One case a line: filter, parameter, logits, logits afterwards (-inf for what is gone), ids before it (repetition only).
"""

import sys

import torch
from transformers.generation import logits_process as hf

torch.manual_seed(7)
CASES = ([("top_k", k) for k in (1, 5, 17, 40)] + [("top_p", p) for p in (0.1, 0.5, 0.8, 0.9, 0.99)] +
         [("min_p", p) for p in (0.02, 0.05, 0.1, 0.3)] + [("typical", p) for p in (0.2, 0.5, 0.9)] +
         [("repetition", p) for p in (0.8, 1.1, 1.3, 2.0)])
MAKE = {"top_k": lambda v: hf.TopKLogitsWarper(v), "top_p": hf.TopPLogitsWarper, "min_p": hf.MinPLogitsWarper,
        "typical": hf.TypicalLogitsWarper, "repetition": hf.RepetitionPenaltyLogitsProcessor}


def numbers(values):
    return " ".join(f"{v:.9g}" for v in values)


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        for name, value in CASES:
            for spread in (0.7, 2.0, 4.0, 6.0):
                logits = (torch.randn(1, 64) * spread).float()
                history = torch.randint(0, 64, (1, 30))
                made = MAKE[name](value)(history, logits.clone())
                cells = [name, f"{value:g}", numbers(logits[0].tolist()), numbers(made[0].tolist())]
                if name == "repetition":
                    cells.append(" ".join(map(str, history[0].tolist())))
                out.write("\t".join(cells) + "\n")


main()
