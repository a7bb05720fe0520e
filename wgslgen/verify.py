"""Run variants on adapters and judge the results: by the oracle, and by the plainest variant of the same kind.

The work is cut into chunks that go to a few processes, because a software adapter's driver compiles on one
core. A result depends on texts, specs, oracle, harness and adapter; it is kept under the hash of all of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import active_children, get_context
from pathlib import Path

import wgslgen
from wgslgen.adapters import MATRICES, open_adapter
from wgslgen.judging import SHAPES, SOURCE, Outcome, Subject, judge, subject_name, verify_on
from wgslgen.manifest import entry, plan_entry
from wgslgen.naming import what_name
from wgslgen.paths import user_cache
from wgslgen.plan import Plan
from wgslgen.render import render

__all__ = ["SOURCE", "Outcome", "judge", "verify_on"]  # beside what is defined here

CHUNK = 12


def ignore(count: int) -> None:
    """Take note of nothing: the default listener for progress."""


def verify(
    subjects: Sequence[Subject],
    adapters: Sequence[str],
    jobs: int = 1,
    cache_folder: Path | None = None,
    advance: Callable[[int], None] = ignore,
) -> list[Outcome]:
    """Run every variant and plan on every adapter and return the outcomes, adapter by adapter in the given order.

    Raises ToolMissing where an adapter is not there. `advance` hears how many outcomes have come in.
    """
    probed = {name: open_adapter(name).identity for name in adapters}
    kept: dict[tuple[Subject, str], Path] = {}
    if cache_folder is not None:
        for name, identity in probed.items():
            kept |= {(v, name): cache_folder / f"{_key(v, identity)}.json" for v in subjects}
    outcomes = {at: known for at, path in kept.items() if (known := _recall(path)) is not None}
    advance(len(outcomes))
    chunks = [*_chunks(subjects, adapters, outcomes)]
    for part, name, results in _run_chunks(chunks, jobs):
        for subject, outcome in zip(part, results, strict=True):
            outcomes[subject, name] = outcome
            if (subject, name) in kept:
                _remember(kept[subject, name], outcome)
        advance(len(part))
    return [outcomes[subject, name] for name in adapters for subject in subjects]


# ---- processes ----------------------------------------------------------------------------------

_open = cache(open_adapter)


def _work(name: str, subjects: Sequence[Subject]) -> list[Outcome]:
    gpu = _open(name)
    return [verify_on(gpu, subject) for subject in subjects]


def _chunks(
    subjects: Sequence[Subject], adapters: Sequence[str], known: dict[tuple[Subject, str], Outcome]
) -> Iterator[tuple[Sequence[Subject], str]]:
    """Yield parts of the work; variants that compute the same stand together and share their plain twin."""
    for name in adapters:
        left = sorted((s for s in subjects if (s, name) not in known), key=_what)
        yield from ((left[at : at + CHUNK], name) for at in range(0, len(left), CHUNK))


def _what(subject: Subject) -> str:
    return subject_name(subject) if isinstance(subject, Plan) else what_name(subject)


def _run_chunks(
    chunks: Sequence[tuple[Sequence[Subject], str]], jobs: int
) -> Iterator[tuple[Sequence[Subject], str, list[Outcome]]]:
    if jobs <= 1 or len(chunks) <= 1:
        yield from ((part, name, _work(name, part)) for part, name in chunks)
        return
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    try:
        with _interrupts_for_the_parent_alone():
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


@contextmanager
def _interrupts_for_the_parent_alone() -> Iterator[None]:
    """Have processes that start in here never see an interrupt, not even while Python comes up in them.

    They inherit that interrupts are held back; this process sees one that came meanwhile as soon as they have started.
    """
    if not hasattr(signal, "pthread_sigmask"):  # a system without signal masks: its tracebacks have to do
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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


def _key(subject: Subject, identity: str) -> str:
    if isinstance(subject, Plan):
        variants, said = subject.variants, plan_entry(subject).model_dump(mode="json")
    else:
        variants, said = (subject, subject.plain()), entry(subject).model_dump(mode="json")
    texts = [render(variant, SOURCE) for variant in variants]
    everything = json.dumps([*texts, said, identity, _judges_hash()])
    return hashlib.sha256(everything.encode()).hexdigest()


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
    """Return the names of variants that no adapter ran, but those of `for_gpus`."""
    return sorted(_never_run(outcomes) - {*for_gpus(outcomes)})


def for_gpus(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the names of variants that no adapter ran for want of subgroup matrices, which no software adapter has.

    It is the one reason that excuses a variant from being run: judges still read it, and a GPU that has the feature has
    to run it (`--adapter dawn-gpu`). A GPU multiplies the shapes of its vendor alone.
    """
    excused = (o.variant for o in outcomes if o.lacking == MATRICES or (o.lacking or "").startswith(SHAPES))
    return sorted(_never_run(outcomes) & {*excused})


def _never_run(outcomes: Sequence[Outcome]) -> set[str]:
    ran = {outcome.variant for outcome in outcomes if outcome.status != "lacking"}
    return {outcome.variant for outcome in outcomes} - ran
