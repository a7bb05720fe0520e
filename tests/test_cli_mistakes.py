"""What a user may get wrong: each mistake is told with a hint, before anything is written, without a traceback."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from cli_runs import C41, SMALL, refused, run, run_apart, snapshot, strict_json, told
from gguf_files import STRING, Tensor, gguf_file, matrix
from pydantic import ValidationError

from wgslgen import prove
from wgslgen.constants import choices
from wgslgen.kernels import KERNELS
from wgslgen.kernels.matvec import Matvec
from wgslgen.tomltext import toml

TWO = [matrix("a.weight", 64, 256, "q2_0", 64), matrix("b.weight", 64, 256, "q2_0", 64)]
WHOLE = gguf_file(TWO)
UNKNOWN = gguf_file([Tensor("a.weight", (32, 32), 99, bytes(1024))])
ODD = gguf_file([Tensor("a.weight", (30, 32), 0, np.ones(960, "<f4").tobytes())])
TWICE = gguf_file([matrix("type", 2, 32, "q4_0"), matrix("type", 2, 32, "q4_0")])
NORMS = gguf_file([Tensor("output_norm.weight", (128,), 0, np.ones(128, "<f4").tobytes())])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, now the current one, with a sound bundle file, a sound model, and broken ones."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "precious.txt").write_text("mine")
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "folder.gguf").mkdir()
    (tmp_path / "latin.toml").write_bytes(b'name = "caf\xe9"\n')
    (tmp_path / "noext").write_text(SMALL)
    (tmp_path / "Upper.toml").write_text(SMALL)
    # Opens like a file and answers a read with an error, as a failing disk does; root may not read it either.
    (tmp_path / "unreadable.toml").symlink_to("/proc/self/mem")
    (tmp_path / "unreadable.gguf").symlink_to("/proc/self/mem")
    for name, data in {
        "whole": WHOLE,
        "cut": WHOLE[:-300],
        "head": WHOLE[:100],
        "empty": b"",
        "zip": b"PK\x03\x04" + bytes(100),
        "unknown": UNKNOWN,
        "odd": ODD,
        "twice": TWICE,
        "norms": NORMS,
    }.items():
        (tmp_path / f"{name}.gguf").write_bytes(data)
    return tmp_path


MISTAKES: dict[str, tuple[str, int, list[str]]] = {
    "no such command": ("rendr", 2, ["No such command 'rendr'", "wgslgen --help"]),
    "no such option": ("render --wat", 2, ["--wat", "wgslgen render --help"]),
    "an option without its value": ("render small.toml --out", 2, ["--out"]),
    "no bundle file anywhere": ("render", 2, ["no bundle file", "make one: wgslgen init"]),
    "a missing file": ("render gone.toml", 2, ["'gone.toml' does not exist"]),
    "a folder for a file": ("list folder.toml", 2, ["'folder.toml' is a directory"]),
    "an unreadable file": ("render unreadable.toml", 2, ["unreadable.toml: cannot be read"]),
    "not UTF-8": ("render latin.toml", 2, ["latin.toml: not UTF-8 at byte 11"]),
    "a name without .toml": ("render noext", 2, ["names its folder", "noext.toml"]),
    "a name in upper case": ("render Upper.toml", 2, ["names its folder", "upper.toml"]),
    "files of someone else": ("render small.toml", 2, ["did not make: precious.txt"]),
    "a file for --out": ("render small.toml --out noext", 2, ["'noext' is a file"]),
    "a place for --out that cannot be": ("render small.toml --out /proc/nowhere/x", 2, ["/proc/nowhere/x"]),
    "no such judge": ("validate small.toml --require glslang", 2, ["no judge 'glslang'", "choose from"]),
    "init from nothing": ("init", 2, ["either --preset or --gguf"]),
    "init from both": ("init --preset bonsai-4b --gguf whole.gguf", 2, ["either --preset or --gguf"]),
    "no such preset": ("init --preset bonsai-5b --format q1_0", 2, ["bonsai-5b", "bonsai-4b"]),
    "a preset without a format": ("init --preset bonsai-4b", 2, ["no --format"]),
    "no such format": ("init --preset bonsai-4b --format q3_9", 2, ["--format q3_9", "q1_0, q2_0"]),
    "no such group": ("init --preset bonsai-4b --format q2_0 --group 77", 2, ["77", "--group 64"]),
    "a group that is no number": ("init --preset bonsai-4b --format q2_0 --group x", 2, ["'x' is not a valid integer"]),
    "a format for a file": ("init --gguf whole.gguf --format q2_0", 2, ["--format goes with --preset"]),
    "a path for a name": ("init --preset bonsai-4b --format q1_0 --name ../x", 2, ["--name", "lower-case"]),
    "a name that render would refuse": (
        "init --preset bonsai-4b --format q1_0 --file Bad.toml",
        2,
        ["'Bad.toml'", "bad.toml"],
    ),
    "a bundle file that is there": (
        "init --preset bonsai-4b --format q1_0 --file small.toml",
        2,
        ["small.toml exists already; init never overwrites"],
    ),
    "a place for it that cannot be": (
        "init --preset bonsai-4b --format q1_0 --file noext/x.toml",
        2,
        ["noext is not a folder"],
    ),
    "a model that is missing": ("init --gguf gone.gguf", 2, ["'gone.gguf' does not exist"]),
    "a folder for a model": ("verify --gguf folder.gguf", 2, ["'folder.gguf' is a directory"]),
    "a group that a file does not have": ("init --gguf whole.gguf --group 128", 2, ["group 128 does not fit"]),
    "a model that no kernel takes": (
        "init --gguf odd.gguf",
        2,
        ["odd.gguf gives no bundle", "k 30 is not a positive multiple of 4"],
    ),
    "real tensors that no kernel takes": (
        "verify --gguf odd.gguf",
        2,
        ['odd.gguf: "a.weight" is f32 with 30 columns'],
    ),
    "a model without matrices": ("init --gguf norms.gguf", 2, ["holds no weight matrix"]),
    "real tensors, none that a kernel reads": ("verify --gguf norms.gguf", 2, ["holds no matrix", "q1_0"]),
    "no such adapter": ("verify small.toml --adapter nope", 2, ["'nope' is not one of", "'lavapipe'"]),
    "no process": ("verify small.toml --jobs 0", 2, ["--jobs"]),
    "a group without a model": ("verify small.toml --group 64", 2, ["--group goes with --gguf"]),
    "a model and a bundle file": ("verify small.toml --gguf whole.gguf", 2, ["takes no bundle file small.toml"]),
    "a model and judges": ("verify --gguf whole.gguf --require naga", 2, ["takes no --require naga"]),
}


@pytest.mark.parametrize(("command", "code", "words"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_on_the_command_line(command: str, code: int, words: list[str], place: Path) -> None:
    before = snapshot(place)
    refused(run(*command.split()), code, *words)
    assert snapshot(place) == before


DAMAGE = {
    "cut.gguf": "the file ends within",
    "head.gguf": "the file ends within",
    "empty.gguf": "an empty file",
    "zip.gguf": "not a GGUF file",
    "unknown.gguf": '"a.weight" has type id 99, which is unknown',
    "twice.gguf": '"type" is given twice',
    "unreadable.gguf": "cannot be read",
}


@pytest.mark.parametrize("command", ["init", "verify"])
@pytest.mark.parametrize(("file", "said"), DAMAGE.items(), ids=DAMAGE)
def test_damaged_models(command: str, file: str, said: str, place: Path) -> None:
    before = snapshot(place)
    refused(run(command, "--gguf", file), 2, file, said)
    assert snapshot(place) == before


WRONG = {
    "unknown key": ('format = "q4_0"\ncolour = 1', "unknown key colour"),
    "a truth for a number": ('format = "q4_0"\ntile_rows = true', "tile_rows = true; expected 1, 2, 4 or 8"),
    "not a choice": ('format = "q4_0"\ntile_rows = 3', "tile_rows = 3; expected 1, 2, 4 or 8"),
    "a fraction": ('format = "q4_0"\nstep_words = 1.0', "step_words = 1.0"),
    "K in part blocks": ('format = "q4_0"\nk = 33', "k 33 is not a positive multiple of 32"),
    "no such format": ('format = "q9_9"', 'format = "q9_9"'),
    "no group": ('format = "q2_0"', "q2_0 needs a group"),
    "a group of another format": ('format = "q4_0"\ngroup = 64', "64"),
    "not TOML": ("tile_rows = [", "not TOML"),
}


@pytest.mark.parametrize("command", ["render", "render --check", "list --json", "validate", "verify"])
@pytest.mark.parametrize(("change", "said"), WRONG.values(), ids=WRONG)
def test_mistakes_in_a_bundle_file(command: str, change: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(f'name = "wrong"\n[[kernel]]\nkernel = "matvec"\nroute = "float"\n{change}\n')
    refused(run(*command.split(), path), 2, "wrong.toml", said)
    assert [*tmp_path.iterdir()] == [path]


# ---- C41 -------------------------------------------------------------------------------------------


def test_c41_bundles_called_like_wgsl_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = []
    for word in C41:
        text = SMALL.replace('"small"', f'"{word}"')
        Path(f"{word}.toml").write_text(text)
        if word.startswith("_"):
            refused(run("render", f"{word}.toml"), 2, "names its folder")
            Path("named.toml").write_text(text)
            refused(run("render", "named.toml"), 2, f'name = "{word}"')
            refused(run("init", "--preset", "bonsai-4b", "--format", "q1_0", "--name", word), 2, f'--name "{word}"')
        else:
            files.append(f"{word}.toml")
    assert len(files) == len(C41) - 2
    assert run("render", *files).exit_code == 0
    result = run("validate", *files, "--require", "rules,naga,tint")
    assert result.exit_code == 0, result.stderr


def test_c41_tensors_called_like_wgsl_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their names stand in comments and in tables, never in a text that a compiler reads."""
    monkeypatch.chdir(tmp_path)
    tensors = [matrix(f"{word}.weight", 40 - at, 32, "q4_0") for at, word in enumerate(C41)]
    Path("words.gguf").write_bytes(gguf_file(tensors, {"general.name": (STRING, "fn")}))
    assert run("init", "--gguf", "words.gguf", "--name", "words").exit_code == 0
    result = run("validate", "generated/words.toml", "--require", "rules,naga,tint")
    assert result.exit_code == 0, result.stderr
    proof = run("verify", "--gguf", "words.gguf", "--adapter", "lavapipe", "--json")
    assert proof.exit_code == 0, proof.stderr
    outcomes = strict_json(proof.stdout)["outcomes"]
    assert {outcome["tensor"] for outcome in outcomes} == {tensor.name for tensor in tensors}


