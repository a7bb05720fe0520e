"""What an oracle hands to the harness: inputs, parameters, and what must come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgslgen.compare import Expected


@dataclass(frozen=True)
class Problem:
    """Inputs by binding name (arrays whose bytes are uploaded), float parameters, expected outputs by name."""

    inputs: Mapping[str, NDArray[Any]]
    expected: Mapping[str, Expected]
    parameters: Mapping[str, float] = field(default_factory=dict)


ELEMENTS: dict[str, np.dtype[Any]] = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16)}
"""NumPy types of activations by their WGSL names."""
