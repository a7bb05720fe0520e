"""A bundle as files in memory: built once, then compared with a folder or written to it. One path for both.

A folder belongs to wgslgen when it holds a manifest of ours; the files that this manifest lists are ours, and
every other file there is foreign. Foreign files are never touched: they stop `write`.
"""

from __future__ import annotations

import difflib
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wgslgen import plans
from wgslgen.answers import answers
from wgslgen.errors import UsageProblem
from wgslgen.manifest import (
    MANIFEST,
    SCHEMA,
    Manifest,
    entry,
    manifest_bytes,
    plan_entry,
    schema_bytes,
    sha256,
    variant_file,
)
from wgslgen.minify import minify
from wgslgen.model import Model
from wgslgen.naming import variant_name
from wgslgen.paths import license_text
from wgslgen.render import render
from wgslgen.spec import Kernel
from wgslgen.webmodule import web_files


@dataclass(frozen=True)
class Bundle:
    """The files of a bundle by their path in the folder, and the variants that they hold."""

    name: str
    files: dict[str, bytes]
    variants: tuple[Kernel, ...]

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest as data, as a page would read it."""
        found: dict[str, Any] = json.loads(self.files[MANIFEST])
        return found


@dataclass(frozen=True)
class Differences:
    """How a folder differs from a bundle: paths in it, sorted. Falsy where it does not."""

    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    orphaned: tuple[str, ...] = ()
    """Files that are not part of the bundle, made by wgslgen once or by someone else."""

    def __bool__(self) -> bool:
        return bool(self.changed or self.missing or self.orphaned)

    def lines(self) -> Iterator[str]:
        """Yield a line a file: what is the matter, and which."""
        for what in ("changed", "missing", "orphaned"):
            yield from (f"{what}: {path}" for path in getattr(self, what))


def build(
    name: str,
    variants: tuple[Kernel, ...],
    source: str,
    description: str = "",
    model: Model | None = None,
    small: bool = False,
    profiles: tuple[str, ...] = (),
    answered: bool = True,
) -> Bundle:
    """Render all variants, and derive their plans; `source` is the bundle file's name as the texts state it.

    With `small` the texts are minified; `profiles` are the device classes that the bundle is for, which
    `completeness.check` has to prove. Without `answered` the self-test has no answers, which take most of the time;
    such a bundle is to be looked at, not written. Pure but for templates.
    """
    texts = {variant: render(variant, source) for variant in variants}
    if small:
        texts = {variant: minify(text) for variant, text in texts.items()}
    entries = tuple(entry(variant) for variant in variants)
    planned = tuple(plan_entry(plan) for plan in plans.derive(variants, model))
    files = {variant_file(variant): text.encode() for variant, text in texts.items()}
    named = {variant_name(variant): text for variant, text in texts.items()}
    files |= web_files(name, source, entries, planned, named, answers(variants if answered else ()))
    files["LICENSE"] = license_text().encode()
    files[SCHEMA] = schema_bytes()
    manifest = Manifest(
        made_by=made_by(source),
        name=name,
        description=description,
        model={} if model is None else model.model_dump(),
        files={path: sha256(content) for path, content in sorted(files.items())},
        profiles=profiles,
        variants=entries,
        plans=planned,
    )
    files[MANIFEST] = manifest_bytes(manifest)
    return Bundle(name, dict(sorted(files.items())), variants)


def made_by(source: str) -> str:
    """Return the provenance line of a manifest; its beginning marks a folder as ours."""
    return f"wgslgen from {source}; change that file and run `wgslgen render`"


def compare(bundle: Bundle, folder: Path) -> Differences:
    """Compare the bundle with what lies in `folder`."""
    on_disk = _files(folder)
    return Differences(
        changed=tuple(p for p, content in bundle.files.items() if p in on_disk and _read(folder / p) != content),
        missing=tuple(p for p in bundle.files if p not in on_disk),
        orphaned=tuple(sorted(on_disk - bundle.files.keys())),
    )


def diff(bundle: Bundle, folder: Path, most_lines: int = 200) -> str:
    """Return a unified diff from `folder` to the bundle, cut after `most_lines` with a line that says so."""
    lines: list[str] = []
    differences = compare(bundle, folder)
    for path in sorted({*differences.changed, *differences.missing, *differences.orphaned}):
        old = _text(_read(folder / path)) if path not in differences.missing else []
        new = _text(bundle.files[path]) if path in bundle.files else []
        lines += difflib.unified_diff(old, new, f"on disk/{path}", f"rendered/{path}", lineterm="")
    if len(lines) > most_lines:
        lines = [*lines[:most_lines], f"… {len(lines) - most_lines} more lines"]
    return "".join(f"{line}\n" for line in lines)


def write(bundle: Bundle, folder: Path) -> Differences:
    """Make `folder` hold the bundle, and return what was different.

    The files are written to a temporary folder beside it, which then takes its place, so that a failure
    leaves what was there. Raises UsageProblem as `refuse_foreign` does.
    """
    differences = refuse_foreign(bundle, folder)
    if not differences and folder.is_dir():
        return differences
    try:
        _swap(bundle, folder)
    except OSError as problem:
        raise UsageProblem(
            f"{folder}: cannot write ({problem.strerror}); what was there is unchanged",
            hint="choose another folder: wgslgen render --out FOLDER",
        ) from None
    return differences


def refuse_foreign(bundle: Bundle, folder: Path) -> Differences:
    """Raise UsageProblem for a folder with files that wgslgen did not make; return how it differs otherwise.

    What equals the render is ours whatever the manifest says, and so is a manifest, however damaged, beside
    the schema that we ship.
    """
    differences = compare(bundle, folder)
    on_disk = _files(folder)
    intact = on_disk & bundle.files.keys() - {*differences.changed}
    damaged = {MANIFEST} if SCHEMA in intact else set()
    foreign = sorted(on_disk - _ours(folder) - intact - damaged)
    if foreign or (folder.exists() and not folder.is_dir()):
        what = f"holds files that wgslgen did not make: {', '.join(foreign[:5])}" if foreign else "is not a folder"
        more = f" and {len(foreign) - 5} more" if len(foreign) > 5 else ""
        raise UsageProblem(
            f"{folder} {what}{more}; nothing was written",
            hint="move them away, or choose another folder: wgslgen render --out FOLDER",
        )
    return differences


def _swap(bundle: Bundle, folder: Path) -> None:
    target = folder.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        fresh.chmod(0o755)
        for path, content in bundle.files.items():
            (fresh / path).parent.mkdir(parents=True, exist_ok=True)
            (fresh / path).write_bytes(content)
        if target.exists():
            _exchange(target, fresh)
        else:
            fresh.replace(target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _exchange(target: Path, fresh: Path) -> None:
    """Put `fresh` in the place of the folder `target`; where that fails, the old one takes its place again."""
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        target.replace(old)
    except BaseException:
        old.rmdir()
        raise
    try:
        fresh.replace(target)
    except BaseException:
        old.replace(target)  # should this fail too, the old files stay where they are, under the temporary name
        raise
    shutil.rmtree(old, ignore_errors=True)


def _files(folder: Path) -> set[str]:
    if not folder.is_dir():
        return set()
    try:
        paths = [path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()]
    except OSError as problem:
        raise UsageProblem(f"{folder}: cannot read ({problem.strerror}: {problem.filename})") from None
    return {path.relative_to(folder).as_posix() for path in paths}


def _ours(folder: Path) -> set[str]:
    """Return the files of `folder` that a manifest of ours lists; empty where there is none."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        ours = str(manifest["made_by"]).startswith("wgslgen from ")
        return {MANIFEST, *manifest["files"]} if ours else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise UsageProblem(f"{path}: cannot read ({problem.strerror})") from None


def _text(content: bytes) -> list[str]:
    return content.decode(errors="replace").split("\n")
