from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import run

from wgslgen import explain
from wgslgen.errors import UsageProblem

BUNDLE = str(Path(__file__).parent.parent / "generated" / "bonsai-1.7b-q2_0.toml")
LINEAR = ("explain", BUNDLE, "--op", "linear", "--m", "17", "--n", "9728", "--k", "2560")


def test_the_choice_stands_first_then_the_dearer_ones_then_the_refused() -> None:
    done = run(*LINEAR, "--profile", "chrome-apple", "--want", "rounding=int8")
    assert done.exit_code == 0
    head, *rows = done.stdout.splitlines()
    assert head == "bonsai-1.7b-q2_0: linear of M = 17, N = 9728, K = 2560 on chrome-apple"
    kinds = [row.split()[0] for row in rows]
    assert kinds == sorted(kinds)
    assert kinds.count("chosen") == 1
    assert {*kinds} == {"chosen", "dearer", "refused"}
    assert "linear.matmul_q2_0_g64_planar_xf32_yf32__w1_int8_m16" in rows[0]
    assert any(row.endswith("it is for M = 1") for row in rows)


def test_json_has_the_same() -> None:
    (found,) = json.loads(run(*LINEAR, "--want", "layout=planar", "--json").stdout)
    assert found["sizes"] == {"M": 17, "N": 9728, "K": 2560}
    assert found["want"] == {"layout": "planar"}
    assert found["plan"] == found["ranked"][0]["name"]
    assert found["plan"] == f"linear.{'+'.join(found['passes'])}"
    assert all(each["reason"] for each in found["refused"])


def test_where_nothing_will_do_it_says_so() -> None:
    done = run(*LINEAR[:-1], "2561")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[1] == "  nothing will do"


def test_bundles_that_do_not_know_the_op_are_left_out_where_others_do() -> None:
    blocks = BUNDLE.replace("bonsai-1.7b-q2_0", "building-blocks")
    sizes = ("--n", "64", "--k", "2048", "--size", "R=2")
    done = run("explain", BUNDLE, blocks, "--op", "embedding", *sizes)
    assert [line.split(":")[0] for line in done.stdout.splitlines() if not line.startswith(" ")] == ["bonsai-1.7b-q2_0"]
    alone = run("explain", blocks, "--op", "embedding", *sizes)
    assert alone.exit_code == 2
    assert "nothing does embedding; there are argmax" in alone.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--size", "M"), "--size M; expected NAME=VALUE"),
        (("--size", "M=few"), "size M is 'few'; expected a whole number"),
        (("--want", "=f16"), "--want =f16; expected NAME=VALUE"),
        (("--want", "rounding=int3"), "rounding 'int3'; expected one of none, f16, int8, signs"),
        (("--profile", "chrome"), "--profile chrome; expected one of: chrome-android-adreno"),
    ],
)
def test_mistakes_are_told(arguments: tuple[str, ...], said: str) -> None:
    done = run("explain", BUNDLE, "--op", "linear", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_values_are_numbers_truths_and_words() -> None:
    assert explain.pairs("--want", ["a=1", "b=-2", "c=true", "d=f16", "e=x=y"]) == {
        "a": 1,
        "b": -2,
        "c": True,
        "d": "f16",
        "e": "x=y",
    }
    with pytest.raises(UsageProblem):
        explain.pairs("--size", ["N="])
