"""A program on a pseudo-terminal: keys in, what it writes out."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]")


def plain(text):
    """Without the sequences that move the cursor and colour, and without returns."""
    return CONTROL.sub("", text).replace("\r", "")


class terminal_session:
    """Runs `command` with a terminal of its own as standard input, output and error."""

    def __init__(self, command, environment, columns=200, output=None):
        """`output`: a file object that standard output goes to instead."""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        # A new session whose controlling terminal is this one, so that Ctrl-C becomes a signal.
        self.process = subprocess.Popen(command, stdin=slave, stdout=output or slave, stderr=slave, env=environment, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.raw = ""
        self.seen = 0  # of self.raw, what a wait has passed

    def _read(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the other end is closed
            return False
        self.raw += data.decode("utf-8", "replace")
        return bool(data)

    def send(self, text):
        os.write(self.master, text.encode())

    def line(self, text):
        self.send(text + "\r")

    def wait_for(self, pattern, timeout=30):
        """Waits for a match in what came since the last wait; returns it and all plain text up to its end."""
        deadline = time.monotonic() + timeout
        while True:
            text = self.raw[self.seen:]
            if match := re.search(pattern, text):
                self.seen += match.end()
                return plain(text[:match.end()])
            if time.monotonic() > deadline:
                raise AssertionError(f"{pattern!r} did not come within {timeout} s; {text[-2000:]!r}")
            if not self._read(0.1) and self.process.poll() is not None and not re.search(pattern, self.raw[self.seen:]):
                raise AssertionError(f"{pattern!r} did not come before the end; {self.raw[self.seen:][-2000:]!r}")

    def rest(self, timeout=30):
        """Everything up to the program's end; returns its exit code and the plain text."""
        deadline = time.monotonic() + timeout
        while self._read(0.1) and time.monotonic() < deadline:
            pass
        text = plain(self.raw[self.seen:])
        self.seen = len(self.raw)
        return self.process.wait(max(1, deadline - time.monotonic())), text

    def echoes(self):
        return bool(termios.tcgetattr(self.master)[3] & termios.ECHO)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.master)
