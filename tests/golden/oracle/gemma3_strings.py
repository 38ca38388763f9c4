"""Writes golden strings of gemma3's tokenizer, ids from llama.cpp, and the part of its vocabulary that they need.

usage: gemma3_strings.py MODEL.gguf LIBRARIES OUTPUT_FOLDER        (needs: gguf, numpy)

OUTPUT_FOLDER/vocabulary.gguf holds, in their order and with their scores, all byte and user-defined tokens, some control
tokens, and every normal piece that occurs in one of the strings: only such pieces take part in encoding them, so the
whole vocabulary would give the same pieces. OUTPUT_FOLDER/strings.jsonl has one line per string as in
tokenizer_strings.py, with ids of that file.
"""

import json
import pathlib
import random
import sys

import gguf

import llama_cpp
from tokenizer_strings import generators

PER_CLASS = 40
SEED = 20250312
CONTROL = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<start_of_turn>", "<end_of_turn>", "<unused7>", "<unused62>"]
UNKNOWN, CONTROL_TYPE, USER_DEFINED, BYTE, NORMAL = 2, 3, 4, 6, 1


def own_classes(user_defined):
    def runs(rnd):
        return "".join(rnd.choice(["\n", " ", "\t", "\u2581", "a", " b", "."]) * rnd.choice([1, 2, 3, 4, 8, 15, 31, 32, 35])
                       for _ in range(rnd.randint(1, 6)))

    def tags(rnd):
        return "".join(rnd.choice([" ", "", "x", "1 "]) + rnd.choice(user_defined) for _ in range(rnd.randint(1, 5)))

    def bytes_only(rnd):
        return "".join(rnd.choice(["\U0001F9FF", "\u0D9E", "\u1E9E", "\U000104A0", "\u2FDF", "\uA4F4", "\x01", "\x7F", "<0x0A>"]) +
                       rnd.choice(["", " ", "ab"]) for _ in range(rnd.randint(1, 5)))

    return {"runs": runs, "tags": tags, "bytes_only": bytes_only}


def main():
    path, libraries, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    fields = gguf.GGUFReader(path).fields
    pieces = fields["tokenizer.ggml.tokens"].contents()
    types = fields["tokenizer.ggml.token_type"].contents()
    scores = fields["tokenizer.ggml.scores"].contents()
    user_defined = [p for p, t in zip(pieces, types) if t == USER_DEFINED]
    model = llama_cpp.Model(libraries, path, context=64)

    rows = {}
    for name, make in {**generators(CONTROL), **own_classes(user_defined)}.items():
        rnd = random.Random(f"{SEED} {name}")
        wanted = len(rows) + PER_CLASS
        while len(rows) < wanted:
            text = make(rnd)
            if text in rows or "\x00" in text:
                continue
            rows[text] = (model.tokenize(text, False), model.tokenize(text, True))

    haystack = "\x00".join(rows).replace(" ", "\u2581")
    kept = [i for i, (piece, kind) in enumerate(zip(pieces, types))
            if kind in (UNKNOWN, USER_DEFINED, BYTE) or piece in CONTROL or kind == NORMAL and piece in haystack]
    renamed = {old: new for new, old in enumerate(kept)}

    folder.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(str(folder / "vocabulary.gguf"), "gemma3")
    writer.add_tokenizer_model("llama")
    writer.add_token_list([pieces[i] for i in kept])
    writer.add_token_scores([scores[i] for i in kept])
    writer.add_token_types([types[i] for i in kept])
    for key in ("bos", "eos", "unk", "pad"):
        old = fields[{"unk": "tokenizer.ggml.unknown_token_id", "pad": "tokenizer.ggml.padding_token_id"}.get(
            key, f"tokenizer.ggml.{key}_token_id")].contents()
        getattr(writer, f"add_{key}_token_id")(renamed[old])
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with open(folder / "strings.jsonl", "w", encoding="utf-8") as out:
        for text, (plain, parsed) in rows.items():
            row = {"t": text, "p": [renamed[i] for i in plain]}
            if parsed != plain:
                row["s"] = [renamed[i] for i in parsed]
            out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"{len(rows)} strings, {len(kept)} of {len(pieces)} tokens, from llama.cpp {model.version}")


if __name__ == "__main__":
    main()
