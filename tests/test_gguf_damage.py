"""Damaged GGUF files: each kind ends in a message that says what is wrong."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from gguf_files import (
    ARRAY,
    F32,
    METADATA,
    PLAIN,
    STRING,
    U32,
    Tensor,
    gguf_file,
    matrix,
    pair,
    problem_of,
    read,
    string,
)

from wgslgen.errors import UsageProblem
from wgslgen.gguf_model import read_model, tensor_bytes


def test_truncated_anywhere(tmp_path: Path) -> None:
    """Wherever the header or the tensor data is cut, the message says that the file ends too soon."""
    two = (matrix(name, 7, 256, "q2_0", 64) for name in "yz")
    whole = gguf_file([*PLAIN, *two], METADATA, pad_end=False)
    read(tmp_path, whole)
    data = whole.index(PLAIN[0].data)
    for length in (*range(data), *range(data, len(whole), 61), len(whole) - 1):
        problem = problem_of(tmp_path, whole[:length])
        if length >= 4:
            assert any(said in problem.message for said in ("the file ends within", "bytes follow", "has room for"))
            assert "truncated" in str(problem.hint)


@pytest.mark.parametrize("cut", [10, 1000, 1_000_000, 60_000_000, 98_000_000])
def test_the_real_file_truncated(tmp_path: Path, smollm2: Path, cut: int) -> None:
    with smollm2.open("rb") as file:
        start = file.read(min(cut, 2_000_000))
    path = tmp_path / "t.gguf"
    with path.open("wb") as file:
        file.write(start)
        file.truncate(cut)
    with pytest.raises(UsageProblem) as caught:
        read_model(path)
    assert "truncated" in str(caught.value.hint)


def test_truncated_within_a_last_tensor_of_unknown_group(tmp_path: Path) -> None:
    """The other tensors tell the group, so the message tells of the end and not of groups."""
    whole = gguf_file([matrix("a", 7, 256, "q2_0", 64), matrix("z", 9, 256, "q2_0", 64)])
    assert 'the file ends within "z"' in problem_of(tmp_path, whole[:-100]).message


def head(version: int = 3, tensors: int = 0, pairs: int = 0) -> bytes:
    """Return magic, version and counts."""
    return b"GGUF" + struct.pack("<IQQ", version, tensors, pairs)


ARCH = pair("general.architecture", STRING, "llama")
DAMAGE = {
    "empty": (b"", "an empty file"),
    "another kind": (b"PK\x03\x04" + bytes(100), "not a GGUF file: it opens with b'PK"),
    "version 1": (head(1), "GGUF version 1; expected version 2 or 3"),
    "version 4": (head(4), "GGUF version 4"),
    "version 0": (head(0), "GGUF version 0"),
    "big-endian": (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "a big-endian GGUF file"),
    "absurd tensor count": (head(3, 2**60) + bytes(100), f"announces {2**60} tensors and 0 keys"),
    "absurd key count": (head(3, 0, 2**63) + bytes(100), f"0 tensors and {2**63} keys"),
    "absurd string": (head(3, 0, 1) + struct.pack("<Q", 2**62) + bytes(50), f"{2**62} bytes expected"),
    "absurd array": (
        head(3, 0, 1) + string("a") + struct.pack("<IIQ", ARRAY, F32, 2**61) + bytes(50),
        'the file ends within "a"',
    ),
    "absurd array of strings": (
        head(3, 0, 1) + string("a") + struct.pack("<IIQ", ARRAY, STRING, 2**61) + bytes(50),
        'the file ends within "a"',
    ),
    "nesting without end": (
        head(3, 0, 1) + string("a") + struct.pack("<I", ARRAY) + struct.pack("<IQ", ARRAY, 1) * 5000 + bytes(50),
        '"a" has value type 9',
    ),
    "unknown value type": (head(3, 0, 1) + string("a") + struct.pack("<I", 13) + bytes(50), "value type 13"),
    "unknown element type": (
        head(3, 0, 1) + string("a") + struct.pack("<IIQ", ARRAY, 99, 1) + bytes(50),
        "value type 99",
    ),
    "key not UTF-8": (head(3, 0, 1) + string(b"\xff\xfe") + bytes(50), "is not UTF-8"),
    "key twice": (head(3, 0, 2) + ARCH + ARCH, '"general.architecture" is given twice'),
    "alignment 0": (head(3, 0, 1) + pair("general.alignment", U32, 0), "general.alignment is 0"),
    "alignment 24": (head(3, 0, 1) + pair("general.alignment", U32, 24), "general.alignment is 24"),
    "alignment a word": (head(3, 0, 1) + pair("general.alignment", STRING, "x"), "general.alignment is 'x'"),
    "no dimensions": (gguf_file([Tensor("a", (), 0, bytes(32))]), '"a" has 0 dimensions'),
    "many dimensions": (gguf_file([Tensor("a", (1,) * 5, 0, bytes(32))]), '"a" has 5 dimensions'),
    "dimension 0": (gguf_file([Tensor("a", (32, 0), 0, bytes(32))]), "dimensions [32, 0]; expected a product"),
    "product beyond u64": (gguf_file([Tensor("a", (2**40, 2**40), 0, bytes(32))]), "expected a product"),
    "tensor twice": (gguf_file([PLAIN[0], PLAIN[0]]), '"a.weight" is given twice'),
    "unknown type": (gguf_file([Tensor("a", (32,), 142, bytes(32))]), '"a" has type id 142, which is unknown'),
    "removed type": (gguf_file([Tensor("a", (32,), 4, bytes(32))]), "type id 4, which is unknown"),
    "part blocks": (gguf_file([Tensor("a", (33, 2), 2, bytes(64))]), "q4_0 with 33 columns; expected a multiple of 32"),
    "part blocks of another type": (gguf_file([Tensor("a", (32, 2), 14, bytes(64))]), "q6_K with 32 columns"),
    "data past the end": (gguf_file([Tensor("a", (32, 2), 0, bytes(128))]), 'the file ends within "a"'),
    "offset past the end": (gguf_file([Tensor("a", (32,), 0, bytes(128), 2**40)]), 'the file ends within "a"'),
    "offset beyond i64": (
        gguf_file([Tensor("a", (32,), 0, bytes(128), 2**64 - 32)]),
        'the file ends within "a"',
    ),
    "unaligned": (gguf_file([Tensor("a", (32,), 0, bytes(256), 8)]), "not a multiple of the alignment 32"),
    "overlap": (
        gguf_file([Tensor("a", (32,), 0, bytes(128)), Tensor("b", (32,), 0, bytes(128), 64)]),
        '"a" (128 bytes at ',
    ),
    "one place for two": (
        gguf_file([Tensor("a", (32,), 0, bytes(128)), Tensor("b", (32,), 0, bytes(128), 0)]),
        "reaches into",
    ),
    "one place for two of open group": (
        gguf_file([matrix("a", 7, 256, "q2_0", 64), Tensor("b", (256, 7), 42, bytes(504), 0)]),
        "has room for 0 bytes",
    ),
}


@pytest.mark.parametrize(("data", "message"), DAMAGE.values(), ids=DAMAGE)
def test_damage(tmp_path: Path, data: bytes, message: str) -> None:
    assert message in problem_of(tmp_path, data).message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"gone\.gguf: cannot be read: no such file"):
        read_model(tmp_path / "gone.gguf")
    with pytest.raises(UsageProblem, match="cannot be read: is a directory"):
        read_model(tmp_path)


@pytest.mark.parametrize("seed", range(200))
def test_random_damage_ends_in_a_message_or_in_a_model(tmp_path: Path, seed: int) -> None:
    """Bytes of the header flipped at random: never a traceback, never a tensor outside the file."""
    whole = bytearray(gguf_file([*PLAIN, matrix("z", 7, 256, "q2_0", 64)], METADATA))
    end = read(tmp_path, bytes(whole)).tensors[0].offset
    random = np.random.default_rng(seed)
    for at in random.integers(0, end, size=random.integers(1, 4)):
        whole[at] = random.integers(0, 256)
    try:
        tensors = read(tmp_path, bytes(whole)).tensors
    except UsageProblem:
        tensors = ()
    for tensor in tensors:
        assert tensor_bytes(tmp_path / "t.gguf", tensor).size == tensor.byte_length


def test_a_file_without_tensors_says_so(tmp_path: Path) -> None:
    assert "holds no tensors" in problem_of(tmp_path, gguf_file([], METADATA)).message
