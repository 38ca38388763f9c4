#!/usr/bin/env python3
"""The server as a process, over small random models: bad requests, clients that vanish, signals, restarts.

process_test.py TINY_MODEL_WRITER; INFER_TEST_BINARY names infer-node.
"""
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

from malformed import malformed_requests
from raw_http import ask, completion, get, post, raw_client, stream_text
from server_process import server_process

BINARY = os.environ.get("INFER_TEST_BINARY")
FOLDER = tempfile.TemporaryDirectory(prefix="infer-test-")
# name → width, layers, width of the feed-forward part, context
SHAPES = {"tiny": (64, 2, 96, 4096), "middle": (256, 4, 1024, 4096), "large": (512, 8, 2048, 4096)}


def model(name):
    path = os.path.join(FOLDER.name, name + ".gguf")
    if not os.path.exists(path):
        subprocess.run([WRITER, path, *map(str, SHAPES[name])], check=True)
    return path


def serve(*names, flags=(), port=None):
    models = [part for name in names for part in ("-m", model(name))]
    return server_process(BINARY, *models, "--log-level", "warn", *flags, port=port)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def stream(server, request):
    with raw_client(server.port) as client:
        client.send(request)
        return stream_text(client)


class repeated_streams:
    """Streams that are asked for again and again beside a test; every one must have the text that it has alone."""

    def __init__(self, server, requests):
        self.server, self.requests = server, requests
        self.alone = [stream(server, r) for r in requests]
        self.counts, self.failures = [0] * len(requests), []

    def __enter__(self):
        self.stop = threading.Event()
        self.threads = [threading.Thread(target=self.repeat, args=[i]) for i in range(len(self.requests))]
        for thread in self.threads:
            thread.start()
        return self

    def repeat(self, i):
        try:
            while not self.stop.is_set():
                if stream(self.server, self.requests[i]) != self.alone[i]:
                    raise AssertionError(f"stream {i} has another text than alone")
                self.counts[i] += 1
        except Exception as e:  # told by the test's own thread
            self.failures.append(e)

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join()

    def check(self, test):
        test.assertEqual(self.failures, [])
        test.assertTrue(all(self.counts), self.counts)


