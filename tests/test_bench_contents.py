"""What lies in the buffers of a measurement makes sense: finite weights, ids in range, lengths, whole words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.bench.contents import RUN, run_of
from wgslgen.formats import Format
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.kernels.expert_rows import ExpertRows
from wgslgen.kernels.get_rows import GetRows
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.weighted import Weighted

FORMATS = [formats.get(kind.name, group) for kind in formats.FORMATS for group in (kind.groups or (None,))]


def held(variant: Any, sizes: dict[str, int], rng: np.random.Generator) -> dict[str, NDArray[np.uint32]]:
    """Return the run of each binding that is read, as words."""
    runs = {b.name: run_of(variant, b, sizes, rng) for b in variant.bindings() if b.access == "read"}
    assert all(len(run) % 4 == 0 and run for run in runs.values())
    return {name: np.frombuffer(run, np.uint32) for name, run in runs.items()}


def weights(variant: Weighted, runs: dict[str, NDArray[np.uint32]], n: int, k: int) -> NDArray[np.float64]:
    """Return the weights that the runs hold, n rows of k, after their whole number of repetitions."""
    fmt = variant.weight_format
    sizes = layouts.plane_sizes(fmt, variant.layout, n, k)
    planes = {name: np.resize(runs[name], size.words) for name, size in sizes.items()}
    return fmt.unpack(layouts.unpack(fmt, variant.layout, planes, n, k))


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("layout", ["planar", "ggml"])
def test_weights_are_finite_and_of_many_kinds(fmt: Format, layout: str, rng: np.random.Generator) -> None:
    if layouts.refusal(fmt, layout):
        layout = "ggml"
    step = {"step_words": 1} if fmt.step is None and fmt.quantised else {}
    variant = GetRows.model_validate({"format": fmt.name, "group": fmt.group, "layout": layout, **step})
    sizes = {"N": 16, "K": 32 * fmt.group, "R": 4, "FIRST_ROW": 0, "ROWS": 16}
    found = weights(variant, held(variant, sizes, rng), 16, 32 * fmt.group)
    assert np.isfinite(found).all()
    assert np.unique(found).size > 16
    assert found.any(axis=1).all()


def test_no_weight_of_bit_planes_is_both_plus_and_minus(rng: np.random.Generator) -> None:
    variant = Matvec.model_validate(
        {
            "format": "q2_0",
            "group": 64,
            "layout": "planes",
            "route": "popcount",
            "activation_group": 64,
            "step_words": 1,
        }
    )
    runs = held(variant, {"N": 8, "K": 256}, rng)
    assert not (runs["plus"] & runs["minus"]).any()
    assert runs["plus"].any()
    assert runs["minus"].any()
    assert np.isfinite(runs["scales"].view(np.float16)).all()


def test_a_sequence_fills_its_cache_and_ids_are_in_range(rng: np.random.Generator) -> None:
    heads = {"q_heads": 4, "kv_heads": 2, "head_dim": 32, "num_splits": 4, "cache": "q8_0"}
    split = AttentionSplit.model_validate(heads)
    runs = held(split, {"B": 1, "CAPACITY": 77, "LAYERS": 2, "LAYER": 1}, rng)
    assert runs["lengths"].tolist() == [77]
    scales = runs["k_scales"].view(np.float16)
    assert (scales >= 0.01).all()
    assert (scales <= 0.0501).all()
    queries = np.abs(runs["q"].view(np.float32))
    assert queries.size == RUN
    assert (queries >= 2.0**-10).all()
    assert (queries <= 1).all()
    experts = ExpertRows.model_validate({"tile_m": 16})
    ids = held(experts, {"T": 9, "USED": 2, "EXPERTS": 5}, rng)["ids"]
    assert ids.size == 18
    assert set(ids.tolist()) <= set(range(5))
