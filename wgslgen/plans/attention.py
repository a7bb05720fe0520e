"""`attention` for one token: the parts of the keys, then their merge. Merges into int8 belong to a decoder's layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wgslgen.kernels.attention_merge import AttentionMerge
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.model import Model
from wgslgen.naming import plan_name
from wgslgen.plan import Pass, Plan
from wgslgen.spec import Kernel

SHARED = ("q_heads", "head_dim", "num_splits", "activation", "subgroups")
"""Constants that both passes must have in common, where both have them."""


def plans(variants: Sequence[Kernel], model: Model | None) -> Iterator[Plan]:  # noqa: ARG001  # any model
    """Yield a plan for each pair of the two kernels that fits together."""
    merges = [v for v in variants if isinstance(v, AttentionMerge) and v.q8_group is None]
    for split in variants:
        if not isinstance(split, AttentionSplit):
            continue
        for merge in merges:
            mine, other = split.model_dump(), merge.model_dump()
            if all(mine[name] == other[name] for name in SHARED if name in other):
                yield _plan(split, merge)


def _plan(split: AttentionSplit, merge: AttentionMerge) -> Plan:
    return Plan(
        name=plan_name("attention", split, merge),
        op="attention",
        doc="attention of one token of each sequence over its cache",
        sizes=split.SIZES,
        outputs=("y",),
        passes=(Pass(variant=split), Pass(variant=merge)),
    )
