"""From the names of bundle files to what they ask for, and what several of them ask for together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wgslgen import bundle, bundlefile
from wgslgen.errors import UsageProblem
from wgslgen.slugs import is_slug, slug
from wgslgen.spec import Kernel

GENERATED = Path("generated")


@dataclass(frozen=True)
class Loaded:
    """A bundle file, what it expands to, and where its output lies."""

    path: Path
    file: bundlefile.BundleFile
    grid: bundlefile.Grid

    @property
    def folder(self) -> Path:
        """The output folder: beside the bundle file, with its stem as name."""
        return self.path.with_suffix("")

    def build(self, answered: bool = True) -> bundle.Bundle:
        """Render the bundle to memory, for a look at it without the answers of its self-test."""
        file = self.file
        source = self.path.name
        return bundle.build(
            file.name, self.grid.variants, source, file.description, file.facts, file.minify, file.profiles, answered
        )


def load(named: Sequence[Path]) -> list[Loaded]:
    """Load the named bundle files, or all of `generated/` where none is named."""
    files = [(path, bundlefile.load(path)) for path in choose(named)]
    return [Loaded(path, file, bundlefile.expand(file)) for path, file in files]


def choose(named: Sequence[Path]) -> Sequence[Path]:
    """Return the named bundle files, or all of `generated/` where none is named, after a look at their names alone."""
    chosen = named or sorted(GENERATED.glob("*.toml"))
    if not chosen:
        raise UsageProblem(
            f"no bundle file named, and none lies in {GENERATED}/",
            hint="make one: wgslgen init --preset bonsai-1.7b --format q2_0 --group 64",
        )
    for path in chosen:
        check_name(path)
    return chosen


def check_name(path: Path) -> None:
    """Refuse a bundle file whose name is not safe: it names the output folder and stands in every output."""
    if path.suffix != ".toml" or not is_slug(path.stem):
        raise UsageProblem(
            f"{str(path)!r}: the name of a bundle file names its folder and stands in every output; expected "
            "lower-case letters, digits, '.', '-' and '_', then .toml",
            hint=f"name it, for example, {slug(path.name.removesuffix('.toml'))}.toml",
        )


def paths(loaded: Sequence[Loaded]) -> list[str]:
    """Return the bundle files as a command that is printed names them."""
    return [str(one.path) for one in loaded]


def variants_of(loaded: Iterable[Loaded]) -> tuple[Kernel, ...]:
    """Return the variants of all bundles, each once."""
    return tuple(dict.fromkeys(variant for one in loaded for variant in one.grid.variants))


def minified_of(loaded: Iterable[Loaded]) -> tuple[Kernel, ...]:
    """Return the variants of the bundles that ship minified texts, each once."""
    return variants_of(one for one in loaded if one.file.minify)
