#!/usr/bin/env python3
"""OpenAI's own Python client against `infer-node serve` with a real model: openai_client_test.py BINARY.

INFER_TEST_MODEL names the model file. Prints `N passed, M failed`; exits non-zero where a case failed.
"""
import math
import os
import sys
import time
import traceback

import openai

from server_process import server_process

KEY = "a key for the test"
CASES = []


def case(function):
    CASES.append(function)
    return function


def ask(client, text="Name the capital of France.", **fields):
    fields.setdefault("temperature", 0)
    fields.setdefault("max_tokens", 6)
    return client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": text}], **fields)


def refused(kind, call):
    try:
        call()
    except kind as e:
        return e
    raise AssertionError(f"no {kind.__name__}")


@case
def models_are_listed_and_retrieved(client):
    listed = client.models.list().data
    assert [m.id for m in listed] == [MODEL], listed
    assert listed[0].object == "model" and listed[0].owned_by and listed[0].created > 0
    assert client.models.retrieve(MODEL).id == MODEL


@case
def an_unknown_model_is_not_found(client):
    e = refused(openai.NotFoundError, lambda: client.models.retrieve("nothing"))
    assert e.code == "model_not_found", e.body
    e = refused(openai.NotFoundError, lambda: client.chat.completions.create(model="nothing", messages=[{"role": "user", "content": "x"}]))
    assert e.code == "model_not_found" and e.param == "model" and e.request_id, e.body


@case
def a_chat_answers(client):
    made = ask(client, max_tokens=8)
    choice, usage = made.choices[0], made.usage
    assert len(made.choices) == 1 and choice.index == 0
    assert made.object == "chat.completion" and made.id.startswith("chatcmpl-") and made.model == MODEL
    assert choice.message.role == "assistant" and choice.message.content and choice.message.refusal is None
    assert "Paris" in choice.message.content, choice.message.content
    assert choice.finish_reason in ("stop", "length") and choice.logprobs is None
    assert 0 < usage.completion_tokens <= 8 and usage.prompt_tokens > 5
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert usage.prompt_tokens_details.cached_tokens is not None
    assert made.system_fingerprint
    assert made._request_id


@case
def a_stream_has_its_parts_in_order(client):
    whole = ask(client)
    chunks = list(ask(client, stream=True, stream_options={"include_usage": True}))
    assert len({c.id for c in chunks}) == 1 and len({c.created for c in chunks}) == 1 and len({c.model for c in chunks}) == 1
    assert all(c.object == "chat.completion.chunk" for c in chunks)
    last = chunks.pop()
    assert last.choices == [] and last.usage == whole.usage, last
    assert all(c.usage is None for c in chunks)
    deltas = [c.choices[0] for c in chunks]
    assert deltas[0].delta.role == "assistant" and deltas[0].delta.content == ""
    assert all(d.delta.role is None for d in deltas[1:])
    assert [d.finish_reason for d in deltas] == [None] * (len(deltas) - 1) + [whole.choices[0].finish_reason]
    assert "".join(d.delta.content or "" for d in deltas) == whole.choices[0].message.content


@case
def a_stream_without_include_usage_has_no_usage(client):
    chunks = list(ask(client, stream=True, max_tokens=2))
    assert all(c.choices and c.usage is None for c in chunks)


@case
def a_stream_can_be_left(client):
    with ask(client, "Count from one to a hundred.", stream=True, max_tokens=200) as stream:
        next(stream)
    assert ask(client, max_tokens=1).usage.completion_tokens == 1


