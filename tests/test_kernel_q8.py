"""Int8 results that a kernel stores itself: the partial emit_q8, and `rms_norm` with it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from wgslgen.adapters import SOFTWARE, Gpu, open_adapter
from wgslgen.compare import Close, Rounded
from wgslgen.environment import environment
from wgslgen.harness import Runner
from wgslgen.kernels import q8
from wgslgen.kernels.quantize_q8 import QuantizeQ8
from wgslgen.kernels.rms_norm import RmsNorm
from wgslgen.oracles import quantize_q8, rms_norm
from wgslgen.oracles.problem import Problem
from wgslgen.render import render
from wgslgen.spec import Binding, Const, Constant, Kernel, UniformField, WorkgroupVariable
from wgslgen.validate import validate

opened = cache(open_adapter)
EXACT = QuantizeQ8(group=32, stride=1).tolerance()
COPY = """
$$ include "partials/header.wgsl.j2"
$$ include "partials/emit_q8.wgsl.j2"
@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) local_index: u32) {
  for (var start = 0u; start < params.words; start += WORKGROUP_SIZE) {
    let word = start + local_index;
    emit_q8(word, x[min(word, params.words - 1u)], word < params.words, local_index);
  }
}
"""


class Copy(Kernel):
    """A kernel without a template file: one workgroup goes over all of x and stores it as int8."""

    NAME: ClassVar[str] = "copy"
    SUMMARY: ClassVar[str] = "x as int8, by one workgroup"
    SIZES: ClassVar[tuple[str, ...]] = ("WORDS",)

    q8_group: q8.Group = 32
    q8_stride: q8.Stride = 1
    workgroup_size: Annotated[int, Constant("threads of the workgroup", "how", "wg{}", "WORKGROUP_SIZE")] = 256

    @property
    def form(self) -> q8.Q8:
        form = q8.Q8.of(self.workgroup_size, self.q8_group, self.q8_stride)
        assert form is not None
        return form

    def consts(self) -> Iterator[Const]:
        yield from self.form.consts()

    def bindings(self) -> tuple[Binding, ...]:
        x = Binding(name="x", access="read", element="vec4<f32>", length="WORDS", doc="values")
        return (x, *self.form.bindings("4 * WORDS", "[WORDS]"))

    def uniforms(self) -> tuple[UniformField, ...]:
        return (UniformField(name="words", type="u32", value="WORDS", doc="a quarter of the elements"),)

    def workgroup_variables(self) -> tuple[WorkgroupVariable, ...]:
        return self.form.workgroup_variables()

    def workgroups(self) -> str:
        return "1"

    def threads(self) -> int:
        return self.workgroup_size

    def text(self) -> str:
        """Return the WGSL."""
        values = {"variant": self, "source": "test", "structure": [], "directives": [], **self.form.template_values()}
        return environment().from_string(COPY).render(**values)


class TestEmit:
    @pytest.mark.parametrize("adapter", SOFTWARE)
    @pytest.mark.parametrize("group", [32, 64, 128])
    @pytest.mark.parametrize("stride", [1, 4, 8])
    def test_c49_a_workgroup_that_loops_stores_what_quantize_q8_stores(
        self, stride: Literal[1, 4, 8], group: Literal[32, 64, 128], adapter: str, rng: np.random.Generator
    ) -> None:
        """Ties, subnormals, zeros and huge values; the last round is not full; 20 runs give the same bits."""
        variant, gpu = Copy(q8_group=group, q8_stride=stride), opened(adapter)
        sizes = {"M": 3, "K": 27 * group}
        made = quantize_q8.problem({"activation": "f32", "group": group, "stride": stride}, sizes, rng)
        words = made.inputs["x"].size // 4
        assert words > 2 * variant.workgroup_size
        assert words % variant.workgroup_size
        runner = Runner(gpu, variant, variant.text())
        outputs = runner.run(made.inputs, {"WORDS": words})
        for name, expected in made.expected.items():
            assert expected.judge(outputs[name], EXACT).problem is None
        for _ in range(19):
            assert runner.run(made.inputs, {"WORDS": words}) == outputs

    @pytest.mark.parametrize("group", [64, 128])
    @pytest.mark.parametrize("which", [0, 1])
    def test_c49_without_either_barrier_the_result_is_refused(
        self, which: int, group: Literal[64, 128], rng: np.random.Generator
    ) -> None:
        """Lavapipe's subgroups of eight threads run one after the other, so a group of more shows what is missing."""
        variant, barrier = Copy(q8_group=group, q8_stride=4), "workgroupBarrier();"
        parts = variant.text().split(barrier)
        assert len(parts) == 3
        text = (parts[0] + parts[1] + barrier + parts[2], parts[0] + barrier + parts[1] + parts[2])[which]
        made = quantize_q8.problem({"activation": "f32", "group": group, "stride": 4}, {"M": 3, "K": 27 * group}, rng)
        outputs = Runner(opened("lavapipe"), variant, text).run(made.inputs, {"WORDS": made.inputs["x"].size // 4})
        for name, expected in made.expected.items():
            assert expected.judge(outputs[name], EXACT).problem is not None

    def test_both_compilers_accept_it_and_see_its_barriers(self) -> None:
        texts = {str(stride): Copy(q8_stride=stride).text() for stride in (1, 4, 8)}
        assert not validate(texts, require=("naga", "tint")).rejected
        good = texts["4"]
        bad = good.replace("    emit_q8(word,", "    if (word < params.words) {\n    emit_q8(word,").replace(
            "  }\n}\n", "  }\n  }\n}\n"
        )
        assert "tint" in str(validate({"bad": bad}, require=("naga", "tint")).findings)

    def test_a_workgroup_is_whole_groups(self) -> None:
        assert [*q8.refusals(48, 64, 1)] == []
        assert [*q8.refusals(48, 128, 1)] == ["q8_group 128 takes 32 threads, which do not divide the workgroup of 48"]
        assert q8.Q8.of(64, None, None) is None


def emitting(**chosen: Any) -> RmsNorm:
    return RmsNorm(**{"q8_group": 64, "q8_stride": 4, **chosen})


def made(variant: RmsNorm, rng: np.random.Generator, m: int = 9, d: int = 512) -> Problem:
    return rms_norm.problem(variant.model_dump(), {"M": m, "D": d}, rng)


def buffers(values: NDArray[np.float64], group: int, stride: int) -> dict[str, bytes]:
    """Return what a kernel stores for the results `values` [M, D]."""
    x8, x_scale = quantize_q8.packed(quantize_q8.quantise(values, group), stride)
    return {"x8": x8.tobytes(), "x_scale": x_scale.tobytes()}


def results(problem: Problem) -> NDArray[np.float64]:
    """Return the results [M, D] before they become int8."""
    x = problem.inputs["x"]
    sums = rms_norm.summed(x, problem.inputs.get("residual", np.zeros_like(x)))
    return rms_norm.normalised(sums, problem.inputs["weight"], rms_norm.EPS)


class TestOracle:
    @pytest.mark.parametrize("activation", ["f32", "f16"])
    @pytest.mark.parametrize("residual", [False, True])
    @pytest.mark.parametrize("group", [32, 64, 128])
    def test_no_result_lies_near_a_tie(
        self, group: int, residual: bool, activation: str, rng: np.random.Generator
    ) -> None:
        problem = made(emitting(q8_group=group, residual=residual, activation=activation), rng)
        assert not rms_norm.near_tie(results(problem), group).any()
        assert np.abs(problem.inputs["x"].astype(np.float64)).max(axis=1)[4] == 0.0, "zeros are not moved"

    def test_a_result_on_a_tie_is_moved_off_it(self) -> None:
        x = np.array([[127.0, 2.5, 0.5, -63.5] * 8], np.float32)
        other, zeros, ones = np.zeros_like(x), np.zeros_like(x), np.ones(32, np.float32)
        assert rms_norm.near_tie(rms_norm.normalised(x, ones, 0.0), 32).sum() == 24
        moved, other = rms_norm.clear_of_ties(x, zeros, ones, 32)
        assert not rms_norm.near_tie(rms_norm.normalised(moved, ones, 0.0), 32).any()
        assert not other.any()
        np.testing.assert_allclose(moved, x, rtol=2.0**-9)
        zeros, moved = rms_norm.clear_of_ties(zeros, x, ones, 32)
        assert not zeros.any(), "the larger addend is the one that moves"
        assert (moved != x).sum() == 24

    def test_errors_of_the_root_change_scales_and_no_integers(self, rng: np.random.Generator) -> None:
        variant = emitting()
        problem = made(variant, rng)
        off = buffers(results(problem) * (1.0 + 2.0**-19), 64, 4)
        for name, expected in problem.expected.items():
            assert expected.judge(off[name], variant.tolerance()).problem is None
        assert off["x_scale"] != buffers(results(problem), 64, 4)["x_scale"]

    @pytest.mark.parametrize("activation", ["f32", "f16"])
    def test_another_order_another_row_another_scale_and_another_sum_are_rejected(
        self, activation: str, rng: np.random.Generator
    ) -> None:
        variant = emitting(activation=activation)
        problem = made(variant, rng)
        values, tolerance = results(problem), variant.tolerance()
        assert isinstance(problem.expected["x8"], Rounded)
        assert isinstance(problem.expected["x_scale"], Close)
        for wrong in (values[::-1], np.roll(values, 1, axis=1), values[:, ::-1]):
            for name, raw in buffers(wrong, 64, 4).items():
                assert problem.expected[name].judge(raw, tolerance).problem is not None
        for stride in (1, 8):
            raw = buffers(values, 64, stride)["x8"]
            assert problem.expected["x8"].judge(raw, tolerance).problem is not None
        scaled = buffers(values * 1.02, 64, 4)["x_scale"]
        assert problem.expected["x_scale"].judge(scaled, tolerance).problem is not None
        x_scale = np.frombuffer(buffers(values, 64, 4)["x_scale"], np.float32).copy()
        x_scale[1] += 1.0
        assert problem.expected["x_scale"].judge(x_scale.tobytes(), tolerance).problem is not None


@pytest.mark.parametrize("adapter", SOFTWARE)
@pytest.mark.parametrize("residual", [False, True])
def test_two_passes_and_one_give_the_same_integers(residual: bool, adapter: str, rng: np.random.Generator) -> None:
    """What rms_norm stores as int8 is what quantize_q8 makes of the floats that it stores else."""
    gpu, variant = opened(adapter), emitting(residual=residual, q8_stride=8)
    problem = made(variant, rng)
    sizes, eps = {"M": 9, "D": 512}, {"EPS": rms_norm.EPS}
    once = Runner(gpu, variant, render(variant, "test")).run(problem.inputs, sizes, eps)
    floats = RmsNorm(residual=residual)
    y = Runner(gpu, floats, render(floats, "test")).run(problem.inputs, sizes, eps)
    assert once.get("residual") == y.get("residual")
    q = QuantizeQ8(group=64, stride=8)
    x = {"x": np.frombuffer(y["y"], np.float32)}
    twice = Runner(gpu, q, render(q, "test")).run(x, {"M": 9, "K": 512})
    assert once["x8"] == twice["x8"]
    scales, others = (np.frombuffer(outputs["x_scale"], np.float32) for outputs in (once, twice))
    np.testing.assert_allclose(scales, others, rtol=2.0**-21)


@pytest.mark.parametrize("q8_group", [None, 64])
def test_workgroups_past_the_last_row_store_nothing(
    q8_group: Literal[64] | None, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """A folded dispatch launches some in vain; they see the last row and leave sums and results alone."""
    gpu: Gpu = opened("lavapipe")
    variant = RmsNorm(residual=True, q8_group=q8_group, q8_stride=None if q8_group is None else 4)
    problem = made(variant, rng, m=3)
    sizes, eps = {"M": 3, "D": 512}, {"EPS": rms_norm.EPS}
    runner = Runner(gpu, variant, render(variant, "test"))
    right = runner.run(problem.inputs, sizes, eps)
    monkeypatch.setattr(RmsNorm, "workgroups", lambda _: "M + 5")
    assert runner.run(problem.inputs, sizes, eps) == right
