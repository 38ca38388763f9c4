#!/usr/bin/env python3
"""`infer-node run` as people use it: a chat on a pseudo-terminal, with a model in the process and with servers.

chat_test.py TINY_MODEL_WRITER; INFER_TEST_BINARY names infer-node.
"""
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

import unittest

from server_process import server_process
from terminal_session import terminal_session

BINARY = os.environ.get("INFER_TEST_BINARY")
FOLDER = tempfile.TemporaryDirectory(prefix="infer-test-")
SHAPES = {"tiny": (64, 2, 96, 4096), "large": (512, 8, 2048, 4096)}
PROMPT = r"\n(\x1b\[\?2004h)?>>> "
DIM, PLAIN = "\x1b[2m", "\x1b[0m"
STATS = r"\d+ tokens?(, [0-9.]+ tokens/s)?; prompt \d+ tokens(, \d+ cached)?; first token after [0-9.]+ s"


def model(name):
    path = os.path.join(FOLDER.name, name + ".gguf")
    if not os.path.exists(path):
        subprocess.run([WRITER, path, *map(str, SHAPES[name])], check=True)
    return path


class scripted_server:
    """A server that answers chats with the events it is told to, and keeps what it was asked."""

    def __init__(self, deltas, template_end=""):
        outer = self
        self.asked, self.deltas = [], deltas

        class handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.end_headers()
                if self.path == "/apply-template":
                    self.wfile.write(json.dumps({"prompt": "the prompt" + template_end}).encode())
                    return
                outer.asked.append(body)
                for delta in outer.deltas:
                    self.wfile.write(b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n")
                usage = {"prompt_tokens": 40, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 32}}
                self.wfile.write(b"data: " + json.dumps({"choices": [], "usage": usage, "timings": {"predicted_ms": 2000}}).encode() + b"\n\ndata: [DONE]\n\n")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class chatting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="infer-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def environment(self, **more):
        kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "LC_ALL", "LC_CTYPE")}
        return {**kept, "TERM": "xterm-256color", "LANG": "C.UTF-8", "XDG_STATE_HOME": self.folder, **more}

    def start(self, *flags, **more):
        chat = terminal_session([BINARY, "run", *flags], self.environment(**more))
        chat.wait_for(r">>> ")
        return chat

    def local(self, *flags, name="tiny", **more):
        return self.start("-m", model(name), "--temp", "0", *flags, **more)

    def saved(self, chat):
        path = os.path.join(self.folder, "saved.json")
        chat.line(f"/save {path}")
        chat.wait_for("saved to")
        chat.wait_for(">>> ")
        with open(path, encoding="utf-8") as file:
            return json.load(file)["messages"]

    def ask(self, chat, text):
        """Sends a line and waits for the next prompt; what came between."""
        chat.line(text)
        return chat.wait_for(PROMPT)

    def leave(self, chat):
        chat.send("\x04")
        code, text = chat.rest()
        self.assertEqual(code, 0, text)