@case
def a_stop_string_ends_the_answer_and_is_not_shown(client):
    text = ask(client).choices[0].message.content
    stop = text[len(text) // 2:][:3]
    for stream in (False, True):
        made = ask(client, stop=[stop, "never in the answer"], stream=stream)
        if stream:
            deltas = [c.choices[0] for c in made]
            shown, reason = "".join(d.delta.content or "" for d in deltas), deltas[-1].finish_reason
        else:
            shown, reason = made.choices[0].message.content, made.choices[0].finish_reason
        assert shown == text[:text.index(stop)], (stream, stop, shown, text)
        assert reason == "stop", reason


@case
def a_seed_gives_the_same_bytes_twice(client):
    first, second = (ask(client, "Tell a story.", seed=7, temperature=0.8, max_tokens=8).choices[0].message.content for _ in range(2))
    other = ask(client, "Tell a story.", seed=8, temperature=0.8, max_tokens=8).choices[0].message.content
    assert first == second, (first, second)
    assert first != other, first


@case
def several_choices_differ_and_repeat(client):
    def contents(stream):
        made = ask(client, "Tell a story.", n=2, seed=3, temperature=1, max_tokens=6, stream=stream)
        if not stream:
            assert [c.index for c in made.choices] == [0, 1]
            assert made.usage.completion_tokens == 12, made.usage
            return [c.message.content for c in made.choices]
        texts, ends, roles = ["", ""], [0, 0], [0, 0]
        for chunk in made:
            for choice in chunk.choices:
                texts[choice.index] += choice.delta.content or ""
                ends[choice.index] += choice.finish_reason is not None
                roles[choice.index] += choice.delta.role is not None
        assert ends == [1, 1] and roles == [1, 1], (ends, roles)
        return texts

    whole = contents(False)
    assert whole[0] != whole[1], whole
    assert contents(True) == whole


@case
def logprobs_belong_to_the_text(client):
    choice = ask(client, logprobs=True, top_logprobs=3).choices[0]
    rows = choice.logprobs.content
    assert "".join(r.token for r in rows) == choice.message.content
    assert b"".join(bytes(r.bytes) for r in rows).decode() == choice.message.content
    for row in rows:
        assert len(row.top_logprobs) == 3
        assert math.isfinite(row.logprob) and row.logprob <= 0
        best = row.top_logprobs[0]
        assert (best.token, best.logprob) == (row.token, row.logprob), "greedy takes the most likely"
        assert [t.logprob for t in row.top_logprobs] == sorted((t.logprob for t in row.top_logprobs), reverse=True)
    streamed = [r for c in ask(client, logprobs=True, top_logprobs=3, stream=True) for x in c.choices if x.logprobs for r in x.logprobs.content]
    assert streamed == rows


@case
def token_limits_hold(client):
    for name in ("max_tokens", "max_completion_tokens"):
        for limit in (0, 1, 3):
            made = ask(client, "Count from one to a hundred.", **{"max_tokens": openai.NOT_GIVEN, name: limit})
            assert made.usage.completion_tokens == limit, (name, limit, made.usage)
            assert made.choices[0].finish_reason == "length"


@case
def a_conversation_with_every_role_answers(client):
    made = client.chat.completions.create(model=MODEL, temperature=0, max_tokens=2, messages=[
        {"role": "developer", "content": "Be short."},
        {"role": "user", "content": [{"type": "text", "text": "Say "}, {"type": "text", "text": "hello."}]},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Again."}])
    assert made.usage.completion_tokens == 2


@case
def completions_answer(client):
    made = client.completions.create(model=MODEL, prompt="The capital of France is", temperature=0, max_tokens=4, logprobs=2)
    choice = made.choices[0]
    assert made.object == "text_completion" and made.id.startswith("cmpl-")
    assert "Paris" in choice.text, choice.text
    assert choice.finish_reason == "length" and made.usage.completion_tokens == 4
    assert "".join(choice.logprobs.tokens) == choice.text
    assert len(choice.logprobs.token_logprobs) == len(choice.logprobs.top_logprobs) == len(choice.logprobs.text_offset) == 4
    chunks = list(client.completions.create(model=MODEL, prompt="The capital of France is", temperature=0, max_tokens=4, stream=True,
                                            stream_options={"include_usage": True}))
    assert "".join(c.choices[0].text for c in chunks if c.choices) == choice.text
    assert chunks[-1].usage == made.usage and chunks[-2].choices[0].finish_reason == "length"


@case
def completions_take_token_ids(client):
    ids = client.post("/tokenize", body={"content": "The capital of France is"}, cast_to=dict[str, list[int]])["tokens"]
    made = client.completions.create(model=MODEL, prompt=ids, temperature=0, max_tokens=2)
    assert made.usage.prompt_tokens == len(ids)


@case
def a_bad_field_is_a_bad_request_that_names_it(client):
    for fields, param in [({"temperature": 3}, "temperature"), ({"n": 0}, "n"), ({"top_logprobs": 3}, "top_logprobs"),
                          ({"max_tokens": -1}, "max_tokens"), ({"stop": [""]}, "stop"), ({"top_p": 1.5}, "top_p"),
                          ({"extra_body": {"seed": "x"}}, "seed"), ({"response_format": {"type": "json_object"}}, "response_format.type")]:
        e = refused(openai.BadRequestError, lambda: ask(client, **fields))
        assert e.param == param and e.type == "invalid_request_error" and e.request_id, (fields, e.body)
    e = refused(openai.BadRequestError, lambda: client.chat.completions.create(model=MODEL, messages=[]))
    assert e.param == "messages", e.body
    e = refused(openai.BadRequestError, lambda: client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "x"}, {"role": "user", "content": 5}]))
    assert e.param == "messages[1].content", e.body


