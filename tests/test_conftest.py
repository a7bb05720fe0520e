"""The guards of `conftest.py`, each made to fire in a test run of its own."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

LEFT_OUT = {
    "a skip inside a test": "import pytest\ndef test_it(): pytest.skip('no reason')",
    "a skip mark": "import pytest\n@pytest.mark.skip(reason='x')\ndef test_it(): pass",
    "a file skipped as a whole": "import pytest\npytest.skip('x', allow_module_level=True)",
    "a missing import": "import pytest\npytest.importorskip('no_such_module')\ndef test_it(): pass",
    "an expected failure": "import pytest\n@pytest.mark.xfail(reason='x')\ndef test_it(): assert False",
    "a parameter list without a value": ("import pytest\n@pytest.mark.parametrize('x', [])\ndef test_it(x): pass"),
    "a file without a test": "def helper(): pass",
    "a class without a test": "class TestIt:\n    def helper(self): pass",
}


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    pytester.makeconftest(Path(__file__).with_name("conftest.py").read_text(encoding="utf-8"))
    pytester.makepyfile(test_other="def test_other(): pass")
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)


@pytest.mark.parametrize("what", LEFT_OUT)
def test_c32_left_out_tests_fail_the_run(what: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(test_left_out=LEFT_OUT[what])
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("WGSLGEN_REQUIRE_GPU", "1")
    result = run(pytester)
    assert result.ret != 0
    assert "this run requires every test" in result.stdout.str()


@pytest.mark.parametrize("what", ["a skip mark", "a file skipped as a whole", "a file without a test"])
def test_c32_left_out_tests_fail_a_run_of_several_processes_in_ci(
    what: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(test_left_out=LEFT_OUT[what])
    monkeypatch.delenv("WGSLGEN_REQUIRE_GPU", raising=False)
    monkeypatch.setenv("CI", "true")
    result = run(pytester, "-n", "2")
    assert result.ret != 0
    assert "this run requires every test" in result.stdout.str()


def test_a_developer_may_leave_tests_out(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(test_left_out=LEFT_OUT["a skip mark"])
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("WGSLGEN_REQUIRE_GPU", "0")
    run(pytester).assert_outcomes(passed=1, skipped=1)


def test_arithmetic_is_strict() -> None:
    with pytest.raises(FloatingPointError):
        np.float32(3e38) * np.float32(10)


def test_a_test_has_its_own_seed(rng: np.random.Generator) -> None:
    drawn = int(rng.integers(1000)), random.randrange(1000), int(np.random.randint(1000))  # noqa: NPY002
    assert drawn == (988, 772, 252), "the numbers depend on this test's name alone"


def test_the_real_model_is_at_hand(smollm2: Path) -> None:
    with smollm2.open("rb") as file:
        assert file.read(4) == b"GGUF"
    assert smollm2.stat().st_size == 98_362_432
