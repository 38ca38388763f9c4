"""A hub on this machine that serves files like a real one and misbehaves on demand."""
import hashlib
import http.server
import json
import re
import socket
import threading
import urllib.parse

PIECE = 64 << 10


def git_blob(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class fake_hub:
    """`repositories[name][path]` are the files' bytes. `faults[path]` is a list of faults, one for each request of that
    file, taken from the front; a fault is a dict of:

    drop: N         closes the connection after N bytes of the body
    stall: N        sends nothing more after N bytes, until the client leaves
    length: N       is what Content-Length says, whatever the body has
    extra: BYTES    follow the body
    whole: True     ignores Range
    shift: N        begins a range N bytes too early, and says so
    etag: TEXT      instead of the usual
    data: BYTES     instead of the file
    status: N       with an empty body; `fields`: head fields of it
    redirect: URL   leads there; "{path}" in it is the path that was asked for
    call: F         is called with the number of bytes sent so far, after each piece

    `served[path]` counts the bytes of bodies that were sent, `requests` lists (path, Range, If-Range, Authorization).
    """

    def __init__(self, repositories, token=None, page=1000):
        self.repositories, self.token, self.page = repositories, token, page
        self.faults, self.served, self.requests, self.on_list = {}, {}, [], None
        hub = self

        class handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                self.request.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * PIECE)
                super().setup()

            def log_message(self, *_):
                pass

            def do_GET(self):
                try:
                    hub.answer(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

        class server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.server = server(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def plain(self, request, status, fields=(), body=b""):
        request.send_response(status)
        for name, value in dict(fields).items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def answer(self, request):
        address = urllib.parse.urlsplit(request.path)
        raw, path = address.path, urllib.parse.unquote(address.path)
        self.requests.append((path, request.headers["Range"], request.headers["If-Range"], request.headers["Authorization"]))
        if self.token and request.headers["Authorization"] != f"Bearer {self.token}":
            return self.plain(request, 401)
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/([^/]+)", raw):
            return self.listing(request, found[1], address)
        if found := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", raw):
            return self.file(request, found[1], urllib.parse.unquote(found[3]))
        return self.plain(request, 404)

    def listing(self, request, name, address):
        if self.on_list:
            self.on_list()
        files = self.repositories.get(name)
        if files is None:
            return self.plain(request, 404)
        rows = []
        for path, data in files.items():
            row = {"type": "file", "path": path, "size": len(data), "oid": git_blob(data)}
            if path.endswith((".gguf", ".safetensors")):
                row["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 134}
            rows.append(row)
        rows.append({"type": "directory", "path": "folder", "size": 0, "oid": "0"})
        start = int(urllib.parse.parse_qs(address.query).get("cursor", ["0"])[0])
        fields = {"Content-Type": "application/json"}
        if start + self.page < len(rows):
            fields["Link"] = f'<{self.url}{address.path}?recursive=true&cursor={start + self.page}>; rel="next"'
        return self.plain(request, 200, fields, json.dumps(rows[start : start + self.page]).encode())

    def file(self, request, name, path):
        waiting = self.faults.get(path, [])
        fault = waiting.pop(0) if waiting else {}
        if "status" in fault:
            return self.plain(request, fault["status"], fault.get("fields", {}))
        if "redirect" in fault:
            return self.plain(request, 302, {"Location": fault["redirect"].format(path=request.path)})
        data = fault.get("data", self.repositories.get(name, {}).get(path))
        if data is None:
            return self.plain(request, 404)
        etag = fault.get("etag", f'"{hashlib.sha256(data).hexdigest()}"')
        start, asked = 0, re.fullmatch(r"bytes=(\d+)-", request.headers["Range"] or "")
        same = request.headers["If-Range"] in (None, etag)
        if asked and same and not fault.get("whole"):
            start = int(asked[1])
            if start >= len(data):
                return self.plain(request, 416, {"Content-Range": f"bytes */{len(data)}"})
            start -= fault.get("shift", 0)
            request.send_response(206)
            request.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            request.send_response(200)
        body = memoryview(data[start:] + fault.get("extra", b""))
        request.send_header("ETag", etag)
        request.send_header("Content-Length", str(fault.get("length", len(body))))
        request.end_headers()
        return self.body(request, path, body, fault)

    def body(self, request, path, body, fault):
        end = min(len(body), fault.get("drop", len(body)), fault.get("stall", len(body)), fault.get("length", len(body)))
        for at in range(0, end, PIECE):
            piece = body[at : min(at + PIECE, end)]
            request.wfile.write(piece)
            self.served[path] = self.served.get(path, 0) + len(piece)
            if "call" in fault:
                fault["call"](at + len(piece))
        if "stall" in fault:
            request.connection.recv(1)  # until the client leaves
        if {"drop", "stall", "length"} & set(fault):
            request.close_connection = True
