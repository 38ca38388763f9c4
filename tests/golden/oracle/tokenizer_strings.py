"""Writes the golden strings of SmolLM2's tokenizer: 12 classes, ids from `tokenizers` with the model's own recipe.

usage: tokenizer_strings.py MODEL.gguf OUTPUT_FOLDER        (needs: gguf, tokenizers)

One file per class, one line per string: {"t": text, "p": ids with control tokens not parsed, "s": ids with them parsed}.
"s" is left out where it equals "p".
"""

import json
import pathlib
import random
import sys

import gguf
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

PER_CLASS = 400
SEED = 20240611


def load(path):
    fields = gguf.GGUFReader(path).fields
    pieces = fields["tokenizer.ggml.tokens"].contents()
    types = fields["tokenizer.ggml.token_type"].contents()
    merges = [tuple(m.split(" ", 1)) for m in fields["tokenizer.ggml.merges"].contents()]
    control = [p for p, t in zip(pieces, types) if t == 3]

    def build(with_special):
        made = Tokenizer(models.BPE(vocab={p: i for i, p in enumerate(pieces)}, merges=merges))
        made.pre_tokenizer = pre_tokenizers.Sequence([
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ])
        if with_special:
            made.add_special_tokens([AddedToken(c, special=True, normalized=False) for c in control])
        return made

    return build(False), build(True), control


SCRIPTS = [(0x41, 0x7A), (0xC0, 0x24F), (0x370, 0x3FF), (0x400, 0x52F), (0x531, 0x586), (0x5D0, 0x5EA), (0x620, 0x64A),
           (0x905, 0x939), (0x985, 0x9B9), (0xE01, 0xE30), (0x10D0, 0x10F0), (0x1200, 0x1248), (0x3041, 0x3096),
           (0x30A1, 0x30FA), (0x4E00, 0x9FA5), (0xAC00, 0xD7A3), (0x10330, 0x1034A), (0x1D400, 0x1D454)]
DIGITS = [0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xE50, 0x17E0, 0xFF10, 0x1D7CE, 0x2460, 0x2160, 0xBC, 0x2070,
          0x3021, 0x3220, 0x1F100, 0x10107]
WORDS = ("the quick brown fox jumps over lazy dog hello world model token stream actor engine nothing everything "
         "internationalization cache straße naïve façade café Zürich привет мир κόσμος 東京 你好 世界 안녕 שלום سلام").split()
CODE = ["def f(x):\n\treturn x**2\n", "for (int i = 0; i < n; ++i) {\n    a[i] += b[i];\n}", "if x == 1:\n    pass\n",
        "std::vector<std::uint32_t> v{1, 2, 3};", "SELECT * FROM t WHERE a >= 10;", "<div class=\"x\">&nbsp;</div>",
        "{\"key\": [1, 2.5, null, true]}", "#include <cstdint>\n", "fn main() { println!(\"{:?}\", x); }", "λ x → x + 1",
        "a = b if c else d  # note", "/* comment */", "x->y.z(&w)[0]", "\t\t\tif (!p) return -1;\r\n", "$HOME/bin:$PATH"]
EMOJI = ["😀", "👍🏽", "👨‍👩‍👧‍👦", "🇩🇪", "🇫🇷", "❤️", "1️⃣", "🏳️‍🌈", "☺", "🧑🏿‍🚀", "🫠", "©", "™", "🤷🏻‍♀️"]
MISSING = [chr(c) for c in (0x04, 0x06, 0x13, 0x14, 0x16, 0x1D, 0x00, 0x01, 0x7F, 0x85, 0xA0, 0xAD)] + \
          [chr(c) for c in (0x40, 0x7F, 0x10FFFF, 0x100000, 0xFFFFF, 0xC0000, 0xE0001, 0x50000, 0xFFFD, 0xFEFF, 0x180E)]


def words(rnd, low=1, high=6):
    return " ".join(rnd.choice(WORDS) for _ in range(rnd.randint(low, high)))


