"""What the judges say about texts: findings, and which judges ran."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from wgslgen.frozen import Frozen

Judge = Literal["rules", "naga", "tint"]
Severity = Literal["error", "warning", "info"]


class Finding(Frozen):
    """One diagnostic about one text.

    `message` is what the tool printed, with the text's name where the tool had put a file's; `line` and
    `column` count from 1 in the web text, whose lines are those of the native text too, and are None where
    the tool names no place.
    """

    judge: Judge
    severity: Severity
    line: int | None = None
    column: int | None = None
    message: str


class JudgeRun(Frozen):
    """A judge that looked at the texts, and its version."""

    judge: Judge
    version: str


class JudgeMissing(Frozen):
    """A judge that was asked for and could not run: why, and a command that brings it."""

    judge: Judge
    reason: str
    hint: str


class NotJudged(Frozen):
    """A text that a judge left out, because no version of that judge can read it."""

    judge: Judge
    text: str
    reason: str


class Report(Frozen):
    """The outcome of one validation."""

    ran: tuple[JudgeRun, ...]
    missing: tuple[JudgeMissing, ...]
    not_judged: tuple[NotJudged, ...]
    findings: Mapping[str, tuple[Finding, ...]]

    @property
    def rejected(self) -> tuple[str, ...]:
        """The names of the texts with an error, in the order in which they were given."""
        return tuple(name for name in self.findings if self.refused_by(name))

    def refused_by(self, name: str) -> set[Judge]:
        """Return the judges that have an error in the text `name`."""
        return {finding.judge for finding in self.findings[name] if finding.severity == "error"}

    def describe(self, name: str) -> str:
        """Return the findings about one text, one paragraph each, with place, severity and judge."""
        lines = []
        for finding in self.findings[name]:
            place = ":".join(str(part) for part in (name, finding.line, finding.column) if part is not None)
            lines.append(f"{place}: {finding.severity} [{finding.judge}] {finding.message}")
        return "\n".join(lines)
