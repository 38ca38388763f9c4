#!/usr/bin/env python3
"""Rules that no compiler checks: who may include whom, mirrored tests, file heads and sizes, no machine paths."""
import functools
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# folder → (project folders it may include, outside header prefixes it may include beside std)
ENGINE_OUTSIDE = ("hwy/",)
MAY_INCLUDE = {
    "engine/core": (["engine/core"], ["boost/outcome"]),
    "engine/json": (["engine/core", "engine/json"], ["boost/json"]),
    "engine/formats": (["engine/core", "engine/json", "engine/formats"], ["boost/json"]),
    "engine/quant": (["engine/core", "engine/quant"], []),
    "engine/tokenize": (["engine/core", "engine/json", "engine/formats", "engine/tokenize"], ["boost/json", "pcre2.h", "utf8proc.h"]),
    "engine/templates": (["engine/core", "engine/json", "engine/templates"], ["boost/json", "utf8proc.h"]),
    "engine/plan": (["engine/core", "engine/quant", "engine/plan"], ["xxhash.h"]),
    "engine/kernels": (["engine/core", "engine/quant", "engine/plan", "engine/kernels"], ENGINE_OUTSIDE),
    "engine/models": (["engine/core", "engine/formats", "engine/quant", "engine/plan", "engine/models"], []),
    "engine/memory": (["engine/core", "engine/plan", "engine/memory"], ["xxhash.h"]),
    "engine/threads": (["engine/core", "engine/threads"], []),
    "engine/decode": (["engine/core", "engine/formats", "engine/quant", "engine/plan", "engine/kernels", "engine/models",
                       "engine/memory", "engine/threads", "engine/decode"], []),
    "protocol/messages": (["engine/core", "protocol/messages", "protocol/interfaces"], ["caf/"]),
    "protocol/interfaces": (["protocol/messages", "protocol/interfaces"], ["caf/"]),
    "protocol/http": (["engine/core", "engine/json", "protocol/messages", "protocol/http"], ["boost/json"]),
    "actors/gateway": (["engine/core", "protocol", "actors/support", "actors/gateway"],
                       ["caf/", "spdlog/", "prometheus/", "boost/asio", "boost/beast", "boost/system", "boost/optional", "openssl/", "zlib.h"]),
    "actors/loader": (["engine", "protocol", "actors"], ["caf/", "spdlog/", "boost/json", "curl/", "openssl/"]),
    "actors": (["engine", "protocol", "actors"], ["caf/", "spdlog/", "prometheus/"]),
    "apps": (["actors/tree", "actors/gateway", "actors/loader", "actors/model", "actors/zoo", "protocol", "engine", "apps"],
             ["CLI/", "toml++/", "caf/", "boost/json", "spdlog/"]),
}
NEVER = {
    "actors": ["engine/kernels/"],
    "apps": ["engine/kernels/"],
}
# Sources without a test file of their own name, and why that is right.
NO_MIRROR = {
    "apps/": "programs: tested as processes by tests/apps",
    "bench/": "measuring programs",
    "tests/": "tests",
}
STEMS = {".cc", ".h", ".cu"}
MAX_LINES = {".h": 300, ".cc": 600}
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|tmp/\w)[/\w]*")


def tracked():
    out = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [f for f in out.stdout.splitlines() if os.path.exists(os.path.join(ROOT, f))]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def folder_rule(path):
    best = None
    for folder in MAY_INCLUDE:
        if path.startswith(folder + "/") and (best is None or len(folder) > len(best)):
            best = folder
    return best


def is_std(header):
    return "/" not in header and "." not in header or re.fullmatch(r"(?:sys/)?\w+\.h", header) is not None and header not in (
        "pcre2.h", "utf8proc.h", "xxhash.h", "zlib.h", "sqlite3.h")


