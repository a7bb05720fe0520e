"""Adapters to run on: which there are, how each is found, and one small interface to all of them.

Names are WebGPU's throughout (`subgroups`, `maxBufferSize`); what wgpu-py spells differently is translated
here and nowhere else. A device gets WebGPU's default limits by explicit request, because wgpu-py would fill in
the adapter's maximum and let kernels pass that no browser runs.
"""

from __future__ import annotations

import importlib
import os
import re
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wgslgen.dawn import NO_TOGGLES, Toggles, open_dawn, request_device
from wgslgen.errors import ToolMissing
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.matrixconfigs import MatrixConfig

MATRICES = "chromium-experimental-subgroup-matrix"
FEATURES = {
    "shader-f16": "shader-f16",
    "subgroups": "subgroup",
    "timestamp-query": "timestamp-query",
    MATRICES: MATRICES,  # which wgpu-native does not have
}
"""WebGPU feature → the name that wgpu-native has for it."""


@dataclass(frozen=True)
class Software:
    """A software driver: where its Vulkan manifest may lie, and what installs it."""

    variable: str
    manifests: tuple[str, ...]
    package: str

    def manifest(self) -> Path | None:
        """Return the driver's manifest, the environment's choice first; None where it is not installed."""
        chosen = os.environ.get(self.variable)
        if chosen:
            return Path(chosen) if Path(chosen).is_file() else None
        found = (path for pattern in self.manifests for path in sorted(Path("/").glob(pattern)))
        return next(found, None)


LAVAPIPE = Software(
    "WGSLGEN_LAVAPIPE_ICD",
    (
        "usr/share/vulkan/icd.d/lvp_icd*.json",
        "usr/local/share/vulkan/icd.d/lvp_icd*.json",
        "etc/vulkan/icd.d/lvp_icd*.json",
    ),
    "mesa-vulkan-drivers",
)
SWIFTSHADER = Software(
    "WGSLGEN_SWIFTSHADER_ICD",
    (
        "usr/lib/chromium*/vk_swiftshader_icd.json",
        "usr/lib64/chromium*/vk_swiftshader_icd.json",
        "opt/google/chrome/vk_swiftshader_icd.json",
    ),
    "chromium",
)


@dataclass(frozen=True)
class AdapterKind:
    """How an adapter is found: the Python module that speaks to it, its driver, a word of its description."""

    name: str
    module: str
    software: Software | None
    word: str

    @property
    def dialect(self) -> str:
        """`web` where Tint compiles the text, `native` where naga does."""
        return "web" if self.module == "wgpudawn" else "native"


ADAPTERS = {
    kind.name: kind
    for kind in (
        AdapterKind("lavapipe", "wgpu", LAVAPIPE, "llvmpipe"),
        AdapterKind("swiftshader", "wgpu", SWIFTSHADER, "swiftshader"),
        AdapterKind("dawn-swiftshader", "wgpudawn", SWIFTSHADER, "swiftshader"),
        AdapterKind("gpu", "wgpu", None, ""),
        AdapterKind("dawn-gpu", "wgpudawn", None, ""),
    )
}
"""All adapters by name: three in software, and the machine's own GPU through each module."""

OFFERED: Mapping[str, frozenset[str]] = {
    "lavapipe": frozenset({"shader-f16", "subgroups"}),
    "swiftshader": frozenset({"subgroups"}),
    "dawn-swiftshader": frozenset({"subgroups"}),
}
"""The features that a text may need and a software adapter has; what needs others is run on a GPU, through Dawn."""

SOFTWARE = tuple(name for name, kind in ADAPTERS.items() if kind.software)


