"""`wgslgen bench` from end to end on software: what it prints has the right structure, whatever the times."""

from __future__ import annotations

import html.parser
import importlib
import json
import re
from pathlib import Path
from typing import Any
from xml.dom import minidom

import pytest
from cli_runs import refused, run, run_apart, told

from wgslgen import formats
from wgslgen.adapters import Gpu, open_adapter
from wgslgen.bench import decoding, modelrun, record, suite
from wgslgen.bench import machine as device
from wgslgen.bench.clock import Heater, Pace
from wgslgen.bench.jobs import jobs, plans_of
from wgslgen.bench.machine import Backend, Machine
from wgslgen.bench.results import Result, time_job
from wgslgen.bench.roof import Roof
from wgslgen.bench.run import Run, require_any, time_model, time_targets
from wgslgen.cli import bench as command
from wgslgen.errors import ToolMissing
from wgslgen.kernels.matvec import Matvec
from wgslgen.model import Model
from wgslgen.plans.linear import quantise_for

BUNDLE = """
name = "timed"
[[kernel]]
kernel = "matvec"
format = "q2_0"
group = 64
route = "int8"
activation_group = 64
tile_rows = [4, 8]
workgroup_size = [32, 64]
[[kernel]]
kernel = "quantize_q8"
group = 64
stride = 4
[[kernel]]
kernel = "matvec"
format = "q2_0"
group = 64
route = "block"
layout = "ggml"
step_words = 1
tile_rows = 1
[[kernel]]
kernel = "matmul"
format = "q2_0"
group = 64
route = "tile"
step_words = 1
[[kernel]]
kernel = "matmul"
format = "q2_0"
group = 64
route = "subgroup_matrix"
step_words = 1
"""
FLOAT = {"format": "q2_0", "group": 64, "route": "float"}
MODEL = Model(
    hidden=128,
    intermediate=256,
    q_heads=2,
    kv_heads=1,
    head_dim=64,
    layers=2,
    vocab=67,
    rope_theta=1e6,
    eps=1e-6,
    tied=False,
    qk_norm=True,
)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "timed.toml"
    path.write_text(BUNDLE)
    return path


