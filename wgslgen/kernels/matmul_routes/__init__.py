"""The routes of `matmul`: one module and one line in MODULES each."""

from __future__ import annotations

from wgslgen.kernels.matmul_routes.base import Route
from wgslgen.listed import classes

__all__ = ["ROUTES", "Route"]

MODULES = (
    "tile",
    "int8",
    "lut",
    "subgroup_matrix",
)
ROUTES: dict[str, Route] = {kind.name: kind() for kind in classes(__name__, MODULES, Route)}
