#!/usr/bin/env python3
"""OpenAI's own Python client against `infer-node serve` with a real model: openai_client_test.py BINARY.

INFER_TEST_MODEL names the model file. Prints `N passed, M failed`; exits non-zero where a case failed.
"""
import asyncio
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
    assert chunks[-1].choices[0].finish_reason == "length" and chunks[-1].timings["predicted_n"] == 2, chunks[-1]
    assert all(c.choices and c.usage is None for c in chunks)


@case
def a_stream_can_be_left(client):
    def leave():
        with ask(client, "Count from one to a hundred.", stream=True, max_tokens=400, extra_body={"ignore_eos": True}) as stream:
            next(stream)
    SERVER.stops_computing_after(leave, 400)
    assert ask(client, max_tokens=1).usage.completion_tokens == 1


@case
def an_answer_that_is_cancelled_is_not_computed_on(client):
    async def cancel():
        async with openai.AsyncOpenAI(base_url=str(client.base_url), api_key="unused", max_retries=0) as other:
            asked = asyncio.create_task(other.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "Count."}], max_tokens=400, extra_body={"ignore_eos": True}))
            await asyncio.to_thread(SERVER.until_it_computes)
            asked.cancel()
            try:
                await asked
            except asyncio.CancelledError:
                return
            raise AssertionError("the answer had come")
    SERVER.stops_computing_after(lambda: asyncio.run(cancel()), 400)


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
                          ({"max_tokens": -2}, "max_tokens"), ({"stop": [""]}, "stop"), ({"top_p": 1.5}, "top_p"),
                          ({"extra_body": {"seed": "x"}}, "seed"), ({"frequency_penalty": 3}, "frequency_penalty"), ({"logit_bias": {"1": 200}}, "logit_bias.1"),
                          ({"extra_body": {"mirostat": 3}}, "mirostat"), ({"extra_body": {"samplers": ["magic"]}}, "samplers"), ({"response_format": {"type": "json_object"}}, "response_format.type")]:
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
    e = refused(openai.NotFoundError, lambda: client.images.generate(prompt="x"))
    assert e.code == "unknown_url", e.body


@case
def completions_take_several_prompts(client):
    alone = [client.completions.create(model=MODEL, prompt=p, max_tokens=5, n=2, seed=2, temperature=1).choices for p in ("One,", "The sea")]
    both = client.completions.create(model=MODEL, prompt=["One,", "The sea"], max_tokens=5, n=2, seed=2, temperature=1)
    assert [c.index for c in both.choices] == [0, 1, 2, 3]
    assert [c.text for c in both.choices] == [c.text for choices in alone for c in choices]
    assert both.usage.completion_tokens == 20


@case
def an_echo_begins_the_answer_and_has_the_prompts_logprobs(client):
    prompt = "The capital of France is"
    plain = client.completions.create(model=MODEL, prompt=prompt, temperature=0, max_tokens=3, logprobs=1).choices[0]
    for stream in (False, True):
        made = client.completions.create(model=MODEL, prompt=prompt, temperature=0, max_tokens=3, logprobs=1, echo=True, stream=stream)
        choices = [c.choices[0] for c in made] if stream else [made.choices[0]]
        text = "".join(c.text for c in choices)
        tokens = [t for c in choices if c.logprobs for t in c.logprobs.tokens]
        values = [v for c in choices if c.logprobs for v in c.logprobs.token_logprobs]
        offsets = [o for c in choices if c.logprobs for o in c.logprobs.text_offset]
        assert text == prompt + plain.text and "".join(tokens) == text, (text, tokens)
        assert values[0] is None and all(v <= 0 for v in values[1:]), values
        assert values[-3:] == plain.logprobs.token_logprobs, (values, plain.logprobs)
        assert [text[o:].startswith(t) for o, t in zip(offsets, tokens)] == [True] * len(tokens)
    scored = client.completions.create(model=MODEL, prompt=prompt, max_tokens=0, logprobs=0, echo=True)
    assert scored.choices[0].text == prompt and scored.usage.completion_tokens == 0
    assert scored.choices[0].logprobs.token_logprobs == values[:-3]


@case
def the_best_of_several_is_the_most_likely(client):
    ask_for = dict(model=MODEL, prompt="Once upon a time", max_tokens=6, seed=9, temperature=1.2)
    all_of_them = client.completions.create(n=6, logprobs=0, **ask_for).choices
    best = client.completions.create(n=2, best_of=6, **ask_for)
    mean = {c.text: sum(c.logprobs.token_logprobs) / len(c.logprobs.token_logprobs) for c in all_of_them}
    expected = sorted(mean, key=mean.get, reverse=True)[:2]
    assert [c.text for c in best.choices] == expected and [c.index for c in best.choices] == [0, 1], (best.choices, mean)
    assert best.choices[0].logprobs is None and best.usage.completion_tokens == 36
    e = refused(openai.BadRequestError, lambda: client.completions.create(n=1, best_of=2, stream=True, **ask_for))
    assert e.param == "best_of", e.body


@case
def a_suffix_needs_a_model_that_fills_in(client):
    e = refused(openai.BadRequestError, lambda: client.completions.create(model=MODEL, prompt="a", suffix="b"))
    assert e.param == "suffix", e.body
    e = refused(openai.BadRequestError, lambda: client.post("/infill", body={"input_prefix": "a", "input_suffix": "b"}, cast_to=dict[str, object]))
    assert e.param == "input_suffix", e.body


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


