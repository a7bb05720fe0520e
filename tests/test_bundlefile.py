"""Bundle files: what they expand to."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from wgslgen.bundlefile import BundleFile, expand, load, parse
from wgslgen.errors import UsageProblem
from wgslgen.kernels.matvec import Matvec
from wgslgen.naming import variant_name
from wgslgen.render import render

TABLE = """
[[kernel]]
kernel = "matvec"
format = "q4_0"
route = "float"
"""


def bundle(table: str, top: str = 'name = "t"') -> BundleFile:
    """Parse a file with a name and what is given."""
    return parse(f"{top}\n{table}", "t.toml")


def problem_of(table: str, top: str = 'name = "t"') -> UsageProblem:
    """Return the error that the file ends in; each has its exit code, its place and a hint."""
    with pytest.raises(UsageProblem) as caught:
        expand(bundle(table, top))
    assert caught.value.exit_code == 2
    assert caught.value.message.startswith("t.toml: ")
    assert caught.value.hint
    return caught.value


# What a file asks for.


def test_axes_multiply_in_the_order_of_the_file() -> None:
    grid = expand(bundle(TABLE + "tile_rows = [4, 1]\nsubgroups = [false, true]\n"))
    expected = [
        Matvec(format="q4_0", route="float", tile_rows=tile, subgroups=subgroups)
        for tile in (4, 1)
        for subgroups in (False, True)
    ]
    assert list(grid.variants) == expected
    assert grid.pruned == ()


def test_zipped_axis() -> None:
    grid = expand(bundle(TABLE + '"n, k" = [[6144, 2048], [2048, 6144]]\ntile_rows = [1, 8]\n'))
    assert [(v.n, v.k, v.tile_rows) for v in grid.variants if isinstance(v, Matvec)] == [
        (6144, 2048, 1),
        (6144, 2048, 8),
        (2048, 6144, 1),
        (2048, 6144, 8),
    ]


def test_tables_keep_their_order() -> None:
    grid = expand(bundle(TABLE + TABLE.replace("q4_0", "q8_0") + TABLE.replace("q4_0", "q4_1")))
    assert [v.format for v in grid.variants if isinstance(v, Matvec)] == ["q4_0", "q8_0", "q4_1"]


def test_expanding_twice_gives_the_same() -> None:
    text = TABLE + "tile_rows = [1, 2, 4, 8]\nworkgroup_size = [32, 64, 128, 256]\nsubgroups = [true, false]\n"
    first, second = expand(bundle(text)), expand(bundle(text))
    assert first == second
    assert len({variant_name(variant) for variant in first.variants}) == 32


def test_top_level() -> None:
    top = """
name = "bonsai-1.7b-q2_0"
description = "what it is for"
limit = 3
[model]
hidden = 2048
intermediate = 6144
q_heads = 16
kv_heads = 8
head_dim = 128
layers = 28
vocab = 151669
rope_theta = 1000000
eps = 1e-6
tied = true
"""
    file = bundle(TABLE, top)
    assert (file.name, file.description, file.limit, file.file) == (
        "bonsai-1.7b-q2_0",
        "what it is for",
        3,
        "t.toml",
    )
    assert file.model is not None
    assert file.model["rope_theta"] == 1e6
    assert file.model["tied"] is True
    assert bundle(TABLE).model is None
    assert bundle(TABLE).limit == 150


def test_load_reads_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text(f'name = "t"\n{TABLE}')
    file = load(path)
    assert file.file == str(path)
    assert len(expand(file).variants) == 1


# Rows that a kernel refuses.


def test_an_illegal_row_is_an_error_that_names_the_row() -> None:
    problem = problem_of(TABLE.replace("q4_0", "q2_0") + "group = 64\ntile_rows = [4, 8]\ncolumns = [1, 4]\n")
    assert "[[kernel]] 1 (matvec): tile_rows = 8, columns = 4: tile_rows x columns is 32" in problem.message
    assert "prune = true" in str(problem.hint)


def test_pruned_rows_keep_their_reason() -> None:
    table = TABLE + "tile_rows = [4, 8]\ncolumns = [1, 4]\nprune = true\n"
    grid = expand(bundle(table))
    assert len(grid.variants) == 3
    (row,) = grid.pruned
    assert (row.table, row.kernel) == (1, "matvec")
    assert row.constants == {"format": "q4_0", "route": "float", "tile_rows": 8, "columns": 4}
    assert row.reason == "tile_rows x columns is 32; at most 16 sums a thread"


def test_pruning_says_nothing_of_hints() -> None:
    """A format's own message comes with a hint: it belongs to errors, not to the list of pruned rows."""
    table = TABLE.replace('"q4_0"', '["q1_0", "q2_0"]') + "group = [32, 64]\nstep_words = 1\nprune = true\n"
    grid = expand(bundle(table))
    assert [row.reason for row in grid.pruned] == ["q2_0 has no group 32"]
    problem = problem_of(table.replace("prune = true", ""))
    assert "q2_0 has no group 32" in problem.message
    assert problem.hint == "set group = 64 or 128"


