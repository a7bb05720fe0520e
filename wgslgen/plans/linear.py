"""`linear`: y = W x of several passes. Products of one pass are no plan.

Packed activations are rounded first, to int8 or to signs; a `matmul` over parts of K has `sum_splits` behind it, which
applies the epilogue. One shape class of `matmul` has more tokens than columns, and all scratch grows with both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wgslgen.kernels.binarize import Binarize
from wgslgen.kernels.matmul import Matmul, behind
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.product import Product
from wgslgen.kernels.quantize_q8 import QuantizeQ8
from wgslgen.kernels.sum_splits import SumSplits
from wgslgen.model import Model
from wgslgen.naming import plan_name
from wgslgen.plan import Pass, Plan
from wgslgen.spec import Kernel

ROUNDED = {"int8": "int8", "popcount": "signs"}


def quantise_for(variant: Product | Matmul) -> QuantizeQ8:
    """Return the variant of `quantize_q8` that writes what `variant`, of route int8, reads."""
    return QuantizeQ8.model_validate(
        {
            "group": variant.activation_group,
            "stride": variant.weight_format.int8_stride,
            "subgroups": variant.uses_subgroups,
        }
    )


def binarize_for(variant: Product) -> Binarize:
    """Return the variant of `binarize` that writes what `variant`, of route popcount, reads."""
    return Binarize.model_validate({"group": variant.activation_group, "subgroups": variant.subgroups})


def rounding(variant: Product) -> tuple[Pass, ...]:
    """Return the pass that rounds x for `variant`, or none where its route reads floats."""
    if variant.route not in ROUNDED:
        return ()
    first = quantise_for(variant) if variant.route == "int8" else binarize_for(variant)
    return (Pass(variant=first, sizes={"M": str(variant.columns)}),)


def plans(variants: Sequence[Kernel], model: Model | None) -> Iterator[Plan]:  # noqa: ARG001  # any model
    """Yield a plan for each variant of `matvec` that reads int8 activations or signs and stores what it makes.

    And one for each variant of `matmul` that reads int8 activations, or sums K in parts: of the latter one for each
    variant of `sum_splits` that adds up as many.
    """
    for variant in variants:
        if isinstance(variant, Matvec) and variant.route in ROUNDED and variant.epilogue == "store":
            yield Plan(
                name=plan_name("linear", variant),
                op="linear",
                doc=f"y = W x with x rounded to {ROUNDED[variant.route]} in groups",
                sizes=("N", "K"),
                outputs=("y",),
                passes=(*rounding(variant), Pass(variant=variant)),
                principal=1,
                fixed={"M": variant.columns},
            )
        elif type(variant) is Matmul:
            yield from matmul_plans(variant, variants)


def matmul_plans(variant: Matmul, variants: Sequence[Kernel]) -> Iterator[Plan]:
    """Yield the plans of a variant of `matmul`; its rows of x lie one behind the other."""
    quantised = variant.route == "int8"
    first = (Pass(variant=_quantise_among(variant, variants)),) if quantised else ()
    x = "x rounded to int8 in groups" if quantised else "x"
    if variant.num_splits == 1:
        if quantised:
            yield Plan(
                name=plan_name("linear", variant),
                op="linear",
                doc=f"Y = X W^T with {x}",
                sizes=("M", "N", "K"),
                outputs=("y",),
                passes=(*first, Pass(variant=variant, sizes={"X_STRIDE": "K"})),
                principal=1,
            )
        return
    for last in variants:
        if not isinstance(last, SumSplits) or last.num_splits != variant.num_splits:
            continue
        if variant.n is not None and variant.n % last.matrices:
            continue  # an odd number of baked rows is not gate and up
        both = last.matrices == 2
        yield Plan(
            name=plan_name("linear", variant, last),
            op="linear",
            doc=f"Y = X W^T with {x}, summed in parts of K",
            sizes=("M", "N", "K"),
            outputs=("y",),
            passes=(
                *first,
                Pass(variant=variant, sizes={"X_STRIDE": "K", **({"N": "2 * N"} if both else {})}),
                Pass(variant=last),
            ),
            principal=len(first),
            # For gate and up the rows of W are twice those of y; one row of W has no gate.
            case_sizes={"N": "max(1, N // 2)"} if both else {},
            bound=behind(variant.tolerance(), last.epilogue, last.output),
        )


def _quantise_among(variant: Matmul, variants: Sequence[Kernel]) -> QuantizeQ8:
    """Return the quantising pass for `variant`: of those that write the same the first that is there."""
    plain = quantise_for(variant)
    forms = [form for form in (plain, plain.changed(subgroups=not plain.subgroups)) if form in variants]
    return forms[0] if forms else plain