@case
def a_prompt_beyond_the_context_is_refused_with_both_numbers(client):
    ids = [1] * 513
    e = refused(openai.BadRequestError, lambda: client.completions.create(model=MODEL, prompt=ids, max_tokens=1))
    assert e.code == "context_length_exceeded" and "513" in e.message and "512" in e.message, e.body


@case
def an_unknown_url_is_not_found(client):
    e = refused(openai.NotFoundError, lambda: client.embeddings.create(model=MODEL, input="x"))
    assert e.code == "unknown_url", e.body


def a_wrong_key_is_refused_and_the_right_one_is_not(url):
    for key in ("wrong", KEY + "x", KEY[:-1]):
        e = refused(openai.AuthenticationError, lambda: openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0).models.list())
        assert e.code == "invalid_api_key" and e.request_id, e.body
    assert openai.OpenAI(base_url=url + "/v1", api_key=KEY, max_retries=0).models.list().data


def run(name, function, *arguments):
    start = time.monotonic()
    try:
        function(*arguments)
    except Exception:  # a case may fail in any way; the next one runs all the same
        traceback.print_exc()
        print(f"FAILED  {name}", flush=True)
        return False
    print(f"ok      {name} ({time.monotonic() - start:.1f} s)", flush=True)
    return True


def main():
    global MODEL
    if len(sys.argv) != 2 or not os.environ.get("INFER_TEST_MODEL"):
        sys.exit("usage: INFER_TEST_MODEL=FILE openai_client_test.py BINARY")
    binary, path = sys.argv[1], os.environ["INFER_TEST_MODEL"]
    MODEL = os.path.splitext(os.path.basename(path))[0]
    results = []
    with server_process(binary, "-m", path, "-c", "512", "--log-level", "warn") as server:
        with openai.OpenAI(base_url=server.url + "/v1", api_key="unused", max_retries=0, timeout=60) as client:
            results += [run(f.__name__, f, client) for f in CASES]
        results.append(run("the_server_ends_with_0", lambda: check_exit(server)))
    with server_process(binary, "-m", path, "-c", "512", "--log-level", "warn", "--api-key", KEY) as server:
        f = a_wrong_key_is_refused_and_the_right_one_is_not
        results.append(run(f.__name__, f, server.url))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


def check_exit(server):
    code = server.terminate()
    assert code == 0, (code, server.log)


if __name__ == "__main__":
    sys.exit(main())
