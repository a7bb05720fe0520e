"""What every kernel with heads holds to: a token's row of them must fit a buffer."""

from __future__ import annotations

from collections.abc import Iterator

from wgslgen.limits import DEFAULT_LIMITS

MOST_ELEMENTS = DEFAULT_LIMITS["maxBufferSize"] // 4
"""f32 numbers of a buffer. Texts multiply heads by their size and by the parts of the keys, 32 at most, in u32."""


def row_refusals(q_heads: int, head_dim: int) -> Iterator[str]:
    """Yield why a token's queries are too many; keys and values are fewer."""
    if q_heads * head_dim > MOST_ELEMENTS:
        yield (
            f"q_heads {q_heads} of head_dim {head_dim} are {q_heads * head_dim} elements, above {MOST_ELEMENTS}, the "
            "most of a buffer"
        )