# ---- what no check foresees ------------------------------------------------------------------------


@pytest.mark.usefixtures("place")
def test_no_traceback_for_what_no_check_foresaw(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError) as caught:
        Matvec(format="q4_0", route="float", tile_rows=3)  # type: ignore[arg-type]
    for problem, said in (
        (caught.value, "tile_rows"),
        (OSError(5, "Input/output error", "x.json"), "x.json: input/output error"),
        (MemoryError(), "more memory"),
    ):

        def fail(*_: object, problem: BaseException = problem) -> None:
            raise problem

        monkeypatch.setattr(prove, "validate_all", fail)
        refused(run("validate", "small.toml"), 2, said)


@pytest.mark.usefixtures("place")
def test_a_fault_of_wgslgen_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(prove, "validate_all", fail)
    assert isinstance(run("validate", "small.toml").exception, ZeroDivisionError)


@pytest.mark.usefixtures("place")
def test_mistakes_as_processes() -> None:
    for command, code, words in (MISTAKES["a missing file"], MISTAKES["files of someone else"]):
        result = run_apart(*command.split())
        assert (result.returncode, result.stdout) == (code, "")
        told(result.stderr, *words)


NUMBERS = (0, 1, 3, 30, 32, 33, 64, 257, 4096, 65536, 2**32 - 4, 2**32, -1, True, 1.5, "x")


def test_any_constants_make_variants_or_a_message(tmp_path: Path) -> None:
    """Legal values in any combination, now and then a wild one: no kernel ends in another error."""
    made = 0
    for _ in range(400):
        kernel = random.choice(KERNELS)
        lines = ['name = "any"', "[[kernel]]", f'kernel = "{kernel.NAME}"']
        for field, info in kernel.model_fields.items():
            if info.is_required() or random.random() < 0.6:
                legal = choices(kernel, field) or NUMBERS
                lines.append(f"{field} = {toml(random.choice(legal if random.random() < 0.97 else NUMBERS))}")
        (tmp_path / "any.toml").write_text("\n".join(lines))
        result = run("list", tmp_path / "any.toml")
        assert result.exit_code in (0, 2), (lines, result.exception)
        assert isinstance(result.exception, SystemExit | None), (lines, result.exception)
        made += result.exit_code == 0
    assert 50 < made < 350
