"""The second judge: Tint, the front end of Chromium, through Dawn in the package `wgpudawn`.

Texts are compiled by real shader module creation on a device of Dawn's Null backend. That backend does no
GPU work and needs no driver, and it has every feature, `shader-f16` and subgroup matrices among them, which
no software driver offers to Dawn: so texts with `enable f16;` are judged on every machine.
"""

from __future__ import annotations

import functools
import importlib
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from wgslgen.dawn import open_dawn
from wgslgen.errors import ToolMissing
from wgslgen.report import Finding, Severity

FEATURES: Final = {
    "f16": "shader-f16",
    "subgroups": "subgroups",
    "chromium_experimental_subgroup_matrix": "chromium-experimental-subgroup-matrix",
}
"""What a text may enable, and Dawn's name of the feature behind it."""

INSTALL_HINT: Final = "pip install 'wgslgen[gpu]'"

_BACKEND: Final = "WGPU_BACKEND_TYPE"
_DIAGNOSTIC = re.compile(r"^:(\d+):(\d+) (error|warning|note): ", re.MULTILINE)
_PREFIX: Final = "Error while parsing WGSL: "
_CONTEXT: Final = "\n - While "


class Tint:
    """Tint on a device that judges texts; made by `open_tint`."""

    def __init__(self, device: Any, rejection: type[Exception], version: str) -> None:
        self._device = device
        self._rejection = rejection
        self.version = version
        self.unknown_extensions = frozenset(
            extension for extension, feature in FEATURES.items() if feature not in device.features
        )

    def judge(self, name: str, text: str) -> list[Finding]:
        """Return Tint's findings on the web text called `name`, its notes kept with what they explain."""
        try:
            module = self._device.create_shader_module(label=name, code=text)
        except self._rejection as error:
            return _findings(str(error), name)
        messages = module.get_compilation_info_sync().messages
        return [_warning(message, name) for message in messages]


@functools.cache
def open_tint() -> Tint:
    """Return the judge; the process keeps one.

    Raises:
        ToolMissing: wgpudawn is not installed, or its Dawn was built without the Null backend.
    """
    try:
        wgpudawn: Any = open_dawn()
        dawn: Any = importlib.import_module("wgpudawn.backends.dawn")
    except ImportError as error:
        raise ToolMissing(f"Tint is missing: {error}", hint=INSTALL_HINT) from None
    try:
        with _null_backend():
            adapter = wgpudawn.gpu.request_adapter_sync()
        features = [feature for feature in FEATURES.values() if feature in adapter.features]
        device = adapter.request_device_sync(required_features=features)
    except RuntimeError as error:
        raise ToolMissing(f"Tint is missing: Dawn has no Null backend ({error})", hint=INSTALL_HINT) from None
    return Tint(device, wgpudawn.GPUValidationError, f"Dawn {dawn.__version__} (wgpudawn {wgpudawn.__version__})")


@contextmanager
def _null_backend() -> Iterator[None]:
    """Choose the Null backend, which wgpudawn gives out only when its environment variable names it.

    wgpudawn warns when the variable is set; here it is meant, so its log is silent meanwhile.
    """
    logger = logging.getLogger("wgpudawn")
    before, disabled = os.environ.get(_BACKEND), logger.disabled
    os.environ[_BACKEND], logger.disabled = "Null", True
    try:
        yield
    finally:
        logger.disabled = disabled
        if before is None:
            del os.environ[_BACKEND]
        else:
            os.environ[_BACKEND] = before


def _findings(message: str, name: str) -> list[Finding]:
    """Cut what Dawn printed into one finding a diagnostic; `:line:column` is put after the text's name."""
    body = message.removeprefix(_PREFIX).partition(_CONTEXT)[0].strip()
    starts = [match for match in _DIAGNOSTIC.finditer(body) if match[3] != "note"]
    if not starts:
        return [Finding(judge="tint", severity="error", message=body)]
    ends = [match.start() for match in starts[1:]] + [len(body)]
    found = []
    for start, end in zip(starts, ends, strict=True):
        severity: Severity = "error" if start[3] == "error" else "warning"
        block = _DIAGNOSTIC.sub(lambda match: name + match[0], body[start.start() : end]).strip()
        line, column = int(start[1]), int(start[2])
        found.append(Finding(judge="tint", severity=severity, line=line, column=column, message=block))
    return found


def _warning(message: Any, name: str) -> Finding:
    """Make a finding of what Tint says about a text that it accepts."""
    severity: Severity = "warning" if message.type == "warning" else "info"
    line, column = int(message.line_num), int(message.line_pos)
    said = f"{name}:{line}:{column} {message.type}: {message.message}"
    return Finding(judge="tint", severity=severity, line=line, column=column, message=said)
