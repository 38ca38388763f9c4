"""How long streams wait between tokens, alone and while somebody's long prompt is read.

usage: token_gaps.py BINARY MODEL [ROUNDS]

Each round has four streams; in the second half of it a request with a prompt of about 4,000 tokens arrives. Prints per
round the 99th percentile of the gaps before and while that prompt is read, and their ratio.
"""
import http.client
import json
import statistics
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "apps"))
from server_process import server_process  # noqa: E402

STREAMS, ALONE_SECONDS, PROMPT_WORDS = 4, 4.0, 3900


def stream(port, number, stop, gaps):
    """Streams until `stop`; appends (time, gap) of every chunk after the first."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    body = {"prompt": f"Stream {number}: once upon a time", "stream": True, "max_tokens": 6000, "temperature": 0, "ignore_eos": True}
    connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    if answer.status != 200:
        raise RuntimeError(answer.read().decode())
    last = None
    while not stop.is_set():
        line = answer.readline()
        if not line:
            break
        if line.startswith(b"data: {"):
            now = time.monotonic()
            if last is not None:
                gaps.append((now, now - last))
            last = now
    connection.close()


def read_prompt(port, seed):
    """Sends the long prompt and returns when its first token has come: (start, end)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    text = " ".join(f"word{(i * 7 + seed) % 10}" if i % 2 else "and" for i in range(PROMPT_WORDS * 2 // 3))
    start = time.monotonic()
    connection.request("POST", "/v1/completions", json.dumps({"prompt": text, "max_tokens": 1, "temperature": 0}), {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return start, time.monotonic(), answer["usage"]["prompt_tokens"]


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def one_round(port, seed):
    stop, gaps = threading.Event(), [[] for _ in range(STREAMS)]
    threads = [threading.Thread(target=stream, args=(port, i + seed * STREAMS, stop, gaps[i])) for i in range(STREAMS)]
    for thread in threads:
        thread.start()
    while any(len(g) < 10 for g in gaps):
        time.sleep(0.01)
    since = time.monotonic()
    time.sleep(ALONE_SECONDS)
    start, end, tokens = read_prompt(port, seed)
    stop.set()
    for thread in threads:
        thread.join()
    alone = [gap for g in gaps for at, gap in g if since < at < start]
    beside = [gap for g in gaps for at, gap in g if start < at < end]
    return percentile(alone, 0.99), percentile(beside, 0.99), len(alone), len(beside), tokens, end - start


def main():
    binary, model = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    ratios = []
    with server_process(binary, "-m", model, "--log-level", "warn") as server:
        for seed in range(rounds):
            alone, beside, n_alone, n_beside, tokens, seconds = one_round(server.port, seed)
            ratios.append(beside / alone)
            print(f"p99 alone {alone * 1000:.1f} ms ({n_alone} gaps), beside a prompt of {tokens} tokens read in {seconds:.1f} s "
                  f"{beside * 1000:.1f} ms ({n_beside} gaps): x{ratios[-1]:.2f}", flush=True)
    print(f"median x{statistics.median(ratios):.2f} ({min(ratios):.2f} - {max(ratios):.2f})")


if __name__ == "__main__":
    main()
