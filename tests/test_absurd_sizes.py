"""Numbers that no model has: each is a sentence about the field, and never an error of a library or a wrong index."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from wgslgen import launch
from wgslgen.errors import UsageProblem
from wgslgen.frozen import literals
from wgslgen.kernels import KERNELS
from wgslgen.kernels.add import Add
from wgslgen.kernels.attention_merge import AttentionMerge
from wgslgen.kernels.attention_prefill import AttentionPrefill
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.kernels.qk_norm_rope import QkNormRope
from wgslgen.kernels.rope_cache_kv import RopeCacheKv
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.manifest import entry
from wgslgen.render import render
from wgslgen.spec import Kernel

HEADS = {"q_heads": 4, "kv_heads": 2, "head_dim": 64}
NEEDED: dict[str, dict[str, Any]] = {
    "attention_split": {**HEADS, "num_splits": 4},
    "attention_merge": {"q_heads": 4, "head_dim": 64, "num_splits": 4},
    "attention_prefill": HEADS,
    "rope_cache_kv": HEADS,
    "qk_norm_rope": HEADS,
    "matvec": {"format": "q4_0", "route": "float"},
    "matvec_id": {"format": "q4_0", "route": "float"},
    "matmul": {"format": "q4_0", "route": "tile"},
    "matmul_id": {"format": "q4_0", "route": "tile"},
    "sum_splits": {"num_splits": 4},
    "expert_rows": {"tile_m": 16},
    "set_rows": {"format": "q8_0"},
    "lm_head_argmax": {"format": "q4_0", "route": "float"},
    "get_rows": {"format": "q4_0"},
    "quantize_q8": {"group": 32, "stride": 4},
    "binarize": {"group": 32},
}
"""Constants without a default."""
HOSTILE = (-(2**40), -1, 0, 1, 3, 7, 31, 33, 36, 320, 2**16, 2**26, 2**31, 2**32 - 64, 2**32 - 1, 2**32, 2**40)


def whole_numbers(kernel: type[Kernel]) -> list[str]:
    """Return the fields of a kernel that take any whole number."""
    kinds = {name: info.annotation for name, info in kernel.model_fields.items()}
    return [n for n, kind in kinds.items() if int in (kind, *get_args(kind)) and not [*literals(kind)]]


def make(kernel: type[Kernel], **constants: Any) -> tuple[Kernel | None, str]:
    """Return the variant, or None and why it is refused."""
    try:
        return kernel.model_validate({**NEEDED.get(kernel.NAME, {}), **constants}), ""
    except ValidationError as refusal:
        return None, "; ".join(f"{error['loc']} {error['msg']}" for error in refusal.errors())


FIELDS = [(kernel, field) for kernel in KERNELS for field in whole_numbers(kernel)]


def test_there_are_fields_to_try() -> None:
    assert {kernel.NAME for kernel, _ in FIELDS} >= {"matvec", "rms_norm", "rope_cache_kv", "attention_split", "top_k"}


@pytest.mark.parametrize(("kernel", "field"), FIELDS, ids=lambda value: getattr(value, "NAME", value))
def test_a_variant_that_is_made_can_be_rendered_and_listed(kernel: type[Kernel], field: str) -> None:
    for value in HOSTILE:
        variant, said = make(kernel, **{field: value})
        if variant is None:
            assert field in said, value
            continue
        assert f"{value}u;" in render(variant, "tests")
        assert entry(variant).constants[field] == value


@pytest.mark.parametrize(("kernel", "field"), FIELDS, ids=lambda value: getattr(value, "NAME", value))
def test_what_no_u32_holds_is_refused_by_its_field(kernel: type[Kernel], field: str) -> None:
    for value in (2**32, 2**63):
        with pytest.raises(ValidationError, match=rf"{field}[\s\S]* (4294967295|32|64|16)\b"):
            kernel.model_validate({**NEEDED.get(kernel.NAME, {}), field: value})


@pytest.mark.parametrize(
    ("kernel", "more"),
    [
        (AttentionSplit, {"kv_heads": 2**20, "num_splits": 32}),
        (AttentionPrefill, {"kv_heads": 1}),
        (AttentionMerge, {"num_splits": 32}),
        (RopeCacheKv, {"kv_heads": 2**20}),
        (QkNormRope, {"kv_heads": 1}),
    ],
)
def test_a_row_of_heads_fits_a_buffer(kernel: type[Kernel], more: dict[str, int]) -> None:
    """Above that, texts would multiply constants past u32, which no compiler takes."""
    kernel.model_validate({"q_heads": 2**20, "head_dim": 64, **more})
    words = "q_heads 2097152 of head_dim 64 are 134217728 elements, above 67108864"
    with pytest.raises(ValidationError, match=words):
        kernel.model_validate({"q_heads": 2**21, "head_dim": 64, **more})


def test_what_follows_from_fields_must_be_a_u32_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RopeCacheKv, "token_heads", property(lambda self: self.q_heads + 2**32))
    with pytest.raises(ValidationError, match="const HEADS: 4294967300 is not a u32"):
        RopeCacheKv.model_validate(HEADS)


def test_no_binding_reaches_past_what_u32_counts() -> None:
    """Whatever a device allows: behind 4 GiB an index would wrap round to the front."""
    limits = {**DEFAULT_LIMITS, "maxStorageBufferBindingSize": 2**40, "maxBufferSize": 2**40}
    assert launch.plan(Add(), {"COUNT": 2**30 - 4}, limits=limits).binding_bytes["y"] == 2**32 - 16
    with pytest.raises(UsageProblem, match="binding a has 4294967296 bytes, above 4294967292, where u32 ends"):
        launch.plan(Add(), {"COUNT": 2**30}, limits=limits)
