"""Stored answers: for each variant a small problem and what its oracle makes of it, for the self-test in a page.

The problem is one of the kernel's own shape classes, and its oracle makes it as for `verify`, but from numbers that
repeat (`repeating`), so that the arrays are short once `copies` has written them. What must come out is the oracle's
float64 result with the tolerance of the spec, never the result of a device.

The same bytes must come out on each machine, and sums in float64 differ in their last bits from one to the next. So an
expected number keeps 16 bits of its mantissa, and its tolerance is rounded up to a power of two; together they are one
u32, which `runtime/answers.js` reads. Of long outputs only some elements are kept, an odd number apart, the first and
the last among them.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import TIE_ULPS, Close, Equal, Expected, Nearest, Rounded
from wgslgen.copies import TooLong, encode
from wgslgen.naming import variant_name
from wgslgen.oracles import problem_maker
from wgslgen.repeating import Repeating
from wgslgen.spec import Case, Kernel, Tolerance

SMALL = 2**20
"""Bytes of all buffers together up to which any shape class will do; above, the smallest alone."""
SHORT = 3000
"""Bytes of code up to which an input is short."""
LARGEST = 2**27
"""Bytes of all buffers together above which there is no answer: the oracle would take minutes."""
MOST = 256
"""Elements of an output that are kept, about."""
ROOM = 1.375
"""A tolerance is this much larger, so that one which is a power of two does not lie where rounding begins."""
BIAS = 126
"""What is added to the exponent of a tolerance, so that it fits a byte; 0 is left for none."""

Floats = NDArray[np.float64]


class Output(NamedTuple):
    """What must be in an output buffer of `size` elements of `type`: at every `step`-th and at the last.

    `kind` is "near" for words of value and tolerance, "equal" for the elements themselves.
    """

    type: str
    size: int
    step: int
    kind: str
    code: bytes


class Answer(NamedTuple):
    """A problem and its result; arrays as `copies` encodes them."""

    sizes: Mapping[str, int]
    parameters: Mapping[str, float]
    inputs: Mapping[str, bytes]
    outputs: Mapping[str, Output]


def answers(variants: Sequence[Kernel]) -> dict[str, Any]:
    """Return the stored answers as the page reads them: coded arrays and problems each once, and who has which."""
    arrays: dict[str, int] = {}
    problems: list[dict[str, Any]] = []
    owners: dict[str, int] = {}

    def place(code: bytes) -> int:
        return arrays.setdefault(base64.b64encode(code).decode(), len(arrays))

    for variant in variants:
        found = answer(variant)
        if found is None:
            continue
        problem = {
            "sizes": dict(found.sizes),
            "parameters": dict(found.parameters),
            "inputs": {name: place(code) for name, code in found.inputs.items()},
            "outputs": {
                name: {"type": out.type, "size": out.size, "step": out.step, out.kind: place(out.code)}
                for name, out in found.outputs.items()
            },
        }
        if problem not in problems:
            problems.append(problem)
        owners[variant_name(variant)] = problems.index(problem)
    return {"arrays": [*arrays], "problems": problems, "variants": owners}


@cache
def answer(variant: Kernel) -> Answer | None:
    """Return the answer of the last shape class that is small and short, else of the smallest; None: it is too large.

    The last shape classes are those with tails everywhere.
    """
    bindings, consts = variant.bindings(), variant.const_values
    cases = [(sum(b.byte_length({**consts, **case.sizes}) for b in bindings), case) for case in variant.cases()]
    for size, case in reversed(cases):
        if size <= SMALL and (found := _solved(variant, case, SHORT)):
            return found
    size, case = min(cases, key=itemgetter(0))
    return _solved(variant, case) if size <= LARGEST else None


def seed_of(variant: Kernel) -> int:
    """Return the seed of a variant's problems, the same for all of a kernel."""
    return zlib.crc32(variant.NAME.encode())


# ---- a problem, each once ------------------------------------------------------------------------


class _Noting(Mapping[str, Any]):
    """Constants that note which of them were read."""

    def __init__(self, constants: Mapping[str, Any]) -> None:
        self._constants = constants
        self.read: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        self.read[name] = self._constants[name]
        return self._constants[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._constants)

    def __len__(self) -> int:
        return len(self._constants)


_SOLVED: dict[str, list[tuple[dict[str, Any], Answer | None]]] = {}