class answers(chatting):
    def test_an_answer_streams_and_its_cost_stands_dimmed_below(self):
        with self.local("-n", "20", "--ignore-eos") as chat:
            text = self.ask(chat, "hello " * 20)
            self.assertRegex(text, STATS)
            self.assertIn("\n20 tokens", text)
            self.assertIn("[cut off: the limit of tokens]", text)
            self.assertRegex(chat.raw, re.escape(DIM) + "20 tokens.* s" + re.escape(PLAIN))
            # The conversation is sent again, and what was computed of it is found.
            self.assertRegex(self.ask(chat, "and again"), r"prompt \d+ tokens, \d+ cached")
            self.assertEqual([m["role"] for m in self.saved(chat)], ["user", "assistant", "user", "assistant"])
            self.leave(chat)

    def test_the_same_as_without_a_terminal(self):
        done = subprocess.run([BINARY, "run", "-m", model("tiny"), "--temp", "0", "-n", "30"], input=b"some words\n", capture_output=True, timeout=60, check=False, env=self.environment())
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertNotIn(b"\x1b[", done.stdout)
        self.assertNotIn(b">>>", done.stdout)
        with self.local("-n", "30") as chat:
            self.ask(chat, "some words")
            self.assertEqual(self.saved(chat)[1]["content"] + "\n", done.stdout.decode())

    def test_stats_and_colours_can_be_off(self):
        for more in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            with self.local("-n", "5", **more) as chat:
                self.assertRegex(self.ask(chat, "hello"), "first token after")
                self.assertNotIn(DIM, chat.raw)
                self.ask(chat, "/stats off")
                self.assertNotIn("first token after", self.ask(chat, "hello"))
                self.leave(chat)
        with self.local("-n", "5", "--no-stats") as chat:
            self.assertNotIn("first token after", self.ask(chat, "hello"))

    def test_what_a_model_writes_cannot_drive_the_terminal(self):
        with scripted_server([{"content": "a\x1b]0;title\x07b\x1b[2Jc\u009b1md"}]) as server:
            with self.start("--server", server.url) as chat:
                self.assertIn("a^[]0;title^Gb^[[2JcM-^[1md", self.ask(chat, "hello"))
                self.assertNotIn("\x1b[2J", chat.raw)


