"""What a session checks of the host's numbers before a pass takes them: ids, lengths, names and sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wgslgen.adapters import Gpu, open_adapter
from wgslgen.errors import UsageProblem
from wgslgen.kernels.argmax_merge import ArgmaxMerge
from wgslgen.kernels.get_rows import GetRows
from wgslgen.kernels.qk_norm_rope import QkNormRope
from wgslgen.kernels.rope_cache_kv import RopeCacheKv
from wgslgen.kernels.set_rows import SetRows
from wgslgen.plan import Pass, Plan
from wgslgen.session import Session
from wgslgen.spec import Kernel

EMBED = GetRows(format="f32", layout="ggml")
MERGE = ArgmaxMerge()
SIZES = {"N": 5, "K": 4, "R": 1, "FIRST_ROW": 0, "ROWS": 5}


@pytest.fixture
def gpu() -> Gpu:
    return open_adapter("lavapipe")


def one_pass(variant: Kernel, **buffers: str) -> Plan:
    """Return the plan of one variant, in its own sizes."""
    step = Pass(variant=variant, buffers=buffers)
    return Plan(name=variant.NAME, op="one", doc="one pass", sizes=variant.SIZES, outputs=(), passes=(step,))


def embedding(gpu: Gpu) -> Session:
    """Return a session with a table of five rows of four elements, row r full of r."""
    session = Session(gpu, [EMBED, MERGE])
    session.hold("weights", 80, np.arange(5, dtype=np.float32).repeat(4), read_only=True)
    return session


class TestValues:
    @pytest.mark.parametrize("bad", [5, 2**32 - 1])
    def test_what_is_held_when_a_pass_is_added_is_checked(self, bad: int, gpu: Gpu) -> None:
        session = embedding(gpu)
        session.hold("ids", 4, np.array([bad], np.uint32))
        with pytest.raises(UsageProblem, match=rf"get_rows.*: ids\[0\] is {bad}; expected a number from 0 to 4"):
            session.add(one_pass(EMBED), SIZES)

    def test_rows_that_are_written_twice_are_refused_before_and_after_a_pass_is_added(self, gpu: Gpu) -> None:
        variant, sizes = SetRows(format="q8_0"), {"R": 2, "K": 32, "ROWS": 4}
        session = Session(gpu, [variant])
        session.hold("x", 2 * 128, np.ones(64, np.float32))
        session.hold("codes", 4 * 32)
        session.hold("scales", 8)
        session.hold("ids", 8, np.array([3, 3], np.uint32))
        with pytest.raises(UsageProblem, match=r"set_rows.*: ids names 1 rows twice; expected different numbers"):
            session.add(one_pass(variant), sizes)
        session.write("ids", np.array([3, 1], np.uint32))
        session.add(one_pass(variant), sizes)
        with pytest.raises(UsageProblem, match=r"set_rows.*: ids names 1 rows twice; expected different numbers"):
            session.write("ids", np.array([2, 2], np.uint32))
        session.submit()
        np.testing.assert_array_equal(session.read("codes").reshape(4, 32)[[1, 3]], 127)

    def test_what_is_written_later_is_checked_and_does_not_reach_the_device(self, gpu: Gpu) -> None:
        session = embedding(gpu)
        session.hold("ids", 4)  # nothing is known of it yet
        session.add(one_pass(EMBED), SIZES)
        session.write("ids", np.array([4], np.uint32))
        for bad in (np.array([5], np.uint32), np.array([-1], np.int32)):
            with pytest.raises(UsageProblem, match=r"ids\[0\] is \d+; expected a number from 0 to 4"):
                session.write("ids", bad)
        session.submit()
        assert session.read("y", np.float32).tolist() == [4.0] * 4

    @pytest.mark.parametrize("kernel", [RopeCacheKv, QkNormRope])
    def test_a_length_above_the_rows_that_there_are_is_named(self, kernel: Any, gpu: Gpu) -> None:
        plan = one_pass(kernel(q_heads=1, kv_heads=1, head_dim=8))
        sizes = {"B": 2, "M": 1, "CAPACITY": 3, "LAYERS": 1, "LAYER": 0, "TABLE_ROWS": 3}
        sizes = {name: value for name, value in sizes.items() if name in plan.sizes}
        session = Session(gpu, plan.variants)
        contents = {
            buffer.name: np.zeros(session._bytes(plan, buffer, sizes) // 4, np.uint32)
            for buffer in plan.buffers
            if buffer.role in ("input", "in_out")
        }
        session.hold_inputs(plan, sizes, contents)
        session.add(plan, sizes, {"EPS": 1e-6})
        session.write("lengths", np.array([3, 0], np.uint32))
        with pytest.raises(UsageProblem, match=r"lengths\[1\] is 4; expected a number from 0 to 3"):
            session.write("lengths", np.array([0, 4], np.uint32))

    def test_elements_behind_what_a_pass_reads_are_not_its_business(self, gpu: Gpu) -> None:
        session = embedding(gpu)
        session.hold("ids", 8, np.array([1, 99], np.uint32))
        session.add(one_pass(EMBED), SIZES)
        session.write("ids", np.array([2, 77], np.uint32))
        session.submit()
        assert session.read("y", np.float32).tolist() == [2.0] * 4

    def test_what_a_pass_writes_is_the_pass_s_business(self, gpu: Gpu) -> None:
        """A token that an earlier pass finds replaces whatever the host held, and is not checked against it."""
        session = embedding(gpu)
        session.hold("token", 4, np.array([1000], np.uint32))
        session.hold("best_value", 4, np.array([1.0], np.float32))
        session.hold("best_index", 4, np.array([3], np.uint32))
        session.add(one_pass(MERGE), {"M": 1, "SLOTS": 1})
        session.add(one_pass(EMBED, ids="token"), SIZES)
        session.submit()
        assert session.read("y", np.float32).tolist() == [3.0] * 4
        session.clear()
        session.hold("token", 4, np.array([1000], np.uint32))
        session.hold("best_value", 4, np.array([1.0], np.float32))
        session.hold("best_index", 4, np.array([2], np.uint32))
        session.hold("weights", 80, np.arange(5, dtype=np.float32).repeat(4), read_only=True)
        session.add(one_pass(MERGE), {"M": 1, "SLOTS": 1})
        session.submit()
        session.add(one_pass(EMBED, ids="token"), SIZES)
        session.submit()
        assert session.read("y", np.float32).tolist() == [2.0] * 4


class TestNamesAndSizes:
    def test_names_that_are_not_there(self, gpu: Gpu) -> None:
        session = embedding(gpu)
        session.hold("ids", 4, np.array([1], np.uint32))
        for use in (lambda: session.write("id", np.zeros(1, np.uint32)), lambda: session.read("id")):
            with pytest.raises(UsageProblem, match="there is no buffer id; there are ids, weights"):
                use()
        with pytest.raises(UsageProblem, match="there is no buffer y; there are ids, weights"):
            session.outputs(
                Plan(name="p", op="p", doc="", sizes=EMBED.SIZES, outputs=("y",), passes=(Pass(variant=EMBED),))
            )
        with pytest.raises(UsageProblem, match="get_rows: has no buffer id; it has ids, weights, y"):
            session.add(one_pass(EMBED), SIZES, names={"id": "ids"})

    @pytest.mark.parametrize("size", [3, -4, 4.0, True])
    def test_a_buffer_is_whole_words(self, size: Any, gpu: Gpu) -> None:
        with pytest.raises(UsageProblem, match=f"a: {size} bytes; expected a whole number of u32 words"):
            Session(gpu, [EMBED]).hold("a", size)

    def test_what_is_written_is_whole_words(self, gpu: Gpu) -> None:
        session = embedding(gpu)
        session.hold("halves", 8)
        with pytest.raises(UsageProblem, match="halves: 6 bytes; expected whole words of 4 bytes"):
            session.write("halves", np.zeros(3, np.float16))

    @pytest.mark.parametrize("bad", [-1, 2**32, 1.5, True])
    def test_sizes_are_u32_and_the_plan_s_own(self, bad: Any, gpu: Gpu) -> None:
        session, plan = embedding(gpu), one_pass(EMBED)
        session.hold("ids", 4, np.array([1], np.uint32))
        for use in (session.add, lambda plan, sizes: session.hold_inputs(plan, sizes, {})):
            with pytest.raises(UsageProblem, match=f"get_rows: R is {bad}; expected a whole number from 0 to 2"):
                use(plan, {**SIZES, "R": bad})
            with pytest.raises(UsageProblem, match="get_rows: has no size M; it has N, K, R"):
                use(plan, {**SIZES, "M": 1})
