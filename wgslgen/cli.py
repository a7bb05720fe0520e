"""The command line: parses, calls, prints. Data goes to stdout; talk, progress and errors to stderr."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import wgslgen
from wgslgen import bundle, bundlefile, explain, initialise, plans, prove, sizes, tables
from wgslgen.adapters import ADAPTERS
from wgslgen.commands import Commands
from wgslgen.errors import OracleMismatch, ShaderRejected, Stale, ToolMissing, UsageProblem
from wgslgen.plan import Plan
from wgslgen.report import Report
from wgslgen.slugs import is_slug, slug
from wgslgen.spec import Kernel
from wgslgen.validate import JUDGES

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

    def build(self) -> bundle.Bundle:
        """Render the bundle to memory."""
        file = self.file
        source = self.path.name
        return bundle.build(file.name, self.grid.variants, source, file.description, file.facts, file.minify)


def load(paths: tuple[Path, ...]) -> list[Loaded]:
    """Load the named bundle files, or all of `generated/` where none is named."""
    if not paths:
        paths = tuple(sorted(GENERATED.glob("*.toml")))
        if not paths:
            raise UsageProblem(
                f"no bundle file named, and none lies in {GENERATED}/",
                hint="make one: wgslgen init --preset bonsai-1.7b --format q2_0 --group 64",
            )
    for path in paths:
        check_name(path)
    files = [(path, bundlefile.load(path)) for path in paths]
    return [Loaded(path, file, bundlefile.expand(file)) for path, file in files]


def check_name(path: Path) -> None:
    """Refuse a bundle file whose name is not safe: it names the output folder and stands in every output."""
    if path.suffix != ".toml" or not is_slug(path.stem):
        raise UsageProblem(
            f"{str(path)!r}: the name of a bundle file names its folder and stands in every output; expected "
            "lower-case letters, digits, '.', '-' and '_', then .toml",
            hint=f"name it, for example, {slug(path.name.removesuffix('.toml'))}.toml",
        )


bundle_files = click.argument(
    "bundle_files",
    nargs=-1,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="[BUNDLE.toml]...",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print data as JSON.")


@click.group("wgslgen", cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(wgslgen.__version__)
def main() -> None:
    """Generate WGSL compute kernels for quantised language models, and prove them.

    Without a BUNDLE.toml a command takes every bundle file in generated/.
    """


@main.command()
@click.option("--preset", help="A model whose shapes are known, as bonsai-1.7b.")
@click.option("--gguf", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A model file to read.")
@click.option("--format", "weight_format", help="Weight format of a preset: q1_0 or q2_0.")
@click.option("--group", type=int, help="Weights under one scale, where the format has several.")
@click.option("--name", help="Name of the bundle; by default model and format.")
@click.option("--file", type=click.Path(dir_okay=False, path_type=Path), help="Bundle file to write.")
def init(
    preset: str | None,
    gguf: Path | None,
    weight_format: str | None,
    group: int | None,
    name: str | None,
    file: Path | None,
) -> None:
    """Write a bundle file for a preset or for the model in a GGUF file."""
    if (preset is None) == (gguf is None):
        raise UsageProblem("give either --preset or --gguf", hint="wgslgen init --preset bonsai-1.7b --format q1_0")
    if gguf is None:
        chosen, text = initialise.from_preset(str(preset), weight_format, group, name)
    else:
        if weight_format is not None:
            raise UsageProblem(
                "--format goes with --preset; a GGUF file states its own formats", hint="leave --format out"
            )
        chosen, text = initialise.from_gguf(gguf, group, name)
    target = file or GENERATED / f"{chosen}.toml"
    check_name(target)
    try:
        bundlefile.expand(bundlefile.parse(text, str(target)))
    except UsageProblem as problem:  # a shape that no kernel takes
        raise UsageProblem(
            f"{gguf or preset} gives no bundle: {problem.message}",
            hint="pad that matrix, or write a bundle file by hand that leaves it out",
        ) from None
    initialise.write(target, text)
    click.echo(f"wrote {target}; next: wgslgen render {target}", err=True)


@main.command()
@bundle_files
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Output folder, for one bundle file.")
@click.option("--check", is_flag=True, help="Compare with the folder and write nothing; exit code 1 if it differs.")
@click.option("--diff", is_flag=True, help="Like --check, and print the differences.")
@as_json
def render(bundle_files: tuple[Path, ...], out: Path | None, check: bool, diff: bool, as_json: bool) -> None:
    """Write the bundles that the bundle files ask for."""
    loaded = load(bundle_files)
    if out is not None and len(loaded) != 1:
        raise UsageProblem(
            f"--out takes one bundle file, got {len(loaded)}", hint="name one: wgslgen render BUNDLE.toml --out FOLDER"
        )
    builds = [(one, out or one.folder, one.build()) for one in loaded]
    for one, _, built in builds:
        sizes.check_budget(str(one.path), one.file.budget, built.files)
    if not (check or diff):
        for _, folder, built in builds:
            bundle.refuse_foreign(built, folder)  # before the first of them is written
    stale: list[Loaded] = []
    report: list[dict[str, Any]] = []
    for one, folder, built in builds:
        differences = bundle.compare(built, folder) if check or diff else bundle.write(built, folder)
        shown = {"diff": bundle.diff(built, folder)} if diff else {}
        if diff and not as_json:
            click.echo(shown["diff"], nl=False)
        if differences and (check or diff):
            stale.append(one)
        done = "differs" if check or diff else "rendered"
        report.append(
            {
                "bundle": str(one.path),
                "folder": str(folder),
                "variants": len(built.variants),
                "changed": differences.changed,
                "missing": differences.missing,
                "orphaned": differences.orphaned,
                **shown,
            }
        )
        state = f"{done}: {len([*differences.lines()])} files" if differences else "up to date"
        click.echo(f"{folder}: {len(built.variants)} variants, {state}", err=True)
        if differences and check:
            click.echo("\n".join(f"  {line}" for line in [*differences.lines()][:20]), err=True)
    if as_json:
        tables.print_json(report)
    if stale:
        again = shlex.join(["wgslgen", "render", *_paths(stale), *(["--out", str(out)] if out else [])])
        raise Stale(f"{len(stale)} of {len(loaded)} bundles differ from what would be rendered", hint=again)


@main.command("list")
@bundle_files
@as_json
def list_variants(bundle_files: tuple[Path, ...], as_json: bool) -> None:
    """List variants with what they need, rows that were pruned with the reason, and bytes a kernel."""
    loaded = load(bundle_files)
    if as_json:
        tables.print_json([tables.listing(one.file.name, one.grid, one.build()) for one in loaded])
        return
    for one in loaded:
        tables.print_listing(one.file.name, one.grid, one.build())


@main.command("explain")
@bundle_files
@click.option("--op", required=True, help="What is wanted: linear, linear_argmax, embedding, attention, norm …")
@click.option("--m", type=int, help="Tokens.")
@click.option("--n", type=int, help="Rows of the weights.")
@click.option("--k", type=int, help="Columns of the weights.")
@click.option("--size", "sizes", multiple=True, metavar="NAME=NUMBER", help="Any size; repeatable.")
@click.option("--want", "wants", multiple=True, metavar="NAME=VALUE", help="A constant, or rounding; repeatable.")
@click.option("--profile", "profile_name", default="core", show_default=True, help="A class of devices.")
@as_json
def explain_choice(
    bundle_files: tuple[Path, ...],
    op: str,
    m: int | None,
    n: int | None,
    k: int | None,
    sizes: tuple[str, ...],
    wants: tuple[str, ...],
    profile_name: str,
    as_json: bool,
) -> None:
    """Say which plan a class of devices gets for an op, what is ranked behind it, and why not the others."""
    given = {"M": m, "N": n, "K": k, **explain.pairs("--size", sizes)}
    want = explain.pairs("--want", wants)
    found = explain.explain([one.build() for one in load(bundle_files)], op, given, profile_name, want)
    if as_json:
        tables.print_json(found)
    else:
        click.echo("\n".join(line for each in found for line in explain.lines(each)))


@main.command()
@bundle_files
@click.option("--require", default="", metavar="JUDGES", help="Judges that must run: rules,naga,tint.")
@as_json
def validate(bundle_files: tuple[Path, ...], require: str, as_json: bool) -> None:
    """Have every variant compiled by naga and Tint, and read by our own rules."""
    loaded = load(bundle_files)
    report = prove.validate_all(_variants(loaded), _judges(require), _minified(loaded))
    if as_json:
        tables.print_json(report)
    else:
        tables.print_validation(report)
    _refuse_rejected(report, "validate", loaded)


@main.command()
@bundle_files
@click.option("--adapter", "adapters", multiple=True, type=click.Choice([*ADAPTERS]), help="Where to run; repeatable.")
@click.option("--require", default="", metavar="JUDGES", help="Judges that must run: rules,naga,tint.")
@click.option("--require-gpu", is_flag=True, help="Every variant must run somewhere, and every adapter be there.")
@click.option("--gguf", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Use this model's weights.")
@click.option("--group", type=int, help="With --gguf: weights under one scale, where the file does not say.")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes at a time.")
@click.option("--no-cache", is_flag=True, help="Run everything, also what passed before unchanged.")
@as_json
def verify(
    bundle_files: tuple[Path, ...],
    adapters: tuple[str, ...],
    require: str,
    require_gpu: bool,
    gguf: Path | None,
    group: int | None,
    jobs: int,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Validate every variant, run it on adapters, and compare the results with the oracles.

    Without --adapter: the software adapters that are installed. With --gguf the inputs are real tensors.
    """
    if gguf is not None and (bundle_files or require):
        given = f"bundle file {bundle_files[0]}" if bundle_files else f"--require {require}"
        raise UsageProblem(
            f"--gguf runs a model's tensors and takes no {given}",
            hint=f"wgslgen verify --gguf {shlex.quote(str(gguf))}",
        )
    if gguf is None and group is not None:
        raise UsageProblem("--group goes with --gguf; a bundle file states its own groups", hint="leave --group out")
    judges, loaded = _judges(require), [] if gguf is not None else load(bundle_files)
    if gguf is not None:
        work = prove.gguf_work(gguf, group)
        names = prove.choose_adapters(adapters, require_gpu)
        with tables.progress("real tensors", len(work) * len(names)) as advance:
            proof = prove.prove_gguf(gguf, work, names, advance)
    else:
        variants, derived = _variants(loaded), _plans(loaded)
        names = prove.choose_adapters(adapters, require_gpu)
        with tables.progress("oracle runs", (len(variants) + len(derived)) * len(names)) as advance:
            proof = prove.prove(variants, names, judges, jobs, not no_cache, advance, derived, _minified(loaded))
    if as_json:
        tables.print_json(proof)
    else:
        tables.print_proof(proof)
    if proof.report is not None:
        _refuse_rejected(proof.report, "verify", loaded)
    _refuse_failed(proof, ["--gguf", str(gguf)] if gguf else _paths(loaded), require_gpu)


