"""`render --watch`: a render after each change, whatever the last one came to, until an interrupt."""

from __future__ import annotations

import errno
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from cli_runs import TINY, refused, run, snapshot
from talking import Talking
from watchfiles import Change

import wgslgen
from wgslgen import watch
from wgslgen.cli import render
from wgslgen.paths import templates_dir

EIGHT = TINY.replace("4", "8")
WATCH = (sys.executable, "-m", "wgslgen", "render", "--watch")


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a copy of the package and its templates, so that a test may change them."""
    package = Path(wgslgen.__file__).parent
    shutil.copytree(package, tmp_path / "checkout" / "wgslgen", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(templates_dir(), tmp_path / "checkout" / "templates")
    return tmp_path / "checkout"


@pytest.fixture
def watching(tiny: Path, checkout: Path) -> Iterator[Talking]:
    with Talking(*WATCH, "tiny.toml", at=tiny.parent, PYTHONPATH=str(checkout)) as process:
        process.says("tiny: 2 variants, rendered: ")
        process.says("watching; ")
        yield process


def save(path: Path, text: str) -> None:
    """Put a new file in the place of the old one, as many editors do."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text)
    fresh.replace(path)


def rendered(tiny: Path) -> bool:
    """Tell whether the bundle is what the bundle file asks for."""
    return run("render", "--check", tiny).exit_code == 0


def test_each_change_of_the_bundle_file_is_rendered(tiny: Path, watching: Talking) -> None:
    assert rendered(tiny)
    tiny.write_text(EIGHT)
    watching.says("tiny: 2 variants, rendered: ")
    assert rendered(tiny)
    save(tiny, TINY)
    watching.says("tiny: 2 variants, rendered: ")
    assert rendered(tiny)
    tiny.unlink()
    watching.says("error: tiny.toml: cannot be read")
    tiny.write_text(EIGHT)
    watching.says("tiny: 2 variants, rendered: ")
    assert rendered(tiny)
    assert watching.ends(signal.SIGINT) == 0
    assert "Traceback" not in watching.said
    assert "interrupted" not in watching.said


def test_what_is_wrong_is_said_and_the_watch_goes_on(tiny: Path, watching: Talking) -> None:
    before = snapshot(tiny.with_suffix(""))
    for text in (TINY.replace("]]", "]"), TINY.replace("4", "3"), TINY + "[budget]\nbytes = 1\n"):
        tiny.write_text(text)
        watching.says(refusal := run("render", tiny).stderr.replace(str(tiny), "tiny.toml"))
        assert refusal.startswith("error: ")
        assert snapshot(tiny.with_suffix("")) == before
    theirs = tiny.with_suffix("") / "precious.txt"
    theirs.write_text("mine")
    tiny.write_text(EIGHT)
    watching.says("error: tiny holds files that wgslgen did not make: precious.txt")
    theirs.unlink()
    tiny.write_text(EIGHT)
    watching.says("tiny: 2 variants, rendered: ")
    assert watching.ends(signal.SIGTERM) == 0
    assert "Traceback" not in watching.said


def test_each_change_of_a_template_is_rendered(tiny: Path, checkout: Path, watching: Talking) -> None:
    """A template that someone is writing has faults now and then."""
    kernel = checkout / "templates" / "kernels" / "quantize_q8.wgsl.j2"
    good = kernel.read_text()
    save(kernel, good + "$$ if\n")
    watching.says("jinja2.exceptions.TemplateSyntaxError")
    save(kernel, good + "// one more line\n")
    watching.says("tiny: 2 variants, rendered: ")
    runtime = checkout / "templates" / "web" / "runtime" / "pack.js"
    save(runtime, runtime.read_text() + "// and another\n")
    watching.says("tiny: 2 variants, rendered: ")
    texts = [path.read_text() for path in tiny.with_suffix("").rglob("*.wgsl")]
    assert [text.endswith("// one more line\n") for text in texts] == [True, True]
    assert (tiny.with_suffix("") / "runtime" / "pack.js").read_text().endswith("// and another\n")


def test_a_bundle_file_that_comes_later_is_rendered_where_none_is_named(tiny: Path) -> None:
    (tiny.parent / "generated").mkdir()
    tiny = tiny.replace(tiny.parent / "generated" / "tiny.toml")
    with Talking(*WATCH, at=tiny.parent.parent) as process:
        process.says("generated/tiny: 2 variants, rendered: ")
        process.says("watching; ")
        save(tiny.with_name("later.toml"), TINY)
        process.says("generated/later: 2 variants, rendered: ")
        process.says("generated/tiny: 2 variants, up to date")


def test_what_is_rendered_is_no_change(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told what happens in the folder, and that nothing happens for a while, which at first means that it is heard."""
    nothing: set[object] = set()
    monkeypatch.setattr(watch, "watch", told := Mock(return_value=[nothing, nothing, {"a change"}, nothing]))
    assert [*watch.changes([tiny.parent])] == [None, None]
    counts = told.call_args.kwargs["watch_filter"]
    names = ("tiny.toml", "later.toml", "tiny", ".tiny.x1y2", "notes.txt")
    assert [counts(Change.added, str(tiny.with_name(name))) for name in names] == [True, True, False, False, False]


def test_a_change_of_the_file_behind_a_link_is_rendered(tiny: Path) -> None:
    (tiny.parent / "elsewhere").mkdir()
    real = tiny.replace(tiny.parent / "elsewhere" / "real.toml")
    tiny.symlink_to(real)
    with Talking(*WATCH, "tiny.toml", at=tiny.parent) as process:
        process.says("watching; ")
        real.write_text(EIGHT)
        process.says("tiny: 2 variants, rendered: ")


def test_an_interrupt_within_a_render_is_the_end_and_leaves_what_was_there(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("render", tiny).exit_code == 0
    tiny.write_text(EIGHT)
    before = snapshot(tiny.parent)

    monkeypatch.setattr(render, "changes", Mock(return_value=[None, None]))
    monkeypatch.setattr(Path, "write_bytes", Mock(side_effect=KeyboardInterrupt))
    result = run("render", "--watch", tiny)
    assert (result.exit_code, result.output) == (0, "")
    assert snapshot(tiny.parent) == before


def test_a_reader_that_has_gone_is_the_end(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "changes", Mock(return_value=[None, None]))
    monkeypatch.setattr(render, "load", load := Mock(side_effect=BrokenPipeError(errno.EPIPE, "Broken pipe")))
    result = run("render", "--watch", tiny)
    assert (result.exit_code, result.output, load.call_count) == (1, "", 1)


@pytest.mark.parametrize("option", ["--check", "--diff", "--json"])
def test_watch_takes_no_option_that_asks_once(option: str, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "changes", Mock(return_value=[None]))
    before = snapshot(tiny.parent)
    refused(run("render", "--watch", option, tiny), 2, f"takes no {option}", f"hint: leave {option} out")
    assert snapshot(tiny.parent) == before


def test_what_no_change_of_a_file_mends_ends_the_command(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "changes", changes := Mock(return_value=[None]))
    other = tiny.with_name("other.toml")
    other.write_text(TINY)
    refused(run("render", "--watch", tiny, other, "--out", tiny.parent / "x"), 2, "--out takes one bundle file, got 2")
    wrong = tiny.with_name("Wrong.toml")
    wrong.write_text(TINY)
    refused(run("render", "--watch", wrong), 2, "lower-case letters")
    (tiny.parent / "empty").mkdir()
    monkeypatch.chdir(tiny.parent / "empty")
    refused(run("render", "--watch"), 2, "no bundle file named")
    assert not changes.called