class Page(html.parser.HTMLParser):
    """Sees that elements close in order, and keeps what a test asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: dict[str, int] = {}
        self.links: list[str] = []
        self.captions: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[tag] = self.found.get(tag, 0) + 1
        self.links += [str(value) for name, value in attrs if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[tag] = self.found.get(tag, 0) + 1
        assert dict(attrs), tag

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "figcaption":
            self.captions.append(data)


def parsed(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def test_a_bundle_on_lavapipe_as_data_and_as_a_page(bundle: Path, tmp_path: Path) -> None:
    page = tmp_path / "bench.html"
    shape = ("--shape", "M=1:3,N=64,K=128")
    result = run("bench", bundle, "--op", "linear", *shape, "--adapter", "lavapipe", "--html", page, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    (backend,) = found["backends"]
    assert found["targets"] == []
    assert backend["label"] == "lavapipe"
    assert {each["name"] for each in backend["references"]} == {"read", "copy", "f32", "dot4"}
    assert all(each["value"] == max(each["start"], each["end"]) > 0 for each in backend["references"])
    assert any(each["start"] != each["end"] for each in backend["references"]), "they are measured twice"
    of_one = [each for each in backend["results"] if each["shape"]["M"] == 1]
    assert sorted(each["route"] for each in of_one) == ["block", "int8", "int8", "int8", "int8", "tile"]
    assert [each["route"] for each in backend["results"] if each["shape"]["M"] == 3] == ["tile"]
    for each in backend["results"]:
        assert len(each["rounds"]) == 5
        assert min(each["rounds"]) <= each["seconds"] <= max(each["rounds"])
        assert each["repetitions"] >= 1
        assert each["operations"] == 2 * each["shape"]["M"] * 64 * 128
        assert len(each["passes"]) == (2 if each["route"] == "int8" else 1)
        assert all("seconds" in step for step in each["passes"]) == (each["route"] == "int8")
        rated = {"int8": "dot4"}.get(each["route"], "f32")
        assert each["unit"] == rated
        assert each["of_rate"] > 0
    over = {each["route"]: each["over_baseline"] for each in of_one}
    assert over["block"] == 1
    assert over["tile"] == 1
    assert over["int8"] > 0
    unable = [each for each in backend["refused"] if "subgroup_matrix" in each["name"]]
    assert len(unable) == 2
    assert all("chromium-experimental-subgroup-matrix" in each["reason"] for each in unable)
    assert sum("it is for M = 1" in each["reason"] for each in backend["refused"]) == 5
    _check_page(page.read_text(encoding="utf-8"), points=len(backend["results"]))
    figures = record.write_plots(found, tmp_path / "plots")
    assert [path for _, path in figures] == [
        "plots/01-roofline.svg",
        "plots/02-time-by-tile_rows-and-workgroup-size.svg",
        "plots/03-time-against-m.svg",
    ]
    for _, path in figures:
        assert minidom.parse(str(tmp_path / path)).documentElement  # noqa: S318  # our own file


def _check_page(text: str, points: int) -> None:
    page = parsed(text)
    assert page.links == []
    assert "@import" not in text
    assert "url(" not in text
    assert [caption.partition(":")[0] for caption in page.captions] == [
        "Roofline",
        "Time by TILE_ROWS and workgroup size",
        "Time against M",
    ]
    assert page.found["svg"] == 3
    assert page.found["polyline"] >= 2 + 2 + 1
    roofline = text.partition("<svg")[2].partition("</svg>")[0]
    assert roofline.count('class="dot"') == points
    for places in re.findall(r'points="([^"]*)"', text):
        assert all(0 <= float(number) <= 1000 for place in places.split() for number in place.split(","))


def test_a_table_on_dawn_with_and_without_its_checks(bundle: Path) -> None:
    options = ("--shape", "M=1,N=64,K=128", "--variants", "*rows8*", "--rounds", "1")
    result = run("bench", bundle, *options, "--adapter", "dawn-swiftshader", "--unchecked")
    assert result.exit_code == 0, result.output
    for label in ("dawn-swiftshader", "dawn-swiftshader, unchecked"):
        assert f"\nlinear, M = 1, N = 64, K = 128, q2_0 with group 64, on {label}\n" in f"\n{result.stdout}"
        assert f"\n{label}: SwiftShader" in f"\n{result.stdout}"
    assert result.stdout.count("measured here: read ") == 2
    assert result.stdout.count("\nlinear.matvec_q2_0_g64_planar_m1_xf32_yf32__w4_int8_a64_rows8_wg") == 4
    assert result.stdout.count("\n  quantize_q8_xf32_g64_s4__only") == 4


def test_unchecked_is_dawn_without_its_checks_and_nothing_else() -> None:
    extras: Any = importlib.import_module("wgpudawn.backends.dawn.extras")
    checked, unchecked = (Machine(Backend("dawn-swiftshader", unchecked=off)) for off in (False, True))
    on, off = ({*extras.get_toggles(machine.device)} for machine in (checked, unchecked))
    assert off - on == {"disable_robustness", "disable_workgroup_init"}
    assert on <= off
    assert "timestamp_quantization" not in on


def test_the_table_of_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    """With rows of a small shape in the place of the real ones, which take longer."""
    small = suite.product(suite.Q2, 1, 64, 128, "matvec")
    ratio = suite.Row("ratio", 1e9, "x", pair=suite.over(small, suite.BLOCK), where="software", needs=(small,))
    text = suite.Row("text", 65536, "bytes", suite.largest(lambda each: each.text_bytes), where="software", least=False)
    monkeypatch.setattr(suite, "rows_for", lambda software: [ratio, text] if software else [])
    result = run("bench", "--targets", "--adapter", "lavapipe", "--rounds", "1", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    (backend,) = found["backends"]
    assert {each["route"] for each in backend["results"]} == {"int8", "float", "block"}
    faster, largest = found["targets"]
    assert faster["work"] == "ratio"
    assert faster["target"] == ">= 1,000,000,000 x"
    assert faster["judged"]["backend"] == "lavapipe"
    assert faster["judged"]["reached"] is False
    assert 0 < faster["judged"]["short_by"] < 1
    assert largest["judged"]["value"] == max(each["text_bytes"] for each in backend["results"])
    assert largest["judged"]["reached"] is True


def test_both_times_of_a_ratio_are_taken_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    small = suite.product(suite.Q2, 1, 64, 128, "matvec")
    row = suite.Row("ratio", 1.0, "x", pair=suite.over(small, suite.BLOCK), where="software", needs=(small,))
    monkeypatch.setattr(suite, "rows_for", lambda software: [row] if software else [])
    one = Run(Machine(Backend("lavapipe")), Pace(rounds=1, round_seconds=1e-4, warm_seconds=0), [Roof(())])
    time_targets(one, lambda _: None)
    assert one.context is not None
    first, again = suite.over(small, suite.BLOCK)(one.context), one.context.pairs["ratio"]
    assert first is not None
    assert [each.job for each in again] == [each.job for each in first]
    assert all(new.sample is not old.sample for new, old in zip(again, first, strict=True))


def test_without_a_bundle_the_grid_of_the_op_is_timed() -> None:
    options = ("--op", "norm", "--shape", "M=2,D=256", "--variants", "*v4_wg64*", "--rounds", "1", "--json")
    result = run("bench", *options, "--adapter", "lavapipe")
    assert result.exit_code == 0, result.output
    (backend,) = json.loads(result.stdout)["backends"]
    assert sorted(each["name"] for each in backend["results"]) == [
        "rms_norm_xf32__v4_wg64",
        "rms_norm_xf32__v4_wg64_sg",
    ]
    assert all(each["bytes_read"] == (2 * 256 + 256) * 4 for each in backend["results"])


def test_a_model_is_a_token_and_a_prompt() -> None:
    machine = Machine(Backend("lavapipe"))
    stored = formats.get("q2_0", 64)
    choice = decoding.choice_for(machine, MODEL, stored)
    assert (choice.route, choice.cache) == ("int8", "f16")
    said: list[str] = []
    pace = Pace(rounds=1, round_seconds=1e-4, warm_seconds=0, budget=0.1)
    works = (decoding.token(machine, MODEL, choice, 24), decoding.prompt(machine, MODEL, choice, 5))
    token, prompt = (modelrun.time_work(machine, "small", str(stored), w, pace, True, said.append) for w in works)
    assert token.passes == 1 + 10 * MODEL.layers + 3
    assert {kind.label: kind.passes for kind in token.kinds}["rms_norm"] == 2 * MODEL.layers + 1
    assert {kind.label for kind in prompt.kinds} >= {
        "get_rows 67 x 128",
        "rms_norm",
        "matmul 256 x 128",
        "rope_cache_kv",
        "attention_prefill",
        "matmul 256 x 128 swiglu",
        "lm_head_argmax 67 x 128",
        "argmax_merge",
    }
    for timed in (token, prompt):
        assert sum(kind.passes for kind in timed.kinds) == timed.passes
        assert sum(kind.count.operations for kind in timed.kinds) == timed.count.operations
        assert timed.host_seconds > 0
        found = modelrun.data(timed, Roof(()))
        assert found["tokens_per_second"] == pytest.approx(found["tokens"] / found["seconds"])
    # q, k and v, output, gate and up, down: weights of a layer; then what each of 24 keys is multiplied with.
    products = 2 * 128 * (256 + 128 + 2 * 256 + 256) + 67 * 128
    squares = 5 * 128
    assert token.count.operations == 2 * (products + squares + 2 * 2 * (2 * 64) * 24)


@pytest.mark.parametrize("adapter", ["lavapipe", "dawn-swiftshader"])
def test_a_gpu_is_heated_before_and_between(adapter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "HEAT_GROUPS", 1)
    monkeypatch.setattr(device, "HEATS_AHEAD", 2)
    monkeypatch.setattr(Heater, "FIRST", 0.01)
    monkeypatch.setattr(Heater, "NEAR", 100.0)
    machine = Machine(Backend(adapter))
    machine.software = False  # as if it were a GPU
    submitted: list[int] = []
    submit = machine._submit_heat

    def counted(dispatches: int) -> None:
        submitted.append(dispatches)
        submit(dispatches)

    monkeypatch.setattr(machine, "_submit_heat", counted)
    (job,) = jobs(plans_of((Matvec.model_validate(FLOAT),)), "linear", {"M": 1, "N": 64, "K": 128})[0]
    timed = time_job(machine, job, Pace(rounds=3, round_seconds=1e-6, warm_seconds=0))
    assert isinstance(timed, Result)
    assert submitted[0] == 2
    assert submitted[1:] == [device.HEATS] * (len(submitted) - 1)
    assert len(submitted) >= 1 + 3
    assert machine._heater.fastest < 10
    assert timed.copies == 1


def test_what_is_wrong_is_said(bundle: Path, tmp_path: Path) -> None:
    lavapipe = ("--adapter", "lavapipe")
    refused(run("bench", "--op", "linaer", *lavapipe), 2, "linaer", "linear")
    refused(run("bench", bundle, "--op", "attention", "--shape", "M=1", *lavapipe), 2, "nothing here does op")
    refused(run("bench", "--shape", "M=one", *lavapipe), 2, "M=one")
    refused(run("bench", bundle, "--shape", "Q=1,N=64,K=128", *lavapipe), 2, "no size Q", "K, M, N")
    refused(run("bench", bundle, "--variants", "*nothing*", *lavapipe), 2, "*nothing*")
    refused(run("bench", "--adapter", "vulkan"), 2, "vulkan", "lavapipe")
    refused(run("bench", tmp_path / "none.toml"), 2, "none.toml")
    refused(run("bench", "--format", "q9_0"), 2, "q9_0", "q2_0")
    refused(run("bench", "--group", "64"), 2, "--format")
    refused(run("bench", "--targets", bundle), 2, "--targets", "bundle file")
    refused(run("bench", "--targets", "--op", "norm"), 2, "--targets", "--op")
    refused(run("bench", "--model", "bonsai"), 2, "bonsai-1.7b")
    refused(run("bench", "--unchecked", *lavapipe), 2, "Dawn")


def test_what_the_device_cannot_run_is_not_timed_and_alone_is_an_error(bundle: Path) -> None:
    wanted = ("bench", bundle, "--shape", "M=1,N=64,K=128", "--variants", "*subgroup_matrix*", "--adapter", "lavapipe")
    refused(run(*wanted), 5, "nothing was timed", "chromium-experimental-subgroup-matrix")


def test_an_adapter_that_is_missing_ends_a_run_before_it_begins(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Gpu:
        if name == "gpu":
            raise ToolMissing(f"adapter {name}: none", hint="install one")
        return open_adapter(name)

    monkeypatch.setattr("wgslgen.bench.machine.open_adapter", absent)
    adapters = ("--adapter", "lavapipe", "--adapter", "gpu")
    result = run("bench", bundle, "--shape", "M=1,N=64,K=128", *adapters)
    refused(result, 5, "adapter gpu: none")
    assert "bandwidths" not in result.stderr


@pytest.mark.parametrize(
    ("there", "targets", "expected"),
    [
        ({"dawn-gpu", "gpu", "lavapipe"}, False, ["dawn-gpu"]),
        ({"dawn-gpu", "gpu", "lavapipe"}, True, ["dawn-gpu", "gpu", "dawn-gpu, unchecked"]),
        ({"gpu", "lavapipe"}, True, ["gpu"]),
        ({"lavapipe", "dawn-swiftshader"}, True, ["lavapipe"]),
    ],
)
def test_without_an_adapter_the_gpu_is_measured_or_software(
    there: set[str], targets: bool, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        if name not in there:
            raise ToolMissing(name)

    monkeypatch.setattr(command, "open_adapter", absent)
    found = command._backends((), False, targets, lambda _: None)
    assert [backend.label for backend in found] == expected


def test_a_model_that_does_not_run_is_refused_with_the_reason() -> None:
    machine = Machine(Backend("dawn-swiftshader"))
    one = Run(machine, Pace(), [Roof(())])
    biased = MODEL.model_copy(update={"attention_bias": True})
    time_model(one, "small", biased, formats.get("q2_0", 64), 4, 3, lambda _: None)
    assert [each.plan for each in one.refused] == ["small, token", "small, prompt"]
    assert all("no plans of a decoder" in each.reason for each in one.refused)
    with pytest.raises(ToolMissing, match="nothing was timed"):
        require_any([one])


def test_sizes_above_what_a_buffer_holds_are_refused(bundle: Path) -> None:
    wanted = ("bench", bundle, "--shape", "M=1,N=4194304,K=4096", "--variants", "*block*", "--adapter", "lavapipe")
    refused(run(*wanted), 5, "weights has 4831838208 bytes")


def test_an_adapter_that_is_not_there() -> None:
    absent = run_apart("bench", "--adapter", "lavapipe", WGSLGEN_LAVAPIPE_ICD="/nowhere/icd.json")
    assert absent.returncode == 5
    assert absent.stdout == ""
    told(absent.stderr, "lavapipe", "mesa-vulkan-drivers")


def test_plans_of_one_pass_come_first() -> None:
    int8 = Matvec.model_validate({"format": "q2_0", "group": 64, "route": "int8", "activation_group": 64})
    plain = Matvec.model_validate(FLOAT)
    found = plans_of((int8, plain, quantise_for(int8)))
    assert [len(plan.passes) for plan in found] == [1, 2]
    assert [plan.fixed for plan in found] == [{"M": 1}, {"M": 1}]
