"""What `validate` and `verify` share: which judges must run, and how a rejected text ends the command."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from wgslgen.cli.loading import Loaded, paths
from wgslgen.errors import ShaderRejected, UsageProblem
from wgslgen.report import Report
from wgslgen.validate import JUDGES


def named(require: str) -> tuple[str, ...]:
    """Return the judges that `--require` names."""
    chosen = tuple(word for word in require.split(",") if word)
    for word in chosen:
        if word not in JUDGES:
            raise UsageProblem(f"--require: there is no judge {word!r}", hint=f"choose from: {','.join(JUDGES)}")
    return chosen


def refuse_rejected(report: Report, command: str, loaded: Sequence[Loaded]) -> None:
    """Raise ShaderRejected with what the judges said of the first rejected texts, if any is."""
    if report.rejected:
        said = "\n".join(report.describe(name) for name in report.rejected[:10])
        raise ShaderRejected(
            f"{len(report.rejected)} of {len(report.findings)} texts rejected\n{said}",
            hint="mend the template or the constants, then " + shlex.join(["wgslgen", command, *paths(loaded)]),
        )
