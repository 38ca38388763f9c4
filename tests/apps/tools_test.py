#!/usr/bin/env python3
"""The commands that tell something: inspect, tokenize, score, bench, list, doctor, for people and as JSON; completion
in the shells themselves; the manual; what is installed.

tools_test.py TINY_MODEL_WRITER; INFER_TEST_BINARY names infer-node.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

from raw_http import ask, post
from server_process import server_process
from terminal_session import terminal_session

BINARY = os.environ.get("INFER_TEST_BINARY")
FOLDER = tempfile.TemporaryDirectory(prefix="infer-test-")
CHAT = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"


def gguf(name="tiny"):
    path = os.path.join(FOLDER.name, name + ".gguf")
    if not os.path.exists(path):
        subprocess.run([WRITER, path, "64", "2", "96", "4096"], check=True)
    return path


def hub_folder(name, vocabulary=260, tokenizer=True, template=CHAT, **config):
    """A llama of one layer as on the hub, all weights zero."""
    folder = os.path.join(FOLDER.name, name)
    os.makedirs(folder, exist_ok=True)
    width, ffn = 64, 128
    shapes = {"model.embed_tokens.weight": [vocabulary, width], "model.norm.weight": [width], "lm_head.weight": [vocabulary, width]}
    layer = {"input_layernorm": [width], "post_attention_layernorm": [width], "self_attn.q_proj": [width, width], "self_attn.k_proj": [width, width], "self_attn.v_proj": [width, width],
             "self_attn.o_proj": [width, width], "mlp.gate_proj": [ffn, width], "mlp.up_proj": [ffn, width], "mlp.down_proj": [width, ffn]}
    shapes |= {f"model.layers.0.{k}.weight": v for k, v in layer.items()}
    header, at = {}, 0
    for key, shape in shapes.items():
        size = 2
        for n in shape:
            size *= n
        header[key] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + bytes(at))
    settings = {"model_type": "llama", "hidden_size": width, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 4, "intermediate_size": ffn, "vocab_size": vocabulary,
                "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": False, **config}
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(settings, file)
    if tokenizer:
        # The byte alphabet: printable bytes stand for themselves, the others for the letters from U+0100 on.
        printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
        letters = [chr(b) for b in printable] + [chr(256 + i) for i in range(256 - len(printable))]
        with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as file:
            json.dump({"version": "1.0", "added_tokens": [{"id": 256, "content": "<s>", "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}],
                       "normalizer": None, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}, "post_processor": None, "decoder": {"type": "ByteLevel"},
                       "model": {"type": "BPE", "vocab": {c: i for i, c in enumerate(letters)}, "merges": []}}, file)
        with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as file:
            json.dump({"chat_template": template, "bos_token": "<s>"}, file)
    return folder


class tools(unittest.TestCase):
    def call(self, *arguments, text="", **more):
        environment = {**os.environ, **more}
        return subprocess.run([BINARY, *arguments], input=text, capture_output=True, text=True, timeout=120, check=False, env=environment)

    def json_of(self, *arguments, **more):
        """What the command prints with --json: one document and nothing else."""
        done = self.call(*arguments, "--json", **more)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout.count("\n"), 1, done.stdout[:500])
        return json.loads(done.stdout)

    def refused(self, *arguments, **more):
        done = self.call(*arguments, **more)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        return done.stderr


class inspect(tools):
    def test_a_gguf_file_for_people(self):
        text = self.call("inspect", gguf()).stdout
        for line in (r"format        GGUF version 3, ", r"family        llama\n", r"runs          yes, with the \w+ kernels\n", r"context       4,096 positions as trained\n",
                     r"tokenizer     gpt2, smollm, 320 tokens\n", r"template      system messages.*\n", r"  F32 +\d+ tensors .* 100\.0 %\n", r"packed\n(.*\n)*  5 of F32 +dequantized", r"keys and values +1,000 tokens"):
            self.assertRegex(text, line)
        self.assertIn(" more\n", text)
        self.assertNotIn(" more\n", self.call("inspect", gguf(), "--tensors").stdout)

    def test_a_gguf_file_as_json(self):
        report = self.json_of("inspect", gguf())
        self.assertEqual([report[k] for k in ("path", "architecture", "family", "runs", "parts")], [gguf(), "llama", "llama", True, 1])
        self.assertEqual(report["file_bytes"], os.path.getsize(gguf()))
        self.assertEqual(report["tokenizer"], {"kind": "gpt2", "splitting": "smollm", "tokens": 320})
        self.assertEqual((report["template"]["system_messages"], report["template"]["thinking"]), (True, "none"))
        (kind,) = report["types"]
        self.assertEqual((kind["type"], kind["share"], kind["supported"], kind["tensors"]), ("F32", 1.0, True, report["tensor_count"]))
        memory = report["memory"]
        self.assertEqual(sum(p["bytes"] for p in report["packed"]), memory["weights"])
        # Two layers, two heads of 16 for keys and for values, two bytes; 1,000 tokens take 32 whole pages of 32.
        self.assertEqual((memory["kv_1000_tokens"], memory["kv_context"], memory["context"]), (1024 * 2 * 2 * 32 * 2, 4096 * 2 * 2 * 32 * 2, 4096))
        self.assertEqual(self.json_of("inspect", gguf(), "-ctk", "f32", "-ctv", "f32", "-c", "1024")["memory"]["kv_context"], 1024 * 2 * 2 * 32 * 4)
        self.assertEqual(report["keys"]["llama.block_count"], 2)
        self.assertEqual(report["keys"]["tokenizer.ggml.tokens"], {"length": 320})
        self.assertNotIn("tensors", report)
        tensors = self.json_of("inspect", gguf(), "--tensors")["tensors"]
        self.assertEqual(len(tensors), report["tensor_count"])
        self.assertIn({"name": "token_embd.weight", "type": "F32", "shape": [64, 320], "bytes": 64 * 320 * 4, "part": 0}, tensors)

    def test_a_folder_of_the_hub(self):
        report = self.json_of("inspect", hub_folder("hub"))
        self.assertEqual([report[k] for k in ("format", "architecture", "family", "runs")], ["safetensors", "llama", "llama", True], report.get("fault"))
        self.assertEqual(report["tokenizer"], {"kind": "BPE", "splitting": "", "tokens": 257})
        self.assertEqual(report["template"]["thinking"], "switchable")
        self.assertEqual({(p["type"], p["layout"]) for p in report["packed"]} - {("BF16", "rows")}, {("BF16", "dequantized"), ("BF16", "floats")} if any(p["layout"] == "floats" for p in report["packed"]) else {("BF16", "dequantized")})
        self.assertEqual(report["memory"]["trained_context"], 2048)
        text = self.call("inspect", hub_folder("hub")).stdout
        self.assertRegex(text, r"tokenizer     BPE, 257 tokens\ntemplate      .*thinking: switchable\n")

    def test_what_keeps_a_model_from_running_is_said_and_the_rest_is_shown(self):
        report = self.json_of("inspect", hub_folder("strange", model_type="strange", tokenizer=False))
        self.assertEqual((report["family"], report["runs"]), (None, False))
        self.assertIn("strange", report["fault"])
        self.assertIn("tokenizer.json", report["tokenizer"]["fault"])
        self.assertEqual(report["template"], {"present": False, "readable": False})
        self.assertNotIn("memory", report)
        text = self.call("inspect", os.path.join(FOLDER.name, "strange")).stdout
        self.assertRegex(text, r"family        none of this program's\nruns          no: ")
        self.assertIn("types\n  BF16 ", text)
        report = self.json_of("inspect", hub_folder("short", num_hidden_layers=2))
        self.assertEqual((report["family"], report["runs"]), ("llama", False))
        self.assertIn("layers.1.", report["fault"])

    def test_a_tokenizer_larger_than_the_embedding(self):
        folder = hub_folder("fewer", vocabulary=100)  # of 256 bytes and one added token
        report = self.json_of("inspect", folder)
        self.assertEqual((report["runs"], report["tokenizer"]["tokens"]), (True, 256), report.get("fault"))
        self.assertEqual(self.json_of("tokenize", "-m", folder, "<s>a")["ids"], [27, 82, 29, 64])
        self.assertEqual(len(self.json_of("score", "-m", folder, "abc")["positions"]), 2)
        self.assertIn("token id 225 is outside the vocabulary", self.refused("score", "-m", folder, "a\u00c3"))

    def test_a_model_whose_tokenizer_cannot_be_used_does_not_run(self):
        report = self.json_of("inspect", hub_folder("mute", tokenizer=False))
        self.assertEqual((report["family"], report["runs"]), ("llama", False))
        self.assertIn("its tokenizer cannot be used: the folder has no tokenizer.json", report["fault"])

    def test_what_is_no_model_is_refused(self):
        self.assertIn("nowhere.gguf", self.refused("inspect", "nowhere.gguf", "--json"))
        self.assertIn("f64", self.refused("inspect", gguf(), "-ctk", "f64"))


class templates(tools):
    def test_one_that_cannot_be_read_is_named_with_the_reason(self):
        folder = hub_folder("broken", template="{% for m in messages %}{{ m['content'] }")
        fault = self.json_of("inspect", folder)["template"]["fault"]
        self.assertIn("line 1", fault)
        sentence = "chat template cannot be read: " + fault
        done = self.call("run", "-m", folder, "-n", "3", "--temp", "0", "hello")
        self.assertEqual((done.returncode, done.stderr), (0, f"infer-node: {folder}: the model's {sentence}: the text is continued as it is\n"))
        with terminal_session([BINARY, "run", "-m", folder], {**os.environ, "TERM": "xterm"}) as chat:
            code, text = chat.rest()
            self.assertEqual(code, 1)
            self.assertIn(sentence, text)
        with server_process(BINARY, "-m", folder, "--log-level", "warn") as server:
            answer = ask(server.port, post("/v1/chat/completions", {"messages": [{"role": "user", "content": "hello"}]}))
            self.assertEqual(answer.status, 400)
            self.assertEqual(answer.json()["error"]["message"], f"this model's {sentence}; use /v1/completions")
            self.assertEqual(ask(server.port, post("/v1/completions", {"prompt": "abc", "max_tokens": 2})).status, 200)

    def test_thinking_is_found_where_its_tags_are_control_tokens(self):
        folder = hub_folder("thinker")
        path = os.path.join(folder, "tokenizer.json")
        with open(path, encoding="utf-8") as file:
            tokenizer = json.load(file)
        tokenizer["added_tokens"] += [{**tokenizer["added_tokens"][0], "id": 257 + i, "content": tag} for i, tag in enumerate(("[THINK]", "[/THINK]"))]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(tokenizer, file)
        # The weights are zero: the bias alone chooses.
        answer = self.json_of("run", "-m", folder, "-n", "4", "--temp", "0", "-l", "257+50", "hi")
        self.assertEqual((answer["text"], answer["reasoning"]), ("", "[THINK]" * 3))


class numbers(tools):
    def test_tokenize(self):
        answer = self.json_of("tokenize", "-m", gguf(), "aé")
        self.assertEqual(len(answer["ids"]), 3)
        self.assertEqual(answer["pieces"], ["a", "�", "�"])
        self.assertEqual(self.json_of("tokenize", "-m", gguf(), text="aé"), answer)

    def test_score(self):
        answer = self.json_of("score", "-m", gguf(), "hello", "--top", "2")
        self.assertEqual(len(answer["ids"]), 5)
        self.assertEqual([p["id"] for p in answer["positions"]], answer["ids"][1:])
        self.assertTrue(all(len(p["top"]) == 2 and p["top"][0][1] >= p["logprob"] for p in answer["positions"]))
        self.assertAlmostEqual(answer["logprob"], sum(p["logprob"] for p in answer["positions"]), 4)
        lines = self.call("score", "-m", gguf(), "--jsonl", "--top", "2", text=json.dumps({"ids": answer["ids"]}))
        self.assertEqual(json.loads(lines.stdout)["positions"], answer["positions"])
        text = self.call("score", "-m", gguf(), text="hello").stdout
        self.assertRegex(text, r'"e"\n.*"l"\n.*"l"\n.*"o"\n4 tokens, log-probability -[0-9.]+, perplexity [0-9.]+\n$')
        self.assertIn("two are the least", self.refused("score", "-m", gguf(), "a"))

    def test_standard_input_that_cannot_be_read_is_said(self):
        folder = os.open(FOLDER.name, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        for command in (["tokenize"], ["score"], ["score", "--jsonl"]):
            done = subprocess.run([BINARY, *command, "-m", gguf()], stdin=folder, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", "infer-node: standard input: Is a directory\n"))

    def test_a_prompt_that_is_not_utf8_is_refused_with_its_place(self):
        sentence = "infer-node: the prompt is not UTF-8 from byte 4 on; convert it first, for instance with iconv -f latin1 -t utf-8\n"
        for arguments, text in (([b"caf\xe9"], b""), ([], b"caf\xe9\n"), (["--raw", b"caf\xe9"], b""), ([b"caf\xc3"], b"")):
            done = subprocess.run([BINARY, "run", "-m", gguf(), *arguments], input=text, capture_output=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr.decode()), (1, b"", sentence))
        done = subprocess.run([BINARY, "run", "-m", gguf(), "-sys", b"\xff", "hi"], capture_output=True, timeout=60, check=False)
        self.assertIn(b"the system message is not UTF-8 from byte 1 on", done.stderr)

    def test_output_that_cannot_be_written_is_a_failure(self):
        commands = (["inspect", gguf()], ["inspect", gguf(), "--json"], ["tokenize", "-m", gguf(), "a"], ["score", "-m", gguf(), "abc"],
                    ["run", "-m", gguf(), "-n", "2", "a"], ["run", "-m", gguf(), "-n", "2", "--json", "a"], ["man"], ["completion", "bash"],
                    ["list", "--models", FOLDER.name, "--json"], ["--help"], ["--version"])
        for command in commands:
            with open("/dev/full", "wb") as full:
                done = subprocess.run([BINARY, *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 1, command)
            self.assertRegex(done.stderr, "^infer-node: standard output cannot be written(: No space left on device)?\n$")
            closed = subprocess.run(["bash", "-c", '"$@" >&-', "-", BINARY, *command], stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertEqual(closed.returncode, 1, command)
            self.assertRegex(closed.stderr, "^infer-node: standard output cannot be written(: Bad file descriptor)?\n$")

    def test_an_answer_that_nobody_can_read_ends(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BINARY, "run", "-m", gguf(), "-n", "-1", "-c", "4096", "--ignore-eos", "-v", "a"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertLess(int(re.search(r"(\d+) tokens", done.stderr)[1]), 4000, done.stderr)

    def test_bench(self):
        answer = self.json_of("bench", "-m", gguf(), "-p", "8", "-n", "4", "-r", "1")
        self.assertEqual([t["test"] for t in answer["tests"]], ["pp8", "tg4"])

    def test_list(self):
        self.assertEqual(self.json_of("list", "--models", FOLDER.name), [])

    def test_two_forms_at_once_are_refused(self):
        for command in ("tokenize", "score"):
            done = self.call(command, "-m", gguf(), "--json", "--jsonl")
            self.assertEqual((done.returncode, done.stdout), (2, ""))


class doctor(tools):
    def test_what_it_finds_is_told_to_people_and_as_json(self):
        report = self.json_of("doctor", "--models", FOLDER.name)
        self.assertIn(report["status"], ("ok", "warn"), [f for f in report["findings"] if f["status"] == "fail"])
        self.assertEqual({f["section"] for f in report["findings"]}, {"cpu", "kernels", "roofs", "memory", "limits", "gpu", "models"})
        for finding in report["findings"]:
            self.assertEqual("advice" in finding, finding["status"] != "ok", finding)
        self.assertEqual([k["used"] for k in report["kernels"]].count(True), 1)
        self.assertEqual(report["kernels"][0]["table"], "reference")
        self.assertTrue(all(k["checks"] > 100 and k["failures"] == [] for k in report["kernels"]))
        self.assertEqual(report["machine"]["cores"]["online"], os.cpu_count())
        self.assertGreater(report["machine"]["memory"]["total"], report["machine"]["memory"]["available"])
        self.assertIn(("read", 1), [(r["name"], r["threads"]) for r in report["roofs"]])
        self.assertTrue(all(r["per_second"] > 1e6 for r in report["roofs"]))
        done = self.call("doctor", "--models", FOLDER.name)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("\x1b", done.stdout)
        self.assertRegex(done.stdout, r"kernels\n  ok    reference +\d+ results equal to the bit")
        self.assertIn("none (this build has CPU kernels only)", done.stdout)

    def test_a_folder_of_models_that_cannot_be_used_is_a_failure(self):
        done = self.call("doctor", INFER_MODELS=gguf())
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"  fail  folder +.* is no folder\n +→ ")
        done = self.call("doctor", "--json", INFER_MODELS=os.path.join(gguf(), "below"))
        self.assertEqual((done.returncode, json.loads(done.stdout)["status"]), (1, "fail"))

    def test_the_hub_and_whether_there_is_a_token_are_told_and_not_the_token(self):
        done = self.call("doctor", "--json", "--models", FOLDER.name, HF_ENDPOINT="http://localhost:1/", HF_TOKEN="very-secret")
        models = json.loads(done.stdout)["models"]
        self.assertEqual((models["hub"], models["token"]), ("http://localhost:1", True))
        self.assertNotIn("very-secret", done.stdout + done.stderr)


def pulled_models():
    """A folder of models as pull leaves it, with two names."""
    models = os.path.join(FOLDER.name, "models")
    for tag in ("Q4_0", "Q8_0"):
        folder = os.path.join(models, "owner", "name", tag)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"model-{tag}.gguf")
        if not os.path.exists(path):
            os.link(gguf(), path)
        with open(os.path.join(folder, "pulled.json"), "w", encoding="utf-8") as file:
            json.dump({"name": f"owner/name:{tag}", "format": "GGUF", "files": [{"name": f"model-{tag}.gguf", "bytes": os.path.getsize(path)}]}, file)
    return models


class completion(tools):
    BASH = """
