"""`qk_norm_rope`: each head of q and k normalised and rotated by its token's position, in place, without a cache.

A head x becomes x * weight / sqrt(mean(x x) + EPS), which then turns as in `rope_cache_kv`; the two share their
partials, and give the same bits. Token t of a sequence stands at position lengths[b] - M + t. Elements from ROTARY_DIM
on are normalised and pass through the rotation.

At the edges: a token at a negative position is padding, and one at TABLE_ROWS or above has no angles; both stay what
they were. `launch.check_values` refuses lengths above TABLE_ROWS on the host. A head of zeros gives zeros, for EPS
above 0. The sum of a head's squares must stay inside f32, as it does for |x| to 1e17. f16 results past +-65504 stay
there. M = 0 and B = 0 are no dispatch.
"""

from __future__ import annotations

from wgslgen.kernels.rotary import Rotary
from wgslgen.spec import Binding, Case, Rule, UniformField


class QkNormRope(Rotary):
    """Constants of `qk_norm_rope`."""

    NAME = "qk_norm_rope"
    SUMMARY = "heads of q and k normalised, then rotated by position"
    SIZES = ("B", "M", "TABLE_ROWS")

    @property
    def normed(self) -> bool:
        """Whether q and k are normalised before they rotate."""
        return True

    @property
    def token_heads(self) -> int:
        """The heads of queries and keys."""
        return self.q_heads + self.kv_heads

    def bindings(self) -> tuple[Binding, ...]:
        """Return queries and keys, both in place, table, lengths and weights."""
        return (
            self.tensor("q", "read_write", "Q_HEADS", "queries [B][M][Q_HEADS][HEAD_DIM], in place", kept=True),
            self.tensor("k", "read_write", "KV_HEADS", "keys [B][M][KV_HEADS][HEAD_DIM], in place", kept=True),
            *self.rotary_bindings("TABLE_ROWS + 1"),
        )

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes of batch and table, and EPS."""
        rows = UniformField(name="table_rows", type="u32", value="TABLE_ROWS", doc="positions that have angles")
        return (*self.rotary_uniforms(), rows)

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        return (Rule(expression="TABLE_ROWS > 0", why="without a table there is no position"),)

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes: one token and many, one sequence and several."""
        shapes = {
            "one token": (1, 1, 8),
            "one token of each sequence": (5, 1, 9),
            "a prefill": (1, 9, 16),
            "primes, padding, full and empty sequences": (5, 7, 13),
            "more tokens than rows": (2, 6, 5),
        }
        return tuple(Case(name=n, sizes=dict(zip(self.SIZES, values, strict=True))) for n, values in shapes.items())
