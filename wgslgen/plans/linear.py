"""`linear` over packed activations: round x to int8 or to signs, then multiply. Other routes are one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wgslgen.kernels.binarize import Binarize
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.product import Product
from wgslgen.kernels.quantize_q8 import QuantizeQ8
from wgslgen.model import Model
from wgslgen.naming import plan_name
from wgslgen.plan import Pass, Plan
from wgslgen.spec import Kernel

ROUNDED = {"int8": "int8", "popcount": "signs"}


def quantise_for(variant: Product) -> QuantizeQ8:
    """Return the variant of `quantize_q8` that writes what `variant`, of route int8, reads."""
    return QuantizeQ8.model_validate(
        {
            "group": variant.activation_group,
            "stride": variant.weight_format.int8_stride,
            "subgroups": variant.subgroups,
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
    """Yield a plan for each variant of `matvec` that reads int8 activations or signs and stores what it makes."""
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
            )
