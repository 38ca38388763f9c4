"""Writes small tokenizers of every kind of step, and what `tokenizers` makes of the shared strings with each.

usage: tokenizer_steps.py GOLDEN_FOLDER        (needs: tokenizers)

GOLDEN_FOLDER/tokenizer_steps/models.json has a few small models, which are trained where that file is not there (a
unigram model comes out another one each time), cases.json the steps around them by name, and
NAME.hashes one line per 20 strings of GOLDEN_FOLDER/tokenizer: hashes of all their ids, and of all they decode to.
"""

import json
import pathlib
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from vocabulary_ids import STRINGS_PER_LINE, fnv, shared_strings, short

PIECES = 600
BYTE_PIECES = [f"<0x{i:02X}>" for i in range(256)]
ADDED = [("<s>", dict(special=True)), ("<tool>", dict(normalized=True)), ("the", dict(single_word=True, normalized=False)),
         ("fox", dict(lstrip=True, rstrip=True, normalized=True)), ("<|end|>", dict(special=True, normalized=False))]


def trained(kind, strings):
    made = Tokenizer({"bytes": models.BPE(), "characters": models.BPE(), "unigram": models.Unigram()}[kind])
    if kind == "bytes":
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(vocab_size=PIECES, show_progress=False,
                                      initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    else:
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        if kind == "characters":
            trainer = trainers.BpeTrainer(vocab_size=PIECES, show_progress=False, limit_alphabet=200)
        else:
            trainer = trainers.UnigramTrainer(vocab_size=PIECES, show_progress=False, unk_token="<unk>",
                                              special_tokens=["<unk>"])
    made.train_from_iterator([s for s in strings if kind != "unigram" or s.isascii()], trainer)
    return json.loads(made.to_str())["model"]


def models_of(strings, file):
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    out = {kind: known.get(kind) or trained(kind, strings) for kind in ("bytes", "characters", "unigram")}
    out["whole"] = {**out["bytes"], "ignore_merges": True}
    unknown = json.loads(json.dumps(out["characters"]))
    unknown["vocab"]["<unk>"] = len(unknown["vocab"])
    out["unknown"] = {**unknown, "unk_token": "<unk>"}
    out["joined"] = {**unknown, "unk_token": "<unk>", "fuse_unk": True}
    named = json.loads(json.dumps(unknown))
    for piece in BYTE_PIECES:
        named["vocab"][piece] = len(named["vocab"])
    out["named"] = {**named, "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
    likely = json.loads(json.dumps(out["unigram"]))
    likely["vocab"] += [[piece, -20.0 - i] for i, piece in enumerate(BYTE_PIECES)]
    out["likely_bytes"] = {**likely, "byte_fallback": True}
    return out


def sequence(kind, *parts):
    return {"type": "Sequence", kind: list(parts)}


def split(pattern, behavior, invert=False, literal=False):
    return {"type": "Split", "pattern": {"String" if literal else "Regex": pattern}, "behavior": behavior, "invert": invert}


BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
BYTE_DECODER = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
SPACES = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
SPACES_BACK = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
PIECE_DECODER = sequence("decoders", SPACES_BACK, {"type": "ByteFallback"}, {"type": "Fuse"},
                         {"type": "Strip", "content": " ", "start": 1, "stop": 0})


def metaspace(scheme, cut=True):
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": cut}


def cases():
    out = {}

    def add(name, model, normalizer=None, pre_tokenizer=None, decoder=BYTE_DECODER):
        out[name] = {"model": model, "normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "decoder": decoder}

    for prefix in (False, True):
        add(f"byte_level_{prefix}".lower(), "bytes", None, {**BYTES, "use_regex": True, "add_prefix_space": prefix})
    for form in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase"):
        add(form.lower(), "bytes", {"type": form}, {**BYTES, "use_regex": True})
    add("strip_accents", "bytes", sequence("normalizers", {"type": "NFD"}, {"type": "StripAccents"}), BYTES)
    add("strip", "whole", {"type": "Strip", "strip_left": True, "strip_right": True}, {**BYTES, "use_regex": True})
    add("nmt", "bytes", {"type": "Nmt"}, BYTES)
    add("replace", "bytes", {"type": "Replace", "pattern": {"Regex": r"\s{2,}|\p{N}+"}, "content": "#"}, BYTES)
    add("normalizer_bytes", "bytes", {"type": "ByteLevel"}, split(r"Ġ?[^Ġ]+", "Isolated"))
    for behavior in ("Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"):
        for invert in (False, True):
            add(f"split_{behavior}_{invert}".lower(), "whole", None,
                sequence("pretokenizers", split(r"\s|\p{P}", behavior, invert), BYTES))
    add("split_literal", "whole", None, sequence("pretokenizers", split("an", "MergedWithNext", literal=True), BYTES))
    for one in (True, False):
        add(f"digits_{one}".lower(), "whole", None,
            sequence("pretokenizers", {"type": "Digits", "individual_digits": one}, BYTES))
    add("late_digits", "bytes", None,
        sequence("pretokenizers", {**BYTES, "use_regex": True}, {"type": "Digits", "individual_digits": True}))
    add("falcon", "bytes", None, sequence("pretokenizers", {"type": "Punctuation", "behavior": "Contiguous"},
                                          {**BYTES, "use_regex": True}, {"type": "Digits", "individual_digits": False},
                                          split("[0-9][0-9][0-9]", "Isolated")))
    for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer"):
        add(name.lower(), "whole", None, sequence("pretokenizers", {"type": name}, BYTES))
    add("delimiter", "whole", None, sequence("pretokenizers", {"type": "CharDelimiterSplit", "delimiter": "e"}, BYTES))
    for scheme in ("always", "first", "never"):
        for model in ("named", "unigram"):
            add(f"metaspace_{scheme}_{model}", model, None, metaspace(scheme),
                {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": True})
    for model in ("characters", "unknown", "joined", "named", "likely_bytes"):
        add(f"pieces_{model}", model, sequence("normalizers", {"type": "Prepend", "prepend": "▁"}, SPACES), None, PIECE_DECODER)
    add("gemma", "named", SPACES, split(" ", "MergedWithPrevious", literal=True),
        sequence("decoders", SPACES_BACK, {"type": "ByteFallback"}, {"type": "Fuse"}))
    bert = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    add("bert", "bytes", bert, sequence("pretokenizers", {"type": "BertPreTokenizer"}, BYTES))
    add("bert_cased", "characters", {**bert, "lowercase": False}, metaspace("always"), PIECE_DECODER)
    add("bert_accents", "bytes", {**bert, "clean_text": False, "handle_chinese_chars": False, "strip_accents": True,
                                  "lowercase": False}, BYTES)
    add("unicode_scripts", "bytes", None, sequence("pretokenizers", {"type": "UnicodeScripts"}, BYTES))
    add("no_decoder", "named", None, metaspace("first"), None)
    add("no_decoder_bytes", "bytes", None, {**BYTES, "use_regex": True}, None)
    add("whole_line", "unigram", {"type": "NFKC"}, metaspace("always", False), {"type": "Metaspace"} | metaspace("always", False))
    return out


def main():
    golden = pathlib.Path(sys.argv[1])
    strings = shared_strings(golden)
    folder = golden / "tokenizer_steps"
    folder.mkdir(exist_ok=True)
    small, table = models_of(strings, folder / "models.json"), cases()
    for name, value in (("models", small), ("cases", table)):
        (folder / f"{name}.json").write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    for name, case in table.items():
        model = small[case["model"]]
        known = model["vocab"] if isinstance(model["vocab"], dict) else {piece: i for i, (piece, _) in enumerate(model["vocab"])}
        added, size = [], len(known)
        for content, flags in ADDED:
            new = size + sum(one["id"] >= size for one in added)
            added.append({"id": known.get(content, new), "content": content, "single_word": False, "lstrip": False,
                          "rstrip": False, "normalized": False, "special": False, **flags})
        case["added_tokens"] = added
        text = json.dumps({"version": "1.0", "truncation": None, "padding": None, "post_processor": None, **case, "model": model})
        made = Tokenizer.from_str(text)
        lines = []
        for start in range(0, len(strings), STRINGS_PER_LINE):
            ids_hash = text_hash = 0x811C9DC5
            for text in strings[start:start + STRINGS_PER_LINE]:
                ids = made.encode(text, add_special_tokens=False).ids
                ids_hash = fnv(b"".join(i.to_bytes(4, "little") for i in ids), ids_hash)
                text_hash = fnv(made.decode(ids, skip_special_tokens=False).encode(), text_hash)
            lines.append(f"{short(ids_hash)} {short(text_hash)}")
        (folder / f"{name}.hashes").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "cases.json").write_text(json.dumps(table, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    print(len(table), "tokenizers")


if __name__ == "__main__":
    main()
