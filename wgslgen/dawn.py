"""Dawn in this process. It has one instance, whose toggles are set before the first adapter or never.

Whoever speaks to Dawn (Tint's judge, the adapters) opens it here, so that what the instance offers does not
depend on who came first.
"""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import Any, Final

# Dawn offers subgroup matrices, which are still an experiment, under the first toggle only, and f16 on NVIDIA, which
# some of its drivers get wrong, under the second.
TOGGLES: Final = ("allow_unsafe_apis", "vulkan_enable_f16_on_nvidia")


def open_dawn() -> Any:
    """Return the module `wgpudawn`, its instance set up; raise ImportError where it is not installed."""
    module: Any = importlib.import_module("wgpudawn")
    extras: Any = importlib.import_module("wgpudawn.backends.dawn.extras")
    with suppress(RuntimeError):  # the instance is there already
        extras.set_instance_extras(enable_toggles=[*TOGGLES])
    return module
