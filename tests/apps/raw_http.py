"""A client that says exactly what it is told to, byte by byte, over a loopback socket."""
import json
import socket
import struct


class raw_answer:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    def json(self):
        return json.loads(self.body)


class raw_client:
    def __init__(self, port, receive_buffer=0, timeout=60):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        """What the server does not take because it has hung up is dropped: its answer tells."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def vanish(self, reset):
        """Closes the connection; with `reset` rudely."""
        if reset:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def more(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.buffer += data
        return data != b""

    def wait_for(self, mark):
        """Reads on until `mark` has come; takes nothing."""
        while mark not in self.buffer:
            if not self.more():
                raise EOFError(f"the connection ended before {mark!r}; there was {self.buffer[:200]!r}")

    def until(self, mark):
        """Takes everything up to and with `mark`."""
        self.wait_for(mark)
        out, self.buffer = self.buffer.split(mark, 1)
        return out + mark

    def exactly(self, count):
        while len(self.buffer) < count:
            if not self.more():
                raise EOFError(f"the connection ended after {len(self.buffer)} of {count} bytes")
        out, self.buffer = self.buffer[:count], self.buffer[count:]
        return out

    def head(self):
        """Status and fields of the next answer, past any 100."""
        while True:
            first, *lines = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
            if not first.startswith("HTTP/1.1 "):
                raise ValueError(f"not an answer: {first!r}")
            if first[9:12] != "100":
                return int(first[9:12]), {n.lower(): v for n, v in (line.split(": ", 1) for line in lines if line)}

    def chunks(self):
        while True:
            size = int(self.until(b"\r\n"), 16)
            data = self.exactly(size + 2)[:-2]
            if size == 0:
                return
            yield data

    def answer(self, head_only=False):
        """The next answer, whole."""
        status, fields = self.head()
        if head_only or status == 204:
            body = b""
        elif "content-length" in fields:
            body = self.exactly(int(fields["content-length"]))
        else:
            body = b"".join(self.chunks())
        return raw_answer(status, fields, body)

    def events(self):
        """The data of each server-sent event of an answer whose head has been read, as it comes."""
        rest = b""
        for chunk in self.chunks():
            rest += chunk
            while b"\n\n" in rest:
                event, rest = rest.split(b"\n\n", 1)
                if event.startswith(b"data: "):
                    yield event[6:]

    def rest(self):
        """Everything until the server closes."""
        while self.more():
            pass
        return self.buffer


def post(path, body, fields=b""):
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    return b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s" % (
        path.encode(), fields, len(body), body)


def get(path, method="GET"):
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def ask(port, request):
    with raw_client(port) as client:
        client.send(request)
        return client.answer()


def completion(prompt, max_tokens, **fields):
    return post("/v1/completions", {"prompt": prompt, "max_tokens": max_tokens, "temperature": 0, "ignore_eos": True, "stream": True, **fields})


def stream_text(client):
    """Text of a whole stream of completions. Fails where it has an error, no end, or more than one."""
    status, fields = client.head()
    if status != 200:
        raise AssertionError((status, client.exactly(int(fields["content-length"]))))
    text, ends, done = "", 0, False
    for data in client.events():
        assert not done, "an event after [DONE]"
        if data == b"[DONE]":
            done = True
            continue
        event = json.loads(data)
        assert "error" not in event, event
        for choice in event["choices"]:
            assert choice["finish_reason"] is None or ends == 0, "two ends"
            text += choice["text"]
            ends += choice["finish_reason"] is not None
    assert done and ends == 1, (done, ends)
    return text
