"""C49 once more: texts whose threads run in the other order, where a barrier that is missing shows sooner."""

from __future__ import annotations

from typing import Any

import pytest

from cases.support import SOURCE
from wgslgen import kernels
from wgslgen.adapters import Gpu
from wgslgen.harness import Runner
from wgslgen.judging import _problem
from wgslgen.render import render
from wgslgen.spec import Kernel

BARRIER = "workgroupBarrier();"
HEADS: dict[str, Any] = {"q_heads": 4, "head_dim": 64, "num_splits": 2}
BETWEEN: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "softmax": ({}, (0, 2)),
    "rms_norm": ({"q8_group": 32, "q8_stride": 4}, (0,)),
    "argmax_merge": ({"value": True}, (0, 2)),
    "top_k": ({"k_top": 5, "chunk": 256}, (0, 2)),
    "attention_split": ({**HEADS, "kv_heads": 2}, (0, 2, 4, 5, 6, 7)),
    "attention_prefill": ({"q_heads": 4, "kv_heads": 2, "head_dim": 64}, (0, 2, 4, 5, 6, 7)),
    "attention_merge": ({**HEADS, "q8_group": 64, "q8_stride": 8}, (0, 1)),
    "quantize_q8": ({"group": 128, "stride": 8}, (0, 2)),
    "binarize": ({"group": 128}, (0,)),
    "matmul": ({"format": "q4_0", "route": "tile"}, (0, 1)),
    "matmul of int8": ({"format": "q4_0", "route": "int8"}, (0, 1)),
    "matmul by tables": ({"format": "q1_0", "route": "lut", "step_words": 1}, (0, 1)),
}
"""By kernel, and a word more where it comes twice: constants, and the barriers of the text, from 0, without which
lavapipe shows a wrong result in one of the orders."""


def reversed_threads(variant: Kernel, text: str) -> str:
    """Return the text with the last thread in the place of the first; lanes stay, as nothing ties them to it."""
    given = "@builtin(local_invocation_index) given_index: u32,"
    text = text.replace("@builtin(local_invocation_index) local_index: u32,", given)
    at = text.index(") {", text.index("fn main(")) + 3
    return f"{text[:at]}\n  let local_index = {variant.threads() - 1}u - given_index;{text[at:]}"


def without(text: str, place: int) -> str:
    """Return the text without its barrier number `place`."""
    parts = text.split(BARRIER)
    return BARRIER.join([*parts[:place], parts[place] + parts[place + 1], *parts[place + 2 :]])


def right(gpu: Gpu, variant: Kernel, text: str) -> bool:
    """Tell whether the text gives the oracle's results in the last of its shape classes with the most columns."""
    case = max(reversed(variant.cases()), key=lambda case: case.sizes.get("K", 0))
    problem = _problem(variant, case)
    raw = Runner(gpu, variant, text).run(problem.inputs, case.sizes, problem.parameters)
    verdicts = (expected.judge(raw[name], variant.tolerance()) for name, expected in problem.expected.items())
    return all(verdict.problem is None for verdict in verdicts)


@pytest.mark.parametrize("name", BETWEEN)
def test_c49_threads_in_the_other_order_change_nothing(name: str, gpu: Gpu) -> None:
    kernel = kernels.get(name.split(maxsplit=1)[0])
    for subgroups in (False, True) if "subgroups" in kernel.model_fields else (None,):
        more = {} if subgroups is None else {"subgroups": subgroups}
        variant = kernel.model_validate({**BETWEEN[name][0], **more})
        assert right(gpu, variant, reversed_threads(variant, render(variant, SOURCE)))


@pytest.mark.parametrize("name", BETWEEN)
def test_c49_one_barrier_less_shows_in_one_of_two_orders(name: str, lavapipe: Gpu) -> None:
    constants, places = BETWEEN[name]
    variant = kernels.get(name.split(maxsplit=1)[0]).model_validate(constants)
    for place in places:
        text = without(render(variant, SOURCE), place)
        both = (text, reversed_threads(variant, text))
        assert not all(right(lavapipe, variant, each) for each in both), f"barrier {place}"
