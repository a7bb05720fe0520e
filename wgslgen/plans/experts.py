"""`linear_id`: a product with its expert's matrix for each pair of token and expert, from ids and x alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wgslgen.kernels.expert_rows import ExpertRows
from wgslgen.kernels.matmul_id import MatmulId
from wgslgen.kernels.matvec_id import MatvecId
from wgslgen.model import Model
from wgslgen.naming import plan_name
from wgslgen.plan import Pass, Plan
from wgslgen.plans.linear import quantise_for
from wgslgen.spec import Kernel


def plans(variants: Sequence[Kernel], model: Model | None) -> Iterator[Plan]:  # noqa: ARG001  # any model
    """Yield a plan for each variant of `matmul_id`, and of `matvec_id` with int8 activations; others are one pass."""
    for variant in variants:
        if not isinstance(variant, MatmulId | MatvecId):
            continue
        quantised = variant.route == "int8"
        first: list[Pass] = []
        if isinstance(variant, MatmulId):
            first.append(Pass(variant=ExpertRows.model_validate({"tile_m": variant.tile_m})))
        if quantised:
            first.append(Pass(variant=quantise_for(variant), sizes={"M": variant.x_rows}))
        if first:
            yield Plan(
                name=plan_name("linear_id", variant),
                op="linear_id",
                doc=f"y = W x with an expert's W for each pair{', x rounded to int8 in groups' if quantised else ''}",
                sizes=("T", "USED", "EXPERTS", "N", "K"),
                outputs=("y",),
                passes=(*first, Pass(variant=variant)),
                principal=len(first),
            )
