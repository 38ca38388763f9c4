"""Requests that are wrong in many ways, the same for the same seed."""
import json
import random

from raw_http import get, post

CHAT = {"model": "tiny", "messages": [{"role": "user", "content": "Say something."}], "max_tokens": 1, "temperature": 0, "stop": ["x"],
        "stream": False, "top_p": 0.5, "n": 1}
WRONG = [None, True, -1, 1e300, "text", "", [], [[]], {}, {"a": 1}, [None], 2 ** 70, -0.5, "\u0000"]
POSTS = ["/v1/chat/completions", "/v1/completions", "/tokenize", "/detokenize", "/chat/completions"]


class broken_request:
    """`raw` is sent as it is. Where it is `complete` exactly one answer with one of `statuses` follows (empty: any); else
    the client leaves."""

    def __init__(self, kind, raw, statuses=(), complete=True, head_only=False):
        self.kind, self.raw, self.statuses, self.complete, self.head_only = kind, raw, set(statuses), complete, head_only


def noise(r, count):
    return bytes(r.randrange(256) for _ in range(count))


def broken_json(r):
    body = json.dumps(CHAT).encode()
    at = r.randrange(len(body))
    return broken_request("broken json", post(r.choice(POSTS), body[:at]), {400})


def noise_in_json(r):
    body = json.dumps(CHAT).encode()
    at = r.randrange(len(body))
    return broken_request("noise in json", post(r.choice(POSTS), body[:at] + noise(r, r.randint(1, 4)) + body[at + r.randrange(3):]), {200, 400, 404})


def wrong_type(r):
    body = dict(CHAT)
    body[r.choice([*CHAT, "seed", "logprobs", "stream_options", "logit_bias", "prompt", "response_format", "tools"])] = r.choice(WRONG)
    return broken_request("wrong type", post("/v1/chat/completions", body), {200, 400, 404})


def wrong_message(r):
    message = {"role": r.choice(["user", "assistant", "tool", "", "nobody", 5, None]), "content": r.choice(WRONG + [[{"type": "text"}], [{"type": "image_url"}]])}
    return broken_request("wrong message", post("/v1/chat/completions", {**CHAT, "messages": [message, r.choice([message, 1, [], None])]}), {200, 400})


def wrong_ids(r):
    ids = r.choice([[-1], [10 ** 9], [2 ** 40], ["a", 1], [1.5], [None], [[1], [-2]], [[1], []], [320]])
    return broken_request("wrong ids", post("/v1/completions", {"prompt": ids, "max_tokens": 1}), {400})


