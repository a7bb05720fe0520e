"""The limits that a WebGPU device has unless it asks for more (WebGPU specification, table "Limits")."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

DEFAULT_LIMITS: Mapping[str, int] = MappingProxyType(
    {
        "maxBindGroups": 4,
        "maxBufferSize": 268435456,
        "maxComputeInvocationsPerWorkgroup": 256,
        "maxComputeWorkgroupSizeX": 256,
        "maxComputeWorkgroupSizeY": 256,
        "maxComputeWorkgroupSizeZ": 64,
        "maxComputeWorkgroupStorageSize": 16384,
        "maxComputeWorkgroupsPerDimension": 65535,
        "maxStorageBufferBindingSize": 134217728,
        "maxStorageBuffersPerShaderStage": 8,
        "maxUniformBufferBindingSize": 65536,
        "minStorageBufferOffsetAlignment": 256,
        "minUniformBufferOffsetAlignment": 256,
    }
)
"""Core defaults by their WebGPU names; sizes in bytes."""

MOST_LIMITS: Mapping[str, int] = MappingProxyType(
    {
        "maxComputeWorkgroupStorageSize": 65536,
        "maxComputeInvocationsPerWorkgroup": 1024,
        "maxComputeWorkgroupSizeX": 1024,
        "maxStorageBuffersPerShaderStage": 16,
    }
)
"""The highest tier that a browser hands out; above it a variant could never run."""

SUBGROUP_SIZES = (4, 8, 16, 32, 64, 128)
"""Every subgroup size that WebGPU allows."""
