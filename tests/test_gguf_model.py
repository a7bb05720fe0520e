"""GGUF files: what is read of them, and how the group of a type is found out."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest
from gguf_files import METADATA, PLAIN, Tensor, gguf_file, matrix, problem_of, read

from wgslgen.errors import UsageProblem
from wgslgen.gguf_header import ArrayLength
from wgslgen.gguf_model import read_model, tensor_bytes

# Files that are in order.


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("alignment", [32, 8, 256])
def test_header_and_bytes(tmp_path: Path, version: int, alignment: int) -> None:
    model = read(tmp_path, gguf_file(PLAIN, METADATA, version=version, alignment=alignment))
    assert (model.file, model.architecture, model.facts) == ("t.gguf", "llama", None)
    assert model.metadata["general.name"] == "a model"
    assert model.metadata["a.flag"] is True
    assert model.metadata["a.long"] == 2**40
    assert model.metadata["a.words"] == ArrayLength(3)
    assert model.metadata["a.nested"] == ArrayLength(2)
    for made, tensor in zip(PLAIN, model.tensors, strict=True):
        assert (tensor.name, tensor.k, tensor.n) == (made.name, *made.dims)
        data = tensor_bytes(tmp_path / "t.gguf", tensor)
        assert tensor.stored is not None
        assert data.shape == (tensor.n, tensor.stored.row_bytes(tensor.k))
        assert data.tobytes() == made.data
        assert not data.flags.writeable
    assert model.tensor("b.weight").format == "f32"


def test_a_file_by_ggufs_own_writer(tmp_path: Path, rng: np.random.Generator) -> None:
    path = tmp_path / "t.gguf"
    writer = gguf.GGUFWriter(path, "qwen3")
    writer.add_block_count(2)
    writer.add_token_list(["a", "b"])
    weights = rng.standard_normal((4, 256), dtype=np.float32)
    writer.add_tensor("f.weight", weights)
    kinds = {kind.name.lower(): kind for kind in gguf.GGMLQuantizationType}
    for name in ("q4_0", "q4_1", "q8_0"):
        packed = gguf.quants.quantize(weights, kinds[name])
        writer.add_tensor(f"{name}.weight", packed, raw_dtype=kinds[name])
    writer.add_tensor("k.weight", np.zeros((4, 210), np.uint8), raw_dtype=kinds["q6_k"])
    writer.add_tensor("s.weight", np.zeros((9, 36), np.uint8), raw_dtype=kinds["q1_0"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    model = read_model(path)
    assert model.architecture == "qwen3"
    assert [(t.type_name, t.format) for t in model.tensors[-2:]] == [("q6_K", "q6_K"), ("q1_0", "q1_0")]
    assert model.tensor("s.weight").group == 128
    for tensor in model.tensors:
        assert tensor.dims == (256, 9 if tensor.name == "s.weight" else 4)
    reader = gguf.GGUFReader(path)
    for theirs, ours in zip(reader.tensors, model.tensors, strict=True):
        assert (ours.offset, ours.byte_length) == (theirs.data_offset, theirs.n_bytes)
        assert tensor_bytes(path, ours).tobytes() == theirs.data.tobytes()


def test_the_real_file(smollm2: Path) -> None:
    model = read_model(smollm2)
    assert len(model.tensors) == 272
    kinds = [tensor.type_name for tensor in model.tensors]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"q4_1": 210, "f32": 61, "q8_0": 1}
    assert model.facts is not None
    assert model.facts.model_dump() == {
        "hidden": 576,
        "intermediate": 1536,
        "q_heads": 9,
        "kv_heads": 3,
        "head_dim": 64,
        "layers": 30,
        "vocab": 49152,
        "rope_theta": 100000.0,
        "eps": 1e-5,
        "tied": True,
        "qk_norm": False,
        "rope_pairing": "interleaved",
        "attention_bias": False,
    }
    end = model.tensors[-1]
    assert end.offset + end.byte_length <= smollm2.stat().st_size
    down = model.tensor("blk.7.ffn_down.weight")
    assert tensor_bytes(smollm2, down).shape == (576, 1536 // 32 * 20)


def test_a_missing_tensor(tmp_path: Path) -> None:
    model = read(tmp_path, gguf_file(PLAIN))
    with pytest.raises(UsageProblem, match=r't\.gguf has no tensor "z"; it has 3'):
        model.tensor("z")


def test_a_file_that_shrank_since_its_header_was_read(tmp_path: Path) -> None:
    path = tmp_path / "t.gguf"
    model = read(tmp_path, gguf_file(PLAIN))
    path.write_bytes(path.read_bytes()[: model.tensors[-1].offset + 1])
    with pytest.raises(UsageProblem, match=r"c\.weight cannot be read"):
        tensor_bytes(path, model.tensors[-1])


# Groups.


@pytest.mark.parametrize(("name", "group"), [("q2_0", 64), ("q2_0", 128), ("q1_0", 32), ("q1_0", 64), ("q1_0", 128)])
@pytest.mark.parametrize("pad_end", [True, False])
def test_groups_follow_from_the_distances(tmp_path: Path, name: str, group: int, pad_end: bool) -> None:
    tensors = [matrix("a", 7, 256, name, group), *PLAIN, matrix("z", 3, 1024, name, group)]
    model = read(tmp_path, gguf_file(tensors, pad_end=pad_end))
    assert [(t.format, t.group) for t in model.tensors if t.name in "az"] == [(name, group)] * 2
    for tensor, made in zip(model.tensors, tensors, strict=True):
        assert tensor_bytes(tmp_path / "t.gguf", tensor).tobytes() == made.data
    assert read(tmp_path, gguf_file(tensors), group) == read(tmp_path, gguf_file(tensors))


def test_group_of_a_single_tensor_follows_from_the_files_end(tmp_path: Path) -> None:
    assert read(tmp_path, gguf_file([matrix("a", 33, 128, "q2_0", 128)])).tensors[0].group == 128


def test_a_wrong_group_is_refused(tmp_path: Path) -> None:
    tensors = [matrix("a", 7, 256, "q2_0", 64)]
    problem = problem_of(tmp_path, gguf_file(tensors), 128)
    assert 'group 128 does not fit its q2_0 tensors, "a" for one; their lengths fit group 64' in problem.message
    assert problem.hint == "leave --group out"


def test_one_tensor_settles_the_group_of_the_others(tmp_path: Path) -> None:
    """One row of 128 takes 36 or 34 bytes, both padded to 64."""
    small, large = matrix("small", 1, 128, "q2_0", 64), matrix("large", 9, 256, "q2_0", 64)
    assert {t.group for t in read(tmp_path, gguf_file([small, large])).tensors} == {64}


def test_two_possible_groups_ask_for_one(tmp_path: Path) -> None:
    tensors = [matrix("a", 1, 128, "q2_0", 64), matrix("b", 1, 32, "f32")]
    problem = problem_of(tmp_path, gguf_file(tensors))
    assert "its q2_0 tensors fit group 64 or 128, and the header does not say which" in problem.message
    assert problem.hint == "say which: --group 64"
    assert read(tmp_path, gguf_file(tensors), 64).tensors[0].group == 64
    assert read(tmp_path, gguf_file(tensors), 128).tensors[0].byte_length == 34
    problem = problem_of(tmp_path, gguf_file(tensors), 32)
    assert problem.hint == "use --group 64"


def test_a_group_that_no_length_fits(tmp_path: Path) -> None:
    """Blocks of 32 weights at 10 bytes: neither group's length."""
    problem = problem_of(tmp_path, gguf_file([Tensor("a", (256, 7), 42, bytes(560)), *PLAIN]))
    assert '"a" is q2_0 with 7 rows of 256 columns and has room for 576 bytes' in problem.message
    assert "group 64 takes 504 bytes, group 128 takes 476 bytes" in problem.message


def test_columns_that_no_group_divides(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, gguf_file([Tensor("a", (96, 2), 42, bytes(64))]))
    assert "group 64 does not divide K = 96, group 128 does not divide K = 96" in problem.message


def test_a_group_where_nothing_has_one(tmp_path: Path) -> None:
    assert "group 64 was given" in problem_of(tmp_path, gguf_file(PLAIN), 64).message


def test_tensors_that_disagree(tmp_path: Path) -> None:
    tensors = [matrix("a", 7, 256, "q2_0", 64), matrix("b", 7, 256, "q2_0", 128), *PLAIN]
    assert '"b" is q2_0' in problem_of(tmp_path, gguf_file(tensors)).message
