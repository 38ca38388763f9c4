#!/usr/bin/env python3
"""The commands that tell something: inspect, tokenize, score, bench, list; each for people and as JSON.

tools_test.py TINY_MODEL_WRITER; INFER_TEST_BINARY names infer-node.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

BINARY = os.environ.get("INFER_TEST_BINARY")
FOLDER = tempfile.TemporaryDirectory(prefix="infer-test-")
CHAT = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"


def gguf(name="tiny"):
    path = os.path.join(FOLDER.name, name + ".gguf")
    if not os.path.exists(path):
        subprocess.run([WRITER, path, "64", "2", "96", "4096"], check=True)
    return path


def hub_folder(name, vocabulary=260, tokenizer=True, **config):
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
            json.dump({"chat_template": CHAT, "bos_token": "<s>"}, file)
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

    def test_what_is_no_model_is_refused(self):
        self.assertIn("nowhere.gguf", self.refused("inspect", "nowhere.gguf", "--json"))
        self.assertIn("f64", self.refused("inspect", gguf(), "-ctk", "f64"))


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


if __name__ == "__main__":
    if not BINARY:
        print("[  SKIPPED ] apps/tools (INFER_TEST_BINARY does not name infer-node)")
        sys.exit(0)
    WRITER = sys.argv.pop(1)
    unittest.main(verbosity=2, warnings="ignore")
