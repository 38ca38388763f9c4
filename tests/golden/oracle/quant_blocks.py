"""Writes tests/golden/quant: per type 64 blocks of random bytes with sane scales, and their f32 values by gguf-py.

Usage: python tests/golden/oracle/quant_blocks.py [folder]     (needs numpy and gguf)
"""
import pathlib
import sys

import numpy as np
from gguf import GGMLQuantizationType as kind
from gguf.constants import GGML_QUANT_SIZES
from gguf.quants import dequantize

BLOCKS = 64
# Where the f16 scales and minima lie in a block.
SCALES = {
    kind.Q4_0: [0], kind.Q4_1: [0, 2], kind.Q5_0: [0], kind.Q8_0: [0], kind.Q4_K: [0, 2], kind.Q6_K: [208],
    kind.F32: [], kind.F16: [], kind.BF16: [],
    kind.Q5_1: [0, 2], kind.Q2_K: [80, 82], kind.Q3_K: [108], kind.Q5_K: [0, 2], kind.IQ4_NL: [0], kind.IQ4_XS: [0],
    kind.MXFP4: [],
}
EDGES = np.array([0.0, -0.0, 2**-24, -(2**-24), 2**-14, 1023 * 2**-24, 65504.0, -65504.0], dtype=np.float16)


def scales(random: np.random.Generator) -> np.ndarray:
    """f16 scales of both signs over many magnitudes, led by zeros, subnormals and the ends of the range."""
    magnitudes = 2.0 ** random.uniform(-20, 3, BLOCKS) * random.choice([-1.0, 1.0], BLOCKS)
    values = magnitudes.astype(np.float16)
    values[: len(EDGES)] = random.permutation(EDGES)
    return values


def blocks_of(qtype: kind, random: np.random.Generator) -> np.ndarray:
    _, size = GGML_QUANT_SIZES[qtype]
    if qtype == kind.F32:
        return random.standard_normal(BLOCKS).astype(np.float32).view(np.uint8).reshape(BLOCKS, size)
    if qtype == kind.F16:
        return scales(random).view(np.uint8).reshape(BLOCKS, size)
    if qtype == kind.BF16:
        values = random.standard_normal(BLOCKS).astype(np.float32).view(np.uint32) >> 16
        return values.astype(np.uint16).view(np.uint8).reshape(BLOCKS, size)
    blocks = random.integers(0, 256, (BLOCKS, size), dtype=np.uint8)
    if qtype == kind.MXFP4:
        blocks[:, 0] = random.permutation(np.concatenate([[0, 1, 2, 250, 249], random.integers(90, 150, BLOCKS - 5)]))
    for offset in SCALES[qtype]:
        blocks[:, offset : offset + 2] = scales(random).view(np.uint8).reshape(BLOCKS, 2)
    return blocks


def main() -> None:
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tests/golden/quant")
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(20240607)
    for qtype in SCALES:
        blocks = blocks_of(qtype, random)
        values = np.ascontiguousarray(dequantize(blocks.reshape(1, -1), qtype)).astype(np.float32)
        assert np.isfinite(values).all(), qtype
        (folder / f"{qtype.name}.blocks").write_bytes(blocks.tobytes())
        (folder / f"{qtype.name}.f32").write_bytes(values.tobytes())


if __name__ == "__main__":
    main()
