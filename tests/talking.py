"""A process that goes on until it is told to end, and what it has said so far."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self, TypeVar

T = TypeVar("T")
LIMIT = 60.0
"""Seconds that a test waits for what takes a moment, on a machine that does much else."""


def until(condition: Callable[[], T], what: str) -> T:
    """Return what the condition gives as soon as that is true; `what` says in a failure what never came."""
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        assert time.monotonic() < end, what
        time.sleep(0.05)
    return found


class Talking:
    """A process in a folder, with these environment variables on top. It is killed where a test leaves it running."""

    def __init__(self, *command: str, at: Path, **environment: str) -> None:
        self.said = ""
        self._heard = 0
        self._process = subprocess.Popen(
            command,
            cwd=at,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said += line

    def says(self, words: str) -> None:
        """Wait until it says these words behind what was waited for before."""
        at = until(lambda: self.said.find(words, self._heard) + 1, f"{words!r} behind {self._heard} of {self.said}")
        self._heard = at - 1 + len(words)

    def ends(self, number: signal.Signals) -> int:
        """Send it the signal, and return its exit code when it and all that it started have ended."""
        self._process.send_signal(number)
        code = self._process.wait(LIMIT)
        self._reader.join(LIMIT)
        assert not self._reader.is_alive(), "what it started goes on"
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._reader.join(LIMIT)
        with self._process:
            pass
