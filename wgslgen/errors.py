"""What wgslgen says when it stops: one class for each exit code.

A message names the place, what is wrong there and what was expected; the hint is a command, or the
change to make. `click` prints the message and ends the process with the class's exit code, so that a
user's mistake never ends in a traceback.
"""

from __future__ import annotations

from typing import IO, Any

import click


class WgslgenError(click.ClickException):
    """Base of all errors that a user can cause or repair."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"

    def show(self, file: IO[Any] | None = None) -> None:
        """Print `error: …` and the hint to `file`, the standard error stream by default."""
        click.echo(f"error: {self}", file=file, err=file is None)


class Stale(WgslgenError):
    """Output on disk differs from what would be rendered."""

    exit_code = 1


class UsageProblem(WgslgenError):
    """Input that wgslgen refuses: arguments, bundle files, shapes, weights."""

    exit_code = 2


class ShaderRejected(WgslgenError):
    """A judge (naga, Tint or the text rules) refuses a rendered text."""

    exit_code = 3


class OracleMismatch(WgslgenError):
    """A variant ran and its result is not the oracle's."""

    exit_code = 4


class ToolMissing(WgslgenError):
    """A tool, a driver or an adapter's feature that the work needs is not there."""

    exit_code = 5


class Interrupted(WgslgenError):
    """The user, or the system, told the command to end; the number is the shell's for an interrupt."""

    exit_code = 130
