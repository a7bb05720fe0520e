"""`expert_rows`: which tokens go to which expert, in an order that never changes: pairs by expert, and tiles of them.

A *pair* is a token and one of the USED experts that it goes to; pair t * USED + s is use s of token t, and ids[pair] is
its expert. `pairs` [T * USED] holds the pairs of expert 0, then of expert 1 and so on, those of one expert by number;
the pairs with an id from EXPERTS on come last. An expert may be named more than once by a token, or by none.

`tiles` lists the tiles of up to TILE_M neighbours in `pairs` that share an expert: (expert, first, count, 0). What
comes last has the expert EXPERTS, and behind the last tile the count is 0. There are ceil(T * USED / TILE_M) +
EXPERTS + 1 places, which is enough for every order. `matmul_id` with the same TILE_M reads both.

One workgroup does it: a thread counts the pairs of one expert, or those in a part of all where threads are more than
experts. Then it is known where each thread's pairs go, and nothing depends on which one comes first. A thread reads
T * USED ids twice, or those of its part, and does so for several experts where threads are fewer. (lavapipe leaves the
loops of a thread after 65535 rounds in all; a round is four ids here.) T = 0 is no dispatch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from wgslgen.kernels.experts import IDS
from wgslgen.spec import Binding, Case, Const, Constant, Kernel, Rule, Tolerance, UniformField, WorkgroupVariable

MOST_EXPERTS = 256
TILES = "ceil_div(T * USED, TILE_M) + EXPERTS + 1"
"""Places for tiles, as an expression in the sizes."""


class ExpertRows(Kernel):
    """Constants of `expert_rows`."""

    NAME = "expert_rows"
    SUMMARY = "pairs of token and expert, sorted by expert, and the tiles that they make"
    SIZES = ("T", "USED", "EXPERTS")

    tile_m: Annotated[Literal[8, 16, 32, 64, 128], Constant("pairs of a tile", "what", "m{}", "TILE_M")]
    workgroup_size: Annotated[
        Literal[32, 64, 128, 256], Constant("threads of the workgroup", "how", "wg{}", "WORKGROUP_SIZE")
    ] = 256

    def consts(self) -> Iterator[Const]:
        """Yield how many experts there may be, with the one that stands for none."""
        yield Const(name="MOST", type="u32", value=MOST_EXPERTS + 1)

    def bindings(self) -> tuple[Binding, ...]:
        """Return ids, sorted pairs and tiles."""
        return (
            IDS,
            Binding(name="pairs", access="read_write", element="u32", length="T * USED", doc="pairs, sorted by expert"),
            Binding(
                name="tiles", access="read_write", element="vec4<u32>", length=TILES, doc="expert, first, count and 0"
            ),
        )

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return the sizes."""
        return (
            UniformField(name="count", type="u32", value="T", doc="tokens"),
            UniformField(name="used", type="u32", value="USED", doc="experts of a token"),
            UniformField(name="experts", type="u32", value="EXPERTS", doc="experts"),
        )

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return where the pairs of each expert start, and its tiles."""
        return tuple(
            WorkgroupVariable(name=name, element="u32", length="MOST", count=MOST_EXPERTS + 1)
            for name in ("first_pair", "first_tile")
        )

    def workgroups(self) -> str:
        """Return one workgroup, and none where there is no pair."""
        return "min(T * USED, 1)"

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        return (
            Rule(expression=f"EXPERTS <= {MOST_EXPERTS}", why=f"{MOST_EXPERTS} experts have a place"),
            Rule(expression="EXPERTS >= 1", why="there is an expert to go to"),
        )

    def tolerance(self) -> Tolerance:
        """Return equality: these are whole numbers."""
        return Tolerance(nmse=0.0, element=0.0, derivation="whole numbers, and an order that never changes")

    def cases(self) -> tuple[Case, ...]:
        """Return the shape classes: few and many pairs, few and many experts, tiles of one and of many pairs."""
        shapes = {
            "one pair, one expert": (1, 1, 1),
            "fewer pairs than experts": (3, 2, 8),
            "primes": (37, 3, 7),
            "all experts": (64, 8, 256),
            "one expert for all": (129, 4, 1),
            "many pairs": (513, 8, 128),
        }
        return tuple(
            Case(name=name, sizes={"T": t, "USED": used, "EXPERTS": experts})
            for name, (t, used, experts) in shapes.items()
        )

    def plain(self) -> Self:
        """Return the plainest variant of the same computation: most threads, so that each has fewest experts."""
        return self.changed(workgroup_size=256)
