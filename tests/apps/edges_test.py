#!/usr/bin/env python3
"""The sharp edges of the OpenAI dialect against a real process: what clients rely on and local servers get wrong.

edges_test.py TINY_MODEL_WRITER; INFER_TEST_BINARY names infer-node. One test for each row of the list of edges that
concerns what the server has; its number is in the name. Not here, since they need time or a process of their own:
rows 32 (pings: tests/actors/gateway/exchange_flow_test.cc) and 34 (clients that leave: process_test.py). Rows 4 to 7
are of tool calls.
"""
import json
import math
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

from raw_http import ask, completion, get, post, raw_client, stream_text
from server_process import server_process

BINARY = os.environ.get("INFER_TEST_BINARY")
FOLDER = tempfile.TemporaryDirectory(prefix="infer-test-")
CONTEXT = 512
# The model's vocabulary: three control tokens, 256 bytes, and whole words "filler0", "filler1", …
BYTE, FILLER = 3, 3 + 256
KEY = "a key for the test"


def model():
    path = os.path.join(FOLDER.name, "tiny.gguf")
    if not os.path.exists(path):
        subprocess.run([WRITER, path, "64", "2", "96", "4096"], check=True)
    return path


def serve(*flags, context=CONTEXT):
    return server_process(BINARY, "-m", model(), "-c", str(context), "-np", "4", "--log-level", "warn", *flags)


def setUpModule():
    global SERVER
    SERVER = serve()


def tearDownModule():
    code = SERVER.terminate()
    assert code == 0 and not [line for line in SERVER.log if " error " in line], (code, SERVER.log)


def call(path, body, status=200):
    answer = ask(SERVER.port, post(path, body))
    assert answer.status == status, (answer.status, answer.body)
    return answer.json()


def refused(path, body, status=400):
    return call(path, body, status)["error"]


def chat_body(content="Hello", **fields):
    return {"messages": [{"role": "user", "content": content}], "temperature": 0, "max_tokens": 12, "ignore_eos": True, **fields}


def chat(content="Hello", **fields):
    return call("/v1/chat/completions", chat_body(content, **fields))


def complete(prompt="Hello", **fields):
    return call("/v1/completions", {"prompt": prompt, "temperature": 0, "max_tokens": 12, "ignore_eos": True, **fields})


def events_of(path, body):
    """Every event of a stream but [DONE], which must come once and last."""
    with raw_client(SERVER.port) as client:
        client.send(post(path, {**body, "stream": True}))
        status, fields = client.head()
        assert status == 200, client.exactly(int(fields["content-length"]))
        events = list(client.events())
    assert events.pop() == b"[DONE]" and b"[DONE]" not in events
    return [json.loads(e) for e in events]


def chat_events(content="Hello", **fields):
    return events_of("/v1/chat/completions", chat_body(content, **fields))


def streamed(events, index=0):
    choices = [c for e in events for c in e["choices"] if c["index"] == index]
    return "".join(c["delta"].get("content") or "" for c in choices)


def bias(*ids):
    return {str(i): 100 for i in ids}


def prompt_of(messages, **fields):
    return call("/apply-template", {"messages": messages, **fields})["prompt"]


