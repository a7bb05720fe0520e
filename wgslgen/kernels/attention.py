"""What the attention kernels share that read the cache: heads, what a query sees, and a workgroup's rows and keys.

A *row* is a query: one token and one query head. A workgroup makes ROWS rows that share a key head, and so reads
each key and value once for all of them. Its keys come in tiles of WORKGROUP_SIZE:

- every thread reads one key and multiplies it with all rows, which lie in workgroup memory;
- the rows' maxima are folded, and the weights exp(score - maximum) go to workgroup memory;
- every thread takes four dims and every SUBSETS-th key of the tile, and adds up weight times value.

Where a maximum rises, all that was added up before is scaled down (online softmax). The order of all sums is
fixed. Keys past a sequence's length are never read. A key that is not a number makes NaN of the rows that see it,
and of no others; a value that is not a number, of all rows of the workgroup, whose weight for it may be 0.
Scores must stay inside f32.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice, repeat
from typing import Annotated, Any, Literal

from wgslgen import formats, wgsltypes
from wgslgen.heads import row_refusals
from wgslgen.kernels.reduction import Reduction
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.spec import (
    Binding,
    Const,
    Constant,
    Kernel,
    Rule,
    UniformField,
    WorkgroupVariable,
)

MOST_ROWS = 16
MOST_LOADS = 16
"""Loads of the cache that a thread has in flight at most."""
MOST_COPIES = 64
"""Loads in flight times rows: each pair is written out, which compilers must get through."""
F32_LOWEST = Const(name="F32_LOWEST", type="f32", value=wgsltypes.RANGES["f32"][0])
"""The maximum of no scores."""
LEAST_EXPONENT = Const(name="LEAST_EXPONENT", type="f32", value=-200.0)
"""Where exp has been 0 for long; sums of nothing are scaled by it, whatever the distance of their maxima."""

Heads = Annotated[int, Constant("query heads", "what", "q{}", "Q_HEADS")]
HeadDim = Annotated[int, Constant("elements of a head, a multiple of 4", "what", "hd{}", "HEAD_DIM")]
Scalar = Literal["f32", "f16"]
Cache = Literal["f32", "f16", "q8_0", "q4_0"]
Activation = Annotated[Scalar, Constant("element type of q and y", "what", "x{}")]


def head_refusals(q_heads: int, head_dim: int) -> Iterator[str]:
    """Yield what is wrong with the number of query heads, or with their size."""
    if q_heads <= 0:
        yield f"q_heads {q_heads} is not positive"
    if head_dim <= 0 or head_dim % 4:
        yield f"head_dim {head_dim} is not a positive multiple of 4, the elements of a load"
    yield from row_refusals(q_heads, head_dim)


class Attention(Kernel):
    """Base of the attention kernels that read the cache."""

    q_heads: Heads
    kv_heads: Annotated[int, Constant("key and value heads", "what", "kv{}", "KV_HEADS")]
    head_dim: HeadDim
    head_map: Annotated[
        Literal["repeat", "tile"],
        Constant("key head of query head h: h / (q_heads / kv_heads), or h % kv_heads", "what"),
    ] = "repeat"
    window: Annotated[
        int | None, Constant("keys that a query sees at most, its own the last; else all", "what", "win{}", "WINDOW")
    ] = None
    cache: Annotated[Cache, Constant("what the cache holds: floats, or blocks of 32", "what", "c{}")] = "f32"
    activation: Activation = "f32"
    workgroup_size: Annotated[
        Literal[64, 128], Constant("threads of a workgroup, and keys of a tile", "how", "wg{}", "WORKGROUP_SIZE")
    ] = 64
    subgroups: Annotated[bool, Constant("fold by subgroup built-ins", "how", "sg")] = False

    def refusals(self) -> Iterator[str]:
        """Yield what does not go together; the workgroup's memory only where all else does."""
        reasons = [*self.shape_refusals()]
        yield from reasons
        if reasons:
            return
        most = DEFAULT_LIMITS["maxComputeWorkgroupStorageSize"]
        shared = {variable.name: (variable.element, variable.count) for variable in self.workgroup_variables()}
        if (taken := wgsltypes.workgroup_bytes(shared)) > most:
            yield (
                f"{self.rows} rows of head_dim {self.head_dim} with workgroup_size {self.workgroup_size} take {taken} "
                f"bytes of workgroup memory, above {most}; use fewer tile_rows"
            )

    def shape_refusals(self) -> Iterator[str]:
        """Yield what is wrong with heads, window and workgroup."""
        yield from head_refusals(self.q_heads, self.head_dim)
        if self.quantised_cache and self.head_dim % 32:
            yield f"a cache of {self.cache} holds blocks of 32; head_dim {self.head_dim} is not whole blocks"
        if self.kv_heads <= 0 or self.q_heads % self.kv_heads:
            yield f"q_heads {self.q_heads} is not a multiple of kv_heads {self.kv_heads}"
        if self.window is not None and self.window <= 0:
            yield f"window {self.window} is not positive"
        if self.head_dim > 4 * self.workgroup_size:
            yield (
                f"head_dim {self.head_dim} needs a thread for every 4 elements, {self.head_dim // 4}; workgroup_size "
                f"is {self.workgroup_size}"
            )

    @property
    def group_heads(self) -> int:
        """Query heads that share a key head."""
        return self.q_heads // self.kv_heads

    @property
    def quantised_cache(self) -> bool:
        """Whether keys and values lie as codes and scales."""
        return self.cache in ("q8_0", "q4_0")

    @property
    def rows(self) -> int:
        """Rows of a workgroup."""
        raise NotImplementedError

    @property
    def value_loads(self) -> int:
        """Values that a thread reads at once: fewer where it multiplies each for more rows."""
        return min(MOST_LOADS, MOST_COPIES // self.rows)

    @property
    def key_loads(self) -> int:
        """Fours of a key that a thread reads at once: as many as go into a head without a rest."""
        fours = self.head_dim // 4
        return next(loads for loads in range(self.value_loads, 0, -1) if fours % loads == 0)

    @property
    def reduction(self) -> Reduction:
        """The maximum of each row's scores, and in the end the sum of its weights."""
        return Reduction(self.workgroup_size, self.subgroups, self.rows, ("max", "sum"), shared=True)

    def consts(self) -> Iterator[Const]:
        """Yield the geometry of rows and keys, and the ends of f32."""
        numbers = {
            "GROUP_HEADS": self.group_heads,
            "ROWS": self.rows,
            "HEAD_FOURS": self.head_dim // 4,
            "SUBSETS": self.workgroup_size // (self.head_dim // 4),
            "KEY_LOADS": self.key_loads,
            "VALUE_LOADS": self.value_loads,
        }
        for name, value in numbers.items():
            yield Const(name=name, type="u32", value=value)
        yield from self.reduction.consts()
        yield from (F32_LOWEST, LEAST_EXPONENT)

    def input_bindings(self, tokens: str) -> tuple[Binding, ...]:
        """Return queries, cache and lengths; `tokens` is the expression for the tokens of a sequence."""
        return (
            Binding(
                name="q",
                access="read",
                element=f"vec4<{self.activation}>",
                length=f"B * {tokens} * {self.q_heads * self.head_dim // 4}",
                doc=f"queries [B][{tokens}][{self.q_heads}][{self.head_dim}]",
            ),
            *self.cache_bindings("k", "keys"),
            *self.cache_bindings("v", "values"),
            Binding(
                name="lengths",
                access="read",
                element="u32",
                length="B",
                doc="tokens of each sequence [B], those of this call among them",
                below="CAPACITY + 1",
            ),
        )

    def cache_bindings(self, letter: str, what: str) -> tuple[Binding, ...]:
        """Return the planes of keys or values; codes and scales lie as `set_rows` leaves them, a head a row."""
        count, shape = self.kv_heads * self.head_dim, f"[LAYERS][B][CAPACITY][{self.kv_heads}][{self.head_dim}]"
        rows = "LAYERS * B * CAPACITY"
        name = f"{letter}_cache"
        if not self.quantised_cache:
            length = f"{rows} * {count // 4}"
            return (
                Binding(name=name, access="read", element=f"vec4<{self.cache}>", length=length, doc=f"{what} {shape}"),
            )
        bits = formats.get(self.cache).bits
        scales = f"{letter}_scales", f"ceil_div({rows} * {count // 32}, 2)", f"f16 scales of {what} in pairs"
        codes = name, f"{rows} * {count * bits // 32}", f"codes of {what} {shape} of {bits} bits"
        return tuple(
            Binding(name=plane, access="read", element="u32", length=length, doc=doc)
            for plane, length, doc in (codes, scales)
        )

    def uniforms(self) -> tuple[UniformField, ...]:
        """Return what places a row in the cache, and the factor of the scores."""
        return (
            UniformField(name="b", type="u32", value="B", doc="sequences"),
            UniformField(name="capacity", type="u32", value="CAPACITY", doc="rows of the cache for a sequence"),
            UniformField(name="layer", type="u32", value="LAYER", doc="layer of the cache"),
            UniformField(name="scale", type="f32", value="SCALE", doc="factor of the scores, as 1 / sqrt(head_dim)"),
        )

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        """Return the rows' queries, whose place their sums take in the end; weights of a tile; slots of the folds."""
        fours = -(-self.rows // 4)
        return (
            WorkgroupVariable(
                name="tile", element="vec4<f32>", length="ROWS * HEAD_FOURS", count=self.rows * self.head_dim // 4
            ),
            WorkgroupVariable(
                name="weights",
                element="vec4<f32>",
                length=f"{fours}u * WORKGROUP_SIZE",
                count=fours * self.workgroup_size,
            ),
            *self.reduction.slots(),
        )

    def rules(self) -> tuple[Rule, ...]:
        """Return what the sizes must satisfy."""
        return (Rule(expression="LAYER < LAYERS", why="the cache has LAYERS layers, counted from 0"),)

    def template_values(self) -> dict[str, Any]:
        """Return the structure of the folds, and the rows in fours, as vec4s hold them, with what fills these."""
        rows = [(row, f"_{row // 4}.{'xyzw'[row % 4]}") for row in range(self.rows)]
        fours = [rows[first : first + 4] for first in range(0, self.rows, 4)]
        quantised = self.quantised_cache
        return {
            **self.reduction.template_values(),
            "key_load": "k_four(%s)" if quantised else "k_cache[%s]",
            "value_load": "v_four(%s)" if quantised else "v_cache[%s]",
            "row_scores": ", ".join(f"scores{part}" for _, part in rows),
            "row_sums": ", ".join(f"sums{part}" for _, part in rows),
            "row_fours": [
                {
                    "index": index,
                    "rows": [{"index": row, "component": part[-1]} for row, part in four],
                    "products": _filled((f"add_four(products_{row})" for row, _ in four), "0.0f"),
                    "maxima": _filled((f"total_max({row}u, thread)" for row, _ in four), "0.0f"),
                    "mask_bits": _filled((f"bitcast<u32>(mask[mask_rows{part} + mask_key])" for _, part in four), "0u"),
                    "row_indices": _filled((f"row_{row}" for row, _ in four), "0u"),
                    "ends": _filled((f"end_of(length, row_{row})" for row, _ in four), "0u"),
                    "starts": _filled((f"first_seen(ends{part})" for _, part in four), "0u"),
                }
                for index, four in enumerate(fours)
            ],
        }


def _filled(numbers: Iterable[str], filling: str) -> str:
    """Return what makes a vec4 of up to four numbers; components without a row take the filling."""
    return ", ".join(islice(chain(numbers, repeat(filling)), 4))


SOFTMAX_DERIVATION = (
    "in units of 2^-24: a score is off by (head_dim / 4 + 5) of the magnitudes it adds up, and with it the weight's "
    "exponent; exp by 6 + 4 |exponent| (WGSL: 3 + 2 |x| ulp), and so each time that a maximum rises; a sum of weights "
    "or of weighted values by its chain of adds, keys / subsets. The oracle's magnitudes hold the score's magnitudes "
    "and the exponent for each key; 2^-17 is 128 units. Errors that random signs leave of scores whose magnitudes add "
    "up to 60 are about 2^-18.5 of a weight, and so are those of the maximum: together 1.5e-11 in the mean square. A "
    "row of few heavy keys holds few such errors and may show 2.7 times their mean. The bound of nmse holds for such "
    "scores, and falls with their square"
)
SOFTMAX_NMSE = 4e-11
"""The bound of nmse that SOFTMAX_DERIVATION gives."""
