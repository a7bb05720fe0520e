"""Bytes of modules in `list`, and the budget that stops a render."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from cli_runs import SMALL, refused, run, snapshot, strict_json

from wgslgen import bundle
from wgslgen.bundlefile import expand, parse
from wgslgen.errors import UsageProblem
from wgslgen.sizes import kernel_sizes, module_size

TABLE = '\n[[kernel]]\nkernel = "quantize_q8"\ngroup = 32\n'


def with_budget(text: str) -> str:
    return SMALL.replace("[[kernel]]", f"[budget]\n{text}\n[[kernel]]", 1)


def rendered(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_list_shows_what_a_page_loads(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    assert run("render", path).exit_code == 0
    files = rendered(tmp_path / "small")
    data = strict_json(run("list", path, "--json").stdout)[0]
    matvec = files["kernels/matvec.js"]
    assert data["kernels"]["matvec"] == {"bytes": len(matvec), "gzip": len(gzip.compress(matvec, mtime=0))}
    assert [*data["kernels"]] == ["matvec", "quantize_q8"]
    scripts = [content for name, content in files.items() if name.endswith(".js") and name != "selftest.js"]
    assert data["module"]["bytes"] == sum(map(len, scripts)) > len(matvec)
    assert data["module"]["gzip"] == sum(len(gzip.compress(content, mtime=0)) for content in scripts)
    shown = [line.split() for line in run("list", path).stdout.splitlines()]
    size = data["kernels"]["matvec"]
    assert ["kernels/matvec.js", "4", str(size["bytes"]), str(size["gzip"])] in shown
    assert shown[-1][-3:] == ["5", str(data["module"]["bytes"]), str(data["module"]["gzip"])]


def test_a_module_counts_once_and_types_do_not() -> None:
    files = {
        "kernels/a.js": b"abc",
        "kernels/a.d.ts": b"types",
        "index.js": b"de",
        "selftest.js": b"answers",
        "wgsl/a/a.wgsl": b"text",
    }
    assert module_size(files).bytes == 5
    assert {name: size.bytes for name, size in kernel_sizes(files).items()} == {"a": 3}


@pytest.mark.parametrize("kind", ["bytes", "gzip"])
def test_a_budget_is_held_to_the_byte(kind: str, tmp_path: Path) -> None:
    variants = expand(parse(SMALL, "small.toml")).variants
    exact = getattr(module_size(bundle.build("small", variants, "small.toml").files), kind)
    path = tmp_path / "small.toml"
    path.write_text(with_budget(f"{kind} = {exact}"))
    assert run("render", path).exit_code == 0
    before = snapshot(tmp_path)
    path.write_text(with_budget(f"{kind} = {exact - 1}"))
    said = f"over its budget: {kind} {exact}, expected at most {exact - 1}; the largest kernels are matvec ("
    for arguments in (["render"], ["render", "--check"], ["render", "--diff"]):
        refused(run(*arguments, path), 2, str(path), said, f"hint: shorten their axes, or raise {kind} in [budget]")
    assert {name: state for name, state in snapshot(tmp_path).items() if "small.toml" not in str(name)} == {
        name: state for name, state in before.items() if "small.toml" not in str(name)
    }
    assert run("list", path).exit_code == 0


def test_a_budget_stops_before_any_bundle_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SMALL)
    (tmp_path / "z.toml").write_text(with_budget("bytes = 1\ngzip = 1"))
    refused(run("render", tmp_path / "a.toml", tmp_path / "z.toml"), 2, "z.toml: over its budget", "bytes and gzip")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.toml", "z.toml"]


MISTAKES = {
    "a number": ("budget = 3", "budget = 3; expected a table of bytes and gzip"),
    "an empty table": ("[budget]", "budget = {}; expected a table of bytes and gzip"),
    "an unknown key": ("[budget]\ngzp = 3", "[budget]: unknown key gzp"),
    "zero": ("[budget]\nbytes = 0", "[budget]: bytes = 0; expected a whole number of bytes above 0"),
    "true": ("[budget]\ngzip = true", "[budget]: gzip = true; expected a whole number"),
    "a fraction": ("[budget]\nbytes = 1.5", "[budget]: bytes = 1.5; expected a whole number"),
}


@pytest.mark.parametrize(("top", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_a_budget(top: str, message: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        parse(f'name = "t"\n{top}\n{TABLE}', "t.toml")
    assert message in caught.value.message
    assert caught.value.hint