class streams_and_choices(unittest.TestCase):
    def test_row_01_usage_comes_last_and_only_where_it_is_asked_for(self):
        for path, body in (("/v1/chat/completions", chat_body()), ("/v1/completions", {"prompt": "Hello", "max_tokens": 3, "temperature": 0, "ignore_eos": True})):
            whole = call(path, body)
            events = events_of(path, {**body, "stream_options": {"include_usage": True}})
            last = events.pop()
            self.assertEqual(last["choices"], [])
            for key in ("prompt_tokens", "completion_tokens", "total_tokens"):
                self.assertEqual(last["usage"][key], whole["usage"][key])
            self.assertTrue(all("usage" in e and e["usage"] is None for e in events))
            for asked in ({}, {"stream_options": {"include_usage": False}}):
                events = events_of(path, {**body, **asked})
                self.assertTrue(all(e["choices"] and e.get("usage") is None for e in events))

    def test_row_02_every_choice_has_one_finish_reason_and_nothing_after_it(self):
        for fields, reason in (({"max_tokens": 3}, "length"), ({"stop": "e", "logit_bias": bias(BYTE + ord("e"))}, "stop"), ({"max_tokens": 0}, "length")):
            reasons = [c["finish_reason"] for e in chat_events(**fields) for c in e["choices"]]
            self.assertEqual(reasons[-1], reason, fields)
            self.assertEqual(set(reasons[:-1]) - {None}, set(), fields)
            self.assertEqual(chat(**fields)["choices"][0]["finish_reason"], reason)

    def test_row_03_the_role_comes_first_and_once(self):
        deltas = [c["delta"] for e in chat_events() for c in e["choices"]]
        self.assertEqual(deltas[0], {"role": "assistant", "content": ""})
        self.assertFalse([d for d in deltas[1:] if "role" in d])

    def test_row_08_choices_are_their_own(self):
        fields = {"n": 3, "temperature": 1.5, "seed": 5}
        whole = [c["message"]["content"] for c in sorted(chat(**fields)["choices"], key=lambda c: c["index"])]
        self.assertEqual(len(set(whole)), 3, whole)
        events = chat_events(**fields)
        self.assertEqual([streamed(events, i) for i in range(3)], whole)
        for index in range(3):
            choices = [c for e in events for c in e["choices"] if c["index"] == index]
            self.assertEqual(sum("role" in c["delta"] for c in choices), 1)
            self.assertEqual(sum(c["finish_reason"] is not None for c in choices), 1)
        alone = chat(temperature=1.5, seed=5)["choices"][0]["message"]["content"]
        self.assertEqual(alone, whole[0], "the first choice is what it is alone")


class text(unittest.TestCase):
    LETTERS = bias(*(BYTE + ord(c) for c in "abcdefgh"))

    def test_row_09_a_stop_string_across_tokens_never_shows(self):
        fields = {"max_tokens": 40, "logit_bias": self.LETTERS, "temperature": 1, "seed": 2}
        full = chat(**fields)["choices"][0]["message"]["content"]
        self.assertEqual(len(full), 40)
        for length in (1, 3, 7):
            stop = full[12:12 + length]
            shown = full[:full.index(stop)]
            self.assertEqual(chat(stop=[stop], **fields)["choices"][0]["message"]["content"], shown)
            self.assertEqual(streamed(chat_events(stop=[stop], **fields)), shown)
        # What only begins like a stop string is held back, and comes when it is none.
        for stop in (full[-3:] + "never", full[10:14] + "never"):
            events = chat_events(stop=stop, **fields)
            self.assertEqual(streamed(events), full)
            self.assertEqual(events[-1]["choices"][0]["finish_reason"], "length")

    def test_row_10_a_stop_string_inside_a_token_cuts_the_text_there(self):
        fields = {"max_tokens": 5, "logit_bias": bias(FILLER + 7), "stop": "er7f", "logprobs": True}
        made = chat(**fields)
        choice = made["choices"][0]
        self.assertEqual((choice["message"]["content"], choice["finish_reason"]), ("fill", "stop"))
        self.assertEqual(made["usage"]["completion_tokens"], 2)
        self.assertEqual("".join(r["token"] for r in choice["logprobs"]["content"]), "fill")
        events = chat_events(**fields)
        self.assertEqual(streamed(events), "fill")
        rows = [r for e in events for c in e["choices"] if c["logprobs"] for r in c["logprobs"]["content"]]
        self.assertEqual(rows, choice["logprobs"]["content"])

    def test_row_11_characters_that_tokens_split_come_whole(self):
        # Halves of é in any order: some make characters, the others are the end of nothing.
        fields = {"max_tokens": 60, "logit_bias": bias(BYTE + 0xC3, BYTE + 0xA9), "temperature": 2, "seed": 3}
        choice = chat(logprobs=True, **fields)["choices"][0]
        rows = choice["logprobs"]["content"]
        data = b"".join(bytes(r["bytes"]) for r in rows)
        self.assertEqual((set(data), len(data)), ({0xC3, 0xA9}, 60))
        self.assertIn("é".encode(), data)
        self.assertEqual(choice["message"]["content"], data.decode(errors="replace"))
        self.assertEqual(streamed(chat_events(**fields)), data.decode(errors="replace"))
        # A half that is the last byte is shown as what it is.
        half = {"max_tokens": 1, "logit_bias": bias(BYTE + 0xC3)}
        self.assertEqual(chat(**half)["choices"][0]["message"]["content"], "\ufffd")
        self.assertEqual(streamed(chat_events(**half)), "\ufffd")
        # So are characters of a prompt that is echoed.
        self.assertTrue(complete("héé😀", echo=True, max_tokens=1)["choices"][0]["text"].startswith("héé😀"))

    def test_row_12_logprobs_have_the_bytes_of_the_text_and_are_finite(self):
        for fields in ({}, {"temperature": 1, "seed": 1}, {"logit_bias": {str(BYTE + 97): 100, str(BYTE + 98): -100}}, {"top_k": 1}, {"stop": "never"}):
            choice = chat(logprobs=True, top_logprobs=20, **fields)["choices"][0]
            rows = choice["logprobs"]["content"]
            self.assertEqual(len(rows), 12)
            self.assertEqual(b"".join(bytes(r["bytes"]) for r in rows).decode(errors="replace"), choice["message"]["content"])
            for row in rows:
                self.assertEqual(len(row["top_logprobs"]), 20)
                for one in [row, *row["top_logprobs"]]:
                    self.assertTrue(math.isfinite(one["logprob"]) and -9999 <= one["logprob"] <= 0, one)

    def test_row_13_logprobs_in_a_stream_are_of_their_chunk(self):
        fields = {"logprobs": True, "logit_bias": self.LETTERS, "temperature": 1, "seed": 2}
        whole = chat(**fields)["choices"][0]["logprobs"]["content"]
        self.assertEqual(len(whole), 12)
        held_back = "".join(r["token"] for r in whole[3:6]) + "never"
        for stop in ({}, {"stop": held_back}):
            rows = []
            for choice in (c for e in chat_events(**fields, **stop) for c in e["choices"]):
                here = choice["logprobs"]["content"] if choice["logprobs"] else []
                self.assertEqual("".join(r["token"] for r in here), choice["delta"].get("content") or "")
                rows += here
            self.assertEqual(rows, whole)