def open_adapter(name: str) -> Gpu:
    """Return the adapter `name`; raise ToolMissing that says what to install where it is not there."""
    kind = ADAPTERS[name]
    _offer_drivers(kind)
    try:
        module = open_dawn() if kind.module == "wgpudawn" else importlib.import_module(kind.module)
    except ImportError as problem:
        raise ToolMissing(
            f"adapter {name}: the Python package {kind.module} is missing ({problem})",
            hint="pip install 'wgslgen[gpu]'",
        ) from None
    return Gpu(kind, module)


def _offer_drivers(kind: AdapterKind) -> None:
    """Point the Vulkan loader at the software drivers; it reads the variable when the first adapter is asked for."""
    if "XDG_RUNTIME_DIR" not in os.environ:
        os.environ["XDG_RUNTIME_DIR"] = tempfile.gettempdir()
    if kind.software is None:
        return
    if kind.software.manifest() is None:
        raise ToolMissing(
            f"adapter {kind.name}: no Vulkan manifest of the driver (looked for {', '.join(kind.software.manifests)})",
            hint=f"apt-get install {kind.software.package}, or set {kind.software.variable} to the manifest",
        )
    drivers = {other.software for other in ADAPTERS.values() if other.module == kind.module and other.software}
    manifests = [str(path) for driver in drivers if (path := driver.manifest())]
    os.environ["VK_DRIVER_FILES"] = os.pathsep.join(sorted(manifests))


def _find(kind: AdapterKind, module: Any) -> Any:
    for adapter in module.gpu.enumerate_adapters_sync():
        if _matches(kind, adapter.info):
            return adapter
    hint = f"apt-get install {kind.software.package}" if kind.software else "install the GPU's Vulkan driver"
    raise ToolMissing(f"adapter {kind.name}: no Vulkan, Metal or Direct3D 12 adapter of this kind", hint=hint)


def _matches(kind: AdapterKind, info: Mapping[str, Any]) -> bool:
    text = f"{info['vendor']} {info['device']} {info['description']}".lower()
    if info["backend_type"] not in ("Vulkan", "Metal", "D3D12"):
        return False
    return kind.word in text if kind.software else info["adapter_type"] != "CPU"


def kebab(name: str) -> str:
    """Return a WebGPU limit as wgpu-py spells it (`maxBufferSize` → `max-buffer-size`)."""
    return re.sub(r"([A-Z])", r"-\1", name).lower()


def agreed_size(seen: Collection[int]) -> int | None:
    """Return the subgroup size that all invocations saw; None, unknown, where it varies or is 0."""
    sizes = {*seen}
    return sizes.pop() if len(sizes) == 1 and 0 not in sizes else None


PROBE = """
@group(0) @binding(0) var<storage, read_write> size: array<u32>;
@compute @workgroup_size(128)
fn main(@builtin(subgroup_size) subgroup_size: u32, @builtin(local_invocation_index) index: u32) {
  size[index] = subgroup_size;
}
"""


