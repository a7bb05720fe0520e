"""Validation: every text before every judge, and a report that says which judges there were.

Three judges: `rules` (`wgslgen.textrules`), `naga` (`wgslgen.naga`) and `tint` (`wgslgen.tint`). naga alone
does not see barriers that only some invocations reach, Tint alone takes pointers and casts that Firefox
refuses, and both take texts that fail on some device; so a text passes when no judge has an error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, get_args

import wgslgen
from wgslgen import naga, textrules, tint
from wgslgen.errors import ToolMissing, UsageProblem
from wgslgen.report import Finding, Judge, JudgeMissing, JudgeRun, NotJudged, Report

JUDGES: Final[tuple[Judge, ...]] = get_args(Judge)
"""All judges in the order in which findings are listed."""

Findings = Mapping[str, Sequence[Finding]]
Session = tuple[str, Callable[[Mapping[str, str]], Findings]]


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
    left_out = _beyond_naga(texts) if "naga" in sessions else ()
    beyond = {item.text for item in left_out}
    shown: dict[Judge, Mapping[str, str]] = dict.fromkeys(sessions, texts)
    if beyond:
        shown["naga"] = {name: text for name, text in texts.items() if name not in beyond}
    by_judge = _ask(sessions, shown)
    findings = {
        name: tuple(finding for judge in sessions for finding in by_judge[judge].get(name, ())) for name in texts
    }
    ran = tuple(JudgeRun(judge=judge, version=version) for judge, (version, _) in sessions.items())
    return Report(ran=ran, missing=tuple(missing), not_judged=left_out, findings=findings)


def _ask(sessions: Mapping[Judge, Session], shown: Mapping[Judge, Mapping[str, str]]) -> dict[Judge, Findings]:
    """Let naga work in its own process while the other judges work in this one."""
    with ThreadPoolExecutor(max_workers=1) as beside:
        apart = {judge: beside.submit(ask, shown[judge]) for judge, (_, ask) in sessions.items() if judge == "naga"}
        here = {judge: ask(shown[judge]) for judge, (_, ask) in sessions.items() if judge not in apart}
        return here | {judge: future.result() for judge, future in apart.items()}


def _beyond_naga(texts: Mapping[str, str]) -> tuple[NotJudged, ...]:
    """List the texts that use what no naga knows."""
    return tuple(
        NotJudged(judge="naga", text=name, reason=f"naga does not know `enable {extension};`")
        for name, text in texts.items()
        for extension in sorted(naga.UNKNOWN_EXTENSIONS)
        if extension in text and extension in textrules.extensions(text)  # the first test spares reading it
    )


def _rules() -> Session:
    def ask(texts: Mapping[str, str]) -> Findings:
        return {name: textrules.check(text) for name, text in texts.items()}

    return f"wgslgen {wgslgen.__version__}, {len(textrules.RULES)} rules", ask


def _naga() -> Session:
    found = naga.find_naga()
    return found.version, lambda texts: naga.judge(found, texts)


def _tint() -> Session:
    opened = tint.open_tint()
    return opened.version, lambda texts: {name: opened.judge(name, text) for name, text in texts.items()}


_SESSIONS: Final[Mapping[Judge, Callable[[], Session]]] = {"rules": _rules, "naga": _naga, "tint": _tint}
