"""Run variants on adapters and judge the results: by the oracle, and by the plainest variant of the same kind.

The work is cut into chunks that go to a few processes, because a software adapter's driver compiles on one
core. A result depends on texts, specs, oracle, harness and adapter; it is kept under the hash of all of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from functools import cache
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, Literal

import numpy as np

import wgslgen
from wgslgen import wgsltypes
from wgslgen.adapters import Gpu, open_adapter
from wgslgen.compare import Rounded, Verdict
from wgslgen.errors import OracleMismatch, WgslgenError
from wgslgen.harness import Runner
from wgslgen.manifest import entry
from wgslgen.naming import variant_name, what_name
from wgslgen.oracles import problem_maker
from wgslgen.oracles.problem import Problem
from wgslgen.paths import user_cache
from wgslgen.render import render
from wgslgen.spec import Case, Frozen, Kernel, Tolerance

CHUNK = 12
SOURCE = "verify"
"""What texts name as their bundle file while they are verified; it is a comment and changes no result."""


class Outcome(Frozen):
    """What became of one variant on one adapter.

    `lacking` names the feature without which the adapter cannot run it. `runs` counts dispatches that were
    judged; `nmse` and `element` are the worst errors seen, and `result` is the element type of what came out.
    `tensor` names the real weights, where the weights were real.
    """

    variant: str
    kernel: str
    adapter: str
    result: str
    tensor: str | None = None
    status: Literal["passed", "failed", "lacking"]
    lacking: str | None = None
    problem: str | None = None
    runs: int = 0
    nmse: float = 0.0
    element: float = 0.0


def ignore(count: int) -> None:
    """Take note of nothing: the default listener for progress."""


def verify(
    variants: Sequence[Kernel],
    adapters: Sequence[str],
    jobs: int = 1,
    cache_folder: Path | None = None,
    advance: Callable[[int], None] = ignore,
) -> list[Outcome]:
    """Run every variant on every adapter and return the outcomes, adapter by adapter in the given order.

    Raises ToolMissing where an adapter is not there. `advance` hears how many outcomes have come in.
    """
    probed = {name: open_adapter(name).identity for name in adapters}
    kept: dict[tuple[Kernel, str], Path] = {}
    if cache_folder is not None:
        for name, identity in probed.items():
            kept |= {(v, name): cache_folder / f"{_key(v, identity)}.json" for v in variants}
    outcomes = {at: known for at, path in kept.items() if (known := _recall(path)) is not None}
    advance(len(outcomes))
    chunks = [*_chunks(variants, adapters, outcomes)]
    for part, name, results in _run_chunks(chunks, jobs):
        for variant, outcome in zip(part, results, strict=True):
            outcomes[variant, name] = outcome
            if (variant, name) in kept:
                _remember(kept[variant, name], outcome)
        advance(len(part))
    return [outcomes[variant, name] for name in adapters for variant in variants]


def verify_on(gpu: Gpu, variant: Kernel, cases: Iterable[Case] | None = None) -> Outcome:
    """Run one variant on one adapter over its shape classes."""
    return judge(gpu, variant, ((case, _problem(variant, case)) for case in cases or variant.cases()))


def judge(gpu: Gpu, variant: Kernel, problems: Iterable[tuple[Case, Problem]], twin: bool = True) -> Outcome:
    """Run one variant on the given problems and compare with the oracle, and with its plain twin if `twin`."""
    name = variant_name(variant)
    base: dict[str, Any] = {"variant": name, "kernel": variant.NAME, "adapter": gpu.name}
    base["result"] = next(wgsltypes.scalar_of(b.element) for b in reversed(variant.bindings()) if b.access != "read")
    if lacking := _lacking(gpu, variant):
        return Outcome(**base, status="lacking", lacking=lacking)
    runs, nmse, element, where = 0, 0.0, 0.0, ""
    try:
        runner = Runner(gpu, variant, render(variant, SOURCE))
        for case, problem in problems:
            where = f"{case.name} {case.sizes}, "
            verdicts = _judge_case(gpu, runner, case, problem, twin)
            runs += 1
            for what, verdict in verdicts:
                nmse, element = max(nmse, verdict.nmse), max(element, verdict.element)
                if verdict.problem:
                    said = f"{where}{what}: {verdict.problem}"
                    return Outcome(**base, status="failed", problem=said, runs=runs, nmse=nmse, element=element)
    except WgslgenError as problem_found:
        return Outcome(**base, status="failed", problem=f"{where}{problem_found}", runs=runs)
    return Outcome(**base, status="passed", runs=runs, nmse=nmse, element=element)


def _lacking(gpu: Gpu, variant: Kernel) -> str | None:
    """Return the feature, or the subgroup size, for want of which the adapter cannot run the variant."""
    wanted = variant.requirements
    missing = [feature for feature in wanted.features if feature not in gpu.features]
    if missing:
        return missing[0]
    return wanted.subgroups.lacks(gpu.subgroup_size) if wanted.subgroups else None


def _judge_case(gpu: Gpu, runner: Runner, case: Case, problem: Problem, twin: bool) -> Iterator[tuple[str, Verdict]]:
    variant = runner.variant
    outputs = runner.run(problem.inputs, case.sizes, problem.parameters)
    if outputs.keys() != problem.expected.keys():
        raise OracleMismatch(f"the oracle judges {sorted(problem.expected)}, the kernel writes {sorted(outputs)}")
    for name, expected in problem.expected.items():
        yield f"{name} against the oracle", expected.judge(outputs[name], variant.tolerance())
    plain = variant.plain()
    if plain == variant or not twin:
        return
    reference = _plain_outputs(gpu, plain, case)
    tolerance = variant.tolerance()
    twice = Tolerance(
        nmse=4 * tolerance.nmse,
        element=2 * tolerance.element,
        rounding=2 * tolerance.rounding,
        derivation="two results, each within one",
    )
    for name, expected in problem.expected.items():
        if not isinstance(expected, Rounded):
            yield f"{name} against {variant_name(plain)}", expected.like(reference[name]).judge(outputs[name], twice)


def _problem(variant: Kernel, case: Case) -> Problem:
    """Make the variant's problem. The seed depends on kernel and sizes alone, so that twins get the same data."""
    seed = zlib.crc32(f"{variant.NAME} {sorted(case.sizes.items())}".encode())
    return problem_maker(variant.NAME)(variant.model_dump(), case.sizes, np.random.default_rng(seed))