class bad_traffic(unittest.TestCase):
    REQUESTS, VANISHING = 2000, 50

    def exchange(self, server, broken):
        """Sends one and checks that exactly one answer comes: what follows is the answer to the next request, or the end."""
        with raw_client(server.port) as client:
            client.send(broken.raw)
            if not broken.complete:
                return
            try:
                answer = client.answer(broken.head_only)
            except (EOFError, ValueError) as e:
                self.fail(f"{broken.kind}: {e}; {broken.raw[:300]!r}")
            self.assertIn(answer.status, broken.statuses, (broken.kind, broken.raw[:300], answer.body[:300]))
            if answer.status >= 400:
                error = answer.json()["error"]
                self.assertEqual(set(error), {"message", "type", "param", "code"}, broken.kind)
                self.assertTrue(error["message"], broken.kind)
            if answer.fields["connection"] == "keep-alive":
                client.send(get("/health"))
                self.assertEqual(client.answer().json()["status"], "ok", broken.kind)
                self.assertEqual(client.buffer, b"", broken.kind)
            else:
                self.assertEqual(client.rest(), b"", broken.kind)

    def vanish(self, server, r, number):
        whole = completion("gone " * r.randint(1, 40), 400)
        client = raw_client(server.port)
        phase = number % 7
        if phase == 1:  # in the head
            client.send(whole[: r.randint(1, 60)])
        elif phase == 2:  # in the body
            client.send(whole[: -r.randint(1, 30)])
        elif phase >= 3:
            client.send(whole)
        if phase == 4:
            client.head()
        elif phase == 5:
            client.head()
            events = client.events()
            for _ in range(r.randint(1, 20)):
                next(events)
        elif phase == 6:
            client.send(whole * 3)  # pipelined requests vanish as well
        client.vanish(reset=r.random() < 0.5)

    def traffic(self, server, requests):
        r = random.Random(5)
        every = len(requests) // self.VANISHING
        for number, broken in enumerate(requests):
            self.exchange(server, broken)
            if number % every == 0:
                self.vanish(server, r, number // every)

    def test_each_request_gets_one_answer_and_no_stream_is_disturbed_and_no_memory_is_kept(self):
        requests = malformed_requests(self.REQUESTS, seed=1)
        with serve("tiny", flags=("-np", "8")) as server:
            streams = repeated_streams(server, [completion(f"stream {i}", 300 + 100 * i) for i in range(4)])
            held = []
            for _ in range(2):
                with streams:
                    self.traffic(server, requests)
                streams.check(self)
                server.until_idle()
                held.append(server.anonymous_bytes())
            print(f"RssAnon after the first and the second run: {held[0] >> 10} and {held[1] >> 10} KiB; streams: {streams.counts}", flush=True)
            self.assertLess(abs(held[1] - held[0]), 8 << 20)
            self.assertEqual(server.terminate(), 0)
            self.assertFalse([line for line in server.log if " error " in line], server.log[:20])


    def test_a_thousand_requests_of_each_kind_leave_nothing_behind(self):
        kinds = {"health": get("/health"), "tokenize": post("/tokenize", {"content": "abc"}), "refused": post("/v1/completions", b"{"),
                 "one token": post("/v1/completions", {"prompt": "a", "max_tokens": 1}), "stream": completion("a", 1)}
        with serve("tiny") as server:
            for name, request in kinds.items():
                held = []
                for count in (200, 1000):
                    for _ in range(count):
                        self.assertIn(ask(server.port, request).status, (200, 400))
                    server.until_idle()
                    held.append(server.anonymous_bytes())
                print(f"{name}: {(held[1] - held[0]) >> 10} KiB more after 1000", flush=True)
                self.assertLess(held[1] - held[0], 640 << 10, name)


class vanishing_clients(unittest.TestCase):
    """A client that leaves frees everything it held, at once, and changes no byte of its neighbours."""

    def test_in_the_queue(self):
        with serve("tiny", flags=("-np", "2")) as server:
            requests = [completion(f"neighbour {i}", 600, logprobs=5) for i in range(2)]
            alone = [stream(server, r) for r in requests]
            # Two streams whose clients do not read hold both places.
            neighbours = [raw_client(server.port, receive_buffer=4096) for _ in requests]
            for client, request in zip(neighbours, requests):
                client.send(request)
                client.wait_for(b"data: ")
            leaving = [raw_client(server.port) for _ in range(3)]
            for client in leaving:
                client.send(completion("waits", 500))
            server.until(lambda m: m['infer_model_leases{model="tiny"}'] == 5, "five leases")
            for i, client in enumerate(leaving):
                client.vanish(reset=i % 2 == 0)
            server.until(lambda m: m['infer_model_leases{model="tiny"}'] == 2 and m['infer_model_streams_waiting{model="tiny"}'] == 0, "two leases")
            self.assertEqual([stream_text(client) for client in neighbours], alone)
            for client in neighbours:
                client.vanish(reset=False)
            server.until_idle()

    def test_during_a_load(self):
        with serve("large", port=free_port()) as server:
            while True:
                try:
                    clients = [raw_client(server.port) for _ in range(4)]
                    break
                except ConnectionRefusedError:
                    self.assertIsNone(server.process.poll(), server.log)
            for client in clients:
                client.send(completion("hello", 3))
            most = server.until(lambda m: m['infer_model_waiters{model="large"}'] == 4, "four waiters")
            self.assertEqual(most['infer_model_ready{model="large"}'], 0)
            for i, client in enumerate(clients[1:]):
                client.vanish(reset=i % 2 == 0)
            server.until(lambda m: m['infer_model_waiters{model="large"}'] + m['infer_model_leases{model="large"}'] <= 1, "one waiter")
            text = stream_text(clients[0])
            clients[0].vanish(reset=False)
            server.wait_until_ready()
            self.assertEqual(stream(server, completion("hello", 3)), text)
            self.assertEqual(server.until_idle()['infer_model_tokens_total{model="large"}'], 6)

    def test_during_prefill_and_decode(self):
        with serve("middle", flags=("-np", "4", "-b", "32")) as server:
            neighbour = completion("a neighbour", 60)
            alone = stream(server, neighbour)
            for what, leaving, counter, bound in [("prefill", completion("x" * 4000, 5), "prompt_tokens", 4000), ("decode", completion("gone", 4000), "tokens", 4000)]:
                for reset in (False, True):
                    with self.subTest(what=what, reset=reset):
                        counted = f'infer_model_{counter}_total{{model="middle"}}'
                        before = server.metrics()[counted]
                        beside, gone = raw_client(server.port), raw_client(server.port)
                        beside.send(neighbour)
                        gone.send(leaving)
                        server.until(lambda m: m[counted] >= before + 100, "a hundred tokens")
                        gone.vanish(reset)
                        server.until(lambda m: m['infer_model_leases{model="middle"}'] <= 1, "one lease")
                        self.assertEqual(stream_text(beside), alone)
                        beside.vanish(False)
                        self.assertLess(server.until_idle()[counted] - before, bound - 500)

    def test_without_a_stream(self):
        with serve("middle") as server:
            gone = raw_client(server.port)
            gone.send(post("/v1/completions", {"prompt": "gone", "max_tokens": 4000, "temperature": 0, "ignore_eos": True}))
            server.until(lambda m: m['infer_model_tokens_total{model="middle"}'] >= 10, "ten tokens")
            gone.vanish(reset=False)
            self.assertLess(server.until_idle()['infer_model_tokens_total{model="middle"}'], 2000)


class life_of_a_server(unittest.TestCase):
    def test_a_prompt_beyond_the_context_is_refused_with_both_numbers(self):
        with serve("tiny", flags=("-c", "512")) as server:
            answer = ask(server.port, post("/v1/completions", {"prompt": "x" * 513, "max_tokens": 1}))
            error = answer.json()["error"]
            self.assertEqual((answer.status, error["code"]), (400, "context_length_exceeded"), error)
            self.assertIn("513", error["message"])
            self.assertIn("512", error["message"])
            self.assertEqual(ask(server.port, post("/v1/completions", {"prompt": "x" * 511, "max_tokens": 1})).status, 200)

    def test_a_stream_ends_whole_after_sigterm(self):
        request = completion("the last words", 300)
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number), serve("middle") as server:
                alone = stream(server, request)
                with raw_client(server.port) as client:
                    client.send(request)
                    client.wait_for(b"data: ")
                    server.process.send_signal(number)
                    self.assertEqual(stream_text(client), alone)
                    self.assertEqual(client.rest(), b"")
                self.assertEqual(server.wait(), 0, server.log)

    def test_the_grace_has_an_end_and_who_waits_then_is_told_so(self):
        with serve("middle", flags=("--grace", "0")) as server:
            with raw_client(server.port) as whole, raw_client(server.port) as streamed:
                whole.send(post("/v1/completions", {"prompt": "long", "max_tokens": 4000}))
                streamed.send(completion("long", 4000))
                streamed.wait_for(b"data: ")
                server.process.send_signal(signal.SIGTERM)
                self.assertIn(b'"code":"shutting_down"', streamed.rest())
                answer = whole.answer()
                self.assertEqual((answer.status, answer.json()["error"]["code"]), (503, "shutting_down"), answer.body)
                self.assertEqual(answer.fields["retry-after"], "1")
            self.assertEqual(server.wait(), 0, server.log)

    def test_models_that_do_not_fit_beside_each_other_are_refused_with_what_is_missing(self):
        first, second = model("middle"), os.path.join(FOLDER.name, "second.gguf")
        if not os.path.exists(second):
            os.symlink(first, second)
        def refused(memory):
            command = [BINARY, "serve", "--port", "0", "-c", "512", "-m", first, "-m", second, "--memory", str(memory)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done)
            return done.stderr

        one = int(re.search(r"it needs (\d+) MiB", refused(33))[1])
        self.assertRegex(refused(32 + one + 1), r"second\.gguf: the model waits for memory: \d+ MiB more have to become free; allow more with --memory")

    def test_a_server_that_loads_stops_when_it_is_told_to(self):
        with subprocess.Popen([BINARY, "serve", "--port", "0", "-m", model("middle")], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=30)
        self.assertIn(process.returncode, (0, -signal.SIGTERM), err)  # before or after it listened to signals

    def test_a_second_signal_ends_the_grace(self):
        with serve("middle", flags=("--grace", "3600")) as server:
            with raw_client(server.port) as client:
                client.send(completion("long", 4000))
                client.wait_for(b"data: ")
                server.process.send_signal(signal.SIGINT)
                with self.assertRaises(OSError):  # until the first one was heard
                    while True:
                        raw_client(server.port).vanish(reset=False)
                server.process.send_signal(signal.SIGINT)
                client.rest()
            self.assertEqual(server.wait(), 0, server.log)

    def test_a_killed_server_starts_again(self):
        port = free_port()
        request = completion("again", 20)
        texts = []
        for _ in range(2):
            with serve("tiny", port=port) as server:
                server.wait_until_ready()
                texts.append(stream(server, request))
                with raw_client(port) as client:
                    client.send(completion("cut off", 3000))
                    client.wait_for(b"data: ")
                    server.process.kill()
                    client.rest()
                self.assertEqual(server.wait(), -signal.SIGKILL)
        self.assertEqual(texts[0], texts[1])

    def test_two_models_answer_side_by_side(self):
        with serve("tiny", "middle") as server:
            requests = [completion("hello", 40, model=name) for name in ("tiny", "middle")]
            alone = [stream(server, r) for r in requests]
            self.assertNotEqual(*alone)
            clients = [raw_client(server.port) for _ in requests]
            for client, request in zip(clients, requests):
                client.send(request)
            self.assertEqual([stream_text(c) for c in clients], alone)
            self.assertEqual(stream(server, completion("hello", 40)), alone[0], "the first is the default")
            self.assertEqual([m["id"] for m in ask(server.port, get("/v1/models")).json()["data"]], ["tiny", "middle"])

    def refused(self, *flags):
        done = subprocess.run([BINARY, "serve", "--log-level", "warn", *flags], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_what_cannot_be_served_is_said(self):
        with serve("tiny") as server:
            self.assertIn(f"cannot listen on 127.0.0.1:{server.port}: Address already in use", self.refused("-m", model("tiny"), "--port", str(server.port)))
        self.assertIn("no such file or folder", self.refused("-m", os.path.join(FOLDER.name, "nothing.gguf"), "--port", "0"))
        broken = os.path.join(FOLDER.name, "broken.gguf")
        with open(model("tiny"), "rb") as whole, open(broken, "wb") as part:
            part.write(whole.read()[:20_000])
        self.assertIn("broken.gguf: ", self.refused("-m", broken, "--port", "0"))
        self.assertIn("budget", self.refused("-m", model("large"), "--port", "0", "--memory", "64"))
        self.assertIn("cannot listen", self.refused("-m", model("tiny"), "--port", "0", "--host", "203.0.113.1"))

    def test_a_file_that_cannot_be_read_is_named_once(self):
        nothing = os.path.join(FOLDER.name, "nothing.gguf")
        self.assertEqual(self.refused("-m", nothing, "--port", "0").count(nothing), 1)

    def test_two_models_of_one_id_are_refused_by_their_files(self):
        other = os.path.join(FOLDER.name, "other", "tiny.gguf")
        os.makedirs(os.path.dirname(other), exist_ok=True)
        shutil.copy(model("tiny"), other)
        sentence = self.refused("-m", model("tiny"), "-m", other, "--port", "0")
        for part in ("'tiny'", model("tiny"), other):
            self.assertIn(part, sentence)

    def test_an_empty_key_is_refused(self):
        self.assertIn("--api-key", self.refused("-m", model("tiny"), "--port", "0", "--api-key", ""))

    def test_a_host_that_is_no_address_is_refused_with_what_to_write(self):
        self.assertIn("'nosuchhost' is not an IP address", self.refused("-m", model("tiny"), "--port", "0", "--host", "nosuchhost"))


class command_line(unittest.TestCase):
    def call(self, *arguments, standard_input=""):
        return subprocess.run([BINARY, *arguments], input=standard_input, capture_output=True, text=True, timeout=60, check=False)

    def test_without_a_command_the_help_is_shown_and_the_exit_code_is_that_of_wrong_usage(self):
        done = self.call()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        for name in ("serve", "run", "inspect", "tokenize", "score"):
            self.assertIn(f"\n  {name} ", done.stderr)

    def test_wrong_usage_has_one_exit_code_and_names_what_is_wrong(self):
        for arguments, word in [(["fly"], "fly"), (["serve"], "--model"), (["serve", "-m"], "--model"), (["serve", "-m", BINARY, "--port", "99999"], "99999"),
                                (["serve", "-m", BINARY, "-np", "0"], "--parallel"), (["inspect"], "FILE"), (["inspect", BINARY, "surplus"], "surplus"), (["run", "--zap"], "--zap")]:
            done = self.call(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn(word, done.stderr)

    def test_help_is_no_fault_and_names_the_program(self):
        for arguments in (["--help"], ["run", "--help"]):
            done = self.call(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(" ".join(["Usage: infer-node", *arguments[:-1]]), done.stdout)

    def test_as_many_tokens_as_fit_are_asked_for_with_minus_one(self):
        texts = [self.call("run", "-m", model("tiny"), "-c", "64", "--raw", "--temp", "0", *flags, "a") for flags in ([], ["-n", "-1"])]
        self.assertEqual([t.returncode for t in texts], [0, 0], texts)
        self.assertEqual(texts[0].stdout, texts[1].stdout)

    def test_tokenize_says_which_ids_are_outside_the_vocabulary(self):
        done = self.call("tokenize", "-m", model("tiny"), "--jsonl", standard_input='{"ids": [1, 99999999]}\n{"ids": [-1]}\n{"ids": [1]}\n')
        self.assertEqual(done.returncode, 1)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertIn("99999999", lines[0]["error"])
        self.assertIn("-1", lines[1]["error"])
        self.assertIn("text", lines[2])

    def test_a_reader_that_goes_away_ends_the_program(self):
        # Both would write on for long: the one what it reads, the other until the context is full.
        for arguments in (["tokenize", "-m", model("tiny")], ["run", "-m", model("large"), "--raw", "--temp", "2", "--ignore-eos", "abc"]):
            with tempfile.TemporaryFile() as text:
                text.write(b"abc " * 100_000)
                text.seek(0)
                with subprocess.Popen([BINARY, *arguments], stdin=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
                    process.stdout.read(1)
                    process.stdout.close()
                    self.assertEqual(process.wait(60), -signal.SIGPIPE, arguments)

    def test_what_a_server_refuses_is_said_in_its_words(self):
        with serve("tiny") as server:
            done = self.call("run", "--server", server.url, "-m", "nobody", "hello")
            self.assertEqual((done.returncode, done.stderr), (1, "infer-node: the server answered 404: the model 'nobody' does not exist\n"))

    def test_an_empty_text_is_a_text(self):
        self.assertEqual(self.call("tokenize", "-m", model("tiny"), "--no-special", "", standard_input="abc").stdout, "")


class models_without_template(unittest.TestCase):
    def test_a_text_is_continued(self):
        path = os.environ.get("INFER_TEST_MODEL_2")
        if not path:
            print("[  SKIPPED ] apps/process run (INFER_TEST_MODEL_2 names no real model)")
            return
        made = [subprocess.run([BINARY, "run", *flags, "-m", path, "--temp", "0", "-n", "8", "Once upon a"], capture_output=True, text=True, timeout=60, check=True) for flags in ((), ("--raw",))]
        self.assertEqual(made[0].stdout, made[1].stdout)
        self.assertTrue(made[0].stdout.startswith(" time"), made)
        self.assertIn("has no chat template: the text is continued as it is", made[0].stderr)
        self.assertEqual(made[1].stderr, "")


class memory_of_real_models(unittest.TestCase):
    """What a loaded model costs: the account that people plan their machines by."""

    def test_a_busy_server_stays_within_its_memory(self):
        path = os.environ.get("INFER_TEST_MODEL")
        if not path:
            print("[  SKIPPED ] apps/process memory (INFER_TEST_MODEL names no real model)")
            return
        for limit in (200, 260):
            with server_process(BINARY, "-m", path, "-c", "1024", "--parallel", "8", "--memory", str(limit), "--log-level", "warn") as server:
                clients = [raw_client(server.port) for _ in range(8)]
                for i, client in enumerate(clients):
                    client.send(completion(f"{i} " + "one two three four " * 150, 60))
                texts = [stream_text(client) for client in clients]
                self.assertTrue(all(texts))
                with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
                    most = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
                print(f"--memory {limit}: at most {most / 1024:.1f} MiB, {server.metrics()[next(n for n in server.metrics() if n.startswith('infer_model_parkings'))]:.0f} parkings", flush=True)
                self.assertLessEqual(most, limit * 1024)

    def test_a_loaded_model_takes_its_tensors_and_little_more(self):
        paths = [os.environ[name] for name in ("INFER_TEST_MODEL", "INFER_TEST_MODEL_2") if os.environ.get(name)]
        if len(paths) != 2:
            print("[  SKIPPED ] apps/process memory (INFER_TEST_MODEL and INFER_TEST_MODEL_2 name no real models)")
        for path in paths:
            report = json.loads(subprocess.run([BINARY, "inspect", "--json", path], capture_output=True, check=True).stdout)
            tensors = sum(row["bytes"] for row in report["types"])
            with server_process(BINARY, "-m", path, "--log-level", "warn") as server:
                server.until(lambda m: any(name.startswith("infer_model_pages{") for name in m), "a loaded model")
                with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
                    rss = {name: int(rest.split()[0]) << 10 for name, rest in (line.split(":", 1) for line in status) if name in ("RssAnon", "RssFile", "VmHWM")}
            held = rss["RssAnon"] + rss["RssFile"]
            print(f"{os.path.basename(path)}: tensors {tensors / 1e6:.1f} MB, held {held / 1e6:.1f} MB, at most {rss['VmHWM'] / 1e6:.1f} MB", flush=True)
            self.assertGreater(held, tensors, "the weights are in memory")
            # No page of the key/value pool has been touched yet.
            self.assertLessEqual(held, tensors * 1.06 + 120e6)
            self.assertLessEqual(rss["VmHWM"], tensors * 1.15 + 120e6)


if __name__ == "__main__":
    if not BINARY:
        print("[  SKIPPED ] apps/process (INFER_TEST_BINARY does not name infer-node)")
        sys.exit(0)
    WRITER = sys.argv.pop(1)
    unittest.main(verbosity=2, warnings="ignore")