def test_a_typo_is_never_pruned() -> None:
    assert "tile_rows = 3" in problem_of(TABLE + "tile_rows = [4, 3]\nprune = true\n").message


def test_a_table_without_a_variant_left_is_an_error() -> None:
    problem = problem_of(TABLE + "tile_rows = 8\ncolumns = [3, 4]\nprune = true\n")
    assert "every row is pruned; the first because tile_rows x columns is 24" in problem.message


def test_the_same_variant_twice_is_an_error() -> None:
    problem = problem_of(TABLE + TABLE + "tile_rows = [1, 4]\n")
    assert "[[kernel]] 2 (matvec): tile_rows = 4: matvec_q4_0_" in problem.message
    assert "asked for already by [[kernel]] 1 (matvec)" in problem.message


def test_the_same_variant_twice_can_be_pruned() -> None:
    grid = expand(bundle(TABLE + TABLE + "tile_rows = [1, 4]\nprune = true\n"))
    assert len(grid.variants) == 2
    assert "asked for already" in grid.pruned[0].reason


def test_two_spellings_of_one_variant_are_one_variant() -> None:
    assert "asked for already" in problem_of(TABLE + TABLE + "group = 32\n").message


# How many.

GRID_192 = (
    TABLE
    + "tile_rows = [1, 2, 4, 8]\nworkgroup_size = [32, 64, 128, 256]\nsubgroups = [true, false]\n"
    + "columns = [1, 2]\nstep_words = [1, 2, 4]\n"
)


def test_more_variants_than_the_limit() -> None:
    problem = problem_of(GRID_192)
    assert "192 variants; expected at most 150" in problem.message
    assert "limit = 192" in str(problem.hint)
    assert len(expand(bundle(GRID_192, 'name = "t"\nlimit = 192')).variants) == 192
    assert "expected at most 191" in problem_of(GRID_192, 'name = "t"\nlimit = 191').message


def test_a_product_that_nobody_means_stops_before_it_is_expanded() -> None:
    sizes = ", ".join(str(32 * i) for i in range(1, 20_001))
    problem = problem_of(TABLE + f"k = [{sizes}]\nn = [{sizes}]\n")
    assert "400000000 rows" in problem.message


# Names.

WGSL_WORDS = ("storage", "type", "array", "texture", "packed", "ptr", "fn", "override", "buffer", "f16", "select")


@pytest.mark.parametrize("word", WGSL_WORDS)
def test_c41_a_bundle_may_be_called_like_a_wgsl_word(word: str) -> None:
    """The name stands in the provenance comment and nowhere else in the text."""
    file = bundle(TABLE, f'name = "{word}"')
    (variant,) = expand(file).variants
    named, other = (render(variant, f"{name}.toml").splitlines() for name in (word, "other"))
    differing = [(a, b) for a, b in itertools.zip_longest(named, other) if a != b]
    assert differing
    assert all(a.startswith("//") and b.startswith("//") for a, b in differing)