class limits_and_messages(unittest.TestCase):
    def test_row_14_max_completion_tokens_holds_and_wins(self):
        for fields, count in (({"max_completion_tokens": 3, "max_tokens": None}, 3), ({"max_completion_tokens": 2, "max_tokens": 7}, 2)):
            self.assertEqual(chat(**fields)["usage"]["completion_tokens"], count)

    def test_row_15_no_token_and_one_token_are_limits(self):
        for count in (0, 1):
            for made in (chat(max_tokens=count), complete(max_tokens=count)):
                self.assertEqual((made["usage"]["completion_tokens"], made["choices"][0]["finish_reason"]), (count, "length"))

    def test_row_16_a_chat_may_fill_the_context_and_a_completion_has_sixteen(self):
        made = chat(max_tokens=None)
        self.assertEqual((made["usage"]["total_tokens"], made["choices"][0]["finish_reason"]), (CONTEXT, "length"))
        self.assertEqual(complete(max_tokens=None)["usage"]["completion_tokens"], 16)

    def test_row_17_a_prompt_that_is_too_long_is_refused_not_cut(self):
        for path, body in (("/v1/completions", {"prompt": "x" * (CONTEXT + 1)}), ("/v1/chat/completions", chat_body("x" * CONTEXT)),
                           ("/v1/embeddings", {"input": "x" * (CONTEXT + 1)})):
            for stream in (False, True):
                error = refused(path, {**body, "stream": stream})
                self.assertEqual((error["type"], error["code"]), ("invalid_request_error", "context_length_exceeded"))
                self.assertIn(str(CONTEXT), error["message"])

    def test_a_prompt_that_fills_the_context_is_scored(self):
        made = complete([BYTE + 97] * CONTEXT, max_tokens=0, echo=True, logprobs=1, n=2)
        self.assertEqual([len(c["logprobs"]["tokens"]) for c in made["choices"]], [CONTEXT] * 2)
        self.assertEqual(made["usage"]["completion_tokens"], 0)

    def test_small_requests_do_not_become_large(self):
        many = {str(id): 1 for id in range(10_000)}
        for fields, param in (({"logit_bias": many, "n": 64}, "logit_bias"), ({"stop": "x" * 100_000, "n": 128}, "stop"), ({"metadata": {"a": "x" * 10_000}, "stream": True}, "metadata.a")):
            error = refused("/v1/completions", {"prompt": "a", "max_tokens": 1, **fields})
            self.assertEqual((error["code"], error["param"]), ("invalid_value", param))

    def test_row_18_a_seed_repeats_whoever_is_beside_it(self):
        for temperature in (0, 1.2):
            request = completion("the same again", 80, temperature=temperature, seed=11)
            with raw_client(SERVER.port) as client:
                client.send(request)
                alone = stream_text(client)
            results = []

            def repeat(number):
                with raw_client(SERVER.port) as client:
                    client.send(request if number % 2 == 0 else completion("x" * number, 50, temperature=1, seed=number))
                    if number % 2 == 0:
                        results.append(stream_text(client))
                    else:
                        stream_text(client)

            threads = [threading.Thread(target=repeat, args=[i]) for i in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(results, [alone] * 4)
            self.assertEqual(complete("the same again", max_tokens=80, temperature=temperature, seed=11)["choices"][0]["text"], alone)

    def test_row_19_temperature_0_is_greedy_and_top_p_0_is_no_fault(self):
        greedy = chat(logprobs=True, top_logprobs=1)["choices"][0]
        for row in greedy["logprobs"]["content"]:
            self.assertEqual(row["token"], row["top_logprobs"][0]["token"])
        for fields in ({"temperature": 1, "top_p": 0}, {"temperature": 1, "top_p": 1e-30}, {"temperature": 1e-30}, {"temperature": 0, "seed": 99, "top_p": 0.5}):
            self.assertEqual(chat(**fields)["choices"][0]["message"]["content"], greedy["message"]["content"], fields)

    def test_a_message_as_clients_dump_it_is_as_one_without_nulls(self):
        dumped = {"role": "assistant", "content": "A", "refusal": None, "annotations": [], "audio": None, "function_call": None, "tool_calls": None}
        talk = [{"role": "user", "content": "B"}, dumped, {"role": "user", "content": "C"}]
        self.assertEqual(prompt_of(talk), prompt_of([talk[0], {"role": "assistant", "content": "A"}, talk[2]]))

    def test_metadata_may_be_as_deep_as_any_body(self):
        deep = {"a": "b"}
        for _ in range(200):
            deep = {"a": deep}
        answer = call("/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}], "max_tokens": 1, "metadata": deep})
        self.assertEqual(answer["metadata"], deep)

    def test_row_20_a_developer_is_the_system_and_may_come_late_and_again(self):
        def talk(role):
            return [{"role": role, "content": "A"}, {"role": "user", "content": "B"}, {"role": "assistant", "content": "C"},
                    {"role": role, "content": "D"}, {"role": role, "content": "E"}, {"role": "user", "content": "F"}]
        prompt = prompt_of(talk("developer"))
        self.assertEqual(prompt, prompt_of(talk("system")))
        self.assertEqual([prompt.count(c) for c in "ABCDEF"], [1] * 6, prompt)
        self.assertEqual(call("/v1/chat/completions", {"messages": talk("developer"), "max_tokens": 1})["usage"]["completion_tokens"], 1)

    def test_row_21_the_assistants_last_message_goes_on(self):
        messages = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "One, two,"}]
        fields = {"continue_final_message": True, "add_generation_prompt": False}
        self.assertTrue(prompt_of(messages, **fields).endswith("assistant\nOne, two,"))
        going_on = call("/v1/chat/completions", {"messages": messages, "temperature": 0, "max_tokens": 6, **fields})
        raw = complete(call("/tokenize", {"content": prompt_of(messages, **fields), "parse_special": True})["tokens"], max_tokens=6, ignore_eos=False)
        self.assertEqual(going_on["choices"][0]["message"]["content"], raw["choices"][0]["text"])

    def test_thinking_that_a_prompt_opens_comes_as_such(self):
        messages = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "<think>One,"}]
        apart = call("/v1/chat/completions", {"messages": messages, "temperature": 0, "max_tokens": 6})
        whole = call("/v1/chat/completions", {"messages": messages, "temperature": 0, "max_tokens": 6, "reasoning_format": "none"})
        message = apart["choices"][0]["message"]
        self.assertEqual((message["content"], message["reasoning_content"].strip()), ("", whole["choices"][0]["message"]["content"].strip()))
        self.assertNotIn("reasoning_content", whole["choices"][0]["message"])
        self.assertEqual([a["usage"]["completion_tokens_details"]["reasoning_tokens"] for a in (apart, whole)], [apart["usage"]["completion_tokens"], 0])

    def test_control_tokens_may_be_written_in_a_whole_prompt_and_not_in_a_message(self):
        text = "<|im_start|>user\nCount.<|im_end|>\n"
        counts = [call("/v1/completions", {"prompt": text, "max_tokens": 1, **fields})["usage"]["prompt_tokens"] for fields in ({}, {"parse_special": False})]
        self.assertEqual(counts[0], len(call("/tokenize", {"content": text, "add_special": True})["tokens"]))
        self.assertGreater(counts[1], counts[0] + 10)
        ids = call("/tokenize", {"content": text, "add_special": True})["tokens"]
        for prompt in (text, ids):
            choice = call("/v1/completions", {"prompt": prompt, "max_tokens": 0, "echo": True, "logprobs": 0})["choices"][0]
            self.assertEqual((choice["text"], "".join(choice["logprobs"]["tokens"])), (text, text))
            self.assertEqual(choice["logprobs"]["text_offset"][-1], len(text) - 1)

    def test_row_22_a_picture_for_a_model_that_cannot_see_is_a_fault_of_its_part(self):
        for url in ("data:image/png;charset=utf-8;base64,iVBORw0KGgo=", "http://127.0.0.1:1/x.png", "file:///etc/passwd", "x" * 3_000_000):
            parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": url}}]
            error = refused("/v1/chat/completions", chat_body(parts))
            self.assertTrue(error["param"].startswith("messages[0].content[1]"), error)


