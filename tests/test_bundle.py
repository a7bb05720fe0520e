"""Bundles: built in memory, compared and written on one path, and never over somebody else's files."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from wgslgen import __version__, bundle, presets
from wgslgen.errors import UsageProblem
from wgslgen.kernels.matvec import Matvec
from wgslgen.manifest import MANIFEST, SCHEMA, sha256
from wgslgen.naming import variant_name

VARIANTS = (
    Matvec(format="q2_0", group=64, route="float", subgroups=True),
    Matvec(format="q2_0", group=64, route="float"),
    Matvec(format="q4_1", route="int8", activation_group=32, activation="f32", n=64, k=96),
)
MODEL = presets.get("bonsai-4b")


@pytest.fixture(scope="module")
def built() -> bundle.Bundle:
    return bundle.build("small", VARIANTS, "small.toml", "three variants", MODEL)


def test_writing_then_comparing_finds_no_difference(built: bundle.Bundle, tmp_path: Path) -> None:
    folder = tmp_path / "out" / "small"
    assert bundle.write(built, folder).missing == tuple(built.files)
    assert not bundle.compare(built, folder)
    assert not bundle.write(built, folder)
    assert {path.name for path in folder.parent.iterdir()} == {"small"}


def test_a_changed_byte_a_lost_and_a_foreign_file_show(built: bundle.Bundle, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    bundle.write(built, folder)
    first, second, *_ = [path for path in built.files if path.endswith(".wgsl")]
    content = bytearray((folder / first).read_bytes())
    content[-3] ^= 1
    (folder / first).write_bytes(content)
    (folder / second).unlink()
    (folder / "notes.txt").write_text("mine")
    differences = bundle.compare(built, folder)
    assert differences == bundle.Differences((first,), (second,), ("notes.txt",))
    assert [*differences.lines()] == [f"changed: {first}", f"missing: {second}", "orphaned: notes.txt"]
    assert f"--- on disk/{first}" in bundle.diff(built, folder, most_lines=1000)


def test_foreign_files_stop_the_writer_and_stay(built: bundle.Bundle, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    bundle.write(built, folder)
    changed = next(path for path in built.files if path.endswith(".wgsl"))
    (folder / changed).write_text("changed")
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(UsageProblem, match=r"did not make: notes\.txt"):
        bundle.write(built, folder)
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / changed).read_text() == "changed"
    (folder / "notes.txt").unlink()
    bundle.write(built, folder)
    assert not bundle.compare(built, folder)


def test_a_folder_of_someone_else_is_not_taken(built: bundle.Bundle, tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text('{"made_by": "another tool", "files": {}}')
    with pytest.raises(UsageProblem, match=r"did not make: manifest\.json"):
        bundle.write(built, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageProblem, match="is not a folder"):
        bundle.write(built, tmp_path / "file")


def test_a_lost_manifest_is_repaired(built: bundle.Bundle, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    bundle.write(built, folder)
    (folder / MANIFEST).unlink()
    assert bundle.write(built, folder).missing == (MANIFEST,)
    assert not bundle.compare(built, folder)


def test_old_files_survive_even_a_failed_restore(
    built: bundle.Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "small"
    smaller = bundle.build("small", VARIANTS[:1], "small.toml")
    bundle.write(smaller, folder)
    replace = Path.replace

    def only_away(self: Path, target: Path) -> Path:
        if target == folder:
            raise OSError(5, "Input/output error")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", only_away)
    with pytest.raises(UsageProblem, match="Input/output error"):
        bundle.write(built, folder)
    (kept,) = tmp_path.iterdir()
    assert not bundle.compare(smaller, kept)


def test_files_of_an_older_bundle_go(built: bundle.Bundle, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    bundle.write(built, folder)
    smaller = bundle.build("small", VARIANTS[:1], "small.toml")
    orphaned = bundle.write(smaller, folder).orphaned
    assert len(orphaned) == 2
    assert not bundle.compare(smaller, folder)


def test_a_failed_write_leaves_what_was_there(
    built: bundle.Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "small"
    smaller = bundle.build("small", VARIANTS[:1], "small.toml")
    bundle.write(smaller, folder)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(UsageProblem, match="No space left on device"):
        bundle.write(built, folder)
    monkeypatch.undo()
    assert not bundle.compare(smaller, folder)
    assert [path.name for path in tmp_path.iterdir()] == ["small"]


def test_the_manifest_fits_its_schema_and_states_every_hash(built: bundle.Bundle) -> None:
    manifest, schema = json.loads(built.files[MANIFEST]), json.loads(built.files[SCHEMA])
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(manifest)
    hashes = {path: sha256(content) for path, content in built.files.items() if path != MANIFEST}
    assert manifest["files"] == hashes
    assert [variant["name"] for variant in manifest["variants"]] == [variant_name(v) for v in VARIANTS]
    assert manifest["model"] == MODEL.model_dump()


def test_the_schema_refuses_unknown_keys_and_wrong_types(built: bundle.Bundle) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(built.files[SCHEMA]))
    changes: tuple[dict[str, object], ...] = (
        {"extra": 1},
        {"schema_version": 1},
        {"variants": [{}]},
        {"files": {"a": 1}},
    )
    for change in changes:
        assert [*validator.iter_errors({**json.loads(built.files[MANIFEST]), **change})], change


def test_no_machine_date_or_version_in_any_file(built: bundle.Bundle) -> None:
    for path, content in built.files.items():
        text = content.decode()
        assert str(Path.cwd()) not in text
        assert __version__ not in text
        if path.endswith((".wgsl", ".js", ".ts")):
            assert text.startswith("// SPDX-License-Identifier: MIT\n// Made by wgslgen from small.toml")
    assert list(json.loads(built.files[MANIFEST]))[:3] == ["$schema", "license", "made_by"]


def test_a_diff_is_capped(built: bundle.Bundle, tmp_path: Path) -> None:
    text = bundle.diff(built, tmp_path / "nothing", most_lines=10)
    assert len(text.splitlines()) == 11
    assert text.splitlines()[-1].startswith("… ")


def test_expressions_carry_numbers_not_names_of_constants(built: bundle.Bundle) -> None:
    manifest = json.loads(built.files[MANIFEST])
    assert manifest["variants"][0]["workgroups"] == ["ceil_div", "N", 4]
    baked = manifest["variants"][2]
    assert baked["workgroups"] == 16
    assert baked["uniforms"] is None
    assert [rule["why"] for rule in baked["rules"]][1:] == ["N is baked in", "K is baked in"]
    assert [rule["condition"] for rule in baked["rules"]][1:] == [["eq", "N", 64], ["eq", "K", 96]]
