"""The first judge: naga, by its command line tool, many texts in one call.

naga is the front end of wgpu-native and of Firefox. It reads the native dialect. `--bulk-validate` goes on
after a text that it refuses, names every refused text at the end, and prints diagnostics with the file's
name; here each file stands for a variant, whose name is put in its place.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from wgslgen.dialect import to_native
from wgslgen.errors import ToolMissing
from wgslgen.paths import user_cache
from wgslgen.report import Finding, Severity

NAGA_MAJOR: Final = 29
"""The major version of the naga inside the wgpu-native that the package `wgpu` carries."""

UNKNOWN_EXTENSIONS: Final = frozenset({"chromium_experimental_subgroup_matrix"})
"""Extensions that no naga knows: texts that enable them are judged by Tint alone."""

_ENVIRONMENT_NAME: Final = "WGSLGEN_NAGA"
_MEMORY: Final = "/dev/shm"  # noqa: S108  # the folder made in it is ours alone
_SECONDS: Final = 300
_FAILED: Final = "Validation failed for the following inputs:"
_HEADER = re.compile(r"Error validating (\d+\.wgsl):")
_PLACE = re.compile(r"(?P<file>(?<=┌─ )(?:\d+\.)?wgsl):(?P<line>\d+):(?P<column>\d+)")
_SOURCE_LINE = re.compile(r"^ *(\d+) │ (.*)$", re.MULTILINE)


class Naga(NamedTuple):
    """An executable of the right version."""

    path: Path
    version: str


def install_hint() -> str:
    """Return the command that installs the naga that is looked for."""
    return f"cargo install naga-cli --version '^{NAGA_MAJOR}' --locked --root {_cache_root()}"


def find_naga() -> Naga:
    """Return the naga to use: the environment's choice, else the user's cache folder, else PATH.

    Raises:
        ToolMissing: There is none of the major version NAGA_MAJOR; the message lists what was looked at.
    """
    chosen = os.environ.get(_ENVIRONMENT_NAME)
    if chosen:
        places: list[tuple[str, Path | None]] = [(f"{_ENVIRONMENT_NAME}={chosen}", Path(chosen))]
    else:
        on_path = shutil.which("naga")
        cached = _cache_root() / "bin" / "naga"
        places = [(str(cached), cached), (f"{on_path} on PATH", Path(on_path)) if on_path else ("PATH", None)]
    reasons = []
    for said, path in places:
        if path is None or not (path.is_file() and os.access(path, os.X_OK)):
            reasons.append(f"{said}: no executable there")
            continue
        version = _version(path, path.stat().st_mtime_ns)
        if version.partition(".")[0] == str(NAGA_MAJOR):
            return Naga(path, version)
        reasons.append(f"{said}: version {version or 'unknown'}")
    raise ToolMissing(
        f"naga {NAGA_MAJOR}, the major version inside wgpu-native, is missing ({'; '.join(reasons)})",
        hint=install_hint(),
    )


def _cache_root() -> Path:
    return user_cache() / f"naga-{NAGA_MAJOR}"


@functools.cache
def _version(path: Path, changed: int) -> str:  # noqa: ARG001  # a new file at the path is asked again
    """Return what `--version` says (naga 29 prints the bare number), or an empty string."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.split()[-1] if done.returncode == 0 and done.stdout.split() else ""


def judge(naga: Naga, texts: Mapping[str, str]) -> dict[str, list[Finding]]:
    """Return naga's findings on web texts by name; texts that it passes without a word have no entry."""
    if not texts:
        return {}
    files = {f"{index:06}.wgsl": name for index, name in enumerate(texts)}
    natives = [to_native(text).encode() for text in texts.values()]
    with tempfile.TemporaryDirectory(prefix="wgslgen-naga-", dir=_scratch(sum(map(len, natives)))) as folder:
        for file, native in zip(files, natives, strict=True):
            with open(f"{folder}/{file}", "wb") as stream:  # noqa: PTH123  # many small files: a Path each costs more
                stream.write(native)
        output, code = _run(naga, list(files), folder)
    if code != 0 and _FAILED not in output:
        return _judge_apart(naga, texts, output, code)
    said, _, refused = output.partition(_FAILED)
    found: dict[str, list[Finding]] = defaultdict(list)
    for about, block in _blocks(said):
        names = _warned(block, texts) if about is None else [files[about]]
        for name in names:
            finding = _finding("warning" if about is None else "error", block, name)
            if finding not in found[name]:  # a warning comes once for each text that it quotes
                found[name].append(finding)
    for file in refused.split():
        if file in files and not any(f.severity == "error" for f in found[files[file]]):
            found[files[file]].append(_finding("error", "refused, and naga did not say why", file))
    return dict(found)


def _scratch(size: int) -> str | None:
    """Return a folder in memory with room for `size` bytes, else None: the system's place for such files.

    Making hundreds of files on a disk may take as long as naga takes to judge them.
    """
    if not os.access(_MEMORY, os.W_OK):
        return None
    return _MEMORY if shutil.disk_usage(_MEMORY).free > 4 * size + 2**20 else None


def _run(naga: Naga, files: list[str], folder: str) -> tuple[str, int]:
    """Validate `files` in one call; return what naga printed and its exit code, -1 past the time limit."""
    quiet = {"NO_COLOR": "1", "RUST_LOG": "warn", "RUST_BACKTRACE": "0"}
    try:
        done = subprocess.run(
            [naga.path, "--bulk-validate", *files],
            cwd=folder,
            env=os.environ | quiet,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no verdict within {_SECONDS} seconds", -1
    return done.stdout.decode("utf-8", errors="replace"), done.returncode


def _judge_apart(naga: Naga, texts: Mapping[str, str], output: str, code: int) -> dict[str, list[Finding]]:
    """Find the text on which naga broke down: halve the texts until it stands alone."""
    names = list(texts)
    if len(names) == 1:
        block = f"naga broke down (exit code {code}):\n{output.strip()}"
        return {names[0]: [_finding("error", block, names[0])]}
    found: dict[str, list[Finding]] = {}
    middle = len(names) // 2
    for half in (names[:middle], names[middle:]):
        found |= judge(naga, {name: texts[name] for name in half})
    return found


def _blocks(output: str) -> Iterator[tuple[str | None, str]]:
    """Yield naga's diagnostics with the file that each is about; None for warnings, which name no file."""
    file: str | None = None
    lines: list[str] = []
    for line in [*output.splitlines(), "[end"]:
        header = _HEADER.fullmatch(line)
        if header is None and not line.startswith(("[WARN", "[end")):
            lines.append(line)
            continue
        block = "\n".join(lines).strip()
        if block:
            yield file, block
        file, lines = (header.group(1), []) if header else (None, [line])


def _finding(severity: Severity, block: str, name: str) -> Finding:
    """Make a finding of what naga printed, with the variant's name where naga has a file's."""
    place = _PLACE.search(block)
    return Finding(
        judge="naga",
        severity=severity,
        line=int(place["line"]) if place else None,
        column=int(place["column"]) if place else None,
        message=_PLACE.sub(lambda match: f"{name}:{match['line']}:{match['column']}", block),
    )


def _warned(block: str, texts: Mapping[str, str]) -> list[str]:
    """Return the texts that hold the line which a warning quotes: naga does not say which file it means."""
    place = _PLACE.search(block)
    quoted = [match[2] for match in _SOURCE_LINE.finditer(block) if place and match[1] == place["line"]]
    if place is None or not quoted:
        return list(texts)
    index = int(place["line"]) - 1
    return [name for name, text in texts.items() if quoted[0] in to_native(text).split("\n")[index : index + 1]]