def _solved(variant: Kernel, case: Case, most: int | None = None) -> Answer | None:
    """Return the coded problem of a case, or None where the code of an input has more than `most` bytes.

    Variants that differ in what no oracle reads share it.
    """
    constants, tolerance = variant.model_dump(), variant.tolerance()
    known = _SOLVED.setdefault(f"{variant.NAME} {sorted(case.sizes.items())} {tolerance} {most}", [])
    for read, found in known:
        if read.items() <= constants.items():
            return found
    noting = _Noting(constants)
    problem = problem_maker(variant.NAME)(noting, case.sizes, Repeating(seed_of(variant)))
    found = None
    with suppress(TooLong):
        inputs = {name: _code(held, most) for name, held in problem.inputs.items()}
        outputs = {name: _output(expected, tolerance) for name, expected in problem.expected.items()}
        found = Answer(case.sizes, problem.parameters, inputs, outputs)
    known.append((noting.read, found))
    return found


_CODES: dict[bytes, bytes] = {}


def _code(array: NDArray[Any], most: int | None) -> bytes:
    """Return the code of an array; many problems have the same ones."""
    data = np.ascontiguousarray(array).tobytes()
    key = hashlib.sha256(data).digest()
    if key not in _CODES:
        _CODES[key] = encode(data, most)
    elif most is not None and len(_CODES[key]) > most:
        raise TooLong
    return _CODES[key]


# ---- what must come out ---------------------------------------------------------------------------


def _output(expected: Expected, tolerance: Tolerance) -> Output:
    values = expected.values.reshape(-1)
    if isinstance(expected, Rounded):
        values = values[expected.order]
    step = -(-values.size // MOST) | 1
    at = np.minimum(np.arange(-(-(values.size - 1) // step) + 1) * step, values.size - 1)
    kept, dtype = values[at], expected.values.dtype if isinstance(expected, Equal) else expected.dtype
    kind = "i4" if isinstance(expected, Rounded) and expected.nibbles else f"{dtype.kind}{8 * dtype.itemsize}"
    with np.errstate(under="ignore", over="ignore"):
        match expected:
            case Equal():
                return Output(kind, values.size, step, "equal", encode(kept.tobytes()))
            case Rounded():
                kept, within = _integers(kept)
            case Close():
                magnitudes = np.broadcast_to(expected.magnitudes, expected.values.shape).reshape(-1)[at]
                within = _roomy(kept, tolerance.element * magnitudes + tolerance.rounding * np.abs(kept), dtype)
            case Nearest():
                within = _roomy(kept, np.spacing(np.abs(kept).astype(dtype)).astype(np.float64), dtype)
    return Output(kind, values.size, step, "near", encode(_words(kept, within).astype("<u4").tobytes()))


def _roomy(values: Floats, within: Floats, dtype: np.dtype[Any]) -> Floats:
    """Return a tolerance with room for a flush to zero and for the value's rounding."""
    return ROOM * (within + float(np.finfo(dtype).tiny) + np.abs(values) * 2.0**-16)


def _integers(reals: Floats) -> tuple[Floats, Floats]:
    """Return the integers, and 0; near a tie of two both are right: what lies between them, and 1/2."""
    with np.errstate(under="ignore"):
        ulp = TIE_ULPS * np.spacing(np.abs(reals).astype(np.float32)).astype(np.float64)
    to_tie = np.abs(np.abs(reals) % 1.0 - 0.5)
    near = (to_tie > 0.0) & (to_tie <= ulp)
    return np.where(near, np.floor(reals) + 0.5, np.rint(reals)), np.where(near, 0.5, 0.0)


def _words(values: Floats, within: Floats) -> NDArray[np.uint32]:
    """Return words: the upper 24 bits of the value as f32, and the exponent of the tolerance in the lower 8."""
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        bits = values.astype(np.float32).view(np.uint32).astype(np.int64)
        rounded = np.where((bits & 0x7FFFFFFF) < 0x7F7FFF80, bits + 0x80, bits) & 0xFFFFFF00
        exponents = np.ceil(np.log2(within, out=np.zeros_like(within), where=np.isfinite(values) & (within > 0)))
    code = np.where(np.isfinite(values) & (within > 0), (exponents + BIAS).clip(1, 255), 0)
    return (rounded | code.astype(np.int64)).astype(np.uint32)