def _refuse_failed(proof: prove.Proof, what: list[str], require_gpu: bool) -> None:
    """Raise OracleMismatch for wrong results, ToolMissing where nothing ran, or with `require_gpu` not everything."""
    failed = [outcome for outcome in proof.outcomes if outcome.status == "failed"]
    if failed:
        said = "\n".join(f"{o.variant} on {o.adapter}: {o.problem}" for o in failed[:10])
        raise OracleMismatch(
            f"{len(failed)} of {len(proof.outcomes)} runs failed\n{said}",
            hint=shlex.join(["wgslgen", "verify", *what, "--adapter", failed[0].adapter]),
        )
    ran = any(outcome.status != "lacking" for outcome in proof.outcomes)
    left = proof.never_run if ran else sorted({*proof.never_run, *proof.for_gpus})  # where nothing ran, no excuse holds
    if left and (require_gpu or not ran):
        lacking = sorted({f"{o.adapter} lacks {o.lacking}" for o in proof.outcomes if o.variant in left})
        raise ToolMissing(
            f"no adapter ran {', '.join(left[:5])} ({len(left)} variants): {', '.join(lacking)}",
            hint="name an adapter that has it with --adapter, for example lavapipe or gpu",
        )


def _refuse_rejected(report: Report, command: str, loaded: Sequence[Loaded]) -> None:
    """Raise ShaderRejected with what the judges said of the first rejected texts, if any is."""
    if report.rejected:
        said = "\n".join(report.describe(name) for name in report.rejected[:10])
        raise ShaderRejected(
            f"{len(report.rejected)} of {len(report.findings)} texts rejected\n{said}",
            hint="mend the template or the constants, then " + shlex.join(["wgslgen", command, *_paths(loaded)]),
        )


def _paths(loaded: Sequence[Loaded]) -> list[str]:
    return [str(one.path) for one in loaded]


def _variants(loaded: list[Loaded]) -> tuple[Kernel, ...]:
    """Return the variants of all bundles, each once."""
    return tuple(dict.fromkeys(variant for one in loaded for variant in one.grid.variants))


def _minified(loaded: list[Loaded]) -> tuple[Kernel, ...]:
    """Return the variants of the bundles that ship minified texts, each once."""
    return _variants([one for one in loaded if one.file.minify])


def _plans(loaded: list[Loaded]) -> tuple[Plan, ...]:
    """Return the plans of all bundles that have an oracle, each once."""
    found = (plan for one in loaded for plan in plans.derive(one.grid.variants, one.file.facts) if plan.judged)
    return tuple(dict.fromkeys(found))


def _judges(require: str) -> tuple[str, ...]:
    chosen = tuple(word for word in require.split(",") if word)
    for word in chosen:
        if word not in JUDGES:
            raise UsageProblem(f"--require: there is no judge {word!r}", hint=f"choose from: {','.join(JUDGES)}")
    return chosen
