"""`--watch`: the work of a command again after each change, whatever became of it the last time."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable

import click

from wgslgen.commands import told
from wgslgen.errors import Interrupted, WgslgenError


def repeat(work: Callable[[], None], changes: Iterable[None]) -> None:
    """Do the work once for each of the changes. An interrupt is how this ends, and so is no error."""
    try:
        for _ in changes:
            _attempt(work)
            click.echo("watching; Ctrl-C ends it", err=True)
    except (KeyboardInterrupt, Interrupted):
        return


def _attempt(work: Callable[[], None]) -> None:
    """Do the work; print what stops it, as the command by itself would."""
    try:
        with told():
            work()
    except (Interrupted, BrokenPipeError):
        raise
    except WgslgenError as problem:
        problem.show()
    except Exception:  # a fault in a template that someone is writing
        traceback.print_exc()
