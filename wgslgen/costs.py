"""What passes cost: a table for each kind of device, which `selection` ranks by.

A row names a kernel and some of its constants; the first row of the device's kind that fits a pass gives its
nanoseconds, as an expression in the pass's sizes and the variant's constants in capitals. They are rough: lines by hand
through what was measured, and guesses between; each row says which.

- `gpu`, the default: times of docs/measurements.md, on an NVIDIA H200 through Dawn with browser defaults. Of a matmul
  few tiles wait for one another along K, and many share the GPU: one line has both.
- `software`, drivers that run on the CPU: there a barrier costs more than the work between two of them, so that small
  workgroups win; and packed integers gain nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from wgslgen import expr


class Cost(NamedTuple):
    """Nanoseconds of a pass: which passes it is for, the expression, where it comes from, and the kind of device."""

    kernel: str
    constants: dict[str, str | int | bool]
    ns: str
    source: str
    device: str = "gpu"


MEASURED = "a line through several times of docs/measurements.md; how it falls with TILE_ROWS is a prototype's on q1_0"
FEW = "one or two times of docs/measurements.md: how they part into the terms is a guess"
GUESSED = "not measured"

TILES = "ceil_div(M, TILE_M) * TILE_M * (N * K // 1000)"
"""Thousands of products of a matmul whose last tile is full."""

DEFAULT: tuple[Cost, ...] = (
    Cost(
        "matvec",
        {"route": "int8", "layout": "planar", "subgroups": True},
        "4500 + N * K * (40 + 160 // TILE_ROWS) // 1000000",
        MEASURED,
    ),
    Cost("matvec", {"route": "int8", "subgroups": True}, "4500 + N * K * (60 + 160 // TILE_ROWS) // 1000000", GUESSED),
    Cost("matvec", {"route": "int8"}, "7000 + N * K * (60 + 160 // TILE_ROWS) // 1000000", MEASURED),
    Cost(
        "matvec",
        {"route": "float", "layout": "planar", "subgroups": True},
        "7300 + N * K * (150 + 300 // TILE_ROWS) // 1000000",
        MEASURED,
    ),
    Cost(
        "matvec", {"route": "float", "subgroups": True}, "7300 + N * K * (180 + 300 // TILE_ROWS) // 1000000", GUESSED
    ),
    Cost("matvec", {"route": "float"}, "8500 + N * K * (190 + 300 // TILE_ROWS) // 1000000", MEASURED),
    Cost("matvec", {"route": "block"}, "9100 + N * K * (260 + 300 // TILE_ROWS) // 1000000", MEASURED),
    Cost("matvec", {"route": "popcount"}, "4500 + N * K * (40 + 160 // TILE_ROWS) // 1000000", GUESSED),
    Cost("matmul", {"route": "subgroup_matrix", "tile_m": 16}, f"2000 + K * 5 + {TILES} * 20 // 1000", FEW),
    Cost("matmul", {"route": "subgroup_matrix"}, f"2000 + K * 10 + {TILES} * 13 // 1000", FEW),
    Cost("matmul", {"route": "int8", "tile_m": 16, "num_splits": 4}, f"2000 + K * 4 + {TILES} * 60 // 1000", FEW),
    Cost("matmul", {"route": "int8", "tile_m": 16}, f"2000 + K * 6 + {TILES} * 60 // 1000", FEW),
    Cost("matmul", {"route": "int8"}, f"2000 + K * 18 + {TILES} * 26 // 1000", FEW),
    Cost("matmul", {"route": "tile", "tile_m": 16, "num_splits": 4}, f"2000 + K * 8 + {TILES} * 100 // 1000", FEW),
    Cost("matmul", {"route": "tile", "tile_m": 16}, f"2000 + K * 23 + {TILES} * 100 // 1000", FEW),
    Cost("matmul", {"route": "tile"}, f"2000 + K * 46 + {TILES} * 76 // 1000", FEW),
    Cost("matmul", {"route": "lut"}, f"2000 + K * 46 + {TILES} * 200 // 1000", GUESSED),
    Cost("rms_norm", {"subgroups": True}, "2500", FEW),
    Cost("rms_norm", {}, "3000", FEW),
)

SWIFTSHADER = "a line through times of docs/measurements/software-costs-2026-12.txt: one shape, two busy cores"
FULL = "ceil_div(M, TILE_M) * TILE_M * N * K"
"""Products of a matmul whose last tile is full."""

SOFTWARE: tuple[Cost, ...] = (
    Cost(
        "matvec",
        {"route": "float", "subgroups": True},
        "N * K * (4 + 8 // TILE_ROWS) * ((WORKGROUP_SIZE + 16) // 48)",
        SWIFTSHADER,
        "software",
    ),
    Cost(
        "matvec",
        {"route": "float"},
        "N * K * (9 + 9 // TILE_ROWS) * ((WORKGROUP_SIZE - 8) // 24)",
        SWIFTSHADER,
        "software",
    ),
    Cost(
        "matvec",
        {"route": "int8"},
        "N * K * (8 + 4 // TILE_ROWS) * (WORKGROUP_SIZE // 16 - 1)",
        SWIFTSHADER,
        "software",
    ),
    Cost("matvec", {"route": "block"}, "N * K * (6 + 45 // TILE_ROWS)", SWIFTSHADER, "software"),
    Cost("matvec", {}, "N * K * 20", GUESSED, "software"),
    Cost("matmul", {"num_splits": 4}, f"{FULL} * 8", SWIFTSHADER, "software"),
    Cost("matmul", {"route": "int8", "tile_m": 64}, f"{FULL} * 5", SWIFTSHADER, "software"),
    Cost("matmul", {"tile_m": 64}, f"{FULL} * 4", SWIFTSHADER, "software"),
    Cost("matmul", {}, f"{FULL} * 7", SWIFTSHADER, "software"),
    Cost("rms_norm", {}, "M * D * (WORKGROUP_SIZE + 64) // 64", GUESSED, "software"),
)
ANY = 2500
"""Nanoseconds of a pass without a row: GUESSED."""


def cost_rows() -> list[dict[str, Any]]:
    """Return the tables as JSON: kind of device, kernel, constants, and the expression as `evaluate` reads it."""
    return [
        {
            "device": row.device,
            "kernel": row.kernel,
            "constants": row.constants,
            "ns": expr.to_json(expr.parse(row.ns)),
        }
        for row in (*DEFAULT, *SOFTWARE)
    ]
