#!/usr/bin/env python3
"""`infer-node pull` and `list` against a hub on this machine that drops, stalls, lies, changes files and is slow to die.

pull_test.py TINY_MODEL_WRITER; INFER_TEST_BINARY names infer-node.
"""
import fcntl
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from fake_hub import PIECE, fake_hub
from raw_http import ask, completion, get
from server_process import server_process
from terminal_session import terminal_session

BINARY = os.environ.get("INFER_TEST_BINARY")
CHUNK = 8 << 20
MODEL = "model-Q4_0.gguf"
DATA = random.Random(1).randbytes(3_000_001)


def read(path):
    with open(path, "rb") as file:
        return file.read()


class pulling(unittest.TestCase):
    STALL = "1"  # seconds

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="infer-test-")
        self.addCleanup(self.folder.cleanup)
        self.models = os.path.join(self.folder.name, "models")

    def command(self, hub, name, *flags):
        return [BINARY, "pull", name, "--endpoint", hub.url, "--models", self.models, "--stall-timeout", self.STALL, *flags]

    def environment(self, **more):
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "INFER_MODELS"))}
        return {**kept, **more}

    def pull(self, hub, name, *flags, **more):
        return subprocess.run(self.command(hub, name, *flags), capture_output=True, text=True, timeout=120, check=False, env=self.environment(**more))

    def pulled(self, hub, name, *flags, **more):
        done = self.pull(hub, name, "--json", *flags, **more)
        self.assertEqual(done.returncode, 0, done)
        return json.loads(done.stdout)

    def refused(self, hub, name, *flags, **more):
        done = self.pull(hub, name, *flags, **more)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        return done.stderr

    def list(self):
        done = subprocess.run([BINARY, "list", "--json", "--models", self.models], capture_output=True, text=True, timeout=60, check=True)
        return json.loads(done.stdout)

    def one(self, data=DATA, **more):
        return fake_hub({"owner/name": {MODEL: data}}, **more)

    def parts(self):
        """Bytes of parts below the folder of models."""
        return sum(os.path.getsize(os.path.join(at, f)) for at, _, files in os.walk(self.models) for f in files if f.endswith(".part"))


