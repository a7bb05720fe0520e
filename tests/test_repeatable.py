"""Every kernel gives the same bits in every run: the order of a fold never depends on who comes first.

Variants are taken from the grids, so that a kernel which is added there is held to this, too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wgslgen import bundlefile
from wgslgen.adapters import Gpu, open_adapter
from wgslgen.harness import Runner
from wgslgen.kernels import KERNELS
from wgslgen.kernels.softmax import Softmax
from wgslgen.naming import variant_name
from wgslgen.oracles import problem_maker
from wgslgen.render import render
from wgslgen.spec import Kernel

RUNS = 20

opened = cache(open_adapter)


@cache
def variants() -> tuple[Kernel, ...]:
    """Return the variants of all grids that need no f16: SwiftShader has none."""
    grids = sorted(Path(__file__).parent.glob("grids/*.toml"))
    every = (variant for path in grids for variant in bundlefile.expand(bundlefile.load(path)).variants)
    return tuple(variant for variant in every if "shader-f16" not in variant.requirements.features)


def chosen(kernel: type[Kernel], known: tuple[Kernel, ...]) -> Iterator[Kernel]:
    """Yield a variant of `kernel` in each of its forms: in workgroup memory, and where it has one, by subgroups.

    It is the one of the form with the most threads: there most can go wrong.
    """
    for subgroups in (False, True) if "subgroups" in kernel.model_fields else (False,):
        form = [variant for variant in known if type(variant) is kernel and variant.uses_subgroups == subgroups]
        assert form, f"no grid holds {kernel.NAME} with subgroups = {subgroups} and without f16"
        yield max(form, key=lambda variant: variant.threads())


def results(gpu: Gpu, variant: Kernel) -> set[tuple[bytes, ...]]:
    """Return the different results of RUNS runs over the last shape class."""
    case = variant.cases()[-1]
    asked = problem_maker(variant.NAME)(variant.model_dump(), case.sizes, np.random.default_rng(20))
    runner = Runner(gpu, variant, render(variant, "tests"))
    return {tuple(runner.run(asked.inputs, case.sizes, asked.parameters).values()) for _ in range(RUNS)}


@pytest.mark.parametrize("adapter", ["lavapipe", "swiftshader"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.NAME)
def test_20_runs_give_the_same_bits(kernel: type[Kernel], adapter: str) -> None:
    for variant in chosen(kernel, variants()):
        assert len(results(opened(adapter), variant)) == 1, variant_name(variant)


def test_both_forms_of_a_fold_are_run() -> None:
    assert [variant.uses_subgroups for variant in chosen(Softmax, variants())] == [False, True]


def test_a_form_that_no_grid_holds_is_missed() -> None:
    with pytest.raises(AssertionError, match="no grid holds softmax with subgroups = True and without f16"):
        [*chosen(Softmax, (Softmax(),))]


def test_results_that_differ_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = count()

    class Unsteady:
        def __init__(self, *_: Any) -> None: ...

        def run(self, *_: Any) -> dict[str, bytes]:
            return {"y": bytes([next(numbers) // 19])}

    monkeypatch.setattr(sys.modules[__name__], "Runner", Unsteady)
    assert len(results(opened("lavapipe"), Softmax())) == 2
