"""`linear` over int8 activations: quantise x, then multiply. The other routes of `matvec` are one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.product import Product
from wgslgen.kernels.quantize_q8 import QuantizeQ8
from wgslgen.model import Model
from wgslgen.naming import plan_name
from wgslgen.plan import Pass, Plan
from wgslgen.spec import Kernel

DOES = {"store": "y = W x", "residual": "y += W x", "swiglu": "y = silu(gate x) (up x)"}


def quantise_for(variant: Product) -> QuantizeQ8:
    """Return the variant of `quantize_q8` that writes what `variant`, of route int8, reads."""
    return QuantizeQ8.model_validate(
        {
            "group": variant.activation_group,
            "stride": variant.weight_format.int8_stride,
            "subgroups": variant.subgroups,
        }
    )


def plans(variants: Sequence[Kernel], model: Model | None) -> Iterator[Plan]:  # noqa: ARG001  # any model
    """Yield a plan for each variant of `matvec` that reads int8 activations."""
    for variant in variants:
        if isinstance(variant, Matvec) and (variant.route, variant.epilogue) == ("int8", "store"):
            yield Plan(
                name=plan_name("linear", variant),
                op="linear",
                doc=f"{DOES[variant.epilogue]} with x rounded to int8 in groups",
                sizes=("N", "K"),
                outputs=("y",),
                passes=(
                    Pass(variant=quantise_for(variant), sizes={"M": str(variant.columns)}),
                    Pass(variant=variant),
                ),
                principal=1,
            )
