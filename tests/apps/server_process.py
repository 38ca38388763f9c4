"""Starts `infer-node serve` on a free port and ends it again, for tests that talk to a real process."""
import subprocess
import threading
import time

from raw_http import ask, get

READY = "infer-node listening on "


class server_process:
    """A running server. `url` is set once it listens; `log` collects what it writes to the error stream."""

    def __init__(self, binary, *flags, port=None):
        """Waits until the server is ready; with a `port` it returns at once, and `wait_until_ready` waits."""
        command = [binary, "serve", "--port", str(port or 0), *flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        self.log = []
        self._reader = threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True)
        self._reader.start()
        self.url = f"http://127.0.0.1:{port}" if port else None
        if not port:
            self.wait_until_ready()

    def wait_until_ready(self):
        for line in self.process.stdout:
            if line.startswith(READY):
                self.url = line[len(READY):].strip()
                break
        if self.url is None:
            self._reader.join(10)
            raise RuntimeError(f"the server did not start: {''.join(self.log)}")

    @property
    def port(self):
        return int(self.url.rsplit(":", 1)[1])

    def wait(self, timeout=60):
        code = self.process.wait(timeout)
        self._reader.join(10)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def terminate(self):
        self.process.terminate()
        return self.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.wait()

    def metrics(self):
        """Every series of /metrics by its name; labels are part of it."""
        lines = ask(self.port, get("/metrics")).body.decode().splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}

    def until(self, condition, what, timeout=60):
        """Asks for the metrics again and again until `condition(metrics)`."""
        deadline = time.monotonic() + timeout
        while not condition(seen := self.metrics()):
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} did not come about: {seen}")
        return seen

    def until_idle(self):
        """Nothing is computed, held or waited for, and every page is free."""
        def idle(m):
            total = {}
            for name, value in m.items():
                name = name.split("{")[0]
                total[name] = total.get(name, 0) + value
            return (total["infer_http_connections"] == 1 and total["infer_http_streams"] == 0 and total["infer_model_pages_free"] == total["infer_model_pages"]
                    and not any(total[f"infer_model_{name}"] for name in ("leases", "waiters", "streams", "streams_waiting")))
        return self.until(idle, "rest")

    def tokens(self):
        """Tokens that all models have made so far."""
        return sum(v for name, v in self.metrics().items() if name.startswith("infer_model_tokens_total"))

    def until_it_computes(self):
        before = self.tokens()
        return self.until(lambda m: sum(v for name, v in m.items() if name.startswith("infer_model_tokens_total")) > before, "a token")

    def stops_computing_after(self, leave, most):
        """Calls `leave`, which asks for `most` tokens and goes away early, and waits until every slot is at rest."""
        def rests(m):
            held = sum(v for name, v in m.items() if name.split("{")[0] in ("infer_model_leases", "infer_model_waiters", "infer_model_streams"))
            return held == 0 and not any(slot["is_processing"] for slot in ask(self.port, get("/slots")).json())
        before = self.tokens()
        leave()
        self.until(rests, "rest", timeout=20)
        made = self.tokens() - before
        time.sleep(0.2)
        assert self.tokens() - before == made, "tokens are made at rest"
        assert made < most, f"all {made} tokens were made for a client that has left"

    def anonymous_bytes(self):
        """RssAnon of the process."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon:"))
