"""Cases of positions and the cache: rotary embedding, and what writes keys and values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from cases.support import Probe, runner
from wgslgen import launch
from wgslgen.adapters import Gpu
from wgslgen.errors import UsageProblem
from wgslgen.kernels.qk_norm_rope import QkNormRope
from wgslgen.kernels.rope_cache_kv import RopeCacheKv
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.oracles.rope_cache_kv import rotated
from wgslgen.render import render
from wgslgen.rope import rope_table
from wgslgen.verify import verify_on

HEADS: dict[str, Any] = {"q_heads": 4, "kv_heads": 2, "head_dim": 16}
CAPACITY = 16
EPS = 1e-6
Words = NDArray[np.uint32]


def unwritten(layers: int, capacity: int, kv_heads: int, head_dim: int) -> Words:
    """Return a cache of one sequence [layers, capacity, kv_heads, head_dim], every byte of it 0xAA."""
    return np.full((layers, capacity, kv_heads, head_dim), 0xAAAAAAAA, dtype=np.uint32)


def step(
    gpu: Gpu,
    variant: RopeCacheKv,
    tokens: NDArray[np.float32],
    length: int,
    caches: tuple[Words, Words],
    layer: int,
    weight: NDArray[np.float32],
) -> tuple[Words, Words, Words]:
    """Run tokens [M, heads, head_dim] of one sequence that is `length` long with them; return q and the caches."""
    layers, capacity, kv_heads, head_dim = caches[0].shape
    inputs: dict[str, NDArray[Any]] = {
        "rope_table": rope_table(capacity, variant.rotated, 1e4),
        "lengths": np.array([length], dtype=np.uint32),
        "k_cache": caches[0],
        "v_cache": caches[1],
    }
    q, k, v = np.split(tokens, [variant.q_heads, variant.q_heads + kv_heads], axis=1)
    inputs |= {"qkv": tokens} if variant.source == "packed" else {"q": q, "k": k, "v": v}
    inputs |= {"norm_weight": weight} if variant.qk_norm else {}
    sizes = {"B": 1, "M": len(tokens), "CAPACITY": capacity, "LAYERS": layers, "LAYER": layer, "TABLE_ROWS": capacity}
    parameters: Mapping[str, float] = {"EPS": EPS} if variant.qk_norm else {}
    outputs = runner(gpu, variant).run(inputs, sizes, parameters)
    queries = np.frombuffer(outputs["q"], np.uint32).reshape(len(tokens), variant.q_heads, head_dim)
    keys, values = (np.frombuffer(outputs[name], np.uint32).reshape(caches[0].shape) for name in ("k_cache", "v_cache"))
    return queries, keys, values


def a_prompt(variant: RopeCacheKv, count: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return tokens [count, heads, head_dim]."""
    return rng.standard_normal((count, variant.token_heads, variant.head_dim)).astype(np.float32)


# ---- C12, C13 --------------------------------------------------------------------------------------


def folding() -> list[RopeCacheKv | QkNormRope]:
    """Return the variants with subgroups, over the ways in which heads share a workgroup."""
    made: list[RopeCacheKv | QkNormRope] = []
    for head_dim, size in product((40, 128, 256), (32, 64, 128)):
        constants: dict[str, Any] = {"q_heads": 4, "kv_heads": 2, "head_dim": head_dim, "workgroup_size": size}
        made += [RopeCacheKv(**constants, qk_norm=True, subgroups=True), QkNormRope(**constants, subgroups=True)]
    return made


def test_c12_nothing_is_indexed_by_the_lane() -> None:
    for variant in folding():
        text = render(variant, "tests")
        assert not re.search(r"\[[^\]]*\blane\b", text)
        slots = variant.workgroup_variables()[0]
        most = variant.workgroup_size // 4
        assert slots.count == variant.group_heads * most, "a slot for each subgroup of four, for each head"


