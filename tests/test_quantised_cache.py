"""Attention over caches in q8_0 and q4_0: what it refuses and binds, where it reads, its oracle, and its plan."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from cases.quantised import CACHES, split_format
from cases.support import opened, runner
from pydantic import ValidationError

from wgslgen import launch, plans
from wgslgen.adapters import SOFTWARE
from wgslgen.compare import Close
from wgslgen.kernels.attention import Attention
from wgslgen.kernels.attention_merge import AttentionMerge
from wgslgen.kernels.attention_prefill import AttentionPrefill
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.kernels.set_rows import SetRows
from wgslgen.oracles.attention import stored
from wgslgen.oracles.attention_split import problem
from wgslgen.render import render
from wgslgen.verify import verify_on

HEADS: dict[str, Any] = {"q_heads": 6, "kv_heads": 3, "head_dim": 32}
SIZES = {"B": 2, "CAPACITY": 7, "LAYERS": 1, "LAYER": 0}


def kinds(cache: str, **constants: Any) -> list[Attention]:
    """Return both kernels that read the cache."""
    given = {**HEADS, "cache": cache, **constants}
    return [AttentionSplit(**given, num_splits=2), AttentionPrefill(**given)]


@pytest.mark.parametrize("cache", CACHES)
def test_heads_are_whole_blocks(cache: str) -> None:
    with pytest.raises(ValidationError, match=f"a cache of {cache} holds blocks of 32; head_dim 48 is not whole"):
        kinds(cache, head_dim=48)
    assert kinds("f16", head_dim=48)


@pytest.mark.parametrize("cache", CACHES)
def test_planes_are_those_that_set_rows_writes(cache: str) -> None:
    """A position's heads are one row there; an odd number of scales takes a whole word more."""
    rows = SetRows.model_validate({"format": cache})
    written = launch.plan(rows, {"R": 1, "K": 3 * 32, "ROWS": 2 * 7 * 3}).binding_bytes
    for variant in kinds(cache):
        sizes = {**SIZES, "LAYERS": 3} | ({"M": 1} if "M" in variant.SIZES else {})
        read = launch.plan(variant, sizes, {"SCALE": 1.0}).binding_bytes
        for letter in "kv":
            assert read[f"{letter}_cache"] == written["codes"]
            assert read[f"{letter}_scales"] == written["scales"]
    assert written["scales"] == 4 * 63


@pytest.mark.parametrize("cache", CACHES)
def test_every_variant_stays_inside_the_default_limits(cache: str) -> None:
    """With mask and gate prefill binds nine buffers; all others have eight at most, as every device allows."""
    split, prefill = kinds(cache)
    assert not split.raised_limits
    assert not prefill.raised_limits
    assert not split.changed(head_dim=256).plain().raised_limits
    assert AttentionPrefill(**{**HEADS, "cache": cache, "gate": True}).raised_limits == {}
    both = AttentionPrefill(**{**HEADS, "cache": cache, "gate": True, "mask": True})
    assert both.raised_limits == {"maxStorageBuffersPerShaderStage": 9}


@pytest.mark.parametrize("cache", CACHES)
def test_the_cache_is_decoded_in_one_place(cache: str) -> None:
    """Codes are indexed in `k_four` and `v_four` alone, and a key is read once for all rows of the workgroup."""
    for variant in kinds(cache):
        text = render(variant, "tests")
        for letter, loads in (("k", variant.key_loads), ("v", variant.value_loads)):
            assert text.count(f"{letter}_cache[") == text.count(f"{letter}_scales[") == 1
            assert len(re.findall(rf"= {letter}_four\(", text)) == loads


class TestOracle:
    @pytest.mark.parametrize("cache", CACHES)
    def test_a_cache_holds_what_its_blocks_unpack_to(self, cache: str, rng: np.random.Generator) -> None:
        """Blocks of the file, made of both planes by hand, are the numbers that attention is judged by."""
        rows = rng.standard_normal((1, 2, 7, 3, 32))
        stale = np.arange(7) >= np.array([[7], [4]])
        held, buffers = stored(cache, "k", rows, stale)
        fmt, count = split_format(cache), 2 * 7 * 3
        data = np.empty((count, fmt.block_bytes), np.uint8)
        data[:, 2:] = buffers["k_cache"].view(np.uint8).reshape(count, -1)
        data[:, :2] = buffers["k_scales"].view(np.uint8)[: 2 * count].reshape(count, 2)
        unpacked = fmt.unpack(data).reshape(rows.shape)
        np.testing.assert_array_equal(unpacked, held)
        assert (np.isnan(held).all(axis=(3, 4)) == stale).all()
        assert (np.isnan(held).any(axis=(3, 4)) == stale).all()
        np.testing.assert_allclose(held[:, ~stale], rows[:, ~stale], atol=0.03 if cache == "q8_0" else 0.5)

    @pytest.mark.parametrize("cache", CACHES)
    def test_other_scales_and_other_codes_are_told_apart(self, cache: str, rng: np.random.Generator) -> None:
        """A device that took the neighbour's scale, or the halves of a byte the other way, would be refused."""
        variant = AttentionSplit(**HEADS, num_splits=2, cache=cache)  # type: ignore[arg-type]  # one of the cache's types
        made = problem(variant.model_dump(), SIZES, rng)
        partials = made.expected["partials"]
        assert isinstance(partials, Close)
        run = runner(opened("lavapipe"), variant)
        scales, codes = made.inputs["v_scales"], made.inputs["v_cache"]
        swapped = scales.reshape(-1, 2)[:, ::-1]
        turned = (codes >> np.uint32(4)) & np.uint32(0x0F0F0F0F) | (codes & np.uint32(0x0F0F0F0F)) << np.uint32(4)
        for change, right in ({}, True), ({"v_scales": swapped}, False), ({"v_cache": turned}, False):
            raw = run.run({**made.inputs, **change}, SIZES, made.parameters)["partials"]
            assert (partials.judge(raw, variant.tolerance()).problem is None) == right, change.keys()


@pytest.mark.parametrize("adapter", SOFTWARE)
@pytest.mark.parametrize("cache", CACHES)
def test_the_plan_of_decode_attention_reads_such_caches(cache: str, adapter: str) -> None:
    split = AttentionSplit(**HEADS, num_splits=4, cache=cache)  # type: ignore[arg-type]  # one of the cache's types
    merge = AttentionMerge(q_heads=6, head_dim=32, num_splits=4)
    (plan,) = plans.derive([split, merge], None)
    assert {buffer.name for buffer in plan.buffers if buffer.role == "input"} >= {"k_scales", "v_scales"}
    outcome = verify_on(opened(adapter), plan)
    assert outcome.status == "passed", outcome.problem