class choices(pulling):
    def test_a_quantization_is_chosen_and_the_model_is_listed_and_found_again(self):
        files = {f"model-{q}.gguf": random.Random(q).randbytes(1000 + i) for i, q in enumerate(["Q2_K", "Q4_0", "Q4_K_M", "Q8_0"])}
        with fake_hub({"owner/name": {"README.md": b"text", **files}}, page=2) as hub:
            done = self.pull(hub, "owner/name")
            self.assertEqual(done.returncode, 0, done)
            self.assertIn("taking Q4_K_M of Q2_K, Q4_0, Q4_K_M, Q8_0", done.stderr)
            model = self.pulled(hub, "owner/name:q8_0")
            self.assertEqual(read(model["path"]), files["model-Q8_0.gguf"])
            again = len([r for r in hub.requests if "/resolve/" in r[0]])
            self.assertEqual(self.pulled(hub, "owner/name:Q8_0"), model)
            self.assertEqual(len([r for r in hub.requests if "/resolve/" in r[0]]), again, "what is there is not fetched again")
            self.assertEqual([(m["name"], m["format"], m["bytes"]) for m in self.list()], [("owner/name:Q4_K_M", "GGUF", 1002), ("owner/name:Q8_0", "GGUF", 1003)])
            self.assertIn("has no Q6_K; it has Q2_K, Q4_0", self.refused(hub, "owner/name:Q6_K"))

    def test_all_parts_of_a_split_model_are_fetched(self):
        files = {f"Q4_0/m-Q4_0-0000{i}-of-00003.gguf": random.Random(i).randbytes(5000 * i) for i in (1, 2, 3)}
        with fake_hub({"owner/name": files}) as hub:
            model = self.pulled(hub, "owner/name:Q4_0")
            self.assertTrue(model["path"].endswith("m-Q4_0-00001-of-00003.gguf"))
            for path, data in files.items():
                self.assertEqual(read(os.path.join(os.path.dirname(model["path"]), os.path.basename(path))), data)
            del files["Q4_0/m-Q4_0-00002-of-00003.gguf"]
            self.assertIn("has 2 of its 3 parts", self.refused(hub, "owner/name:Q4_0"))

    def test_models_of_one_name_in_folders_of_their_types_do_not_replace_each_other(self):
        files = {"Q4_K_M/model.gguf": b"four", "Q8_0/model.gguf": b"eight", "model-mmproj-Q4_K_M.gguf": b"eyes"}
        with fake_hub({"owner/name": files}) as hub:
            for tag, data in (("Q8_0", b"eight"), ("Q4_K_M", b"four")):
                self.assertEqual(self.pulled(hub, "owner/name:" + tag)["name"], "owner/name:" + tag)
            self.assertEqual([(m["name"], read(m["path"])) for m in self.list()], [("owner/name:Q4_K_M", b"four"), ("owner/name:Q8_0", b"eight")])
        with fake_hub({"owner/name": {"model-IQ1_S.gguf": b"one"}}) as hub:
            self.assertIn("has only types that this program does not run: IQ1_S; name one", self.refused(hub, "owner/name"))
            self.pulled(hub, "owner/name:IQ1_S")

    def test_a_folder_of_safetensors_has_what_it_is_read_with(self):
        wanted = {"config.json": b"{}", "tokenizer.json": b"{ }", "model-00001-of-00002.safetensors": b"a" * 9000, "model-00002-of-00002.safetensors": b"b", "model.safetensors.index.json": b"[]", "merges.txt": b""}
        with fake_hub({"owner/name": {**wanted, "README.md": b"r", "onnx/model.onnx": b"o", "pytorch_model.bin": b"p", "consolidated.safetensors": b"c"}}) as hub:
            model = self.pulled(hub, "owner/name@v1.0")
            self.assertEqual((model["name"], model["format"]), ("owner/name@v1.0", "safetensors"))
            self.assertEqual({f: read(os.path.join(model["path"], f)) for f in os.listdir(model["path"]) if f != "pulled.json"}, wanted)
            self.assertTrue(all("/v1.0" in path for path, *_ in hub.requests), hub.requests)

    def test_addresses_of_pages_and_files_name_models_of_the_hub_that_is_asked(self):
        with fake_hub({"owner/name": {"a/model-Q4_0.gguf": b"four", "model-Q8_0.gguf": b"eight"}}) as hub:
            for name, data in (("https://hub.invalid/owner/name", b"four"), ("hub.invalid/owner/name:Q8_0", b"eight"), ("https://hub.invalid/owner/name/blob/main/model-Q8_0.gguf", b"eight"),
                               ("hub.invalid/owner/name/resolve/refs%2Fpr%2F1/a/model-Q4_0.gguf?download=true", b"four"), ("owner/name:Q8_0@refs/pr/1", b"eight")):
                model = self.pulled(hub, name)
                self.assertEqual(read(model["path"]), data)
            self.assertEqual(model["name"], "owner/name:Q8_0@refs/pr/1")

    def test_what_has_not_changed_is_not_fetched_again(self):
        weights = {f"model-0000{i}-of-00002.safetensors": random.Random(i).randbytes(200_000) for i in (1, 2)}
        files = {"config.json": b"{}", "tokenizer.json": b"{ }", "model.safetensors.index.json": b"[]", **weights}
        with fake_hub({"owner/name": files}) as hub:
            path = self.pulled(hub, "owner/name")["path"]
            # Of one size and with other bytes; another file goes, and one comes.
            files |= {"config.json": b"[]", "merges.txt": b"a b", "model-00002-of-00002.safetensors": random.Random(3).randbytes(200_000)}
            del files["tokenizer.json"]
            hub.served.clear()
            self.assertEqual(self.pulled(hub, "owner/name")["path"], path)
            self.assertEqual(hub.served, {f: len(files[f]) for f in ("config.json", "merges.txt", "model-00002-of-00002.safetensors")})
            self.assertEqual({f: read(os.path.join(path, f)) for f in os.listdir(path) if f != "pulled.json"}, files)
            # What is there is not believed where its size is another than it was.
            with open(os.path.join(path, "model-00001-of-00002.safetensors"), "ab") as file:
                file.write(b"?")
            hub.served.clear()
            self.pulled(hub, "owner/name")
            self.assertEqual(hub.served, {"model-00001-of-00002.safetensors": 200_000})
            self.assertEqual({f: read(os.path.join(path, f)) for f in os.listdir(path) if f != "pulled.json"}, files)

    def test_a_pulled_model_runs_by_its_name(self):
        path = os.path.join(self.folder.name, "tiny-F32.gguf")
        subprocess.run([WRITER, path, "64", "2", "96", "4096"], check=True)
        with fake_hub({"owner/tiny": {"tiny-F32.gguf": read(path)}}) as hub:
            self.pulled(hub, "owner/tiny")
        texts = []
        for name in (path, "owner/tiny", "hf:owner/tiny:F32"):
            done = subprocess.run([BINARY, "run", "-m", name, "--raw", "--temp", "0", "-n", "8", "abc"], capture_output=True, timeout=60, check=False, env=self.environment(INFER_MODELS=self.models))
            self.assertEqual(done.returncode, 0, done)
            texts.append(done.stdout)
        self.assertEqual(len(set(texts)), 1, texts)
        os.environ["INFER_MODELS"] = self.models
        self.addCleanup(os.environ.pop, "INFER_MODELS")
        with server_process(BINARY, "-m", "owner/tiny", "--log-level", "warn") as server:
            self.assertEqual([m["id"] for m in ask(server.port, get("/v1/models")).json()["data"]], ["owner/tiny:F32"])
            for path in ("owner/tiny:F32", "owner%2Ftiny%3AF32"):
                self.assertEqual(ask(server.port, get("/v1/models/" + path)).json().get("id"), "owner/tiny:F32")
            for name in ("owner/tiny:F32", "owner/tiny", "tiny-F32"):
                self.assertEqual(ask(server.port, completion("abc", 4, model=name, stream=False)).status, 200, name)
            self.assertEqual(ask(server.port, completion("abc", 4, model="tiny", stream=False)).status, 404)

    def test_the_endpoint_comes_from_the_environment(self):
        with self.one() as hub:
            done = subprocess.run([BINARY, "pull", "owner/name", "--json"], capture_output=True, text=True, timeout=60, check=False, env=self.environment(HF_ENDPOINT=hub.url + "/", INFER_MODELS=self.models))
            self.assertEqual(done.returncode, 0, done)
            self.assertTrue(json.loads(done.stdout)["path"].startswith(self.models))