def test_c13_heads_follow_local_ids_and_sums_follow_heads() -> None:
    """Each thread adds to the sum of the head that it holds, whatever lane it is, so no order of lanes matters."""
    for variant in folding():
        text = render(variant, "tests")
        assert not re.search(r"\b(lane|subgroup) [/%]", text)
        assert not re.search(r"subgroup(Shuffle|Broadcast)", text)
        for place in range(variant.group_heads):
            assert f"select(0.0f, squares, place == {place}u)," in text
    with pytest.raises(ValidationError, match="workgroup_size"):
        QkNormRope(**HEADS, workgroup_size=(8, 8, 1), subgroups=True)  # type: ignore[arg-type]  # refused


# ---- C24 -------------------------------------------------------------------------------------------


def test_c24_nine_buffers_are_refused_at_the_default_limits() -> None:
    variant = Probe(buffers=9)
    with pytest.raises(UsageProblem, match="maxStorageBuffersPerShaderStage 9 > 8, the limit of a device"):
        launch.check_device(variant, frozenset(), DEFAULT_LIMITS, "a device")
    launch.check_device(variant, frozenset(), {**DEFAULT_LIMITS, "maxStorageBuffersPerShaderStage": 10}, "a device")


def test_c24_the_fused_kernel_stays_within_eight_buffers() -> None:
    """Sizes, the layer and EPS are in the uniform; the norms share a buffer of weights."""
    for source, norm in product(("packed", "separate"), (False, True)):
        variant = RopeCacheKv.model_validate({**HEADS, "source": source, "qk_norm": norm})
        assert len(variant.bindings()) == {"packed": 6, "separate": 7}[source] + norm
        launch.check_device(variant, frozenset(), DEFAULT_LIMITS, "a device")


# ---- C25 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
def test_c25_a_head_that_rotates_as_a_whole_has_no_rest(pairing: Any, gpu: Gpu) -> None:
    for rotary_dim in (None, 16):
        outcome = verify_on(gpu, RopeCacheKv(**HEADS, rotary_dim=rotary_dim, pairing=pairing))
        assert outcome.status == "passed", outcome.problem


# ---- C26 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_c26_a_layer_at_byte_128_is_found_by_its_elements(layer: int, gpu: Gpu, rng: np.random.Generator) -> None:
    """Bound at 0, with the layer in the uniform; what lies before and behind stays."""
    variant = RopeCacheKv(q_heads=1, kv_heads=1, head_dim=8)
    empty = unwritten(3, 4, 1, 8)
    assert empty[0].nbytes == 128
    tokens = a_prompt(variant, 4, rng)
    weight = np.ones((2, 8), dtype=np.float32)
    _, keys, values = step(gpu, variant, tokens, 4, (empty, empty), layer, weight)
    assert (values[layer, :, 0] == tokens[:, 2].view(np.uint32)).all()
    for other in {0, 1, 2} - {layer}:
        assert (keys[other] == 0xAAAAAAAA).all()
        assert (values[other] == 0xAAAAAAAA).all()


# ---- C35 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lengths", [(3, 7), (7, 3), (0, 8)])
def test_c35_each_sequence_writes_and_turns_by_its_own_length(
    lengths: tuple[int, int], gpu: Gpu, rng: np.random.Generator
) -> None:
    """Two sequences in one call make the bits that each of them makes alone; without a length nothing is written."""
    variant = RopeCacheKv(**HEADS)
    tokens = np.stack([a_prompt(variant, 1, rng) for _ in lengths])
    table, empty = rope_table(CAPACITY, 16, 1e4), unwritten(1, CAPACITY, 2, 16)
    both = np.concatenate([empty, empty], axis=1)
    inputs: dict[str, NDArray[Any]] = {"qkv": tokens, "rope_table": table, "lengths": np.array(lengths, np.uint32)}
    sizes = {"B": 2, "M": 1, "CAPACITY": CAPACITY, "LAYERS": 1, "LAYER": 0, "TABLE_ROWS": CAPACITY}
    raw = runner(gpu, variant).run({**inputs, "k_cache": both, "v_cache": both}, sizes)
    found = [np.frombuffer(raw[name], np.uint32).reshape(2, -1) for name in ("q", "k_cache", "v_cache")]
    for sequence, length in enumerate(lengths):
        alone = step(gpu, variant, tokens[sequence], length, (empty, empty), 0, np.ones((2, 16), np.float32))
        for one, same in zip(found, alone, strict=True):
            assert (one[sequence] == same.ravel()).all()
        assert rows_of(alone[1][0]) == ([length - 1] if length else [])


