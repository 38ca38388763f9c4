"""Writes what `tokenizers` makes of hard strings with each vocabulary of the cache: hashes of the ids, string by string.

usage: vocabulary_ids.py SMOLLM2.gguf VOCABULARIES_FOLDER GOLDEN_FOLDER        (needs: gguf, tokenizers)

VOCABULARIES_FOLDER/NAME/tokenizer.json gives GOLDEN_FOLDER/vocabularies/NAME.hashes, one line per string: six hex digits
of the ids' hash, then, where decoding does not give the text back, six of what it gives. The strings are those of
GOLDEN_FOLDER/tokenizer, file by file, then those of NAME.strings, which hold this vocabulary's added tokens and are
written here, too. The first line holds the ids that stand before and behind a text.

GOLDEN_FOLDER/splitting/RULE.hashes has what regular expressions of tokenizers cut the same strings into, one line per 20
strings: the rules are RULES below, run by Oniguruma.
"""

import json
import pathlib
import random
import sys

import tokenizer_strings
from tokenizers import Regex, Tokenizer, decoders, pre_tokenizers

SEED = 20240611
OWN_STRINGS = 400
STRINGS_PER_LINE = 20

CT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s+(?!\S)|\s+"
TAIL = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|" + SPACES
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|" + SPACES
WORDS = r"|[^\r\n\p{L}\p{N}]?\p{L}+|"
UP, LOW = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
SLASH = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|" + SPACES


def cased(behind, up=UP, low=LOW):
    start = r"[^\r\n\p{L}\p{N}]?"
    return f"{start}{up}*{low}+{behind}|{start}{up}+{low}*{behind}"


QWEN2 = CT + WORDS + r"\p{N}|" + TAIL
GPT4O = cased(CT + "?") + r"|\p{N}{1,3}" + SLASH
NO_HAN = (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]")
CJK = "[一-龥ࠀ-一가-퟿]+"
RULES = {
    "llama-bpe": [CT + WORDS + r"\p{N}{1,3}|" + TAIL],
    "qwen2": [QWEN2],
    "qwen35": [CT + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|" + SPACES],
    "gpt-2": [GPT2],
    "smollm": [r"\p{N}", GPT2],
    "tekken": [cased("") + r"|\p{N}" + SLASH],
    "gpt-4o": [GPT4O],
    "deepseek-v3": [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
                    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"
                    r" ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|" + SPACES],
    "falcon": [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", CJK, r"\p{N}"],
    "bailingmoe": [r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|" + SPACES],
    "laguna": [r"[^\n]+|[\n]+", QWEN2],
    "kimi-k2": [r"[\p{Han}]+|" + cased(CT + "?", *NO_HAN) + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|" + SPACES],
    "tiny_aya": [r"\d{1,3}(?=(?:\d{3})*\b)", GPT4O],
    "minicpm5": [r"\p{N}{1,3}", CT + WORDS + r"\p{N}+|" + TAIL],
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
}


def fnv(data, start=0x811C9DC5):
    for byte in data:
        start = (start ^ byte) * 0x01000193 & 0xFFFFFFFF
    return start


def hash_of_ids(ids):
    return fnv(b"".join(i.to_bytes(4, "little") for i in ids))


def short(value):
    return f"{value >> 8 ^ value & 0xFF:06x}"


def shared_strings(golden):
    out = []
    for path in sorted((golden / "tokenizer").glob("*.jsonl")):
        out += [json.loads(line)["t"] for line in path.read_text(encoding="utf-8").split("\n") if line]
    return out


def own_strings(name, contents, shared):
    """Strings in which added tokens stand, whole, cut, doubled, with spaces and letters beside them."""
    rnd = random.Random(f"{SEED} {name}")
    seen = {}
    while len(seen) < OWN_STRINGS:
        text = ""
        for _ in range(rnd.randint(1, 4)):
            token = rnd.choice(contents)
            cut = rnd.random()
            if cut < 0.15:
                token = token[:rnd.randint(1, len(token))]
            elif cut < 0.25:
                token = token[rnd.randint(0, len(token) - 1):]
            text += rnd.choice(["", " ", "  ", "a", "word", "<", "|", "\n", "1", "é", "▁", rnd.choice(shared)[:8]]) + token
            text += rnd.choice(["", " ", "\n\n", "b", ">", "_x", "user\n", "▁", "中"])
        seen[text] = None
    return list(seen)


def write_vocabulary(name, made, golden, shared):
    contents = [t.content for t in made.get_added_tokens_decoder().values()]
    own = own_strings(name, contents, shared)
    framed = made.encode("x").ids
    plain = made.encode("x", add_special_tokens=False).ids
    at = next(i for i in range(len(framed)) if framed[i:i + len(plain)] == plain)
    lines = [json.dumps([framed[:at], framed[at + len(plain):]])]
    for text in shared + own:
        ids = made.encode(text, add_special_tokens=False).ids
        back = made.decode(ids, skip_special_tokens=False)
        line = short(hash_of_ids(ids))
        if back != text:
            line += " " + short(fnv(back.encode()))
        lines.append(line)
    folder = golden / "vocabularies"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.hashes").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with open(folder / f"{name}.strings", "w", encoding="utf-8") as out:
        for text in own:
            out.write(json.dumps(text, ensure_ascii=False) + "\n")
    print(name, len(lines) - 1, "strings")


def write_rule(name, expressions, golden, shared):
    splits = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(e), "isolated") for e in expressions])
    lines = []
    for start in range(0, len(shared), STRINGS_PER_LINE):
        value = 0x811C9DC5
        for text in shared[start:start + STRINGS_PER_LINE]:
            for piece, _ in splits.pre_tokenize_str(text):
                value = fnv(len(piece.encode()).to_bytes(4, "little"), value)
        lines.append(short(value))
    folder = golden / "splitting"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.hashes").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    model, vocabularies, golden = map(pathlib.Path, sys.argv[1:])
    shared = shared_strings(golden)
    for name, expressions in RULES.items():
        write_rule(name, expressions, golden, shared)
    for path in sorted(vocabularies.glob("*/tokenizer.json")):
        write_vocabulary(path.parent.name, Tokenizer.from_file(str(path)), golden, shared)
    _, smollm2, _ = tokenizer_strings.load(model)
    smollm2.decoder = decoders.ByteLevel()
    write_vocabulary("smollm2", smollm2, golden, shared)


if __name__ == "__main__":
    main()