class breaks(pulling):
    def fetched(self, *faults, data=DATA):
        """Pulls through the faults; the file must be right. Returns the hub."""
        with self.one(data) as hub:
            hub.faults[MODEL] = list(faults)
            self.assertEqual(read(self.pulled(hub, "owner/name")["path"]), data)
            self.assertEqual(hub.faults[MODEL], [], "every fault happened")
            self.assertEqual(self.parts(), 0)
            return hub

    def test_a_dropped_connection_is_gone_on_with(self):
        hub = self.fetched({"drop": 1_000_000}, {"drop": 500_000}, {"drop": 0})
        self.assertEqual(hub.served[MODEL], len(DATA))
        asked = [r for r in hub.requests if "/resolve/" in r[0]]
        self.assertEqual([r[1] for r in asked], [None, "bytes=1000000-", "bytes=1500000-", "bytes=1500000-"])
        self.assertEqual({r[2] for r in asked[1:]}, {f'"{hashlib.sha256(DATA).hexdigest()}"'})

    def test_a_stalled_connection_is_given_up_and_gone_on_with(self):
        self.assertEqual(self.fetched({"stall": 1_000_000}).served[MODEL], len(DATA))

    def test_busy_servers_are_asked_again(self):
        self.fetched({"status": 503}, {"drop": 1000}, {"status": 429, "fields": {"Retry-After": "1"}}, {"status": 500})

    def test_a_length_that_is_too_large(self):
        self.assertEqual(self.fetched({"length": len(DATA) + 1000}).served[MODEL], len(DATA))

    def test_a_length_that_is_too_small(self):
        self.assertEqual(self.fetched({"length": 1_000_000}).served[MODEL], len(DATA))

    def test_bytes_after_the_end(self):
        self.fetched({"extra": b"x" * 100_000})

    def test_a_server_that_ignores_ranges(self):
        hub = self.fetched({"drop": 1_000_000}, {"whole": True})
        self.assertEqual(hub.served[MODEL], 1_000_000 + len(DATA))

    def test_a_range_that_begins_elsewhere(self):
        self.fetched({"drop": 1_000_000}, {"shift": 7})

    def test_a_file_that_changes_meanwhile_is_begun_again(self):
        other = random.Random(2).randbytes(len(DATA))
        self.fetched({"drop": 1_000_000, "data": other})

    def test_damaged_bytes_are_fetched_again(self):
        damaged = DATA[:5000] + b"?" + DATA[5001:]
        etag = f'"{hashlib.sha256(DATA).hexdigest()}"'
        hub = self.fetched({"data": damaged, "etag": etag})
        self.assertEqual(hub.served[MODEL], 2 * len(DATA))

    def test_a_file_without_bytes(self):
        with self.one(b"") as hub:
            self.assertEqual(read(self.pulled(hub, "owner/name")["path"]), b"")

    def test_a_file_that_is_never_right_is_refused_and_not_published(self):
        with self.one() as hub:
            hub.faults[MODEL] = [{"data": DATA[:-1] + b"?"}] * 8
            self.assertIn("checksum", self.refused(hub, "owner/name"))
            self.assertEqual(self.list(), [])

    def test_a_file_of_another_size_than_listed_is_refused(self):
        with self.one() as hub:
            hub.faults[MODEL] = [{"drop": 5000}, *[{"data": DATA + b"more", "etag": f'"{hashlib.sha256(DATA).hexdigest()}"'}] * 8]
            self.assertIn(f"has {len(DATA) + 4} bytes, its listing says {len(DATA)}", self.refused(hub, "owner/name"))

    def test_a_server_that_brings_nothing_is_given_up_and_the_part_is_kept(self):
        with self.one() as hub:
            hub.faults[MODEL] = [{"drop": 1_000_000}, {"drop": 0}, {"drop": 0}]
            sentence = self.refused(hub, "owner/name", "--tries", "2")
            self.assertIn("2 tries in a row brought nothing, at byte 1000000 of 3000001", sentence)
            self.assertEqual(self.parts(), 1_000_000)
            self.assertEqual(read(self.pulled(hub, "owner/name")["path"]), DATA)
            self.assertEqual(hub.served[MODEL], len(DATA))

    def test_a_repository_that_moves_on_replaces_the_old_model_in_one_step(self):
        with self.one() as hub:
            path = self.pulled(hub, "owner/name")["path"]
            new = random.Random(3).randbytes(1_000_000)
            hub.repositories["owner/name"] = {MODEL: new}
            hub.faults[MODEL] = [{"drop": 500_000}, {"drop": 0}]
            self.refused(hub, "owner/name", "--tries", "1")
            self.assertEqual(read(path), DATA)
            self.assertEqual(self.pulled(hub, "owner/name")["path"], path)
            self.assertEqual(read(path), new)
            self.assertEqual([m["bytes"] for m in self.list()], [len(new)])