def generators(control):
    def scripts(rnd):
        out = ""
        for _ in range(rnd.randint(1, 5)):
            low, high = rnd.choice(SCRIPTS)
            out += "".join(chr(rnd.randint(low, high)) for _ in range(rnd.randint(1, 6))) + rnd.choice(["", " ", "  ", ", "])
        return out

    def digits(rnd):
        out = ""
        for _ in range(rnd.randint(1, 5)):
            base = rnd.choice(DIGITS)
            out += "".join(chr(base + rnd.randint(0, 2)) for _ in range(rnd.randint(1, 4)))
            out += rnd.choice(["", " ", ".", ",", "a", " b", "  ", "\n"])
        return out

    def marks(rnd):
        return "".join(rnd.choice("aeiounAEIn कखأبא") + "".join(
            chr(rnd.choice([0x300, 0x301, 0x308, 0x327, 0x20DD, 0x93E, 0x94D, 0x64B, 0x5B0, 0xE31, 0x200D]))
            for _ in range(rnd.randint(0, 3))) for _ in range(rnd.randint(1, 10)))

    def emoji(rnd):
        return "".join(rnd.choice(EMOJI) + rnd.choice(["", "", " ", "a", "!", "7"]) for _ in range(rnd.randint(1, 6)))

    def spaces(rnd):
        return "".join(rnd.choice(["\r\n", "\n", "\r", " ", "\t", "\u00a0", "\u2003", "\u3000", "\u2028", "\x0b", "\x0c",
                                   "\x1f", "\u200b", "x", "1", "."]) * rnd.choice([1, 1, 2, 3, 9, 17])
                       for _ in range(rnd.randint(1, 8)))

    def missing(rnd):
        return "".join(rnd.choice(MISSING) if rnd.random() < 0.5 else rnd.choice("ab cé1 .") for _ in range(rnd.randint(1, 14)))

    def code(rnd):
        return "".join(rnd.choice(CODE) + rnd.choice(["", "\n", "  "]) for _ in range(rnd.randint(1, 2)))

    def specials(rnd):
        out = ""
        for _ in range(rnd.randint(1, 4)):
            text = rnd.choice(control)
            cut = rnd.random()
            if cut < 0.2:
                text = text[:rnd.randint(1, len(text) - 1)]
            elif cut < 0.3:
                text = text[rnd.randint(1, len(text) - 1):]
            out += rnd.choice(["", " ", "a", "word", "<", "|", "\n", "1"]) + text + rnd.choice(["", " ", "b", ">", "_x", "user\n"])
        return out

    def urls(rnd):
        host = rnd.choice(["example.org", "a-b.co.uk", "127.0.0.1:8080", "bücher.example"])
        tail = "".join(rnd.choice(["/", "x", "q=1", "&", "%20", "#top", "?", "~u", ".html", "_", "-", "v2"])
                       for _ in range(rnd.randint(1, 8)))
        return rnd.choice(["http://", "https://", "mailto:me@", "ftp://", "see www."]) + host + tail

    def long_words(rnd):
        return "".join(rnd.choice([w for w in WORDS if w.isalpha()] + ["aaaaaaaaaaaa", "zq", "ing", "ABC"])
                       for _ in range(rnd.randint(3, 9)))

    def contractions(rnd):
        return " ".join(rnd.choice(["I", "we", "it", "you", "they", "Who", "x"]) + rnd.choice(["'", "'", "’", " '"]) +
                        rnd.choice(["s", "t", "re", "ve", "m", "ll", "d", "S", "LL", "x", "sa", "llo", "1"])
                        for _ in range(rnd.randint(1, 5)))

    simple = {"scripts": scripts, "digits": digits, "marks": marks, "emoji": emoji, "spaces": spaces, "missing": missing,
              "code": code, "specials": specials, "urls": urls, "long_words": long_words, "contractions": contractions}

    def mixed(rnd):
        parts = [rnd.choice(list(simple.values()))(rnd)[:16] for _ in range(2)] + [words(rnd, 1, 3)]
        rnd.shuffle(parts)
        return "".join(parts)

    return {**simple, "mixed": mixed}


def main():
    plain, special, control = load(sys.argv[1])
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in generators(control).items():
        rnd = random.Random(f"{SEED} {name}")
        seen = {}
        while len(seen) < PER_CLASS:
            text = make(rnd)
            if text in seen:
                continue
            row = {"t": text, "p": plain.encode(text, add_special_tokens=False).ids}
            parsed = special.encode(text, add_special_tokens=False).ids
            if parsed != row["p"]:
                row["s"] = parsed
            seen[text] = row
        with open(folder / f"{name}.jsonl", "w", encoding="utf-8") as out:
            for row in seen.values():
                out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
