#!/usr/bin/env python3
"""LangChain's OpenAI classes against `infer-node serve` with a real model: langchain_client_test.py BINARY.

INFER_TEST_MODEL names the model file. Exits non-zero where a case failed.
"""
import asyncio
import os
import sys

import openai
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI, OpenAI, OpenAIEmbeddings

from server_process import server_process


def chat(url, **fields):
    return ChatOpenAI(base_url=url + "/v1", api_key="unused", model=MODEL, max_retries=0, timeout=60, **{"temperature": 0, "max_tokens": 8, **fields})


def answers(url):
    made = chat(url).invoke("Name the capital of France.")
    assert "Paris" in made.content, made
    assert made.usage_metadata["output_tokens"] <= 8 and made.response_metadata["finish_reason"] in ("stop", "length")


def keeps_a_conversation(url):
    made = chat(url).invoke([SystemMessage("Be short."), HumanMessage("Hello."), AIMessage("Hello."), HumanMessage("Name the capital of France.")])
    assert made.content


def streams_the_same(url):
    whole = chat(url).invoke("Name the capital of France.")
    pieces = list(chat(url, stream_usage=True).stream("Name the capital of France."))
    assert len(pieces) > 2 and "".join(p.content for p in pieces) == whole.content
    assert [p.usage_metadata for p in pieces if p.usage_metadata][-1]["output_tokens"] == whole.usage_metadata["output_tokens"]


def makes_several(url):
    made = chat(url, n=2, temperature=1, seed=3).generate([[HumanMessage("Tell a story.")]])
    texts = [g.text for g in made.generations[0]]
    assert len(texts) == 2 and texts[0] != texts[1], texts


def stops_and_repeats(url):
    text = chat(url).invoke("Name the capital of France.").content
    stop = text[len(text) // 2:][:3]
    assert chat(url, stop_sequences=[stop]).invoke("Name the capital of France.").content == text[:text.index(stop)]
    seeded = [chat(url, seed=7, temperature=0.8).invoke("Tell a story.").content for _ in range(2)]
    assert seeded[0] == seeded[1], seeded


def has_logprobs(url):
    made = chat(url, logprobs=True, top_logprobs=2).invoke("Name the capital of France.")
    rows = made.response_metadata["logprobs"]["content"]
    assert "".join(r["token"] for r in rows) == made.content and len(rows[0]["top_logprobs"]) == 2


def completes(url):
    llm = OpenAI(base_url=url + "/v1", api_key="unused", model=MODEL, max_retries=0, temperature=0, max_tokens=4)
    assert "Paris" in llm.invoke("The capital of France is")
    assert len(llm.generate(["One,", "Two,"]).generations) == 2


def embeds(url):
    model = OpenAIEmbeddings(base_url=url + "/v1", api_key="unused", model=MODEL, check_embedding_ctx_length=False)
    vectors = model.embed_documents(["A cat sat on the mat.", "Interest rates rose."])
    near = model.embed_query("The cat lay on a rug.")
    a, b = (sum(x * y for x, y in zip(near, v)) for v in vectors)
    assert len(near) == 576 and a > b, (a, b)


def raises_the_right_errors(url):
    for fields, kind in [({"model": "nothing"}, openai.NotFoundError), ({"temperature": 3}, openai.BadRequestError)]:
        try:
            chat(url, **fields).invoke("x") if "model" not in fields else ChatOpenAI(
                base_url=url + "/v1", api_key="unused", max_retries=0, **fields).invoke("x")
        except kind as e:
            assert e.body["code"], e.body
            continue
        raise AssertionError(f"no {kind.__name__}")


def leaves_a_stream(url):
    def leave():
        pieces = chat(url, max_tokens=400, extra_body={"ignore_eos": True}).stream("Count from one to a hundred.")
        next(pieces)
        pieces.close()
    SERVER.stops_computing_after(leave, 400)


def cancels_an_answer(url):
    async def cancel():
        asked = asyncio.create_task(chat(url, max_tokens=400, extra_body={"ignore_eos": True}).ainvoke("Count."))
        await asyncio.to_thread(SERVER.until_it_computes)
        asked.cancel()
        try:
            await asked
        except asyncio.CancelledError:
            return
        raise AssertionError("the answer had come")
    SERVER.stops_computing_after(lambda: asyncio.run(cancel()), 400)


def main():
    global MODEL, SERVER
    if len(sys.argv) != 2 or not os.environ.get("INFER_TEST_MODEL"):
        sys.exit("usage: INFER_TEST_MODEL=FILE langchain_client_test.py BINARY")
    binary, path = sys.argv[1], os.environ["INFER_TEST_MODEL"]
    MODEL = os.path.splitext(os.path.basename(path))[0]
    cases = [answers, keeps_a_conversation, streams_the_same, makes_several, stops_and_repeats, has_logprobs, completes, embeds, raises_the_right_errors,
             leaves_a_stream, cancels_an_answer]
    failed = 0
    with server_process(binary, "-m", path, "-c", "512", "--log-level", "warn") as server:
        SERVER = server
        for case in cases:
            try:
                case(server.url)
                print(f"ok      langchain {case.__name__}", flush=True)
            except Exception as e:  # a case may fail in any way; the next one runs all the same
                failed += 1
                print(f"FAILED  langchain {case.__name__}: {type(e).__name__}: {e}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
