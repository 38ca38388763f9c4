#!/usr/bin/env python3
"""Breaks the engine in ways that tests must notice, one at a time, in a copy of the sources.

run.py WORK_FOLDER [WORDS of one mutation's name]; ends with 1 where a mutation is noticed by no test, or the unbroken copy fails.
"""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNELS = ("engine_kernels_test", "*linear*:*attention*:attention_store.*")
DECODE = ("engine_decode_test", "*state_equality*:matrix.*:window.*")
MEMORY = ("engine_memory_test", "*")

SIMD_CHUNKS = """  for (std::uint32_t base = lowest / simd_chunk * simd_chunk; base < highest; base += simd_chunk)
    attend_tile_chunk(tile, a, kv_head, base);
"""
LAST_CHUNK_FIRST = """  const std::uint32_t start = lowest / simd_chunk * simd_chunk;
  for (std::uint32_t base = (highest - 1) / simd_chunk * simd_chunk + simd_chunk; base > start; base -= simd_chunk)
    attend_tile_chunk(tile, a, kv_head, base - simd_chunk);
"""
# what is broken: file, text, text instead, the programs of which one must fail
MUTATIONS = {
    "two chunk merges are swapped": ("engine/kernels/simd/attention-inl.h", SIMD_CHUNKS, LAST_CHUNK_FIRST, (KERNELS, DECODE)),
    "the correction for centred codes is dropped": ("engine/kernels/simd/linear_g32-inl.h", "if constexpr (format::zero_shift != 0)\n      start =", "if constexpr (false)\n      start =", (KERNELS, DECODE)),
    "the correction for minima is dropped": ("engine/kernels/simd/linear_g32-inl.h", "acc[t][i] = hn::MulAdd(m, hn::Set(df, x.sums_scaled[group]), acc[t][i]);", "acc[t][i] = hn::MulAdd(hn::Zero(df), m, acc[t][i]);", (KERNELS, DECODE)),
    "one position behind the window is read": ("engine/kernels/simd/attention-inl.h", "tile.end[q] - a.window : 0", "tile.end[q] - a.window - 1 : 0", (KERNELS, DECODE)),
    "a page is free one reference early": ("engine/memory/page_pool.cc", "if (--a.references[place_of(page)] == 0)", "if (--a.references[place_of(page)] <= 1)", (MEMORY, DECODE)),
}


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **options)


def copy_sources(to):
    shutil.rmtree(to, ignore_errors=True)
    for name in run("git", "ls-files", cwd=ROOT).stdout.splitlines():
        path = os.path.join(to, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(os.path.join(ROOT, name), path)  # with a new time: what an earlier run left is built again


def build(folder, source):
    environment = {**os.environ, "CCACHE_BASEDIR": source, "CCACHE_NOHASHDIR": "1"}
    targets = {program for *_, tests in MUTATIONS.values() for program, _ in tests}
    done = run("cmake", "--build", folder, "--target", *targets, env=environment)
    if done.returncode != 0:
        sys.exit(done.stdout[-5000:])


def failures(folder, source, tests):
    """Names of the tests that fail."""
    names = []
    for program, chosen in tests:
        done = run(os.path.join(folder, "tests", program), f"--gtest_filter={chosen}", "--gtest_brief=1", cwd=source)
        failed = re.findall(r"^\[  FAILED  \] ([^\s,]+)", done.stdout, re.MULTILINE)
        if done.returncode != 0 and not failed:
            failed = [f"{program} ended with {done.returncode}"]
        if done.returncode == 0 and not re.search(r"^\[  PASSED  \] [1-9]", done.stdout, re.MULTILINE):
            sys.exit(f"{program} ran nothing of {chosen}")
        names += [name for name in dict.fromkeys(failed) if not name.isdigit()]
    return names


def main(work, wanted):
    source, folder = os.path.join(work, "source"), os.path.join(work, "build")
    copy_sources(source)
    configured = run("cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2", "-DINFER_TEST_OPTIONS=-O1", "-DINFER_ENGINE_ONLY=ON", "-DINFER_WERROR=OFF")
    if configured.returncode != 0:
        sys.exit(configured.stdout)
    build(folder, source)
    broken = failures(folder, source, (KERNELS, DECODE, MEMORY))
    if broken:
        sys.exit(f"the unbroken sources fail: {broken}")
    missed = 0
    for what, (name, text, instead, tests) in MUTATIONS.items():
        if wanted not in what:
            continue
        path = os.path.join(source, name)
        with open(path, encoding="utf-8") as file:
            whole = file.read()
        if whole.count(text) != 1:
            sys.exit(f"{name} has {whole.count(text)} places for '{what}'")
        with open(path, "w", encoding="utf-8") as file:
            file.write(whole.replace(text, instead))
        build(folder, source)
        names = failures(folder, source, tests)
        print(f"{what}: " + (f"{len(names)} tests fail, such as " + ", ".join(names[:3]) if names else "NOT NOTICED"), flush=True)
        missed += not names
        with open(path, "w", encoding="utf-8") as file:
            file.write(whole)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), " ".join(sys.argv[2:])))
