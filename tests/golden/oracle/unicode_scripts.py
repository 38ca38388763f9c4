"""Prints which characters `tokenizers` puts into one script, as rows for engine/tokenize/scripts.cc.

usage: unicode_scripts.py     (needs: tokenizers)

A row is the first character of a range times 256, plus the number of its script; 0 belongs to any. The numbers only tell
scripts apart, in the order in which they first occur.
"""

from tokenizers import pre_tokenizers

COLUMNS = 11


def main():
    cut = pre_tokenizers.UnicodeScripts().pre_tokenize_str
    together = lambda text: len(cut(text)) == 1
    first_of, rows, before = [], [], None
    for code in (c for c in range(0x110000) if not 0xD800 <= c < 0xE000):
        character = chr(code)
        if together("a" + character + "a") and together("\u4e00" + character + "\u4e00"):
            script = 0
        else:
            script = next((i for i, first in enumerate(first_of, 1) if together(first + character)), None)
            if script is None:
                first_of.append(character)
                script = len(first_of)
        if script != before:
            rows.append(f"0x{code << 8 | script:x}")
            before = script
    for start in range(0, len(rows), COLUMNS):
        print(f"    {', '.join(rows[start:start + COLUMNS])},")


if __name__ == "__main__":
    main()
