"""The models that wgslgen knows by name, so that a bundle file can be made without a file of weights."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from wgslgen.errors import UsageProblem
from wgslgen.formats import Format
from wgslgen.model import Model, Weight
from wgslgen.wording import nearest


def _qwen3(hidden: int, intermediate: int, q_heads: int, layers: int, rope_theta: float, tied: bool) -> Model:
    """Return a Qwen3 decoder; all share head_dim, kv_heads, vocabulary, epsilon and the norm of q and k."""
    return Model(
        hidden=hidden,
        intermediate=intermediate,
        q_heads=q_heads,
        kv_heads=8,
        head_dim=128,
        layers=layers,
        vocab=151669,
        rope_theta=rope_theta,
        eps=1e-6,
        tied=tied,
        qk_norm=True,
    )


PRESETS: Mapping[str, Model] = MappingProxyType(
    {
        "bonsai-1.7b": _qwen3(2048, 6144, 16, 28, 1e6, tied=True),
        "bonsai-4b": _qwen3(2560, 9728, 32, 36, 5e6, tied=True),
        "bonsai-8b": _qwen3(4096, 12288, 32, 36, 1e6, tied=False),
    }
)


def get(name: str) -> Model:
    """Return the preset `name`; raise UsageProblem that lists the others."""
    if name not in PRESETS:
        meant = nearest(name, PRESETS)
        known = ", ".join(PRESETS)
        hint = f"did you mean --preset {meant}?" if meant else f"choose a preset from: {known}"
        raise UsageProblem(f"there is no preset {name!r}; expected one of: {known}", hint=hint)
    return PRESETS[name]


def weights(model: Model, stored: Format) -> tuple[Weight, ...]:
    """Return the model's weight matrices with every one in the format `stored`.

    Raises UsageProblem where a row of the model is not whole blocks of the format.
    """
    found = [
        Weight(name, role, n, k, stored, model.layers if role == "linear" else 1) for name, role, n, k in model.shapes()
    ]
    for weight in found:
        try:
            stored.row_bytes(weight.k)
        except UsageProblem as problem:
            raise UsageProblem(f"{weight.name}: {problem.message}", hint=problem.hint) from None
    return tuple(found)