source <("$1" completion bash)
COMP_LINE=$2 COMP_POINT=${#2}
COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
_infer_node
printf '%s\\n' "${COMPREPLY[@]}"
"""

    def environment(self):
        return {**os.environ, "PATH": os.path.dirname(BINARY) + ":" + os.environ["PATH"], "INFER_MODELS": pulled_models(), "HOME": FOLDER.name, "XDG_CONFIG_HOME": FOLDER.name, "TERM": "xterm"}

    def bash(self, line, folder=None):
        done = subprocess.run(["bash", "--norc", "-c", self.BASH, "bash", BINARY, line], capture_output=True, text=True, timeout=60, check=True, env=self.environment(), cwd=folder or FOLDER.name)
        self.assertEqual(done.stderr, "", line)
        return [word for word in done.stdout.split("\n") if word]

    def commands(self):
        text = self.call("--help").stdout
        return [line.split()[0] for line in text[text.index("Subcommands:"):].splitlines()[1:] if line.startswith("  ") and not line.startswith("   ")]

    def test_bash_completes_commands_flags_choices_models_and_files(self):
        self.assertEqual(sorted(self.bash("infer-node ")), sorted(self.commands()))
        self.assertGreaterEqual(len(self.commands()), 11)
        self.assertEqual(self.bash("infer-node ins"), ["inspect"])
        self.assertEqual(self.bash("infer-node inspect --te"), ["--tensors"])
        self.assertEqual(self.bash("infer-node serve -n"), ["-np"])
        self.assertEqual(sorted(self.bash("infer-node serve --activations ")), ["f32", "quantized"])
        self.assertEqual(self.bash("infer-node serve --activations=q"), ["quantized"])
        self.assertEqual(self.bash("infer-node completion f"), ["fish"])
        self.assertEqual(self.bash("infer-node serve --port "), [])
        self.assertEqual(self.bash("infer-node run -m owner/name:"), ["Q4_0", "Q8_0"], "the part behind the colon, as bash cuts words there")
        self.assertEqual(self.bash("infer-node inspect own"), ["owner/name:Q4_0", "owner/name:Q8_0"])
        folder = os.path.join(FOLDER.name, "some files")
        os.makedirs(os.path.join(folder, "inside"), exist_ok=True)
        for name in ("a model.gguf", "another.gguf"):
            open(os.path.join(folder, name), "w", encoding="utf-8").close()
        self.assertEqual(sorted(self.bash("infer-node bench --model a", folder)), ["a model.gguf", "another.gguf"])
        self.assertEqual(self.bash("infer-node doctor --models ", folder), ["inside"])

    def test_bash_knows_every_flag_of_every_command(self):
        for command in self.commands():
            shown = set(re.findall(r"(?:^  |,)(--?[a-z][a-z-]*)", self.call(command, "--help").stdout, re.MULTILINE))
            self.assertLessEqual(shown, set(self.bash(f"infer-node {command} -")), command)
            self.assertIn("--help", shown)

    def test_fish_completes(self):
        def offered(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"source (infer-node completion fish | psub); complete -C '{line}'"], capture_output=True, text=True, timeout=60, check=True, env=self.environment(), cwd=FOLDER.name)
            self.assertEqual(done.stderr, "")
            return [entry.split("\t")[0] for entry in done.stdout.splitlines()]
        self.assertEqual(sorted(offered("infer-node ")), sorted(self.commands()))
        self.assertEqual(offered("infer-node inspect --te"), ["--tensors"])
        self.assertEqual(sorted(offered("infer-node serve --activations ")), ["f32", "quantized"])
        self.assertEqual([m for m in offered("infer-node run -m own") if ":" in m], ["owner/name:Q4_0", "owner/name:Q8_0"])
        self.assertEqual(sorted(offered("infer-node completion ")), ["bash", "fish", "zsh"])

    def test_zsh_completes(self):
        environment = {**self.environment(), "PS1": "%% ", "ZDOTDIR": FOLDER.name}
        with terminal_session(["zsh", "-f", "-i"], environment) as zsh:
            zsh.wait_for("% ")
            zsh.line("autoload -U compinit; compinit -u; source <(infer-node completion zsh); tell() { print -r -- \"<$BUFFER>\"; BUFFER=; }; zle -N tell; bindkey '^Xt' tell; echo re''ady")
            zsh.wait_for("ready")
            for typed, gets in [("infer-node insp\t", "infer-node inspect "), ("infer-node serve --activ\tqu\t", "infer-node serve --activations=quantized "),
                                ("infer-node run -m owner/name:Q8\t", r"infer-node run -m owner/name:Q8_0 "), ("infer-node completion f\t", "infer-node completion fish ")]:
                zsh.send(typed + "\x18t")
                self.assertIn(f"<{gets}>", zsh.wait_for(r"<infer-node [^>]*>"))

    def test_a_shell_that_is_not_known_is_refused(self):
        done = self.call("completion", "tcsh")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("bash", done.stderr)


class manual(tools):
    def test_the_page_has_every_command_and_no_fault_of_its_own(self):
        page = self.call("man").stdout
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(done.stderr, "")
        text = re.sub(r".\x08|\x1b\[[0-9]*m", "", done.stdout).replace("\u2212", "-").replace("\u2010", "-")
        for command in completion.commands(self):
            self.assertRegex(text, rf"\n   {command}\n       infer-node {command} ")
        for part in ("--ctx-size", "-np, --parallel UINT", "EXIT STATUS", "ENVIRONMENT", "NO_COLOR", "Default: 512."):
            self.assertIn(part, text)


class installing(tools):
    def test_program_completions_and_manual_are_installed(self):
        build = os.path.dirname(os.path.abspath(BINARY))
        prefix = os.path.join(FOLDER.name, "prefix")
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], capture_output=True, timeout=120, check=True)
        done = subprocess.run([os.path.join(prefix, "bin", "infer-node"), "--version"], capture_output=True, text=True, timeout=60, check=True)
        self.assertTrue(done.stdout.startswith("infer-node "))
        for path, arguments in {"share/bash-completion/completions/infer-node": ["completion", "bash"], "share/zsh/site-functions/_infer-node": ["completion", "zsh"],
                                "share/fish/vendor_completions.d/infer-node.fish": ["completion", "fish"], "share/man/man1/infer-node.1": ["man"]}.items():
            with open(os.path.join(prefix, path), encoding="utf-8") as file:
                self.assertEqual(file.read(), self.call(*arguments).stdout, path)


if __name__ == "__main__":
    if not BINARY:
        print("[  SKIPPED ] apps/tools (INFER_TEST_BINARY does not name infer-node)")
        sys.exit(0)
    WRITER = sys.argv.pop(1)
    unittest.main(verbosity=2, warnings="ignore")
