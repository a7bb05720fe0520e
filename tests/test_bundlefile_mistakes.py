"""Bundle files: what every mistake in one gets to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from wgslgen.bundlefile import expand, load, parse
from wgslgen.errors import UsageProblem

TABLE = """
[[kernel]]
kernel = "matvec"
format = "q4_0"
route = "float"
"""


def problem_of(table: str, top: str = 'name = "t"') -> UsageProblem:
    """Return the error that the file ends in; each has its exit code, its place and a hint."""
    with pytest.raises(UsageProblem) as caught:
        expand(parse(f"{top}\n{table}", "t.toml"))
    assert caught.value.exit_code == 2
    assert caught.value.message.startswith("t.toml: ")
    assert caught.value.hint
    return caught.value


# Mistakes: the table, what the message says, what the hint says.

MISTAKES = {
    "unknown key": (TABLE + "tile_row = 4", "unknown key tile_row; expected one of: ", "did you mean tile_rows?"),
    "unknown key, nothing like it": (TABLE + "zzz = 4", "unknown key zzz", "delete zzz"),
    "unknown part of a zipped key": (TABLE + '"n,kk" = [[1, 32]]', "unknown key kk", "did you mean k?"),
    "unknown kernel": (TABLE.replace("matvec", "matvek"), 'kernel = "matvek"; expected one of: ', '"matvec"'),
    "kernel of a wrong type": (TABLE.replace('"matvec"', "3"), "kernel = 3", "set kernel"),
    "no kernel named": (TABLE.replace('kernel = "matvec"', ""), "names no kernel", "set kernel"),
    "not a choice": (TABLE + "tile_rows = 3", "tile_rows = 3; expected 1, 2, 4 or 8", "set tile_rows = 2"),
    "not a choice in an axis": (TABLE + "tile_rows = [1, 16]", "tile_rows = 16; expected", "tile_rows = 8"),
    "not a choice among words": (
        TABLE + 'layout = "planr"',
        'expected "ggml", "planar", "row4" or "planes"',
        '"planar"',
    ),
    "no choice is near": (TABLE + 'layout = "zz"', 'layout = "zz"', 'set layout = "ggml"'),
    "unknown format": (TABLE.replace("q4_0", "q4_2"), 'format = "q4_2"; expected "f32"', 'set format = "q4_'),
    "true for 1": (TABLE + "columns = true", "columns = true; expected 1, 2, 3 or 4", "set columns = 1"),
    "a string for a number": (TABLE + 'tile_rows = "4"', 'tile_rows = "4"; expected', "set tile_rows = 4"),
    "a float for a number": (TABLE + "tile_rows = 1.0", "tile_rows = 1.0; expected", "set tile_rows = 1"),
    "a number for a truth": (TABLE + "subgroups = 1", "subgroups = 1; expected false or true", "= true"),
    "a word for a truth": (TABLE + 'subgroups = "yes"', 'subgroups = "yes"', "set subgroups = "),
    "a number for a word": (TABLE.replace('"float"', "1"), "route = 1; expected", "set route = "),
    "a float for a size": (TABLE + "k = 2048.0", "k = 2048.0; expected a whole number", "set k = 2048"),
    "a string for a size": (TABLE + 'k = "2048"', 'k = "2048"; expected a whole number', "without quotes"),
    "true for a size": (TABLE + "k = true", "k = true; expected a whole number", "delete k"),
    "a size below zero": (TABLE + "k = -32", "k = -32; expected a whole number from 0 to 4294967295", "delete k"),
    "a size above u32": (TABLE + "k = 4294967296", "k = 4294967296; expected a whole number", "delete k"),
    "infinity": (TABLE + "k = inf", "k = inf; expected a whole number", "delete k"),
    "not a number": (TABLE + "tile_rows = nan", "tile_rows = nan; expected", "set tile_rows"),
    "a date": (TABLE + "k = 2026-01-01", "k = 2026-01-01; expected", "delete k"),
    "a table for a constant": (TABLE + "k = {a = 1}", "k = {a = 1}; expected", "delete k"),
    "a list in a list": (TABLE + "tile_rows = [[4]]", "tile_rows = [4]; expected", "set tile_rows"),
    "a size that is not whole blocks": (TABLE + "k = 33", "k 33 is not a positive multiple of 32", "prune"),
    "zero": (TABLE + "n = 0", "n 0 is not a positive multiple of 1", "prune"),
    "a missing choice": (TABLE.replace('route = "float"', ""), 'needs route; expected "float"', 'route = "float"'),
    "a missing format": (TABLE.replace('format = "q4_0"', ""), "needs format; expected", "set format = "),
    "a missing group": (TABLE.replace("q4_0", "q2_0"), "q2_0 needs a group", "set group = 64 or 128"),
    "an optional choice": (
        TABLE.replace("float", "int8") + "activation_group = 16",
        "activation_group = 16; expected 32, 64 or 128",
        "set activation_group = 32",
    ),
    "an empty axis": (TABLE + "tile_rows = []", "tile_rows = []; expected at least one value", "delete tile_rows"),
    "an empty zipped axis": (TABLE + '"n,k" = []', '"n,k" = []; expected at least one', 'delete "n,k"'),
    "a value twice in an axis": (TABLE + "tile_rows = [4, 1, 4]", "has a value twice", "delete one of the two"),
    "a short row": (TABLE + '"n,k" = [[1, 32], [2]]', '"n,k" holds [2]; expected a list of [n, k] lists', "2 values"),
    "a zipped axis without rows": (TABLE + '"n,k" = [1, 32]', '"n,k" holds 1; expected', "2 values in each"),
    "a zipped scalar": (TABLE + '"n,k" = 32', '"n,k" holds 32', "2 values in each"),
    "a constant set twice": (TABLE + '"n,k" = [[1, 32]]\nk = 32', 'k is set by "n,k" and by k', "delete k"),
    "a constant twice in a key": (TABLE + '"k,k" = [[32, 32]]', 'k is set by "k,k" and by "k,k"', "delete"),
    "an empty part of a key": (TABLE + '"n," = [[1, 2]]', 'unknown key ""', "delete"),
    "prune of a wrong type": (TABLE + "prune = 1", "prune = 1; expected true or false", "prune = true"),
    "no kernels": ("", "no kernels; expected at least one [[kernel]] table", "[[kernel]]"),
    "an empty list of kernels": ("kernel = []", "no kernels", "[[kernel]]"),
    "a single table": (TABLE.replace("[[kernel]]", "[kernel]"), "kernel = {kernel = ", "write [[kernel]]"),
    "kernels of a wrong type": ("kernel = [1]", "kernel = [1]; expected", "write [[kernel]]"),
    "the second table": (TABLE + TABLE + "tile_row = 1", "[[kernel]] 2 (matvec): unknown key", "tile_rows"),
}


@pytest.mark.parametrize(("table", "message", "hint"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(table: str, message: str, hint: str) -> None:
    problem = problem_of(table)
    assert message in problem.message
    assert hint in str(problem.hint)


MODEL = (
    "[model]\nhidden = 64\nintermediate = 128\nq_heads = 4\nkv_heads = 2\nhead_dim = 16\n"
    "layers = 2\nvocab = 100\nrope_theta = 1e4\neps = 1e-5\ntied = true\n"
)
TOP_MISTAKES = {
    "no name": ("", "no name; expected a folder name", 'set name = "t"'),
    "a name of a wrong type": ("name = 3", "name = 3; expected a folder name", 'set name = "t"'),
    "a path for a name": ('name = "../x"', 'name = "../x"', 'set name = "x"'),
    "upper case": ('name = "Bonsai 8B"', 'name = "Bonsai 8B"', 'set name = "bonsai-8b"'),
    "a device's name": ('name = "con"', 'name = "con"', 'set name = "bundle-con"'),
    "an empty name": ('name = ""', 'name = ""', 'set name = "bundle"'),
    "C41: an underscore": ('name = "_"', 'name = "_"', 'set name = "bundle"'),
    "unknown key": ('name = "t"\nlimt = 3', "unknown key limt; expected one of: name,", "did you mean limit?"),
    "a kernel's key at the top": ('name = "t"\nformat = "q4_0"', "unknown key format", "delete format"),
    "limit zero": ('name = "t"\nlimit = 0', "limit = 0; expected a whole number from 1", "set limit"),
    "limit true": ('name = "t"\nlimit = true', "limit = true", "set limit"),
    "limit beyond all": ('name = "t"\nlimit = 20001', "limit = 20001", "set limit"),
    "description": ('name = "t"\ndescription = 3', "description = 3; expected one line", "set description"),
    "two lines": ('name = "t"\ndescription = "a\\nb"', 'description = "a\\nb"', "set description"),
    "model": ('name = "t"\nmodel = 3', "model = 3; expected a table", "[model]"),
    "model, unknown key": (f'name = "t"\n{MODEL}hiden = 3', "[model]: unknown key hiden", "mean hidden?"),
    "model, missing": (f'name = "t"\n{MODEL}'.replace("eps = 1e-5\n", ""), "[model]: eps is missing", "eps"),
    "model, wrong type": (f'name = "t"\n{MODEL}'.replace("64", '"64"'), '[model]: hidden = "64"', "hidden"),
    "model, zero": (f'name = "t"\n{MODEL}'.replace("= 64", "= 0"), "[model]: hidden = 0", "hidden"),
    "model, infinite": (f'name = "t"\n{MODEL}'.replace("1e4", "inf"), "[model]: rope_theta = inf", "hidden"),
    "model, heads": (f'name = "t"\n{MODEL}'.replace("= 2\nhead", "= 3\nhead"), "q_heads 4 is not a", "hidden"),
}


@pytest.mark.parametrize(("top", "message", "hint"), TOP_MISTAKES.values(), ids=TOP_MISTAKES)
def test_mistakes_at_the_top(top: str, message: str, hint: str) -> None:
    problem = problem_of(TABLE, top)
    assert message in problem.message
    assert hint in str(problem.hint)


def test_toml_errors_name_the_line() -> None:
    with pytest.raises(UsageProblem, match=r"t\.toml: not TOML: .*line 3") as caught:
        parse('name = "t"\n[[kernel]]\nkernel = matvec\n', "t.toml")
    assert caught.value.hint


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"gone\.toml: cannot be read: no such file"):
        load(tmp_path / "gone.toml")
    with pytest.raises(UsageProblem, match="cannot be read: is a directory"):
        load(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'name = "caf\xe9"\n')
    with pytest.raises(UsageProblem, match="not UTF-8 at byte 11"):
        load(tmp_path / "latin.toml")
    (tmp_path / "deep.toml").write_text("a = " + "[" * 5000)
    with pytest.raises(UsageProblem, match="not TOML"):
        load(tmp_path / "deep.toml")