class http(unittest.TestCase):
    def test_row_23_a_browser_may_ask_first(self):
        asks = "Origin: https://app.example\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,x-stainless-os\r\n"
        with serve("--allow-origin", "https://app.example", "--api-key", KEY) as server:
            for path in ("/v1/chat/completions", "/v1/models/a/b", "/nowhere"):
                answer = ask(server.port, f"OPTIONS {path} HTTP/1.1\r\nHost: x\r\n{asks}Access-Control-Request-Private-Network: true\r\n\r\n".encode())
                self.assertIn(answer.status, (200, 204))
                self.assertEqual(answer.fields["access-control-allow-origin"], "https://app.example")
                self.assertEqual(answer.fields["access-control-allow-headers"], "authorization,x-stainless-os")
                self.assertEqual(answer.fields["access-control-allow-private-network"], "true")
                self.assertIn("POST", answer.fields["access-control-allow-methods"])
            # So that the page can read why: refusals have the field too.
            refusal = ask(server.port, post("/v1/chat/completions", b"{", b"Origin: https://app.example\r\n"))
            self.assertEqual((refusal.status, refusal.fields["access-control-allow-origin"]), (401, "https://app.example"))
            stream = ask(server.port, post("/v1/completions", {"prompt": "a", "max_tokens": 1, "stream": True},
                                           b"Origin: https://app.example\r\nx-api-key: " + KEY.encode() + b"\r\n"))
            self.assertEqual((stream.status, stream.fields["access-control-allow-origin"]), (200, "https://app.example"))

    def test_row_24_head_has_the_fields_of_get_and_no_body(self):
        with raw_client(SERVER.port) as client:
            for path in ("/", "/health", "/v1/models", "/v1/models/tiny", "/props", "/slots", "/metrics"):
                client.send(get(path, "HEAD") + get(path))
                head, whole = client.answer(head_only=True), client.answer()
                self.assertEqual((head.status, whole.status), (200, 200), path)
                self.assertEqual(head.fields["content-type"], whole.fields["content-type"], path)
                self.assertGreater(int(head.fields["content-length"]), 0, path)

    def test_row_25_bodies_come_in_chunks_of_any_size(self):
        body = json.dumps({"prompt": "in chunks", "max_tokens": 4, "temperature": 0}).encode()
        alone = call("/v1/completions", body)["choices"]
        for size in (1, 7, len(body)):
            pieces = [body[at:at + size] for at in range(0, len(body), size)]
            chunks = b"".join(b"%x;a=b\r\n%s\r\n" % (len(p), p) for p in pieces)
            with raw_client(SERVER.port) as client:
                client.send(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n" + chunks + b"0\r\nX-Sum: 1\r\n\r\n")
                self.assertEqual(client.answer().json()["choices"], alone)
                client.send(get("/health"))
                self.assertEqual(client.answer().status, 200)

    def test_row_26_who_waits_for_a_100_gets_it_or_the_refusal(self):
        body = json.dumps({"content": "x" * 5000}).encode()
        with raw_client(SERVER.port, timeout=20) as client:
            client.send(b"POST /tokenize HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
            self.assertEqual(client.until(b"\r\n\r\n"), b"HTTP/1.1 100 Continue\r\n\r\n")
            client.send(body)
            self.assertEqual(len(client.answer().json()["tokens"]), 5000)
        with raw_client(SERVER.port, timeout=20) as client:
            client.send(b"POST /tokenize HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 999999999\r\n\r\n")
            self.assertEqual(client.answer().status, 413)

    def test_row_27_a_connection_serves_on_and_in_order(self):
        with raw_client(SERVER.port) as client:
            client.send(completion("one", 5) + get("/health") + post("/v1/completions", b"{") + completion("two", 5) + get("/v1/models"))
            stream_text(client)
            answer = client.answer()
            self.assertEqual(answer.fields["connection"], "keep-alive")
            self.assertGreaterEqual(int(answer.fields["keep-alive"].split("timeout=")[1].split(",")[0]), 75)
            self.assertEqual(client.answer().status, 400)
            stream_text(client)
            self.assertEqual(client.answer().json()["object"], "list")

    def test_row_28_long_fields_are_read_and_too_long_ones_answered(self):
        for length, status in ((741, 200), (8 << 10, 200), (40 << 10, 200), (80 << 10, 431)):
            fields = f"X-Codex-Turn-Metadata: {'m' * length}\r\nCookie: {'c' * 4000}\r\n".encode()
            self.assertEqual(ask(SERVER.port, post("/tokenize", {"content": "a"}, fields)).status, status, length)

    def test_row_29_large_bodies_are_read_and_too_large_ones_answered(self):
        self.assertEqual(len(call("/tokenize", {"content": "x" * 3_000_000})["tokens"]), 3_000_000)
        self.assertEqual(refused("/v1/chat/completions", chat_body("x" * 9_000_000))["code"], "context_length_exceeded")
        with raw_client(SERVER.port) as client:
            client.send(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 300000000\r\n\r\n{")
            answer = client.answer()
            self.assertEqual((answer.status, answer.json()["error"]["code"]), (413, "request_too_large"))

    def test_row_30_nothing_is_compressed_whatever_is_offered(self):
        fields = b"Accept-Encoding: gzip, deflate, br, zstd\r\n"
        for request in (post("/v1/completions", {"prompt": "a", "max_tokens": 2}, fields), post("/v1/completions", {"prompt": "a", "max_tokens": 2, "stream": True}, fields)):
            answer = ask(SERVER.port, request)
            self.assertEqual(answer.status, 200)
            self.assertNotIn("content-encoding", answer.fields)
            self.assertIn(b'"text_completion"', answer.body)

    def test_row_31_events_come_one_by_one_with_the_fields_that_proxies_need(self):
        with raw_client(SERVER.port) as client:
            client.send(completion("flush", 400))
            status, fields = client.head()
            self.assertEqual(status, 200)
            self.assertEqual(fields["content-type"], "text/event-stream; charset=utf-8")
            self.assertEqual((fields["cache-control"], fields["x-accel-buffering"]), ("no-cache", "no"))
            chunks = client.chunks()
            first = next(chunks)
            self.assertTrue(first.startswith(b"data: {") and first.endswith(b"\n\n"), first)
            rest = list(chunks)
            self.assertEqual(first.count(b"data: "), 1)
            self.assertGreater(len(rest), 10, "400 tokens are not sent in one go")
            self.assertTrue(all(c.endswith(b"\n\n") for c in rest))
            self.assertEqual(rest[-1].split(b"\n\n")[-2], b"data: [DONE]")

    def test_row_33_what_is_wrong_before_the_first_byte_is_a_status(self):
        for body, status in (({"temperature": 9}, 400), ({"model": "nothing"}, 404), ({"messages": []}, 400), ({"stop": [""]}, 400), (chat_body("x" * 600), 400)):
            answer = ask(SERVER.port, post("/v1/chat/completions", {**chat_body(), **body, "stream": True}))
            self.assertEqual((answer.status, answer.fields["content-type"].split(";")[0]), (status, "application/json"))
            self.assertEqual(set(answer.json()["error"]), {"message", "type", "param", "code"})

    def test_row_35_the_end_of_what_a_client_sends_is_the_end_of_the_client(self):
        counted = 'infer_model_tokens_total{model="tiny"}'
        with serve(context=4096) as server:
            with raw_client(server.port, receive_buffer=4096) as client:
                client.send(completion("half closed", 4000))
                client.wait_for(b"data: ")
                client.socket.shutdown(socket.SHUT_WR)
                server.until(lambda m: m['infer_model_leases{model="tiny"}'] == 0, "no lease")
            self.assertLess(server.until_idle()[counted], 4000)

    def test_row_36_a_slow_reader_holds_up_itself_alone(self):
        with serve(context=4096) as server:
            slow, quick = completion("slow", 3500, logprobs=5), completion("quick", 300)
            with raw_client(server.port) as client:
                client.send(slow)
                alone = stream_text(client)
            counted = 'infer_model_tokens_total{model="tiny"}'
            before = server.until_idle()[counted]
            with raw_client(server.port, receive_buffer=4096) as reader:
                reader.send(slow)
                reader.wait_for(b"data: ")
                texts = set()
                for _ in range(3):
                    with raw_client(server.port) as client:
                        client.send(quick)
                        texts.add(stream_text(client))
                self.assertEqual(len(texts), 1)
                self.assertLess(server.metrics()[counted] - before, 3500 + 900, "the slow stream waits for its reader")
                self.assertEqual(stream_text(reader), alone)


class json_bodies(unittest.TestCase):
    def test_row_37_what_is_no_json_is_refused_with_its_place(self):
        for body in (b"{", b'{"prompt": "a"} x', b"", b'{"prompt": "a",}', b"not json", b'{"prompt": tru}'):
            error = refused("/v1/completions", body)
            self.assertEqual((error["type"], error["code"]), ("invalid_request_error", "invalid_json"), body)
        self.assertIn("line 2, column 16", refused("/v1/completions", b'{"prompt": "a",\n "max_tokens": x}')["message"])
        self.assertEqual(call("/tokenize", b"\xef\xbb\xbf" + b'{"content": "a"}'), {"tokens": [BYTE + 97]})
        for body in (b"[]", b"1", b'"x"', b"null"):
            self.assertEqual(refused("/v1/completions", body)["type"], "invalid_request_error")

    def test_row_38_halves_of_surrogates_become_a_mark(self):
        for half in (rb"\ud83d", rb"\ude00", rb"\ud83dx", rb"\ude00\ud83d"):
            tokens = call("/tokenize", b'{"content": "' + half + b'"}')["tokens"]
            self.assertEqual(bytes(t - BYTE for t in tokens).decode().strip("x").strip("\ufffd"), "", half)
            made = call("/v1/chat/completions", b'{"max_tokens": 1, "messages": [{"role": "user", "content": "' + half + b'"}]}')
            self.assertEqual(made["usage"]["completion_tokens"], 1)
        self.assertEqual(call("/tokenize", rb'{"content": "\ud83d\ude00"}')["tokens"], [BYTE + b for b in "😀".encode()])

    def test_row_39_deep_schemas_pass_and_bombs_do_not(self):
        def nested(depth):
            schema = {"type": "string"}
            for _ in range(depth // 2):
                schema = {"type": "object", "properties": {"a": schema}}
            return {"tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}]}
        self.assertIn('"properties"', prompt_of([{"role": "user", "content": "x"}], **nested(126)))
        for bomb in (b"[" * 5000, b'{"prompt": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", b'{"a":' * 5000):
            self.assertEqual(refused("/v1/completions", bomb)["type"], "invalid_request_error")

    def tool_text(self, parameters):
        tools = b'[{"type": "function", "function": {"name": "f", "parameters": ' + parameters + b"}}]"
        return call("/apply-template", b'{"messages": [{"role": "user", "content": "x"}], "tools": ' + tools + b"}")["prompt"]

    def test_row_40_numbers_stay_what_they_were(self):
        text = self.tool_text(b'{"const": 1.0, "minimum": 0.1, "maximum": 9007199254740993, "default": -0.0, "multipleOf": 1e-7}')
        for number in ('"const":1.0,', '"minimum":0.1,', '"maximum":9007199254740993,', '"default":-0.0,'):
            self.assertIn(number, text)
        for huge in (b"1e400", b"18446744073709551616", b"-1e400"):
            answer = ask(SERVER.port, post("/v1/completions", b'{"prompt": "a", "max_tokens": 1, "metadata": {"x": "y"}, "seed": ' + huge + b"}"))
            self.assertEqual(answer.status, 400)
            self.assertEqual(json.loads(answer.body, parse_constant=self.fail)["error"]["param"], "seed")
        for huge in (b"1e400", b"18446744073709551616"):
            text = self.tool_text(b'{"maximum": ' + huge + b"}")
            self.assertIn('"maximum":1', text)
            self.assertNotIn("Infinity", text)

    def test_row_41_the_last_of_equal_keys_wins_and_order_stays(self):
        self.assertEqual(call("/tokenize", b'{"content": "a", "content": "b"}'), {"tokens": [BYTE + 98]})
        text = self.tool_text(b'{"type": "object", "properties": {"zebra": {}, "apple": {}, "mango": {}}}')
        self.assertLess(text.index("zebra"), text.index("apple"))
        self.assertLess(text.index("apple"), text.index("mango"))

    def test_row_42_what_is_sent_comes_back_as_valid_text_on_one_line(self):
        for raw in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\x00", b"\x1b"):
            answer = ask(SERVER.port, post("/v1/completions", b'{"prompt": "a' + raw + b'", "max_tokens": 1, "echo": true}'))
            self.assertIn(answer.status, (200, 400), raw)
            answer.body.decode()
        strange = "\0 \u2028 \u2029 \x1f \n \r\n data: x"
        events = events_of("/v1/completions", {"prompt": strange, "max_tokens": 1, "echo": True, "temperature": 0})
        self.assertTrue("".join(c["text"] for e in events for c in e["choices"]).startswith(strange))


class models_keys_and_cache(unittest.TestCase):
    def test_row_43_the_model_is_the_one_that_answers(self):
        self.assertEqual(chat(model="tiny")["model"], "tiny")
        self.assertEqual(chat()["model"], "tiny")
        self.assertEqual({e["model"] for e in chat_events(model="tiny")}, {"tiny"})
        error = refused("/v1/chat/completions", chat_body(model="another"), 404)
        self.assertEqual((error["code"], error["param"]), ("model_not_found", "model"))
        shown = ask(SERVER.port, get("/v1/models")).json()["data"]
        self.assertEqual([(m["id"], m["status"]["value"]) for m in shown], [("tiny", "ready")])
        with serve("--any-model") as server:
            answer = ask(server.port, post("/v1/chat/completions", chat_body(model="gpt-4o", max_tokens=1)))
            self.assertEqual(answer.status, 200)

    def test_row_44_a_key_opens_in_every_form_and_health_needs_none(self):
        with serve("--api-key", KEY, "--api-key", "second") as server:
            self.assertEqual(ask(server.port, get("/health")).status, 200)
            body = {"prompt": "a", "max_tokens": 1}
            for field in (f"Authorization: Bearer {KEY}", f"x-api-key: {KEY}", "api-key: second"):
                self.assertEqual(ask(server.port, post("/v1/completions", body, field.encode() + b"\r\n")).status, 200, field)
            for field in ("", f"Authorization: Bearer {KEY}x\r\n", f"Authorization: Bearer {KEY[:-1]}\r\n", "x-api-key: \r\n"):
                for path in ("/v1/completions", "/v1/nothing", "/slots"):
                    answer = ask(server.port, post(path, body, field.encode()))
                    self.assertEqual((answer.status, answer.json()["error"]["code"]), (401, "invalid_api_key"), (field, path))

    def test_row_45_what_the_cache_held_is_reported(self):
        text = "a prompt that is long enough to fill pages of the cache, " * 5
        first, second = (complete(text, max_tokens=1)["usage"] for _ in range(2))
        self.assertEqual(first["prompt_tokens"], second["prompt_tokens"])
        self.assertGreater(second["prompt_tokens_details"]["cached_tokens"], len(text) // 2)
        self.assertLess(second["prompt_tokens_details"]["cached_tokens"], second["prompt_tokens"])


if __name__ == "__main__":
    if not BINARY:
        print("[  SKIPPED ] apps/edges (INFER_TEST_BINARY does not name infer-node)")
        sys.exit(0)
    WRITER = sys.argv.pop(1)
    unittest.main(verbosity=2, warnings="ignore")
