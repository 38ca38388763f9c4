"""Writes tests/golden/templates/continuation.jsonl: where transformers cuts a prompt whose last message is to be continued.

usage: template_continuation.py TEMPLATES OUTPUT.jsonl        (needs: transformers, jinja2)

TEMPLATES is the folder of chat templates. One line per template and last message: {"template", "content", "end"}, the
last characters of the prompt from the user's message on, or {"template", "content", "fails": true}.
"""

import json
import pathlib
import sys

from transformers.utils.chat_template_utils import render_jinja_template

QUESTION = "What now?"
CONTENTS = ("<", "e", "end", "a|b<", "", "  ", "The sky is ", "\n\nThe", "```json\n", "<think>\nI see", "caf\u00e9\u3000")


def prompt_of(template, content, **more):
    conversation = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": content}]
    rendered, _ = render_jinja_template(conversations=[conversation], chat_template=template, continue_final_message=True,
                                        bos_token="<s>", eos_token="</s>", **more)
    return rendered[0]


def row_of(path, content):
    row = {"template": path.name, "content": content}
    for more in ({}, {"tools": []}):  # some templates take a missing list of tools for a list
        try:
            prompt = prompt_of(path.read_text(), content, **more)
        except Exception:
            continue
        return row | {"end": prompt[prompt.rindex(QUESTION):]}
    return row | {"fails": True}


def main():
    rows = [row_of(path, content) for path in sorted(pathlib.Path(sys.argv[1]).glob("*.jinja")) for content in CONTENTS]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    pathlib.Path(sys.argv[2]).write_text(text)
    print(len(rows), "rows,", sum("fails" in row for row in rows), "fail")


main()
