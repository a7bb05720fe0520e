"""Plans on a device: buffers by name, passes in one command buffer, and what is refused before it."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import pytest
from pydantic import ValidationError

from wgslgen import expr, launch
from wgslgen.adapters import Gpu, open_adapter
from wgslgen.errors import OracleMismatch, UsageProblem
from wgslgen.guarded import Guarded
from wgslgen.kernels.argmax_merge import ArgmaxMerge
from wgslgen.kernels.get_rows import GetRows
from wgslgen.kernels.lm_head_argmax import LmHeadArgmax
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.quantize_q8 import QuantizeQ8
from wgslgen.kernels.rms_norm import RmsNorm
from wgslgen.limits import DEFAULT_LIMITS
from wgslgen.oracles import get_rows, plan_linear_argmax
from wgslgen.plan import Pass, Plan
from wgslgen.plans import derive
from wgslgen.plans.linear import quantise_for
from wgslgen.session import Session, dispatches, refuse_aliases
from wgslgen.verify import verify_on

INT8 = Matvec(format="q2_0", group=64, route="int8", activation_group=64)
LINEAR = derive([INT8, quantise_for(INT8)])[0]
NORM = RmsNorm(vector=1)
NORMS = Plan(
    name="norms",
    op="norms",
    doc="a norm of a norm",
    sizes=("M", "D"),
    outputs=("out",),
    passes=(
        Pass(variant=NORM, buffers={"x": "in", "weight": "w1", "y": "between"}),
        Pass(variant=NORM, buffers={"x": "between", "weight": "w2", "y": "out"}),
    ),
)


@pytest.fixture
def gpu() -> Gpu:
    return open_adapter("lavapipe")


class TestPlan:
    def test_buffers_follow_from_the_passes(self) -> None:
        roles = {buffer.name: buffer.role for buffer in NORMS.buffers}
        assert roles == {"in": "input", "w1": "input", "between": "scratch", "w2": "input", "out": "output"}
        sizes = {buffer.name: expr.fold(buffer.bytes, {"M": 3, "D": 5}) for buffer in NORMS.buffers}
        assert sizes == {"in": 60, "w1": 20, "between": 60, "w2": 20, "out": 60}
        assert NORMS.parameters == ("EPS",)
        assert NORMS.variants == (NORM,)

    def test_a_length_that_passes_see_differently_is_the_largest(self) -> None:
        [x8] = [buffer for buffer in LINEAR.buffers if buffer.name == "x8"]
        assert expr.fold(x8.bytes, {"N": 1, "K": 128}) == 128
        assert x8.role == "scratch"

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"passes": (Pass(variant=NORM, buffers={"z": "in"}),)}, "has no binding z; it has weight, x, y"),
            ({"passes": (Pass(variant=NORM, sizes={"K": "M"}),)}, "has no size K"),
            ({"sizes": ("M",)}, "needs D, and the plan has no size D"),
            ({"outputs": ("in",)}, "no pass writes its output in"),
        ],
    )
    def test_a_plan_that_does_not_hang_together_is_refused(self, change: dict[str, object], words: str) -> None:
        fields = {name: getattr(NORMS, name) for name in Plan.model_fields}
        with pytest.raises(ValidationError, match=words):
            Plan(**{**fields, **change})

    def test_a_plan_counts_only_where_all_its_variants_are_there(self) -> None:
        assert derive([INT8]) == ()
        assert derive([INT8, QuantizeQ8(group=64, stride=8)]) == ()
        assert [plan.op for plan in derive([INT8, quantise_for(INT8)])] == ["linear"]


class TestSession:
    def test_passes_run_in_order_and_again_on_new_contents(self, gpu: Gpu) -> None:
        session = Session(gpu, NORMS.variants)
        x, ones = np.array([[3.0, 4.0]], np.float32), np.ones(2, np.float32)
        session.hold_inputs(NORMS, {"M": 1, "D": 2}, {"in": x, "w1": ones, "w2": 2 * ones})
        session.add(NORMS, {"M": 1, "D": 2}, {"EPS": 1e-9})
        for scale in (1.0, -7.0):
            session.write("in", (scale * x).astype(np.float32))
            session.submit()
            y = np.sign(scale) * x / np.sqrt(12.5) * 2
            np.testing.assert_allclose(session.read("out", np.float32), y.ravel(), rtol=1e-6)

    def test_nothing_is_made_between_submissions(self, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
        session = Session(gpu, NORMS.variants)
        ones = np.ones(2, np.float32)
        session.hold_inputs(NORMS, {"M": 1, "D": 2}, {"in": ones, "w1": ones, "w2": ones})
        session.add(NORMS, {"M": 1, "D": 2}, {"EPS": 1e-9})
        made: list[str] = []
        for what in ("create_buffer", "create_buffer_with_data", "create_bind_group", "create_compute_pipeline"):
            monkeypatch.setattr(type(session.device), what, lambda *_, what=what, **__: made.append(what))
        session.submit()
        session.submit()
        assert made == []

    def test_what_is_missing_or_does_not_fit_is_refused(self, gpu: Gpu) -> None:
        ones = np.ones(2, np.float32)
        session = Session(gpu, NORMS.variants)
        with pytest.raises(UsageProblem, match="norms: no input w2"):
            session.hold_inputs(NORMS, {"M": 1, "D": 2}, {"in": ones, "w1": ones})
        session.clear()
        with pytest.raises(UsageProblem, match="norms: input w1 has 4 bytes; expected 8"):
            session.hold_inputs(NORMS, {"M": 1, "D": 2}, {"in": ones, "w1": ones[:1], "w2": ones})
        session.clear()
        with pytest.raises(UsageProblem, match="norms: there is no buffer in"):
            session.add(NORMS, {"M": 1, "D": 2}, {"EPS": 1e-6})
        session.hold_inputs(NORMS, {"M": 1, "D": 2}, {"in": ones, "w1": ones, "w2": ones})
        with pytest.raises(UsageProblem, match="norms: buffer in has 8 bytes; expected 16"):
            session.add(NORMS, {"M": 2, "D": 2}, {"EPS": 1e-6})
        with pytest.raises(UsageProblem, match="there is a buffer in already"):
            session.hold("in", 4)
        with pytest.raises(UsageProblem, match="in: 8 bytes at 4 do not fit 8 bytes"):
            session.buffers["in"].write(bytes(8), 4)
        with pytest.raises(UsageProblem, match="no value for D"):
            session.add(NORMS, {"M": 1}, {"EPS": 1e-6})

    def test_a_write_outside_a_buffer_is_caught(self, gpu: Gpu) -> None:
        session = Session(gpu, NORMS.variants)
        held = Guarded(gpu, session.device, "y", 8)
        session.device.queue.write_buffer(held.buffer, held.before + 8, bytes(4))
        with pytest.raises(OracleMismatch, match="wrote outside y: 4 bytes behind it, first at 0"):
            held.read()


class TestC39:
    """A writable binding shares no bytes with another one, also not after rounding to the alignment of views."""

    @pytest.mark.parametrize("other", ["x", "weight"])
    def test_c39_an_output_that_is_an_input_is_refused_by_name(self, other: str, gpu: Gpu) -> None:
        same = Plan(
            name="same",
            op="norm",
            doc="in place",
            sizes=("M", "D"),
            outputs=(),
            passes=(Pass(variant=NORM, buffers={"y": other}),),
        )
        ones = np.ones(2, np.float32)
        session = Session(gpu, same.variants)
        session.hold_inputs(same, {"M": 1, "D": 2}, {"x": ones, "weight": ones})
        with pytest.raises(UsageProblem, match=f"bindings {other} and y share bytes of buffer {other}"):
            session.add(same, {"M": 1, "D": 2}, {"EPS": 1e-6})

    def test_c39_two_inputs_of_one_buffer_work(self, gpu: Gpu) -> None:
        plan = Plan(
            name="square",
            op="norm",
            doc="x is its own weight",
            sizes=("M", "D"),
            outputs=("y",),
            passes=(Pass(variant=NORM, buffers={"weight": "x"}),),
        )
        session = Session(gpu, plan.variants)
        session.hold_inputs(plan, {"M": 1, "D": 2}, {"x": np.array([3.0, 4.0], np.float32)})
        session.add(plan, {"M": 1, "D": 2}, {"EPS": 1e-9})
        session.submit()
        np.testing.assert_allclose(session.read("y", np.float32), np.array([9, 16]) / np.sqrt(12.5), rtol=1e-6)

    @pytest.mark.parametrize(
        ("x", "y", "shared"),
        [
            ((0, 256), (256, 256), False),
            ((0, 260), (512, 256), False),
            ((0, 260), (256, 256), True),
            ((0, 8), (128, 8), True),
            ((512, 8), (0, 500), False),
            ((512, 8), (0, 513), True),
        ],
    )
    def test_c39_ranges_are_widened_to_256_bytes(self, x: tuple[int, int], y: tuple[int, int], shared: bool) -> None:
        bound = {"x": ("cache", *x), "weight": ("w", 0, 8), "y": ("cache", *y)}
        if not shared:
            refuse_aliases(NORM, bound)
            return
        with pytest.raises(UsageProblem, match="bindings x and y share bytes of buffer cache"):
            refuse_aliases(NORM, bound)


@pytest.mark.parametrize("adapter", ["lavapipe", "swiftshader", "dawn-swiftshader"])
def test_the_oracle_judges_the_result_of_a_plan(adapter: str) -> None:
    outcome = verify_on(open_adapter(adapter), LINEAR)
    assert outcome.problem is None
    assert (outcome.kernel, outcome.runs) == ("plan linear", len(INT8.cases()))


def test_a_plan_with_the_wrong_first_pass_fails() -> None:
    """A quantiser of another byte order: every pass is right by itself, and the result is not."""
    wrong = QuantizeQ8(group=64, stride=1)
    passes = (Pass(variant=wrong, sizes={"M": "1"}), LINEAR.passes[1])
    fields = {name: getattr(LINEAR, name) for name in Plan.model_fields}
    outcome = verify_on(open_adapter("lavapipe"), Plan(**{**fields, "passes": passes}))
    assert outcome.status == "failed"
    assert "y against the oracle" in str(outcome.problem)


class TestRowChunks:
    """Weights above the limit of a binding: head and embedding take them in chunks, within one plan."""

    HEAD = LmHeadArgmax(format="q2_0", group=64, route="float", tile_rows=2, workgroup_size=32)
    MERGE = ArgmaxMerge()
    SIZES: ClassVar = {"N": 157, "K": 256}

    def token(self, gpu: Gpu, most: int | None, head: LmHeadArgmax = HEAD) -> tuple[int, int]:
        """Return the token, and how many dispatches it took where a binding holds `most` bytes."""
        [plan] = derive([head, self.MERGE])
        session = Session(gpu, plan.variants)
        if most is not None:
            session.limits["maxStorageBufferBindingSize"] = most
        made = plan_linear_argmax.problem(
            {variant.NAME: variant.model_dump() for variant in plan.variants}, self.SIZES, np.random.default_rng(3)
        )
        session.hold_inputs(plan, self.SIZES, made.inputs)
        session.add(plan, self.SIZES)
        session.submit()
        outputs = session.outputs(plan)
        assert made.expected["token"].judge(outputs["token"], plan.tolerance()).problem is None
        return int(np.frombuffer(outputs["token"], np.uint32)[0]), len(session.dispatches)

    @pytest.mark.parametrize("most", [4096, 8192])
    def test_chunks_give_the_token_that_one_dispatch_gives(self, most: int, gpu: Gpu) -> None:
        whole, passes = self.token(gpu, None)
        assert passes == 2
        token, passes = self.token(gpu, most)
        assert token == whole
        assert passes > 2

    @pytest.mark.parametrize("layout", ["planar", "ggml"])
    def test_chunks_of_codes_that_point_into_a_table_bind_all_of_it(
        self, layout: Literal["planar", "ggml"], gpu: Gpu
    ) -> None:
        head = LmHeadArgmax(format="iq3_s", layout=layout, route="float", tile_rows=2, workgroup_size=32)
        whole, passes = self.token(gpu, None, head)
        assert passes == 2
        assert self.token(gpu, 15000, head) == (whole, 3)

    def test_a_table_above_the_limit_is_refused_by_its_name(self, gpu: Gpu) -> None:
        """Rows can be bound in parts; a table cannot, since a code may point anywhere in it."""
        head = LmHeadArgmax(format="iq1_s", route="float", tile_rows=2, workgroup_size=32)
        with pytest.raises(UsageProblem, match="binding grid has 16384 bytes, above the limit maxStorageBufferBinding"):
            self.token(gpu, 12000, head)

    def test_rows_that_cannot_be_bound_at_an_aligned_offset_are_refused(self, gpu: Gpu) -> None:
        with pytest.raises(UsageProblem, match="above the limit maxStorageBufferBindingSize 512"):
            self.token(gpu, 512)

    TABLE: ClassVar = {"N": 1571, "K": 256, "R": 39, "FIRST_ROW": 0, "ROWS": 1571}

    def looked_up(self, gpu: Gpu, variant: GetRows, most: int | None) -> tuple[bytes, list[int]]:
        """Return y, which was NaN before, and the ids in each chunk and in none where a binding holds `most` bytes.

        Ids go to the buffer behind the session's back: what the kernel does with bad ones is what is asked here.
        """
        plan = Plan(
            name="embedding",
            op="embedding",
            doc="rows of a table",
            sizes=("N", "K", "R"),
            outputs=("y",),
            passes=(Pass(variant=variant, sizes={"FIRST_ROW": "0", "ROWS": "N"}),),
        )
        sizes = {name: self.TABLE[name] for name in plan.sizes}
        made = get_rows.problem(variant.model_dump(), self.TABLE, np.random.default_rng(3))
        session = Session(gpu, plan.variants)
        if most is not None:
            session.limits["maxStorageBufferBindingSize"] = most
        session.hold_inputs(plan, sizes, {**made.inputs, "ids": np.zeros(39, np.uint32)})
        session.hold("y", 39 * 256 * 4, np.full((39, 256), np.nan, np.float32))
        session.add(plan, sizes)
        session.buffers["ids"].write(made.inputs["ids"].tobytes())
        session.submit()
        y = session.outputs(plan)["y"]
        assert made.expected["y"].judge(y, plan.tolerance()).problem is None
        ends = [part["FIRST_ROW"] + part["N"] for part, _ in dispatches(variant, self.TABLE, session.limits)]
        assert len(session.dispatches) == len(ends)
        return y, np.bincount(np.searchsorted(ends, made.inputs["ids"], "right"), minlength=len(ends) + 1).tolist()

    @pytest.mark.parametrize("adapter", ["lavapipe", "swiftshader", "dawn-swiftshader"])
    @pytest.mark.parametrize("layout", ["planar", "ggml"])
    @pytest.mark.parametrize(("name", "group", "most"), [("q2_0", 64, 40000), ("iq2_xs", 256, 50000)])
    def test_a_table_in_three_chunks_gives_the_rows_that_one_dispatch_gives(
        self, name: str, group: int, most: int, layout: Literal["planar", "ggml"], adapter: str
    ) -> None:
        """Some ids are in each of the chunks, and four in none: rows of zeros."""
        variant, chosen = GetRows(format=name, group=group, layout=layout), open_adapter(adapter)
        whole, counts = self.looked_up(chosen, variant, None)
        assert counts == [35, 4]
        chunks, counts = self.looked_up(chosen, variant, most)
        assert chunks == whole
        assert len(counts) == 4
        assert min(counts) >= 4

    def test_the_table_of_bonsai_8b_takes_two_dispatches(self) -> None:
        """155 MB of codes, where a binding holds 128 MiB: chunk by chunk within the default limits."""
        variant = GetRows(format="q2_0", group=64, k=4096)
        sizes = {"N": 151669, "K": 4096, "R": 1, "FIRST_ROW": 0, "ROWS": 151669}
        parts = [sized for sized, _ in dispatches(variant, sizes, DEFAULT_LIMITS)]
        assert [(part["FIRST_ROW"], part["ROWS"]) for part in parts] == [(0, 151669), (parts[0]["N"], 151669)]
        assert sum(part["N"] for part in parts) == 151669
        for part in parts:
            assert launch.plan(variant, part).workgroups == (1, 1, 1)
        with pytest.raises(UsageProblem, match="maxStorageBufferBindingSize"):
            launch.plan(variant, sizes)
