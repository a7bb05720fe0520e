"""`linear_argmax`, `argmax` and `top_k`: from a hidden state, or from stored logits, to tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wgslgen.kernels.argmax import Argmax
from wgslgen.kernels.argmax_merge import ArgmaxMerge
from wgslgen.kernels.lm_head_argmax import LmHeadArgmax
from wgslgen.kernels.top_k import TopK
from wgslgen.model import Model
from wgslgen.naming import plan_name
from wgslgen.plan import Pass, Plan
from wgslgen.plans.linear import rounding
from wgslgen.spec import Kernel, Rule

STAGES = 3
"""Stages of a top_k: enough for every vocabulary with chunks of 1024 and 64 results; a later one changes nothing."""


def plans(variants: Sequence[Kernel], model: Model | None) -> Iterator[Plan]:  # noqa: ARG001  # any model
    """Yield a plan for each variant of `lm_head_argmax`, `argmax` and `top_k`."""
    merges = [variant for variant in variants if isinstance(variant, ArgmaxMerge)]
    for variant in variants:
        if isinstance(variant, LmHeadArgmax | Argmax):
            for merge in (merge for merge in merges if merge.subgroups == variant.subgroups):
                yield _linear(variant, merge) if isinstance(variant, LmHeadArgmax) else _argmax(variant, merge)
        elif isinstance(variant, TopK) and not variant.indexed:
            yield _top_k(variant)


def _linear(head: LmHeadArgmax, merge: ArgmaxMerge) -> Plan:
    slots = f"ceil_div(N, {head.tile_rows})"
    first = rounding(head)
    return Plan(
        name=plan_name("linear_argmax", head, merge),
        op="linear_argmax",
        doc="the row of W that makes the largest product with x",
        sizes=("N", "K"),
        outputs=("token", *(("value",) if merge.value else ())),
        passes=(
            *first,
            Pass(variant=head, sizes={"SLOTS": slots, "FIRST_ROW": "0", "FIRST_SLOT": "0"}),
            Pass(variant=merge, sizes={"M": str(head.columns), "SLOTS": slots}),
        ),
        principal=len(first),
        fixed={"M": head.columns},
    )


def _argmax(variant: Argmax, merge: ArgmaxMerge) -> Plan:
    return Plan(
        name=plan_name("argmax", variant, merge),
        op="argmax",
        doc="the index of the largest logit of each row",
        sizes=("M", "N"),
        outputs=("token", *(("value",) if merge.value else ())),
        passes=(Pass(variant=variant), Pass(variant=merge, sizes={"SLOTS": f"ceil_div(N, {variant.chunk})"})),
    )


def _top_k(first: TopK) -> Plan:
    """Return STAGES stages; each reads the candidates of the one before it."""
    later, columns = first.merging(), "N"
    passes = []
    for stage in range(STAGES):
        last = stage == STAGES - 1
        names = ("values", "indices") if last else (f"values_{stage}", f"indices_{stage}")
        read = {} if stage == 0 else {"logits": f"values_{stage - 1}", "ids": f"indices_{stage - 1}"}
        written = dict(zip(("values", "indices"), names, strict=True))
        passes.append(Pass(variant=later if stage else first, buffers={**read, **written}, sizes={"N": columns}))
        columns = f"ceil_div({columns}, {first.chunk}) * {first.k_top}"
    return Plan(
        name=plan_name("top_k", first),
        op="top_k",
        doc="the largest logits of each row with their indices, in descending order",
        sizes=("M", "N"),
        outputs=("values", "indices"),
        passes=tuple(passes),
        rules=(Rule(expression=f"{columns} == {first.k_top}", why=f"{STAGES} stages leave more than one chunk"),),
    )