class Gpu:
    """An adapter and the devices made from it."""

    def __init__(self, kind: AdapterKind, module: Any) -> None:
        self.kind = kind
        self.module = module
        self.adapter = _find(kind, module)
        self.info: Mapping[str, Any] = self.adapter.info
        self._devices: dict[object, Any] = {}

    @property
    def name(self) -> str:
        """The adapter's name in `ADAPTERS`."""
        return self.kind.name

    @cached_property
    def features(self) -> frozenset[str]:
        """The WebGPU features, by WebGPU's names."""
        offered = set(self.adapter.features)
        return frozenset(web for web, native in FEATURES.items() if web in offered or native in offered)

    @cached_property
    def limits(self) -> dict[str, int]:
        """The adapter's limits by WebGPU's names."""
        return {name: int(self.adapter.limits[kebab(name)]) for name in DEFAULT_LIMITS}

    @cached_property
    def matrices(self) -> frozenset[MatrixConfig]:
        """The shapes of subgroup matrices with f32 results that the device multiplies, one for each subgroup size."""
        if MATRICES not in self.features:
            return frozenset()
        extras: Any = importlib.import_module("wgpudawn.backends.dawn.extras")
        found = extras.get_adapter_properties(self.adapter).get("subgroup_matrix_configs", [])
        return frozenset(
            MatrixConfig(component=c["component_type"], result="f32", m=c["m"], n=c["n"], k=c["k"], subgroup_size=size)
            for c in found
            if c["component_type"] in ("f16", "f32") and c["result_component_type"] == "f32"
            for size in (8, 16, 32, 64)
            if c["min_subgroup_size"] <= size <= c["max_subgroup_size"]
        )

    @cached_property
    def identity(self) -> str:
        """What a result depends on: device, driver and the library that speaks to it."""
        parts = [self.name, self.info["device"], self.info["description"], self.info["vendor"]]
        manifest = self.kind.software.manifest() if self.kind.software else None
        if manifest is not None:  # SwiftShader states no version; its file's time is that of the package's build
            parts.append(str(manifest.stat().st_mtime_ns))
        return " | ".join([*parts, f"{self.kind.module} {self.module.__version__}"])

    @cached_property
    def subgroup_size(self) -> int | None:
        """The subgroup size that a kernel sees, found by running one; None without subgroups.

        What adapters report under this name is not filled in everywhere and is not asked.
        """
        if "subgroups" not in self.features:
            return None
        text = PROBE if self.kind.dialect == "native" else "enable subgroups;\n" + PROBE
        device = self.device(frozenset({"subgroups"}))
        usage = self.module.BufferUsage
        buffer = device.create_buffer(size=512, usage=usage.STORAGE | usage.COPY_SRC)
        module = device.create_shader_module(code=text)
        pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
        entries = [{"binding": 0, "resource": {"buffer": buffer, "offset": 0, "size": 512}}]
        group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
        encoder = device.create_command_encoder()
        compute = encoder.begin_compute_pass()
        compute.set_pipeline(pipeline)
        compute.set_bind_group(0, group)
        compute.dispatch_workgroups(1)
        compute.end()
        device.queue.submit([encoder.finish()])
        return agreed_size(device.queue.read_buffer(buffer).cast("I").tolist())

    def tick_seconds(self, device: Any) -> float:
        """Return the seconds of a tick of timestamps: Dawn counts nanoseconds, wgpu-native as the driver does."""
        if self.kind.dialect == "web":
            return 1e-9
        native: Any = importlib.import_module("wgpu.backends.wgpu_native")
        return float(native.lib.wgpuQueueGetTimestampPeriod(device.queue._internal)) * 1e-9

    def device(
        self,
        features: frozenset[str] = frozenset(),
        raised: Mapping[str, int] | None = None,
        toggles: Toggles = NO_TOGGLES,
    ) -> Any:
        """Return a device with these features and the default limits, save those that `raised` names.

        `toggles` are Dawn's and mean nothing to wgpu-native. Raises ToolMissing where the adapter lacks a feature or a
        limit.
        """
        for feature in sorted(features - self.features):
            raise ToolMissing(f"adapter {self.name} ({self.info['device']}) has no feature {feature}")
        limits = {**DEFAULT_LIMITS, **(raised or {})}
        for limit, value in limits.items():
            if limit.startswith("max") and value > self.limits[limit]:
                raise ToolMissing(f"adapter {self.name}: {limit} {value} > {self.limits[limit]}")
        key = (features, tuple(sorted(limits.items())), toggles)
        if key not in self._devices:
            native = self.kind.dialect == "native"
            names = sorted(FEATURES[feature] if native else feature for feature in features)
            # Dawn makes one device from an adapter, so each device starts from a fresh one.
            adapter = _find(self.kind, self.module)
            wanted = {kebab(name): value for name, value in limits.items()}
            if native:
                self._devices[key] = adapter.request_device_sync(required_features=names, required_limits=wanted)
            else:
                self._devices[key] = request_device(adapter, names, wanted, toggles)
        return self._devices[key]