class refusals(pulling):
    def test_a_gated_model_needs_the_token(self):
        with self.one(token="secret") as hub:
            self.assertIn("401: set HF_TOKEN or --token", self.refused(hub, "owner/name"))
            self.assertIn("the token gives no access: accept the licence", self.refused(hub, "owner/name", "--token", "wrong"))
            self.pulled(hub, "owner/name", HF_TOKEN="secret")

    def test_the_token_does_not_go_to_another_server(self):
        with self.one(token="secret") as hub, self.one() as store:
            hub.faults[MODEL] = [{"redirect": store.url + "{path}"}]
            store.faults[MODEL] = [{"drop": 1000}]
            self.assertEqual(read(self.pulled(hub, "owner/name", "--token", "secret")["path"]), DATA)
            self.assertEqual([r[3] for r in store.requests], [None])
            self.assertEqual({r[3] for r in hub.requests}, {"Bearer secret"})

    def test_a_model_that_was_not_pulled_is_named_with_what_to_do(self):
        def refused(*command):
            done = subprocess.run([BINARY, *command], capture_output=True, text=True, timeout=60, check=False,
                                  env=self.environment(INFER_MODELS=self.models))
            self.assertEqual((done.returncode, done.stdout), (1, ""), done)
            return done.stderr
        name = "owner/name:Q4_0"
        for command in (["run", "-m", name, "hi"], ["inspect", name], ["serve", "-m", name], ["bench", "-m", name]):
            self.assertIn(f"{name}: no such file or folder, and no model was pulled by that name; to fetch it: infer-node pull {name}\n", refused(*command))
        for path in ("here.gguf", "a/here.gguf", "/a/b/c/here.gguf"):
            self.assertIn(f"{path}: no such file or folder", refused("inspect", path))
            self.assertNotIn("infer-node pull", refused("inspect", path))

    def test_names_that_are_not_there(self):
        with self.one() as hub:
            self.assertIn("404: check the name", self.refused(hub, "owner/nobody"))
            for name in ("name", "owner/", "../x", "owner/name:", "owner/name/../x.gguf", "owner/name/x.txt"):
                self.assertIn("OWNER/NAME", self.refused(hub, name))

    def test_a_server_that_is_not_there(self):
        with self.one() as hub:
            pass
        self.assertIn("Failed to connect", self.refused(hub, "owner/name"))

    def test_a_path_that_leads_out_is_refused(self):
        for path in ("../../evil-Q4_0.gguf", "/evil.gguf", "a/../evil.gguf"):
            with fake_hub({"owner/name": {path: b"x"}}) as hub:
                self.assertIn("leads out of the repository", self.refused(hub, "owner/name"))

    def test_a_model_larger_than_the_disk_is_refused_before_a_byte_is_fetched(self):
        class huge(bytes):
            def __len__(self):
                return 1 << 60
        with fake_hub({"owner/name": {MODEL: huge(b"x")}}) as hub:
            sentence = self.refused(hub, "owner/name")
            self.assertIn("make room, or choose another folder with --models", sentence)
            self.assertFalse([r for r in hub.requests if "/resolve/" in r[0]])

    def test_two_pulls_of_one_model(self):
        with self.one() as hub:
            self.pulled(hub, "owner/name")
            locks = [os.path.join(self.models, ".pulling", f) for f in os.listdir(os.path.join(self.models, ".pulling")) if f.endswith(".lock")]
            with open(locks[0], "w", encoding="ascii") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self.assertIn("is being fetched by another process", self.refused(hub, "owner/name"))