@case
def embeddings_compare_texts(client):
    texts = ["A cat sat on the mat.", "The cat lay on a rug.", "Interest rates rose by two percent."]
    made = client.embeddings.create(model=MODEL, input=texts)
    vectors = [d.embedding for d in made.data]
    assert [d.index for d in made.data] == [0, 1, 2] and made.model == MODEL
    assert len({len(v) for v in vectors}) == 1 and len(vectors[0]) == 576
    assert all(abs(dot(v, v) - 1) < 1e-4 for v in vectors)
    assert dot(vectors[0], vectors[1]) > dot(vectors[0], vectors[2]), "what means the same is nearer"
    assert made.usage.prompt_tokens == made.usage.total_tokens > 15
    as_numbers = client.embeddings.create(model=MODEL, input=texts[0], encoding_format="float").data[0].embedding
    assert max(abs(a - b) for a, b in zip(as_numbers, vectors[0])) < 1e-7
    ids = client.post("/tokenize", body={"content": texts[0]}, cast_to=dict[str, list[int]])["tokens"]
    assert client.embeddings.create(model=MODEL, input=[ids, ids]).data[1].embedding == vectors[0]
    short = client.embeddings.create(model=MODEL, input=texts[0], dimensions=32).data[0].embedding
    assert len(short) == 32 and abs(dot(short, short) - 1) < 1e-4
    for pooling in ("last", "cls"):
        other = client.embeddings.create(model=MODEL, input=texts[0], extra_body={"pooling": pooling}).data[0].embedding
        assert other != vectors[0]


@case
def embeddings_refuse_what_is_no_input(client):
    for fields, param in [({"input": ""}, "input"), ({"input": []}, "input"), ({"input": ["a", ""]}, "input[1]"), ({"input": [1] * 513}, "input"),
                          ({"input": "a", "dimensions": 9999}, "dimensions")]:
        e = refused(openai.BadRequestError, lambda: client.embeddings.create(model=MODEL, **fields))
        assert e.param == param, (fields, e.body)


@case
def every_sampling_parameter_is_taken_and_repeats(client):
    extras = [{"typical_p": 0.5}, {"mirostat": 1}, {"mirostat": 2, "mirostat_tau": 3}, {"dynatemp_range": 0.7}, {"top_n_sigma": 1},
              {"xtc_probability": 1, "xtc_threshold": 0.05}, {"dry_multiplier": 2, "dry_allowed_length": 1}, {"repeat_penalty": 1.5},
              {"samplers": ["temperature", "min_p"], "min_p": 0.2}]
    made = []
    for extra in extras:
        texts = [ask(client, "Tell a story.", seed=5, temperature=1, max_tokens=12, extra_body=extra).choices[0].message.content for _ in range(2)]
        assert texts[0] == texts[1], extra
        made.append(texts[0])
    assert len(set(made)) > 4, made
    greedy = ask(client, "Say yes.", max_tokens=1, logprobs=True).choices[0]
    first = client.post("/tokenize", body={"content": greedy.message.content}, cast_to=dict[str, list[int]])["tokens"][0]
    other = ask(client, "Say yes.", max_tokens=1, logit_bias={str(first): -100}).choices[0]
    assert other.message.content != greedy.message.content
    forced = ask(client, "Say yes.", max_tokens=3, logit_bias={str(first): 100}, presence_penalty=0).choices[0]
    assert forced.message.content == greedy.message.content * 3, forced
    loop = ask(client, "Count.", max_tokens=20, frequency_penalty=2, presence_penalty=2).choices[0].message.content
    assert loop


@case
def what_was_sent_to_be_given_back_is(client):
    made = ask(client, max_tokens=1, metadata={"a": "b"}, service_tier="auto", store=False, user="me")
    assert made.service_tier == "default" and made.metadata == {"a": "b"}, made
    assert ask(client, max_tokens=1).service_tier is None


@case
def a_repeated_prompt_is_cached(client):
    text = "Repeat after me: " + "and so on, " * 30
    ask(client, text, max_tokens=1)
    made = ask(client, text, max_tokens=1)
    assert made.usage.prompt_tokens_details.cached_tokens > 50, made.usage
    assert made.timings["cache_n"] == made.usage.prompt_tokens_details.cached_tokens
    assert made.timings["prompt_n"] + made.timings["cache_n"] == made.usage.prompt_tokens


@case
def the_native_routes_tell_of_the_server(client):
    props = client.get("/props", cast_to=dict[str, object])
    assert props["total_slots"] >= 1 and "im_start" in props["chat_template"] and props["model_path"].endswith(".gguf")
    assert props["default_generation_settings"]["n_ctx"] == 512
    with ask(client, "Count from one to a hundred.", stream=True, max_tokens=400, extra_body={"ignore_eos": True}) as stream:
        next(stream)
        slots = client.get("/slots", cast_to=list[dict[str, object]])
        assert len(slots) == props["total_slots"] and sum(s["is_processing"] for s in slots) >= 1, slots
    body = {"messages": [{"role": "user", "content": "hi"}]}
    prompt = client.post("/apply-template", body=body, cast_to=dict[str, object])["prompt"]
    assert prompt.endswith("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"), prompt


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
    global MODEL, SERVER
    if len(sys.argv) != 2 or not os.environ.get("INFER_TEST_MODEL"):
        sys.exit("usage: INFER_TEST_MODEL=FILE openai_client_test.py BINARY")
    binary, path = sys.argv[1], os.environ["INFER_TEST_MODEL"]
    MODEL = os.path.splitext(os.path.basename(path))[0]
    results = []
    with server_process(binary, "-m", path, "-c", "512", "--log-level", "warn") as server:
        SERVER = server
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