def bad_header(r):
    field = r.choice([b"no colon here", b": no name", b"bad name: x", b"Content-Length: -5", b"Content-Length: 5\r\nContent-Length: 6",
                      b"Content-Length: x", b"Nul: a\x00b", b"Transfer-Encoding: chunked\r\nContent-Length: 3", b"Transfer-Encoding: gzip", b"A: b\rc",
                      b"Content-Length: 99999999999999999999999"])
    return broken_request("bad header: " + repr(field), b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n" + field + b"\r\n\r\n", {400, 501})


def huge_header(r):
    return broken_request("huge header", b"GET /health HTTP/1.1\r\nHost: x\r\nBig: " + b"a" * r.randint(70_000, 200_000) + b"\r\n\r\n", {431})


def many_headers(r):
    return broken_request("many headers", b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"".join(b"H%d: v\r\n" % i for i in range(r.randint(9_000, 20_000))) + b"\r\n", {431})


def bad_chunks(r):
    chunk = r.choice([b"zz\r\nabc\r\n0\r\n\r\n", b"3\r\nabcdef\r\n0\r\n\r\n", b"-3\r\nabc\r\n0\r\n\r\n", b"ffffffffffffffffff\r\nabc\r\n", b"\r\n\r\n"])
    return broken_request("bad chunks", b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk, {400, 413})


def tiny_chunks(r):
    body = json.dumps(CHAT).encode()[:-r.randint(1, 9)]
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    return broken_request("tiny chunks", b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\nTrailer: x\r\n\r\n", {400})


def wrong_method(r):
    method = r.choice(["DELETE", "PUT", "PATCH", "TRACE", "BREW", "GET"])
    return broken_request("wrong method", get(r.choice(POSTS), method), {405, 400, 501})


def wrong_path(r):
    path = r.choice(["/", "/v1/", "/v1/v1/"]) + "".join(r.choice("abc/.%?#-~") for _ in range(r.randint(1, 60)))
    return broken_request("wrong path", r.choice([get(path), post(path, CHAT)]), {200, 400, 404, 405})


def wrong_start(r):
    line = r.choice([b"GET /health HTTP/3.0", b"GET /health", b"GET", b"\x16\x03\x01\x02\x00", b"GET  /health  HTTP/1.1", b"get /health http/1.1",
                     b"PRI * HTTP/2.0", b"GET /\x80 HTTP/1.1\x00", noise(r, 40).replace(b"\n", b"").replace(b"\r", b"") + b" x"])
    return broken_request("wrong start: " + repr(line), line + b"\r\nHost: x\r\n\r\n", {400, 404, 505})


def bad_utf8(r):
    bad = r.choice([b"\xff", b"\xc3", b"\xe2\x82", b"\xf5\x80\x80\x80", b"\xc0\x80", b"\xed\xa0\x80", b"\\ud800", b"\\udfff\\ud800", b"\\u0000"])
    return broken_request("bad utf8", post("/v1/chat/completions", json.dumps(CHAT).encode().replace(b"something", bad)), {200, 400})


def depth_bomb(r):
    count = r.choice([200, 1000, 100_000])
    bomb = r.choice([b"[" * count, b'{"a":' * count, b'{"messages":' + b"[" * count + b"]" * count + b"}"])
    return broken_request("depth bomb", post("/v1/chat/completions", bomb), {400})


def truncated_body(r):
    raw = post(r.choice(POSTS), CHAT)
    return broken_request("truncated", raw[: r.randint(1, len(raw) - 1)], complete=False)


def too_long_prompt(r):
    return broken_request("too long prompt", post("/v1/completions", {"prompt": "x" * r.randint(4097, 9000), "max_tokens": 1}), {400})


def unknown_model(r):
    return broken_request("unknown model", post("/v1/chat/completions", {**CHAT, "model": r.choice(["x", "", "\ud83d", "a" * 5000, "../../etc"])}), {200, 404})


def wrong_content_type(r):
    raw = post("/v1/chat/completions", CHAT).replace(b"application/json", r.choice([b"image/png", b"application/xml", b"multipart/form-data; boundary=x"]))
    return broken_request("wrong content type", raw, {415})


def coded_body(r):
    return broken_request("coded body", post("/v1/chat/completions", noise(r, 30), b"Content-Encoding: gzip\r\n"), {415})


def huge_body(r):
    return broken_request("huge body", b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % r.randint(10 ** 9, 10 ** 15), {413})


def strange_numbers(r):
    number = r.choice(["1e999", "-1e999", "NaN", "Infinity", "0x10", "1.", ".5", "01", "9" * 400, "1e-999", "-"])
    return broken_request("strange number", post("/v1/chat/completions", json.dumps(CHAT).replace('"top_p": 0.5', f'"top_p": {number}').encode()), {200, 400})


def trailing_bytes(r):
    return broken_request("trailing bytes", post("/v1/chat/completions", json.dumps(CHAT).encode() + r.choice([b"{}", b"x", b"\x00", b","])), {400})


def empty_body(r):
    return broken_request("empty body", post(r.choice(POSTS), r.choice([b"", b" ", b"null", b"1", b'"x"', b"[]"])), {400})


def bad_limits(r):
    name, value = r.choice([("temperature", 3), ("temperature", -1), ("top_p", 2), ("n", 0), ("n", 1000), ("max_tokens", -2), ("stop", ["a"] * 17),
                            ("top_logprobs", 5), ("logit_bias", {"1": 500}), ("presence_penalty", 3), ("mirostat", 7), ("samplers", "?")])
    return broken_request("bad limits", post("/v1/chat/completions", {**CHAT, name: value}), {400})


KINDS = [broken_json, noise_in_json, wrong_type, wrong_message, wrong_ids, bad_header, huge_header, many_headers, bad_chunks, tiny_chunks,
         wrong_method, wrong_path, wrong_start, bad_utf8, depth_bomb, truncated_body, too_long_prompt, unknown_model, wrong_content_type,
         coded_body, huge_body, strange_numbers, trailing_bytes, empty_body, bad_limits]


def malformed_requests(count, seed):
    r = random.Random(seed)
    return [KINDS[i % len(KINDS)](r) for i in range(count)]