class keys(chatting):
    def test_ctrl_c_stops_an_answer_and_not_the_program(self):
        with self.local("--ignore-eos", name="large") as chat:
            chat.line("a long story")
            chat.wait_for("a long story\r\n")
            chat.wait_for(r"2004l[^\x1b]*\w\w\w")
            self.assertFalse(chat.echoes())
            chat.send("\x03")
            chat.wait_for(r"\[stopped\]")
            stats = chat.wait_for(PROMPT)
            count = int(re.search(r"(\d+) tokens, ", stats)[1])
            self.assertLess(count, 3500)
            messages = self.saved(chat)
            self.assertEqual([m["role"] for m in messages], ["user", "assistant"])
            self.assertTrue(messages[1]["content"], "what there was of the answer stays")
            self.assertIn("max-tokens 6", self.ask(chat, "/set max-tokens 6"))
            self.assertIn("\n6 tokens", self.ask(chat, "another"))
            self.assertEqual([m["role"] for m in self.saved(chat)], ["user", "assistant"] * 2)
            self.leave(chat)

    def test_ctrl_c_clears_a_line_and_an_empty_one_says_how_to_leave(self):
        with self.local("-n", "3") as chat:
            chat.send("never sent")
            chat.wait_for("never sent")
            chat.send("\x03")
            self.assertNotIn("leaves", chat.wait_for(PROMPT))
            chat.send("\x03")
            self.assertIn("Ctrl-D or /bye leaves.", chat.wait_for(PROMPT))
            chat.line('"""begun')
            chat.wait_for(r"\.\.\. ")
            chat.send("\x03")
            chat.wait_for(PROMPT)
            self.ask(chat, "sent")
            self.assertEqual(self.saved(chat)[0]["content"], "sent")

    def test_prompts_come_back_in_this_chat_and_the_next(self):
        with self.local("-n", "3") as chat:
            self.ask(chat, "the first prompt")
            self.ask(chat, "zwei Wörter €")
            chat.send("\x1b[A\x1b[A")
            chat.wait_for("the first prompt")
            chat.send("\r")
            chat.wait_for(PROMPT)
            self.assertEqual([m["content"] for m in self.saved(chat)][::2], ["the first prompt", "zwei Wörter €", "the first prompt"])
            self.leave(chat)
        with self.local("-n", "3") as chat:
            chat.send("\x1b[A" * 3)  # the line before is /save
            chat.wait_for("zwei Wörter €")
            chat.send("\r")
            chat.wait_for(PROMPT)
            chat.send("\x12first pr")
            chat.wait_for("the first prompt")
            chat.send("\x1b\r")
            chat.wait_for(PROMPT)
            self.assertEqual([m["content"] for m in self.saved(chat)][::2], ["zwei Wörter €", "the first prompt"])

    def test_prompts_are_not_kept_where_that_is_off(self):
        history = os.path.join(self.folder, "infer-node", "history")
        with self.local("-n", "3", "--no-history") as chat:
            self.ask(chat, "secret")
            self.assertFalse(os.path.exists(history))
            self.ask(chat, "/set history on")
            self.ask(chat, "open")
            self.assertEqual(os.stat(history).st_mode & 0o777, 0o600)
            with open(history, encoding="utf-8") as file:
                self.assertEqual([json.loads(line) for line in file], ["/set history on", "open"])

    def test_several_lines(self):
        with self.local("-n", "3") as chat:
            chat.line('"""')
            chat.wait_for(r"\.\.\. ")
            chat.line("def f():")
            chat.line("    pass")
            chat.line('"""')
            chat.wait_for(PROMPT)
            chat.line("one \\")
            chat.wait_for(r"\.\.\. ")
            self.ask(chat, "two")
            chat.send("\x1b[200~pasted\r/bye\n\x1b[201~")
            chat.wait_for("/bye")
            chat.send("\r")
            chat.wait_for(PROMPT)
            chat.send("\x1b[A")  # comes back with its lines
            chat.wait_for("/bye")
            chat.send("\r")
            chat.wait_for(PROMPT)
            self.assertEqual([m["content"] for m in self.saved(chat)][::2], ["def f():\n    pass", "one \ntwo", "pasted\n/bye", "pasted\n/bye"])

    def test_tab_completes_commands(self):
        with self.local() as chat:
            chat.send("/sy\t")
            chat.wait_for("/sy.*stem ")
            chat.send("Be brief.\r")
            chat.wait_for("The system message is set.")
            chat.send("/set temp\t")
            chat.wait_for("/set temp.*erature ")
            chat.send("0.5\r")
            chat.wait_for(r"temperature 0\.5\r\n")

    def test_a_signal_that_ends_it_gives_the_terminal_back(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.local("--ignore-eos", name="large") as chat:
                chat.line("a long story")
                chat.wait_for("a long story\r\n")
                chat.wait_for(r"2004l[^\x1b]*\w\w\w")
                self.assertFalse(chat.echoes())
                chat.process.send_signal(number)
                self.assertEqual(chat.process.wait(30), -number)
                self.assertTrue(chat.echoes())

    def test_keys_of_an_answers_time_are_those_of_the_next_line(self):
        with self.local("--ignore-eos", "-n", "60", name="large") as chat:
            chat.line("a long story")
            chat.wait_for("a long story\r\n")
            chat.wait_for(r"2004l[^\x1b]*\w\w\w")
            chat.send("/show\rtyped ahead")
            chat.wait_for(r"The conversation holds 2 messages\.")
            chat.wait_for("typed ahead")
            chat.send("\x03\x03\x03\x03\x04")
            self.assertEqual(chat.rest()[0], 0)

    def test_ctrl_z_stops_the_program_until_the_shell_goes_on_with_it(self):
        with terminal_session(["bash", "--norc", "--noprofile", "-i"], self.environment(PS1="shell> ")) as shell:
            shell.wait_for("shell> ")
            shell.line(f"'{BINARY}' run -m '{model('tiny')}' --temp 0 -n 3")
            shell.wait_for(PROMPT)
            shell.send("half a ")
            shell.wait_for("half a ")
            shell.send("\x1a")
            shell.wait_for("Stopped")
            shell.wait_for("shell> ")
            shell.line("fg")
            shell.wait_for(r"\[\?2004h[^\x1b]*\x1b.*half a ")  # pasted text is told apart again
            shell.send("line\r")
            shell.wait_for("first token after")
            shell.wait_for(PROMPT)
            self.assertEqual(self.saved(shell)[0]["content"], "half a line")
            shell.send("\x04")
            shell.wait_for("shell> ")

    def test_ctrl_d_and_bye_leave(self):
        with self.local() as chat:
            self.leave(chat)
            self.assertTrue(chat.echoes())
        with self.local() as chat:
            chat.line("/bye")
            self.assertEqual(chat.rest()[0], 0)


class commands(chatting):
    def test_help_show_and_settings(self):
        with self.start("-m", model("tiny"), "--temp", "0.25", "-n", "7", "-sys", "Be brief.") as chat:
            shown = self.ask(chat, "/help")
            for name in ("/help", "/clear", "/system", "/set", "/show", "/regen", "/save", "/load", "/stats", "/bye", "Ctrl-C"):
                self.assertIn(name, shown)
            shown = self.ask(chat, "/show")
            for line in ("temperature +0.25 ", "max-tokens +7 ", "top-k +40 ", "think +auto ", "system +Be brief."):
                self.assertRegex(shown, r"\n" + line)
            self.assertIn("! top-p is a number from 0 to 1, not '2'", self.ask(chat, "/set top-p 2"))
            self.assertIn("! there is no command '/nothing'", self.ask(chat, "/nothing"))
            self.assertEqual(self.saved(chat), [{"role": "system", "content": "Be brief."}])

    def test_a_seed_makes_answers_repeat_and_regen_asks_again(self):
        with self.start("-m", model("tiny"), "-n", "20", "--temp", "1.5") as chat:
            self.ask(chat, "/set seed 5")
            self.ask(chat, "hello")
            first = self.saved(chat)
            self.ask(chat, "/regen")
            self.assertEqual(self.saved(chat), first)
            self.ask(chat, "/set seed 6")
            self.ask(chat, "/regen")
            other = self.saved(chat)
            self.assertEqual(len(other), 2)
            self.assertNotEqual(other[1], first[1])

    def test_save_clear_and_load(self):
        with self.local("-n", "9", HOME=self.folder) as chat:
            self.ask(chat, "/system Be brief.")
            self.ask(chat, "hello")
            before = self.saved(chat)
            self.assertEqual([m["role"] for m in before], ["system", "user", "assistant"])
            path = os.path.join(self.folder, "kept.json")
            os.rename(os.path.join(self.folder, "saved.json"), path)
            self.ask(chat, "/clear")
            self.assertEqual(self.saved(chat), before[:1])
            self.assertIn("2 messages from", self.ask(chat, f"/load {path}"))
            self.assertEqual(self.saved(chat), before)
            self.assertIn("No such file", self.ask(chat, f"/load {path}.not"))
            self.assertIn("No such file", self.ask(chat, f"/save {self.folder}/no/file"))
            self.ask(chat, "/save ~/at_home.json")
            self.assertEqual(self.saved(chat), before)
            self.ask(chat, "/clear")
            self.assertIn(f"2 messages from {self.folder}/at_home.json", self.ask(chat, "/load ~/at_home.json"))
            for command in ("load", "save"):
                self.assertIn(f"! {self.folder}: Is a directory", self.ask(chat, f"/{command} {self.folder}"))
            self.assertEqual(self.saved(chat), before)

    def test_a_conversation_that_outgrows_the_context_goes_on(self):
        with server_process(BINARY, "-m", model("tiny"), "-c", "384", "--log-level", "warn") as server:
            for chat in (self.local("-c", "384", "-n", "9"), self.start("--server", server.url, "--temp", "0", "-n", "9")):
                with chat:
                    for count in range(12):
                        text = self.ask(chat, f"{count} " + "hello " * 12)
                        self.assertRegex(text, STATS)
                        if "[the context is full: the first" in text:
                            break
                    else:
                        self.fail("12 prompts fitted")
                    left = self.saved(chat)
                    self.assertEqual([m["role"] for m in left], ["user", "assistant"] * (len(left) // 2))
                    self.assertGreater(count, 1)
                    self.assertLess(len(left), 2 * (count + 1))
                    self.assertTrue(left[-2]["content"].startswith(f"{count} hello"))
                    refused = self.ask(chat, "hello " * 400)
                    self.assertRegex(refused, r"! .*the prompt has \d+ tokens, but the context holds 384 tokens")
                    self.assertNotIn("forgotten", refused)
                    self.assertEqual(self.saved(chat), left)
                    self.leave(chat)


class servers(chatting):
    def test_a_server_of_ours_gives_the_same_answer_and_stops_with_ctrl_c(self):
        with self.local("-n", "30") as chat:
            self.ask(chat, "hello " * 20)
            alone = self.saved(chat)
        with server_process(BINARY, "-m", model("tiny"), "-m", model("large"), "--log-level", "warn") as server:
            with self.start("--server", server.url, "-m", "tiny", "--temp", "0", "-n", "30") as chat:
                self.assertRegex(self.ask(chat, "hello " * 20), STATS)
                self.assertEqual(self.saved(chat), alone)
                self.assertRegex(self.ask(chat, "again"), r"prompt \d+ tokens, \d+ cached")
                self.leave(chat)
            with self.start("--server", server.url, "-m", "large", "--temp", "0", "--ignore-eos") as chat:
                chat.line("a long story")
                chat.wait_for("a long story\r\n")
                chat.wait_for(r"2004l[^\x1b]*\w\w\w")
                chat.send("\x03")
                chat.wait_for(r"\[stopped\]")
                chat.wait_for(PROMPT)
                made = server.until_idle()['infer_model_tokens_total{model="large"}']
                self.assertLess(made, 1000)
                self.ask(chat, "/set max-tokens 4")
                self.assertIn("\n4 tokens", self.ask(chat, "another"))
                self.assertEqual([m["role"] for m in self.saved(chat)], ["user", "assistant"] * 2)
                self.leave(chat)
            self.assertEqual(server.terminate(), 0)

    def test_a_server_that_says_no_is_quoted_and_the_chat_goes_on(self):
        with server_process(BINARY, "-m", model("tiny"), "--log-level", "warn") as server:
            with self.start("--server", server.url, "-m", "nobody") as chat:
                self.assertIn("! the server answered 404: the model 'nobody' does not exist", self.ask(chat, "hello"))
                self.assertEqual(self.saved(chat), [])
        with self.start("--server", server.url) as chat:
            self.assertIn("! cannot connect to " + server.url, self.ask(chat, "hello"))
            self.leave(chat)

    def test_thinking_is_dimmed_kept_apart_and_sent_back_as_such(self):
        whole = [{"content": c} for c in ["<thi", "nk>\nlet me", " see\n</thi", "nk>\n\nIt is", " four."]]
        named = [{"role": "assistant", "content": ""}, {"reasoning_content": "let me see"}, {"content": "It is four."}]
        opened = [{"content": "let me see\n</think>\n\nIt is four."}]
        for deltas, end in ((whole, ""), (named, ""), (opened, "<think>\n"), (named, "<think>\n")):
            with self.subTest(deltas=deltas), scripted_server(deltas, end) as server, self.start("--server", server.url) as chat:
                text = self.ask(chat, "2+2?")
                self.assertIn("let me see\n\nIt is four.\n", text)
                self.assertIn("9 tokens, 4.0 tokens/s; prompt 40 tokens, 32 cached", text)
                self.assertIn(DIM + "let me see" + PLAIN, chat.raw.replace(DIM + "let me" + " see", DIM + "let me see"))
                self.ask(chat, "/set think off")
                self.ask(chat, "sure?")
                first, second = server.asked
                self.assertEqual(first["messages"], [{"role": "user", "content": "2+2?"}])
                self.assertNotIn("chat_template_kwargs", first)
                self.assertEqual(first.get("reasoning_format"), "none" if end else None)
                self.assertEqual(second["messages"][1], {"role": "assistant", "content": "It is four.", "reasoning_content": "let me see"})
                self.assertEqual(second["chat_template_kwargs"], {"enable_thinking": False, "thinking": False})
                self.assertTrue(second["stream"])

    def test_without_colours_thinking_is_marked(self):
        with scripted_server([{"content": "<think>hm</think>yes"}]) as server, self.start("--server", server.url, NO_COLOR="1") as chat:
            self.assertIn("<think>\nhm\n</think>\n\nyes\n", self.ask(chat, "well?"))

    def test_settings_reach_the_server(self):
        with scripted_server([{"content": "x"}]) as server:
            with self.start("--server", server.url, "--temp", "0.5", "-n", "3", "-s", "7", "--think", "on") as chat:
                self.ask(chat, "/set min-p 0.125")
                self.ask(chat, "hello")
            (asked,) = server.asked
            self.assertEqual([asked[k] for k in ("temperature", "min_p", "max_tokens", "seed", "chat_template_kwargs")], [0.5, 0.125, 3, 7, {"enable_thinking": True, "thinking": True}])


class one_answer(chatting):
    def run_once(self, *flags, text=""):
        return subprocess.run([BINARY, "run", *flags], input=text, capture_output=True, text=True, timeout=60, check=False, env=self.environment())

    def test_json_is_one_document(self):
        done = self.run_once("-m", model("tiny"), "--temp", "0", "-n", "20", "--ignore-eos", "--json", "hello")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answer = json.loads(done.stdout)
        self.assertEqual({k: answer[k] for k in ("model", "finish_reason", "completion_tokens", "cached_tokens")},
                         {"model": "tiny", "finish_reason": "length", "completion_tokens": 20, "cached_tokens": 0})
        self.assertGreater(answer["first_token_s"], 0)
        self.assertGreater(answer["prompt_tokens"], 5)
        with self.local("-n", "20", "--ignore-eos") as chat:
            self.ask(chat, "hello")
            self.assertEqual(self.saved(chat)[1]["content"], answer["text"])

    def test_json_names_thinking_and_a_pipe_gets_the_text_as_it_is(self):
        with scripted_server([{"content": "<think>hm</think>\n\nyes"}]) as server:
            answer = json.loads(self.run_once("--server", server.url, "--json", "well?").stdout)
            self.assertEqual((answer["reasoning"], answer["text"], answer["tokens_per_second"]), ("hm", "yes", 4))
            self.assertEqual(self.run_once("--server", server.url, text="well?\nreally?\n").stdout, "<think>hm</think>\n\nyes\n")
            self.assertEqual(server.asked[-1]["messages"], [{"role": "user", "content": "well?\nreally?"}])

    def test_a_flag_that_may_be_repeated_takes_one_word_each_time(self):
        with scripted_server([{"content": "yes"}]) as server:
            for flags in (("-l", "70+5", "-l", "71-2"), ("--dry-sequence-breaker", "none", "--dry-sequence-breaker", "x"), ("--logit-bias=70+5",)):
                done = self.run_once("--server", server.url, *flags, "well?")
                self.assertEqual((done.returncode, done.stdout), (0, "yes\n"), done)
                self.assertEqual(server.asked[-1]["messages"], [{"role": "user", "content": "well?"}])
            self.assertEqual(server.asked[0]["logit_bias"], [[70, 5], [71, -2]])
            self.assertEqual(server.asked[1]["dry_sequence_breakers"], ["x"])
        for flags in (("-m",), ("--api-key",), ("--allow-origin",)):
            done = subprocess.run([BINARY, "serve", "-m", model("tiny"), *flags, model("tiny"), "more"], capture_output=True, text=True, timeout=60, check=False, env=self.environment())
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn("more", done.stderr)

    def test_numbers_that_are_none_are_refused(self):
        for flags in (("--temp", "nan"), ("--top-p", "nan"), ("--top-nsigma", "inf"), ("-l", "15043+nan"), ("-l", "15043-nan"), ("-l", "15043+inf"), ("-l", "15043--inf"), ("-l", "15043--1"),
                      ("-s", "99999999999999999999"), ("-s", "-99999999999999999999"), ("-s", "9223372036854775808"), ("-s", "x"), ("-s", "1.5")):
            done = self.run_once("--server", "http://127.0.0.1:1", *flags, "well?")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(flags[1], done.stderr)
            self.assertNotIn("cannot connect", done.stderr)
        with scripted_server([{"content": "yes"}]) as server:
            done = self.run_once("--server", server.url, "-l", "70-inf", "-s", "9223372036854775807", "well?")
            self.assertEqual((done.returncode, done.stdout), (0, "yes\n"), done)
            self.assertEqual((server.asked[0]["logit_bias"], server.asked[0]["seed"]), ([[70, False]], 9223372036854775807))

    def test_raw_text_is_continued_by_servers_too(self):
        flags = ("--raw", "--temp", "0", "-n", "12", "--json", "once upon")
        with server_process(BINARY, "-m", model("tiny"), "--log-level", "warn") as server:
            remote = json.loads(self.run_once("--server", server.url, *flags).stdout)
        local = json.loads(self.run_once("-m", model("tiny"), *flags).stdout)
        self.assertEqual([remote[k] for k in ("text", "prompt_tokens", "finish_reason")], [local[k] for k in ("text", "prompt_tokens", "finish_reason")])

    def test_failures_leave_standard_output_empty(self):
        missing = os.path.join(self.folder, "missing.gguf")
        with server_process(BINARY, "-m", model("tiny"), "-c", "64", "--log-level", "warn") as server:
            for flags in (("--server", server.url), ("-m", model("tiny"), "-c", "64")):
                done = self.run_once(*flags, "hello " * 100)
                self.assertEqual((done.returncode, done.stdout), (1, ""), done)
                self.assertIn("the context holds 64 tokens", done.stderr)
        folder = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        done = subprocess.run([BINARY, "run", "-m", model("tiny")], stdin=folder, capture_output=True, text=True, timeout=60, check=False, env=self.environment())
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", "infer-node: standard input: Is a directory\n"))
        for flags, word in ((("-m", missing, "--json", "hi"), missing), (("--json", "hi"), "-m FILE"), (("-m", model("tiny"), "--json"), "the prompt is empty")):
            done = self.run_once(*flags)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done)
            self.assertIn(word, done.stderr)

    def test_a_prompt_on_a_terminal_is_answered_without_a_chat(self):
        with terminal_session([BINARY, "run", "-m", model("tiny"), "--temp", "0", "-n", "5", "hello"], self.environment()) as program:
            code, text = program.rest()
            self.assertEqual(code, 0)
            self.assertNotIn(">>>", text)

    def test_where_standard_output_is_no_terminal_there_is_no_chat(self):
        path = os.path.join(self.folder, "out")
        with open(path, "wb") as output, terminal_session([BINARY, "run", "-m", model("tiny"), "--temp", "0", "-n", "5"], self.environment(), output=output) as program:
            program.wait_for("Type the prompt")
            program.send("hello\n\x04")
            self.assertEqual(program.rest()[0], 0)
        with open(path, "rb") as file:
            self.assertNotIn(b"\x1b", file.read())


if __name__ == "__main__":
    if not BINARY:
        print("[  SKIPPED ] apps/chat (INFER_TEST_BINARY does not name infer-node)")
        sys.exit(0)
    WRITER = sys.argv.pop(1)
    unittest.main(verbosity=2, warnings="ignore")