def check_includes(path, text, problems):
    rule = folder_rule(path)
    if rule is None:
        return
    own, outside = MAY_INCLUDE[rule]
    for number, line in enumerate(text.splitlines(), 1):
        quoted = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        angled = re.match(r"\s*#\s*include\s+<([^>]+)>", line)
        if quoted:
            header = quoted.group(1)
            if not os.path.exists(os.path.join(ROOT, header)):
                problems.append(f"{path}:{number}: includes {header}, which is not a path from the repository's root")
            elif not any(header.startswith(folder + "/") for folder in own):
                problems.append(f"{path}:{number}: {rule} may not include {header}")
            for folder, banned in NEVER.items():
                if path.startswith(folder + "/") and any(header.startswith(b) for b in banned):
                    problems.append(f"{path}:{number}: {folder} may not include {header}")
        elif angled:
            header = angled.group(1)
            if not is_std(header) and not any(header.startswith(prefix) for prefix in outside):
                problems.append(f"{path}:{number}: {rule} may not include <{header}>")


@functools.cache
def mirrored_elsewhere(files):
    """Sources that a test of another name covers: its head says `// Mirrors: a.cc, b.cc` (of the same folder)."""
    covered = set()
    for test in files:
        if test.startswith("tests/") and test.endswith("_test.cc"):
            folder = os.path.dirname(test)[len("tests/"):]
            for line in read(test).splitlines()[:12]:
                if line.startswith("// Mirrors: "):
                    covered.update(f"{folder}/{name.strip()}" for name in line[len("// Mirrors: "):].split(",") if name.strip())
    return covered


def check_mirror(path, files, problems):
    if not path.endswith(".cc") or any(path.startswith(p) for p in NO_MIRROR):
        return
    test = "tests/" + path[: -len(".cc")] + "_test.cc"
    if test not in files and path not in mirrored_elsewhere(files):
        problems.append(f"{path}: no test {test}")


def check_head(path, text, problems):
    first = text.splitlines()[0] if text else ""
    if not first.startswith("// ") or len(first) < 10:
        problems.append(f"{path}: the first line is not a sentence about the file")
    if path.endswith(".h") and not path.endswith("-inl.h") and "#pragma once" not in text:
        problems.append(f"{path}: no #pragma once")


def check_size(path, text, problems):
    lines = text.count("\n")
    limit = MAX_LINES.get(os.path.splitext(path)[1])
    if limit and not path.startswith("tests/") and lines > limit:
        problems.append(f"{path}: {lines} lines, more than {limit}")


def check_families(problems):
    listed = read("engine/models/families.cc")
    for path in tracked():
        if path.startswith("engine/models/") and path.endswith(".cc"):
            name = os.path.basename(path)[:-3]
            if "const family_descriptor " + name in read(path) and f"&{name}" not in listed:
                problems.append(f"{path}: the family is not in families.cc")


def check_oracles(files, problems):
    runner = read("tests/golden/oracle/run")
    for path in files:
        name = os.path.basename(path)
        if path.startswith("tests/golden/oracle/") and name.endswith(".py") and not re.search(rf"[\s|]{re.escape(name)}\b", runner):
            problems.append(f"{path}: tests/golden/oracle/run has no line for it")


def main():
    files = tracked()
    known = frozenset(files)
    problems = []
    for path in files:
        ext = os.path.splitext(path)[1]
        if ext in STEMS:
            text = read(path)
            check_includes(path, text, problems)
            check_mirror(path, known, problems)
            check_head(path, text, problems)
            check_size(path, text, problems)
            for number, line in enumerate(text.splitlines(), 1):
                if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", line):
                    problems.append(f"{path}:{number}: a note to oneself; do it or file it")
        if ext in {".cc", ".h", ".py", ".md", ".sh", ".cmake", ".txt", ".json", ""} and not path.startswith("tests/golden/") and not path.startswith("tests/fuzz/corpus/"):
            for number, line in enumerate(read(path).splitlines(), 1):
                if MACHINE_PATH.search(line) and path not in ("dev", "tests/rules/check.py"):
                    problems.append(f"{path}:{number}: names a path of one machine")
    check_families(problems)
    check_oracles(files, problems)
    for problem in problems:
        print(problem)
    print(f"rules: {len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
