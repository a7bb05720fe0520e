"""`init` from a GGUF file, writing, and the bundle files of this repository."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf_files import F32, STRING, U32, Tensor, gguf_file, matrix, problem_of

from wgslgen import formats, initialise
from wgslgen.bundlefile import BundleFile, expand, parse
from wgslgen.errors import UsageProblem
from wgslgen.kernels.get_rows import GetRows
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.rms_norm import RmsNorm
from wgslgen.plans import derive
from wgslgen.render import render

GENERATED = Path(__file__).parent.parent / "generated"


def norm(name: str, k: int) -> Tensor:
    """Return a norm's weight."""
    return Tensor(name, (k,), 0, np.ones(k, "<f4").tobytes())


def decoder(
    weight_format: str = "q2_0", group: int | None = 64, tied: bool = True, hidden: int = 128, table: str | None = None
) -> list[Tensor]:
    """Return the tensors of a decoder of two layers; its table is q8_0, or `table` in the matrices' group."""
    shapes = {
        "attn_q": (2 * hidden, hidden),
        "attn_k": (hidden, hidden),
        "attn_v": (hidden, hidden),
        "attn_output": (hidden, 2 * hidden),
        "ffn_gate": (3 * hidden, hidden),
        "ffn_up": (3 * hidden, hidden),
        "ffn_down": (hidden, 3 * hidden),
    }
    embedding = matrix("token_embd.weight", 100, hidden, table or "q8_0", group if table else None)
    tensors = [embedding, norm("output_norm.weight", hidden)]
    for layer in range(2):
        tensors += [matrix(f"blk.{layer}.{name}.weight", n, k, weight_format, group) for name, (n, k) in shapes.items()]
        tensors += [norm(f"blk.{layer}.attn_q_norm.weight", hidden // 4), norm(f"blk.{layer}.attn_norm.weight", hidden)]
    return tensors if tied else [*tensors, matrix("output.weight", 100, hidden, "q4_0")]


def metadata(architecture: str = "qwen3", **more: tuple[int, Any]) -> dict[str, tuple[int, Any]]:
    """Return the keys of that decoder."""
    own = {
        "embedding_length": (U32, 128),
        "feed_forward_length": (U32, 384),
        "block_count": (U32, 2),
        "attention.head_count": (U32, 8),
        "attention.head_count_kv": (U32, 4),
        "attention.key_length": (U32, 32),
        "rope.freq_base": (F32, 1e6),
        "attention.layer_norm_rms_epsilon": (F32, 1e-6),
        **more,
    }
    return {
        "general.architecture": (STRING, architecture),
        **{f"{architecture}.{key}": value for key, value in own.items()},
    }


def init(
    tmp_path: Path, tensors: list[Tensor], keys: dict[str, tuple[int, Any]], file: str = "t.gguf"
) -> tuple[BundleFile, str]:
    """Write a GGUF file, make its bundle file, and return it parsed and as text."""
    path = tmp_path / file
    path.write_bytes(gguf_file(tensors, keys))
    name, text = initialise.from_gguf(path)
    bundle = parse(text, "t.toml")
    assert bundle.name == name
    return bundle, text


def test_a_small_decoder(tmp_path: Path) -> None:
    bundle, text = init(tmp_path, decoder(), metadata())
    assert bundle.model == {
        "hidden": 128,
        "intermediate": 384,
        "q_heads": 8,
        "kv_heads": 4,
        "head_dim": 32,
        "layers": 2,
        "vocab": 100,
        "rope_theta": 1e6,
        "eps": 1e-6,
        "tied": True,
        "qk_norm": True,
        "rope_pairing": "half",
        "attention_bias": False,
    }
    assert bundle.description.endswith("matrices: q2_0 with group 64 (14), q8_0 (1).")
    grid = expand(bundle)
    assert len(grid.variants) <= 150
    matvecs = [variant for variant in grid.variants if isinstance(variant, Matvec)]
    assert {v.format for v in matvecs} == {"q2_0", "q8_0"}
    assert {(v.n, v.k) for v in matvecs if v.n} == {(512, 128), (128, 256), (384, 128), (128, 384)}
    assert {v.k for v in matvecs if v.format == "q8_0" and v.k} == {128}
    assert {v.format for v in grid.variants if isinstance(v, GetRows)} == {"q8_0"}
    assert {v.d for v in grid.variants if isinstance(v, RmsNorm)} == {None, 128}
    assert "# One token, activations as int8: q, k and v, their rows stacked.\n" in text
    layers = [plan.name for plan in derive(grid.variants, bundle.facts) if plan.op == "decode_layer"]
    assert len(layers) == 12


def test_an_output_projection_of_its_own(tmp_path: Path) -> None:
    bundle, _ = init(tmp_path, decoder(tied=False), metadata())
    assert bundle.model is not None
    assert bundle.model["tied"] is False
    grid = expand(bundle)
    assert {v.format for v in grid.variants if isinstance(v, Matvec)} == {"q2_0", "q4_0"}
    assert {v.format for v in grid.variants if isinstance(v, GetRows)} == {"q8_0"}


def test_facts_are_believed_only_where_the_tensors_agree(tmp_path: Path) -> None:
    for more in (
        {"feed_forward_length": (U32, 400)},
        {"attention.head_count": (U32, 7)},
        {"attention.head_count_kv": (STRING, "4")},
        {"attention.layer_norm_rms_epsilon": (F32, float("nan"))},
        {"attention.layer_norm_rms_epsilon": (STRING, "x")},
        {"block_count": (F32, 2.0)},
        {"embedding_length": (U32, 0)},
        {"rope.dimension_count": (U32, 16)},
        {"attention.sliding_window": (U32, 512)},
        {"final_logit_softcapping": (F32, 30.0)},
        {"expert_count": (U32, 8)},
    ):
        bundle, _ = init(tmp_path, decoder(), metadata(**more))
        assert bundle.model is None
        assert expand(bundle).variants
    bundle, _ = init(tmp_path, decoder(), metadata("gemma3"))
    assert bundle.model is None
    bundle, _ = init(tmp_path, decoder(), metadata("llama", **{"rope.dimension_count": (U32, 32)}))
    assert bundle.model is not None
    assert bundle.model["rope_pairing"] == "interleaved"


def test_another_architecture_gives_its_shapes(tmp_path: Path) -> None:
    tensors = [
        matrix("h.0.mix.weight", 96, 64, "q4_0"),
        matrix("h.1.mix.weight", 96, 64, "q4_0"),
        Tensor("h.experts.weight", (64, 32, 3), 2, matrix("e", 96, 64, "q4_0").data),
        Tensor("h.bias", (64, 2), 0, bytes(512)),
    ]
    bundle, text = init(tmp_path, tensors, {"general.architecture": (STRING, "other")})
    assert bundle.model is None
    grid = expand(bundle)
    assert {(v.n, v.k) for v in grid.variants if isinstance(v, Matvec) and v.n} == {(96, 64), (32, 64)}
    assert not [v for v in grid.variants if isinstance(v, GetRows | RmsNorm)]
    assert "Kernels for the other model in t.gguf; matrices: q4_0 (3)." in text


def test_all_formats_at_once_raise_the_limit_of_their_bundle(tmp_path: Path) -> None:
    tensors = [matrix("token_embd.weight", 100, 256, "q8_0"), norm("output_norm.weight", 256)]
    for kind in formats.FORMATS:
        group = kind.default_group or kind.groups[0]
        tensors += [matrix(f"{kind.name}.{n}.weight", 32 * n, 256, kind.name, group) for n in range(1, 13)]
    bundle, _ = init(tmp_path, tensors, {})
    assert bundle.limit > 150
    assert len(expand(bundle).variants) == bundle.limit


@pytest.mark.parametrize("kind", formats.FORMATS, ids=lambda kind: kind.name)
def test_a_decoder_of_any_format(kind: type[formats.Format], tmp_path: Path) -> None:
    """Every route that the format has (block only where it is read in words of codes), and all plans of a token."""
    tensors = decoder(kind.name, kind.default_group or kind.groups[0], hidden=256, table=kind.name)
    widths = {"embedding_length": 256, "feed_forward_length": 768, "attention.key_length": 64}
    sizes: dict[str, tuple[int, Any]] = {name: (U32, width) for name, width in widths.items()}
    bundle, _ = init(tmp_path, tensors, metadata("qwen3", **sizes))
    assert bundle.model is not None
    variants = expand(bundle).variants
    matvecs = [variant for variant in variants if isinstance(variant, Matvec)]
    assert {v.format for v in matvecs} == {kind.name} == {v.format for v in variants if isinstance(v, GetRows)}
    block = {"block"} if kind.quantised and kind.step is None else set()
    assert {v.route for v in matvecs} == {"float", *({"int8"} if kind.quantised else ()), *block}
    assert {v.activation_group for v in matvecs if v.route == "float"} == {None}
    ops = {plan.op for plan in derive(variants, bundle.facts)}
    assert ops >= {"decode_embedding", "decode_layer", "decode_head"}


def test_a_type_without_a_format(tmp_path: Path) -> None:
    tensors = [*decoder(), Tensor("blk.0.x.weight", (256, 4), 15, bytes(4 * 292))]
    path = tmp_path / "t.gguf"
    path.write_bytes(gguf_file(tensors, metadata()))
    with pytest.raises(UsageProblem, match=r't\.gguf: "blk\.0\.x\.weight" is q8_k, which wgslgen has no') as caught:
        initialise.from_gguf(path)
    assert caught.value.hint == "convert the model without q8_k"


def test_a_file_without_a_matrix(tmp_path: Path) -> None:
    path = tmp_path / "t.gguf"
    path.write_bytes(gguf_file([norm("output_norm.weight", 128)]))
    with pytest.raises(UsageProblem, match="holds no weight matrix"):
        initialise.from_gguf(path)


def test_a_group_that_the_file_leaves_open(tmp_path: Path) -> None:
    data = gguf_file([matrix("a.weight", 1, 128, "q2_0", 64), matrix("b.weight", 2, 64, "q4_0")])
    assert problem_of(tmp_path, data).hint == "say which: --group 64"
    small = Tensor("a.weight", (128, 2), 42, matrix("a", 2, 128, "q2_0", 64).data)
    path = tmp_path / "t.gguf"
    path.write_bytes(gguf_file([small, matrix("b.weight", 2, 64, "q4_0")]))
    _, text = initialise.from_gguf(path, 64)
    assert "# Made by: wgslgen init --gguf t.gguf --group 64\n" in text
    assert "group = 64" in text


@pytest.mark.parametrize(
    ("keys", "file", "name"),
    [
        ({"general.basename": "SmolLM2", "general.size_label": "135M"}, "t.gguf", "smollm2-135m"),
        ({"general.basename": "SmolLM2", "general.name": "Ünï / Code\n"}, "t.gguf", "n-code"),
        ({}, "My Model.Q4_0.gguf", "my-model.q4_0"),
        ({"general.name": "///"}, "t.gguf", "bundle"),
    ],
)
def test_names(tmp_path: Path, keys: dict[str, str], file: str, name: str) -> None:
    bundle, text = init(tmp_path, decoder(), {key: (STRING, value) for key, value in keys.items()}, file)
    assert bundle.name == name
    assert shlex.split(text.splitlines()[1])[-1] == file


C41 = ("storage", "type", "array", "texture", "packed", "ptr", "fn", "override", "buffer", "_", "__x", "f16", "select")


def test_c41_tensors_called_like_wgsl_words(tmp_path: Path) -> None:
    """Tensor names stand in the comments of the bundle file and in no shader."""
    tensors = [matrix(f"{word}.weight", 64 - n, 32, "q4_0") for n, word in enumerate(C41)]
    tensors.append(matrix("line\nname = 3 #\x1b.weight", 32, 32, "q4_0"))
    bundle, text = init(tmp_path, tensors, {"general.architecture": (STRING, "ptr\nx")}, "fn\nx.gguf")
    assert "storage" in text
    grid = expand(bundle)
    expected, _ = init(tmp_path, [matrix(f"ok{n}.weight", t.dims[1], 32, "q4_0") for n, t in enumerate(tensors)], {})
    for variant, other in zip(grid.variants, expand(expected).variants, strict=True):
        assert render(variant, "t.toml") == render(other, "t.toml")


def test_c41_two_tensors_with_one_name(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, gguf_file([matrix("type", 2, 32, "q4_0"), matrix("type", 2, 32, "q4_0")]))
    assert '"type" is given twice' in problem.message


# Writing.


def test_write_never_overwrites(tmp_path: Path) -> None:
    target = tmp_path / "new" / "t.toml"
    initialise.write(target, "a\né\n")
    assert target.read_bytes() == "a\né\n".encode()
    with pytest.raises(UsageProblem, match=r"t\.toml exists already; init never overwrites") as caught:
        initialise.write(target, "b\n")
    assert "--name" in str(caught.value.hint)
    assert target.read_bytes() == "a\né\n".encode()


def test_write_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageProblem, match=r"t\.toml: .*file is not a folder"):
        initialise.write(tmp_path / "file" / "t.toml", "a\n")
    with pytest.raises(UsageProblem, match=r"t\.toml: cannot be written: not a directory"):
        initialise.write(tmp_path / "file" / "new" / "t.toml", "a\n")


# The bundle files of this repository.


@pytest.mark.parametrize("weight_format", ["q1_0", "q2_0"])
def test_generated_presets_are_what_init_writes(weight_format: str) -> None:
    name, text = initialise.from_preset("bonsai-1.7b", weight_format)
    assert (GENERATED / f"{name}.toml").read_text(encoding="utf-8") == text


def test_generated_smollm2_is_what_init_writes(smollm2: Path) -> None:
    name, text = initialise.from_gguf(smollm2)
    assert name == "smollm2-135m"
    assert (GENERATED / f"{name}.toml").read_text(encoding="utf-8") == text
    grid = expand(parse(text, "t.toml"))
    assert 60 <= len(grid.variants) <= 140
    kinds = Counter(v.format for v in grid.variants if isinstance(v, Matvec))
    assert set(kinds) == {"q4_1", "q8_0"}
