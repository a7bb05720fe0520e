"""Validation: every text before every judge, and a report that says which judges there were.

Three judges: `rules` (`wgslgen.textrules`), `naga` (`wgslgen.naga`) and `tint` (`wgslgen.tint`). naga alone
does not see barriers that only some invocations reach, Tint alone takes pointers and casts that Firefox
refuses, and both take texts that fail on some device; so a text passes when no judge has an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple, get_args

import wgslgen
from wgslgen import naga, textrules, tint
from wgslgen.errors import ToolMissing, UsageProblem
from wgslgen.report import Finding, Judge, JudgeMissing, JudgeRun, NotJudged, Report

JUDGES: Final[tuple[Judge, ...]] = get_args(Judge)
"""All judges in the order in which findings are listed."""

Findings = Mapping[str, Sequence[Finding]]


class Session(NamedTuple):
    """A judge at work: its version, the extensions that it does not know, and how it is asked."""

    version: str
    unknown: frozenset[str]
    ask: Callable[[Mapping[str, str]], Findings]


def validate(texts: Mapping[str, str], judges: Sequence[str] = JUDGES, require: Collection[str] = ()) -> Report:
    """Judge web texts and return what was found.

    Args:
        texts: Web texts by the variants' names.
        judges: Who judges; a judge that is not installed is named in the report.
        require: Judges that must run; they need not be repeated in `judges`.

    Raises:
        UsageProblem: A judge's name is unknown.
        ToolMissing: A required judge is not installed.
    """
    unknown = sorted({*judges, *require} - {*JUDGES})
    if unknown:
        raise UsageProblem(
            f"no judge is called {unknown[0]!r}; expected {', '.join(JUDGES)}",
            hint=f"wgslgen validate --require {','.join(JUDGES[1:])}",
        )
    sessions: dict[Judge, Session] = {}
    missing = []
    for judge in JUDGES:
        if judge not in judges and judge not in require:
            continue
        try:
            sessions[judge] = _SESSIONS[judge]()
        except ToolMissing as error:
            if judge in require:
                raise ToolMissing(f"judge {judge} is required: {error.message}", hint=error.hint) from None
            missing.append(JudgeMissing(judge=judge, reason=error.message, hint=error.hint or ""))
    left_out = [item for judge, session in sessions.items() for item in _beyond(judge, session, texts)]
    skipped = {(item.judge, item.text) for item in left_out}
    shown = {judge: {name: text for name, text in texts.items() if (judge, name) not in skipped} for judge in sessions}
    by_judge = _ask(sessions, shown)
    return Report(
        ran=tuple(JudgeRun(judge=judge, version=session.version) for judge, session in sessions.items()),
        missing=tuple(missing),
        not_judged=tuple(left_out),
        findings={name: tuple(f for judge in sessions for f in by_judge[judge].get(name, ())) for name in texts},
    )


def _beyond(judge: Judge, session: Session, texts: Mapping[str, str]) -> list[NotJudged]:
    """List the texts that enable what the judge does not know."""
    return [
        NotJudged(judge=judge, text=name, reason=f"{judge} does not know `enable {extension};`")
        for name, text in texts.items()
        for extension in sorted(session.unknown)
        if extension in text and extension in textrules.extensions(text)  # the first test spares reading it
    ]


def _ask(sessions: Mapping[Judge, Session], shown: Mapping[Judge, Mapping[str, str]]) -> dict[Judge, Findings]:
    """Let naga work in its own process while the other judges work in this one."""
    with ThreadPoolExecutor(max_workers=1) as beside:
        apart = {j: beside.submit(session.ask, shown[j]) for j, session in sessions.items() if j == "naga"}
        here = {j: session.ask(shown[j]) for j, session in sessions.items() if j not in apart}
        return here | {j: future.result() for j, future in apart.items()}


def _rules() -> Session:
    def ask(texts: Mapping[str, str]) -> Findings:
        return {name: textrules.check(text) for name, text in texts.items()}

    return Session(f"wgslgen {wgslgen.__version__}, {len(textrules.RULES)} rules", frozenset(), ask)


def _naga() -> Session:
    found = naga.find_naga()
    return Session(found.version, naga.UNKNOWN_EXTENSIONS, lambda texts: naga.judge(found, texts))


def _tint() -> Session:
    opened = tint.open_tint()

    def ask(texts: Mapping[str, str]) -> Findings:
        return {name: opened.judge(name, text) for name, text in texts.items()}

    return Session(opened.version, opened.unknown_extensions, ask)


_SESSIONS: Final[Mapping[Judge, Callable[[], Session]]] = {"rules": _rules, "naga": _naga, "tint": _tint}