_PLAIN: dict[tuple[str, Kernel, str], dict[str, bytes]] = {}


def _plain_outputs(gpu: Gpu, plain: Kernel, case: Case) -> dict[str, bytes]:
    key = (gpu.name, plain, json.dumps(case.sizes, sort_keys=True))
    if key not in _PLAIN:
        problem = _problem(plain, case)
        _PLAIN[key] = Runner(gpu, plain, render(plain, SOURCE)).run(problem.inputs, case.sizes, problem.parameters)
    return _PLAIN[key]


# ---- processes ----------------------------------------------------------------------------------

_open = cache(open_adapter)


def _work(name: str, variants: Sequence[Kernel]) -> list[Outcome]:
    gpu = _open(name)
    return [verify_on(gpu, variant) for variant in variants]


def _chunks(
    variants: Sequence[Kernel], adapters: Sequence[str], known: dict[tuple[Kernel, str], Outcome]
) -> Iterator[tuple[Sequence[Kernel], str]]:
    """Yield parts of the work; variants that compute the same stand together and share their plain twin."""
    for name in adapters:
        left = sorted((v for v in variants if (v, name) not in known), key=what_name)
        yield from ((left[at : at + CHUNK], name) for at in range(0, len(left), CHUNK))


def _run_chunks(
    chunks: Sequence[tuple[Sequence[Kernel], str]], jobs: int
) -> Iterator[tuple[Sequence[Kernel], str, list[Outcome]]]:
    if jobs <= 1 or len(chunks) <= 1:
        yield from ((part, name, _work(name, part)) for part, name in chunks)
        return
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_leave_interrupts)
    try:
        started = {pool.submit(_work, name, part): (part, name) for part, name in chunks}
        for done in as_completed(started):
            part, name = started[done]
            yield part, name, done.result()
    except BaseException:
        # Interrupted or failed: what is still running would go on for minutes, and hold up the end.
        pool.shutdown(wait=False, cancel_futures=True)
        for process in active_children():
            process.terminate()
        raise
    pool.shutdown()


def _leave_interrupts() -> None:
    """Let an interrupt end the parent alone, which then ends this process without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


# ---- results of unchanged variants ---------------------------------------------------------------


def cache_folder() -> Path | None:
    """Return where results are kept; None in continuous integration, where everything runs anew."""
    if os.environ.get("CI", "") not in ("", "0", "false"):
        return None
    return user_cache() / "verified"


@cache
def _judges_hash() -> str:
    """Hash all Python of the package: specs, oracles, harness and comparison all stand behind a result."""
    root = Path(wgslgen.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def _key(variant: Kernel, identity: str) -> str:
    texts = [render(v, SOURCE) for v in (variant, variant.plain())]
    said = json.dumps([*texts, entry(variant).model_dump(mode="json"), identity, _judges_hash()])
    return hashlib.sha256(said.encode()).hexdigest()


def _recall(path: Path) -> Outcome | None:
    try:
        return Outcome.model_validate_json(path.read_bytes())
    except (OSError, ValueError):
        return None


def _remember(path: Path, outcome: Outcome) -> None:
    """Keep what passed; a failure is run again each time. A folder that cannot be written keeps nothing."""
    if outcome.status == "failed":
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.stem}.{os.getpid()}")
        partial.write_text(outcome.model_dump_json())
        partial.replace(path)


def missing_runs(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the names of variants that no adapter ran."""
    ran = {outcome.variant for outcome in outcomes if outcome.status != "lacking"}
    return sorted({outcome.variant for outcome in outcomes} - ran)
