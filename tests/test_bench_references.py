"""The kernels that measure a device do the work that is counted for them: their results say so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from wgslgen import prove
from wgslgen.adapters import open_adapter
from wgslgen.bench.references import CopyAll, Dot4Rate, FmaRate, MatrixRate, ReadAll, Reference
from wgslgen.bench.roof import work
from wgslgen.harness import Runner
from wgslgen.render import render

ADAPTERS = ("lavapipe", "dawn-swiftshader")
GROUPS = 3


def ran(adapter: str, kernel: Reference, x: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return y of one run, which is guarded: nothing else is written."""
    runner = Runner(open_adapter(adapter), kernel, render(kernel, "test"))
    return np.frombuffer(runner.run({"x": x}, {"GROUPS": GROUPS})["y"], dtype)


def test_every_text_passes_its_judges() -> None:
    texts = (ReadAll(), CopyAll(), FmaRate(), Dot4Rate(), MatrixRate())
    report = prove.validate_all(texts, ("rules", "naga", "tint"), ())
    assert report.missing == ()
    assert report.rejected == ()
    unread = {(item.judge, item.text) for item in report.not_judged}
    assert {judge for judge, _ in unread} == {"naga"}
    assert len(unread) == 1, "naga alone leaves out a text, the one with subgroup matrices"


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_reading_reads_every_word_once(adapter: str, rng: np.random.Generator) -> None:
    kernel = ReadAll()
    x = rng.integers(0, 2**32, (GROUPS, kernel.loads, kernel.workgroup_size, 4), dtype=np.uint32)
    y = ran(adapter, kernel, x, np.uint32)
    np.testing.assert_array_equal(y, np.bitwise_xor.reduce(x, axis=(1, 3)).reshape(-1))
    assert work(kernel, GROUPS) == x.nbytes


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_copying_copies_everything(adapter: str, rng: np.random.Generator) -> None:
    kernel = CopyAll()
    x = rng.integers(0, 2**32, GROUPS * kernel.workgroup_size * kernel.loads * 4, dtype=np.uint32)
    np.testing.assert_array_equal(ran(adapter, kernel, x, np.uint32), x)
    assert work(kernel, GROUPS) == 2 * x.nbytes


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_sums_of_floats_are_added_to_as_often_as_is_counted(adapter: str) -> None:
    """With factor 1 a sum doubles with each addition, exactly."""
    kernel = FmaRate.model_validate({"steps": 1})
    y = ran(adapter, kernel, np.ones(4, np.float32), np.float32)
    started = np.arange(kernel.workgroup_size)[:, None] + np.arange(kernel.chains)
    expected = 4 * started.sum(axis=1) * 2**kernel.unrolled
    np.testing.assert_array_equal(y, np.tile(expected, GROUPS))
    assert kernel.products == 4 * kernel.chains * kernel.unrolled
    assert work(kernel, GROUPS) == 2 * kernel.products * y.size


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_sums_of_integers_are_added_to_as_often_as_is_counted(adapter: str) -> None:
    kernel = Dot4Rate.model_validate({"steps": 1})
    factor = 0x01FE03FD
    x = np.full(4, factor, np.uint32)
    y = ran(adapter, kernel, x, np.uint32)
    start = np.arange(kernel.workgroup_size, dtype=np.uint64)[:, None] + np.arange(kernel.chains, dtype=np.uint64)
    sums = ((start + np.uint64(factor)) % 2**32).astype(np.uint32)
    weights = np.array([factor], np.uint32).view(np.int8).astype(np.int64)
    for _ in range(kernel.unrolled):
        products = sums[..., None].view(np.int8).astype(np.int64) * weights
        sums = ((sums.astype(np.int64) + products.sum(axis=-1)) % 2**32).astype(np.uint32)
    np.testing.assert_array_equal(y, np.tile(np.bitwise_xor.reduce(sums, axis=1), GROUPS))
    assert work(kernel, GROUPS) == 2 * 4 * kernel.chains * kernel.unrolled * y.size


def test_matrix_products_are_counted() -> None:
    """4 subgroups of a workgroup add 2 x 4 products of 16 x 16 x 16 to their results, 512 times; none runs here."""
    assert work(MatrixRate(), 10) == 2 * 10 * 4 * 8 * 512 * 16**3
