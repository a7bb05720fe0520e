"""Decoders of odd shapes: what `wgslgen init` writes for them can be expanded, and has plans where kernels take it."""

from __future__ import annotations

from typing import Any

import pytest

from wgslgen import bundlefile, formats, presets
from wgslgen.bundletext import bundle_toml
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.model import Model
from wgslgen.plans import derive

FORMATS = [formats.get(kind.name, group) for kind in formats.FORMATS for group in kind.groups or (None,)]
BASE: dict[str, Any] = {
    "hidden": 512,
    "intermediate": 768,
    "q_heads": 16,
    "kv_heads": 8,
    "head_dim": 128,
    "layers": 2,
    "vocab": 1000,
    "rope_theta": 1e6,
    "eps": 1e-6,
    "tied": True,
}


def bundle(stored: formats.Format, **facts: Any) -> tuple[bundlefile.Grid, set[str], Model]:
    """Return the variants and the ops of the bundle that init would write for such a model."""
    model = Model(**{**BASE, **facts})
    text = bundle_toml("odd", "a test", "odd", model, presets.weights(model, stored), model.hidden)
    grid = bundlefile.expand(bundlefile.parse(text, "odd.toml"))
    made = derive(grid.variants, model)
    assert len({plan.name for plan in made}) == len(made)
    return grid, {plan.op for plan in made}, model


@pytest.mark.parametrize("stored", FORMATS, ids=str)
def test_every_format_has_a_decoder(stored: formats.Format) -> None:
    _, ops, _ = bundle(stored)
    assert ops >= {"decode_embedding", "decode_layer", "decode_head"}


@pytest.mark.parametrize(
    ("facts", "rows"),
    [
        ({}, None),
        ({"kv_heads": 1}, 8),
        ({"q_heads": 32, "kv_heads": 1}, 8),
        ({"q_heads": 20, "kv_heads": 1, "head_dim": 64}, 10),
        ({"kv_heads": 1, "head_dim": 256}, 8),
        ({"q_heads": 7, "kv_heads": 1, "head_dim": 512}, 4),
        ({"q_heads": 71, "kv_heads": 1, "head_dim": 64}, 9),
        ({"q_heads": 12, "kv_heads": 4, "head_dim": 72}, None),
    ],
)
def test_a_group_is_cut_into_tiles_where_it_does_not_fit_a_workgroup(facts: dict[str, int], rows: int | None) -> None:
    grid, ops, model = bundle(formats.get("f16"), **facts)
    splits = [variant for variant in grid.variants if isinstance(variant, AttentionSplit)]
    assert "decode_layer" in ops
    assert len(splits) == 4
    for split in splits:
        assert not split.raised_limits
        assert split.rows * split.row_tiles >= model.q_heads // model.kv_heads
    assert {split.tile_rows for split in splits} == {rows}


@pytest.mark.parametrize(
    "facts", [{"head_dim": 36}, {"head_dim": 33}, {"head_dim": 576}, {"attention_bias": True}, {"q_heads": 2**24}]
)
def test_a_model_that_a_kernel_refuses_has_a_bundle_without_a_decoder(facts: dict[str, Any]) -> None:
    grid, ops, _ = bundle(formats.get("f32"), **facts)
    assert grid.variants
    assert not {op for op in ops if op.startswith("decode")}
