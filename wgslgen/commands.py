"""The group of commands: whatever ends one of them, the user reads a message and no traceback."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Any

import click
from pydantic import ValidationError

from wgslgen.errors import Interrupted, ToolMissing, UsageProblem


class Commands(click.Group):
    """A click group whose commands end in this project's messages and exit codes, click's own errors included."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the group's own arguments."""
        with told():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Read the command's arguments and run it."""
        with told(), _terminated_like_interrupted():
            return super().invoke(ctx)


@contextmanager
def told() -> Iterator[None]:
    """Turn what ends a command into a message; a fault of wgslgen itself keeps its traceback."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as problem:
        command = problem.ctx.command_path if problem.ctx else "wgslgen"
        raise UsageProblem(problem.format_message(), hint=f"{command} --help") from None
    except KeyboardInterrupt:
        raise Interrupted(
            "interrupted; no file was left half-written", hint="run it again: what has passed is remembered"
        ) from None
    except BrokenPipeError:
        raise  # whoever reads the output has enough: click ends without a word
    except OSError as problem:
        place = f"{problem.filename}: " if problem.filename else ""
        raise UsageProblem(
            f"{place}{(problem.strerror or str(problem)).lower()}",
            hint="look at the rights and the free space of that place, and where the output goes",
        ) from None
    except ValidationError as problem:
        said = "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in problem.errors())
        raise UsageProblem(f"{problem.title}: {said}", hint="wgslgen list shows what a bundle file asks for") from None
    except MemoryError:
        raise UsageProblem(
            "these sizes take more memory than this machine has", hint="bake in smaller sizes, or leave them out"
        ) from None
    except BrokenExecutor:
        raise ToolMissing(
            "a process that ran variants ended without a word: its driver crashed, or memory ran out",
            hint="find the variant with: wgslgen verify --jobs 1",
        ) from None


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Take SIGTERM for an interrupt, so that the processes which a command started end with it."""
    if threading.current_thread() is not threading.main_thread():  # no other thread may set a handler
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)