class deaths(pulling):
    KILLS, SIZE = 20, 96 << 20
    STALL = "30"  # nothing stalls here; a busy machine must not look as if something did

    def killed(self, hub, fault=None, on_list=False):
        """Starts a pull and kills it when the hub's hook says so."""
        process = subprocess.Popen(self.command(hub, "owner/name"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment())
        if on_list:
            hub.on_list = process.kill
        else:
            hub.faults[MODEL] = [{**fault, "call": lambda sent: sent >= fault["at"] and process.kill()}]
        self.assertEqual(process.wait(120), -signal.SIGKILL)
        hub.on_list = None

    def test_twenty_kills_cost_at_most_a_chunk_each(self):
        data = random.Random(4).randbytes(self.SIZE)
        costs = []
        with self.one(data) as hub:
            self.killed(hub, on_list=True)
            step = self.SIZE // (self.KILLS - 1)
            for kill in range(1, self.KILLS):
                held, served = self.parts(), hub.served.get(MODEL, 0)
                # The last one when every byte was sent: before, while or after the file gets its name.
                at = len(data) - held if kill == self.KILLS - 1 else step + random.Random(kill).randint(-step // 2, step // 2)
                self.killed(hub, {"at": min(at, len(data) - held)})
                now = self.parts() or len(data)
                costs.append(hub.served[MODEL] - served - (now - held))
            model = self.pulled(hub, "owner/name")
            self.assertEqual(hashlib.sha256(read(model["path"])).digest(), hashlib.sha256(data).digest())
            served = hub.served[MODEL]
        print(f"{self.KILLS} kills: {served} bytes served for {len(data)}; fetched again at most {max(costs)} at a kill", flush=True)
        self.assertLess(max(costs), CHUNK)
        self.assertLessEqual(served, len(data) + self.KILLS * CHUNK)

    def test_a_part_that_was_damaged_on_the_disk_is_found(self):
        with self.one() as hub:
            self.killed(hub, {"at": 20 * PIECE})
            part = next(os.path.join(at, f) for at, _, files in os.walk(self.models) for f in files if f.endswith(".part"))
            with open(part, "r+b") as file:
                file.write(b"damage")
            self.assertEqual(read(self.pulled(hub, "owner/name")["path"]), DATA)


class progress(pulling):
    def on_a_terminal(self, columns, name=MODEL):
        """The lines that stood one after the other in the row of the bar, and what came after."""
        with self.subTest(columns=columns), fake_hub({"owner/name": {name: random.Random(5).randbytes(1 << 20) * 8}}) as hub:
            hub.faults[name] = [{"stall": 4 << 20}]
            command = self.command(hub, "owner/name")
            command[command.index("--models") + 1] = os.path.join(self.models, str(columns))
            with terminal_session(command, self.environment(), columns) as program:
                code, _ = program.rest(60)
                rows, after = program.raw.rsplit("\r\n", 2)[0], program.raw.rsplit("\r\n", 2)[1]
            self.assertEqual(code, 0)
            self.assertNotIn("\n", rows)
            lines = rows.split("\r\x1b[K")[1:]
            self.assertGreater(len(lines), 2)
            self.assertIn("owner/name:Q4_0: 8.00 MiB in ", after)
            return lines

    def test_on_a_terminal_there_is_a_bar_with_the_time_left(self):
        text = "\n".join(self.on_a_terminal(200))
        self.assertRegex(text, re.compile(r"\[=+ *\] .* of 8\.00 MiB  \d+%  .*/s  \d+m\d\ds left  " + MODEL + "\n"))
        self.assertRegex(text, r"\[={24}\] 8\.00 MiB of 8\.00 MiB  100%")

    def test_the_bar_is_no_wider_than_the_terminal(self):
        name = "a-name-of-a-model-that-is-rather-long-\u4e2d\u6587\u4e2d\u6587-and-goes-on-and-on-00001-of-00001-Q4_0.gguf"
        for columns, wanted in ((80, r"\[=+ *\] .* of 8\.00 MiB  \d+%  .*/s  \d+m\d\ds left  a-.*\.\.\..*gguf$"), (40, r"^[0-9.]+ MiB of 8\.00 MiB  \d+%  \d+m\d\ds left$")):
            lines = self.on_a_terminal(columns, name)
            widest = max(sum(2 if letter > "\u1100" else 1 for letter in line) for line in lines)
            self.assertLess(widest, columns, lines)
            self.assertGreater(widest, columns // 2)
            self.assertTrue(any(re.search(wanted, line) for line in lines), (columns, lines))
            self.assertTrue(all("%" in line for line in lines), lines)
            self.assertIn("100%", lines[-1])

    def test_what_is_begun_again_is_measured_anew(self):
        damaged = DATA[:5000] + b"?" + DATA[5001:]
        with self.one() as hub:
            hub.faults[MODEL] = [{"drop": 2_000_000, "data": damaged, "etag": f'"{hashlib.sha256(DATA).hexdigest()}"'}, {"status": 404}]
            self.refused(hub, "owner/name", "--tries", "1")
            # The rest of it comes, is seen to be wrong, and all of it comes again.
            hub.faults[MODEL] = [{}, {"call": lambda _: time.sleep(0.02)}]
            done = self.pull(hub, "owner/name")
            self.assertEqual(hub.faults[MODEL], [])
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stderr, r"[KM]iB/s")
        self.assertNotRegex(done.stderr, r" 0 B/s|[TPE]iB/s", "no rate is less than nothing")

    def test_elsewhere_there_are_a_few_lines(self):
        with self.one() as hub:
            done = self.pull(hub, "owner/name")
        self.assertTrue(1 <= len(done.stderr.splitlines()) <= 11, done.stderr)
        self.assertIn("100%", done.stderr)


if __name__ == "__main__":
    if not BINARY:
        print("[  SKIPPED ] apps/pull (INFER_TEST_BINARY does not name infer-node)")
        sys.exit(0)
    WRITER = sys.argv.pop(1)
    unittest.main(verbosity=2, warnings="ignore")