def rows_of(cache: Words) -> list[int]:
    """Return the rows of a layer's cache [capacity, kv_heads, head_dim] that are written."""
    return np.flatnonzero((cache != 0xAAAAAAAA).all(axis=(1, 2))).tolist()


# ---- C36 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["packed", "separate"])
@pytest.mark.parametrize(("norm", "subgroups"), [(False, False), (True, False), (True, True)])
def test_c36_decoding_goes_on_where_the_prefill_ended(
    source: Any, norm: bool, subgroups: bool, gpu: Gpu, rng: np.random.Generator
) -> None:
    variant = RopeCacheKv(**HEADS, source=source, qk_norm=norm, subgroups=subgroups)
    tokens, weight = a_prompt(variant, 12, rng), rng.standard_normal((2, 16)).astype(np.float32)
    empty = unwritten(2, CAPACITY, 2, 16)
    wanted = step(gpu, variant, tokens, 12, (empty, empty), 1, weight)

    queries, *caches = step(gpu, variant, tokens[:9], 9, (empty, empty), 1, weight)
    found = [queries]
    assert rows_written(caches) == [*range(9)]
    for length in (10, 11, 12):
        queries, *caches = step(gpu, variant, tokens[length - 1 : length], length, (caches[0], caches[1]), 1, weight)
        found.append(queries)
        assert rows_written(caches) == [*range(length)]
    assert (np.concatenate(found) == wanted[0]).all()
    assert (caches[0] == wanted[1]).all()
    assert (caches[1] == wanted[2]).all()


def rows_written(caches: list[Words]) -> list[int]:
    """Return the rows of layer 1 that are written in keys and values alike; layer 0 is not, nor is any in part."""
    found = []
    for cache in caches:
        changed = cache != 0xAAAAAAAA
        assert not changed[0].any()
        assert (changed[1].any(axis=(1, 2)) == changed[1].all(axis=(1, 2))).all()
        found.append(np.flatnonzero(changed[1].all(axis=(1, 2))).tolist())
    assert found[0] == found[1]
    rows: list[int] = found[0]
    return rows


def test_c36_a_decoded_token_turns_by_its_own_position(gpu: Gpu) -> None:
    """Not by 0, and not by the length: a unit vector in the first pair shows the angle itself."""
    variant = RopeCacheKv(**HEADS)
    tokens = np.zeros((1, 8, 16), dtype=np.float32)
    tokens[:, :, 0] = 1.0
    empty = unwritten(1, CAPACITY, 2, 16)
    queries, keys, _ = step(gpu, variant, tokens, 10, (empty, empty), 0, np.ones((2, 16), dtype=np.float32))
    turned, _ = rotated(tokens[0, 0].astype(np.float64), rope_table(10, 16, 1e4)[9].astype(np.float64), "half")
    assert turned[[0, 8]].tolist() == [np.float32(np.cos(9.0)), np.float32(np.sin(9.0))]
    assert (queries.view(np.float32) == turned).all()
    assert (keys[0, 9].view(np.float32) == turned).all()


# ---- the same bits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("subgroups", [False, True])
def test_20_runs_give_the_same_bits(subgroups: bool, gpu: Gpu, rng: np.random.Generator) -> None:
    variant = RopeCacheKv(**HEADS, qk_norm=True, subgroups=subgroups, workgroup_size=128)
    tokens, weight = a_prompt(variant, 5, rng), rng.standard_normal((2, 16)).astype(np.float32)
    empty = unwritten(1, CAPACITY, 2, 16)
    first, *others = [step(gpu, variant, tokens, 7, (empty, empty), 0, weight) for _ in range(20)]
    for other in others:
        for one, same in zip(first, other, strict=True):
            assert (one == same).all()
