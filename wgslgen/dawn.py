"""Dawn in this process. It has one instance, whose toggles are set before the first adapter or never.

Whoever speaks to Dawn (Tint's judge, the adapters) opens it here, so that what the instance offers does not
depend on who came first.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

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


class Toggles(NamedTuple):
    """Dawn's toggles of a device, by Dawn's names: those to switch on and those to switch off."""

    on: tuple[str, ...] = ()
    off: tuple[str, ...] = ()


NO_TOGGLES: Final = Toggles()
"""A device as a browser makes it."""


def request_device(adapter: Any, features: Sequence[str], limits: Mapping[str, int], toggles: Toggles) -> Any:
    """Return a device of Dawn's `adapter` with these features and limits, by the names that Dawn has for them."""
    extras: Any = importlib.import_module("wgpudawn.backends.dawn.extras")
    return extras.request_device_sync(
        adapter,
        required_features=features,
        required_limits=limits,
        enable_toggles=toggles.on,
        disable_toggles=toggles.off,
    )
