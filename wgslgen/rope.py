"""The host's table of cosines and sines that the kernels of rotary embedding read: `rope_table`.

Pair i of a rotary dimension turns by position * frequency(i). Plainly frequency(i) = theta^(-2 i / rotary_dim); a
scaling stretches frequencies so that a model reaches past the context that it was trained on. All is float64 and
rounded to f32 once at the end, because f32 angles are off by 0.01 radians at position 1e5 already. Which elements
make a pair is not the table's business: both pairings read the same one.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from wgslgen.errors import UsageProblem
from wgslgen.frozen import Frozen

Floats = NDArray[np.float64]
Stretch = Annotated[float, Field(ge=1.0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Context = Annotated[int, Field(gt=0)]


class LinearScaling(Frozen):
    """All frequencies divided by `factor`, which is the same as dividing the positions (position interpolation)."""

    factor: Stretch


class YarnScaling(Frozen):
    """YaRN: high frequencies stay, low ones are divided by `factor`, and a ramp joins them.

    What counts is how often a pair turns within `original_context`: from `beta_fast` turns on it stays, up to
    `beta_slow` it is divided. The paper's ramp is linear in the turns ("turns"); its authors' own program, and with it
    the models that were tuned by it, has one that is linear in the pair's index, between the whole indices outside
    the two bounds ("index", the default). Cosines and sines are multiplied by `attention_factor`; None is
    0.1 ln(factor) + 1, the paper's fit, which scales the scores by its square.
    """

    factor: Stretch
    original_context: Context
    beta_fast: Positive = 32.0
    beta_slow: Positive = 1.0
    attention_factor: Positive | None = None
    ramp: Literal["index", "turns"] = "index"

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.beta_fast <= self.beta_slow:
            raise ValueError(f"beta_fast {self.beta_fast} is not above beta_slow {self.beta_slow}")
        return self


class Llama3Scaling(Frozen):
    """Llama 3.1's: as YaRN's "turns" ramp with bounds of its own, and without an attention factor."""

    factor: Stretch
    original_context: Context
    low_freq_factor: Positive = 1.0
    high_freq_factor: Positive = 4.0

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.high_freq_factor <= self.low_freq_factor:
            raise ValueError(
                f"high_freq_factor {self.high_freq_factor} is not above low_freq_factor {self.low_freq_factor}"
            )
        return self


Scaling = LinearScaling | YarnScaling | Llama3Scaling


def rope_table(positions: int, rotary_dim: int, theta: float, scaling: Scaling | None = None) -> NDArray[np.float32]:
    """Return (cos, sin) of every pair at the positions from 0, float32 [positions, rotary_dim / 2, 2].

    Raises UsageProblem for no positions, a rotary dimension that is not even and above 0, or a theta that is not a
    finite number above 1.
    """
    if type(positions) is not int or positions < 1:
        raise UsageProblem(f"rope_table: positions is {positions!r}; expected a whole number above 0")
    angles = np.arange(positions, dtype=np.float64)[:, None] * frequencies(rotary_dim, theta, scaling)
    both = np.stack([np.cos(angles), np.sin(angles)], axis=-1) * attention_factor(scaling)
    with np.errstate(under="ignore"):
        return both.astype(np.float32)


def frequencies(rotary_dim: int, theta: float, scaling: Scaling | None = None) -> Floats:
    """Return the angle in radians by which each pair turns from one position to the next [rotary_dim / 2].

    Raises UsageProblem as `rope_table` does.
    """
    if type(rotary_dim) is not int or rotary_dim < 2 or rotary_dim % 2:
        raise UsageProblem(f"rope_table: rotary_dim is {rotary_dim!r}; expected an even number above 0")
    if type(theta) not in (int, float) or not 1.0 < theta < math.inf:
        raise UsageProblem(f"rope_table: theta is {theta!r}; expected a finite number above 1")
    plain = np.power(float(theta), -np.arange(0, rotary_dim, 2, dtype=np.float64) / rotary_dim)
    if scaling is None:
        return plain
    kept = _kept(plain, rotary_dim, theta, scaling)
    scaled: Floats = plain * (kept + (1.0 - kept) / scaling.factor)
    return scaled


def attention_factor(scaling: Scaling | None) -> float:
    """Return what cosines and sines are multiplied by: 1 for all scalings but YaRN."""
    if not isinstance(scaling, YarnScaling):
        return 1.0
    return 0.1 * math.log(scaling.factor) + 1.0 if scaling.attention_factor is None else scaling.attention_factor


def _kept(plain: Floats, rotary_dim: int, theta: float, scaling: Scaling) -> Floats:
    """Return each pair's share of its plain frequency, from 0 (divided by the factor) to 1 (as it was)."""
    if isinstance(scaling, LinearScaling):
        return np.zeros_like(plain)
    if isinstance(scaling, YarnScaling) and scaling.ramp == "index":
        # The index at which a pair turns `beta` times within the context, from the formula of the frequencies.
        first, last = (
            rotary_dim * math.log(scaling.original_context / (2.0 * math.pi * beta)) / (2.0 * math.log(theta))
            for beta in (scaling.beta_fast, scaling.beta_slow)
        )
        low, high = max(math.floor(first), 0), min(math.ceil(last), rotary_dim - 1)
        # Equal or crossed bounds are a step; the authors' program takes this width, too.
        width = max(float(high - low), 0.001)
        return 1.0 - ((np.arange(rotary_dim // 2) - low) / width).clip(0.0, 1.0)
    least, most = (
        (scaling.beta_slow, scaling.beta_fast)
        if isinstance(scaling, YarnScaling)
        else (scaling.low_freq_factor, scaling.high_freq_factor)
    )
    turns = scaling.original_context * plain / (2.0 * math.pi)
    return ((turns - least) / (most - least)).clip(0.0, 1.0)
