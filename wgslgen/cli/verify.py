"""`wgslgen verify`: every variant judged, run, and compared with the oracles."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from wgslgen import plans, prove, tables
from wgslgen.adapters import ADAPTERS
from wgslgen.cli import judges, options
from wgslgen.cli.loading import Loaded, load, minified_of, paths, variants_of
from wgslgen.errors import OracleMismatch, ToolMissing, UsageProblem
from wgslgen.plan import Plan


@click.command()
@options.bundle_files
@click.option("--adapter", "adapters", multiple=True, type=click.Choice([*ADAPTERS]), help="Where to run; repeatable.")
@options.require
@click.option("--require-gpu", is_flag=True, help="Every variant must run somewhere, and every adapter be there.")
@click.option("--gguf", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Use this model's weights.")
@click.option("--group", type=int, help="With --gguf: weights under one scale, where the file does not say.")
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Processes at a time.")
@click.option("--no-cache", is_flag=True, help="Run everything, also what passed before unchanged.")
@options.as_json
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
    required, loaded = judges.named(require), [] if gguf is not None else load(bundle_files)
    if gguf is not None:
        work = prove.gguf_work(gguf, group)
        names = prove.choose_adapters(adapters, require_gpu)
        with tables.progress("real tensors", len(work) * len(names)) as advance:
            proof = prove.prove_gguf(gguf, work, names, advance)
    else:
        variants, derived = variants_of(loaded), _plans(loaded)
        names = prove.choose_adapters(adapters, require_gpu)
        with tables.progress("oracle runs", (len(variants) + len(derived)) * len(names)) as advance:
            proof = prove.prove(variants, names, required, jobs, not no_cache, advance, derived, minified_of(loaded))
    if as_json:
        tables.print_json(proof)
    else:
        tables.print_proof(proof)
    if proof.report is not None:
        judges.refuse_rejected(proof.report, "verify", loaded)
    _refuse_failed(proof, ["--gguf", str(gguf)] if gguf else paths(loaded), require_gpu)


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


def _plans(loaded: list[Loaded]) -> tuple[Plan, ...]:
    """Return the plans of all bundles that have an oracle, each once."""
    found = (plan for one in loaded for plan in plans.derive(one.grid.variants, one.file.facts) if plan.judged)
    return tuple(dict.fromkeys(found))
