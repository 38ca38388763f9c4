#!/usr/bin/env python3
"""Starts a server with a real model for the clients in node_clients_test.mjs: node_clients_test.py BINARY NODE_FOLDER.

NODE_FOLDER holds their node_modules. INFER_TEST_MODEL names the model file.
"""
import os
import subprocess
import sys

from server_process import server_process


def main():
    if len(sys.argv) != 3 or not os.environ.get("INFER_TEST_MODEL"):
        sys.exit("usage: INFER_TEST_MODEL=FILE node_clients_test.py BINARY NODE_FOLDER")
    binary, folder = sys.argv[1:]
    path = os.environ["INFER_TEST_MODEL"]
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node_clients_test.mjs")
    model = os.path.splitext(os.path.basename(path))[0]
    with server_process(binary, "-m", path, "-c", "512", "--log-level", "warn") as server:
        return subprocess.run(["node", script, server.url, model], cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
