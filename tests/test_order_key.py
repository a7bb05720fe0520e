from __future__ import annotations

import numpy as np
import pytest
from cases.support import Probe, opened

from wgslgen.adapters import SOFTWARE
from wgslgen.environment import environment
from wgslgen.harness import Runner
from wgslgen.textrules import check

# In the order of their keys; what stands on one line has one key.
BITS = [
    [0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF],
    [0xFF800000],
    [0xFF7FFFFF],
    [0xBF800001],
    [0xBF800000],
    [0x80800000],
    [0x807FFFFF],
    [0x80000001],
    [0x80000000, 0x00000000],
    [0x00000001],
    [0x007FFFFF],
    [0x00800000],
    [0x3F800000],
    [0x3F800001],
    [0x7F7FFFFF],
    [0x7F800000],
]
TEXT = """
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@group(0) @binding(1) var<storage, read> x1: array<{element}>;

@compute @workgroup_size(1u)
fn main() {{
  for (var i = 0u; i < {count}u; i++) {{
    y[i] = {call}(x1[i]);
  }}
}}
"""


def text(element: str, call: str) -> str:
    """Return a kernel that writes the key of each of its inputs."""
    partial = environment().get_template("partials/order_key.wgsl.j2").render()
    return partial + TEXT.format(element=element, call=call, count=sum(map(len, BITS)))


@pytest.mark.parametrize("adapter", SOFTWARE)
@pytest.mark.parametrize(("element", "call"), [("u32", "order_key_of_bits"), ("f32", "order_key")])
def test_keys_are_ordered_as_the_numbers_are(adapter: str, element: str, call: str) -> None:
    """Subnormals among them: an adapter that flushed them would show it where floats are loaded."""
    bits = np.array([word for same in BITS for word in same], np.uint32)
    raw = Runner(opened(adapter), Probe(size=1, buffers=2), text(element, call)).run({"x1": bits}, {"N": bits.size})
    keys = iter(np.frombuffer(raw["y"], np.uint32).tolist())
    found = [{next(keys) for _ in same} for same in BITS]
    assert all(len(same) == 1 for same in found)
    ordered = [key for same in found for key in same]
    assert ordered == sorted(set(ordered))
    assert ordered[0] == 0


def test_no_rule_refuses_the_partial() -> None:
    assert check(text("f32", "order_key")) == []
