"""Bundles in headless Chromium: every variant that the device admits, and what the runtime promises."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Browser, chromium

from wgslgen import bundlefile, plans, profile, selection
from wgslgen.adapters import OFFERED
from wgslgen.bundlefile import BundleFile
from wgslgen.judging import Subject, _problem, subject_name
from wgslgen.naming import variant_name
from wgslgen.spec import Case, Kernel

GENERATED = Path(__file__).parent.parent / "generated"
BUNDLES = sorted(path.stem for path in GENERATED.glob("*.toml"))
BLOCKS = "building-blocks"
README = (Path(__file__).parent.parent / "README.md").read_text()


@cache
def loaded(name: str) -> BundleFile:
    return bundlefile.load(GENERATED / f"{name}.toml")


@cache
def variants_of(name: str) -> tuple[Kernel, ...]:
    return bundlefile.expand(loaded(name)).variants


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium({"generated": GENERATED}) as found:
        yield found


# ---- every variant and plan ---------------------------------------------------------------------------


def telling(cases: tuple[Case, ...]) -> Case:
    """Return the shape class that tells most in a page: the last, which has tails everywhere, of up to 64 tokens."""
    return [case for case in cases if case.sizes.get("M", 1) <= 64][-1]


def new_here(name: str) -> list[Subject]:
    """Return the variants and judged plans of a bundle that no bundle before it has: texts are equal elsewhere."""
    before = {subject_name(s) for other in BUNDLES[: BUNDLES.index(name)] for s in subjects(other)}
    return [subject for subject in subjects(name) if subject_name(subject) not in before]


def subjects(name: str) -> list[Subject]:
    variants = variants_of(name)
    return [*variants, *(plan for plan in plans.derive(variants, loaded(name).facts) if plan.judged)]


def admitted_by(subject: Subject) -> bool:
    """Tell whether SwiftShader has the features."""
    passes = (subject,) if isinstance(subject, Kernel) else subject.variants
    return all({*v.requirements.features} <= OFFERED["dawn-swiftshader"] for v in passes)


@pytest.mark.parametrize("name", BUNDLES)
def test_every_variant_and_plan_gives_the_oracles_result(
    name: str, browser: Browser, record_property: Callable[[str, object], None]
) -> None:
    admitted = browser.admitted(name)
    new = [subject for subject in new_here(name) if admitted_by(subject)]
    assert {subject_name(subject) for subject in new} <= admitted
    worst: dict[str, float] = {}
    failed = []
    for subject in new:
        case = telling(subject.cases())
        problem = _problem(subject, case)
        (outputs,) = browser.run(name, [(subject, case, problem)])
        where = f"{subject_name(subject)}, {case.name}"
        if isinstance(outputs, str):
            failed.append(f"{where}: {outputs}")
            continue
        for buffer, expected in problem.expected.items():
            verdict = expected.judge(outputs[buffer], subject.tolerance())
            kind = subject.NAME if isinstance(subject, Kernel) else f"plan {subject.op}"
            worst[kind] = max(worst.get(kind, 0.0), verdict.element)
            if verdict.problem:
                failed.append(f"{where}, {buffer}: {verdict.problem}")
    errors = ", ".join(f"{kernel} {error:.1e}" for kernel, error in worst.items())
    record_property("said", f"Chromium, {name}: {len(new)} variants and plans; worst errors of an element: {errors}")
    assert not failed, "\n".join(failed[:20])
    names = [subject_name(subject) for subject in new if isinstance(subject, Kernel)]
    assert browser.self_tested(name, names) == {"passed": names, "failed": [], "skipped": []}
    if name == BUNDLES[0]:
        assert len(new) > 100


def test_every_other_variant_is_refused_by_name(browser: Browser) -> None:
    for name in BUNDLES:
        lacking = {variant_name(v) for v in variants_of(name) if not admitted_by(v)}
        assert lacking
        assert not lacking & browser.admitted(name)


# ---- cases: what the page does stands in web/cases.js -------------------------------------------------

ADD = "add_xf32__v4_wg64"
NORM = "swiglu_xf32__v4_wg64"


def in_page(browser: Browser, case: str) -> Any:
    """Return what the function of web/cases.js returns."""
    return browser.page.evaluate("async (name) => (await import('/cases.js'))[name]()", case)


def test_c16_subgroup_sizes_of_zero_are_unknown_and_subgroup_variants_run(browser: Browser) -> None:
    assert in_page(browser, "c16") == [{"min": 4, "max": 128}, None]
    using = {variant_name(v) for v in variants_of(BLOCKS) if v.uses_subgroups and admitted_by(v)}
    assert len(using) > 10
    assert using <= browser.admitted(BLOCKS)


def test_c39_a_buffer_that_is_read_and_written_is_refused_and_named(browser: Browser) -> None:
    found = in_page(browser, "c39")
    assert "bindings a and y share bytes of one buffer" in found["same"]
    assert "bindings b and y share bytes of one buffer" in found["near"]
    assert "bindings a and y share bytes" in found["rebound"]
    assert found["apart"] is None
    assert found["twice"] == [2.0, 4.0, 6.0, 8.0]


def test_c40_errors_of_the_device_reject_the_promise(browser: Browser) -> None:
    """A text that does not compile, memory that is not there, and a buffer that is gone at the first run."""
    found = in_page(browser, "c40")
    assert f"{ADD}: the device refuses it" in found["text"]
    assert "other" in found["entry"]
    assert "destroyed" in found["run"]
    assert "out of memory: all is used" in found["memory"]
    assert found["after"] == [2.0, 3.0, 4.0, 5.0]


def test_c44_what_the_device_lacks_is_said_before_a_module_is_made(browser: Browser) -> None:
    narrow = "add_xf16__v4_wg64"
    said = f"{narrow}: the device cannot run it: it needs feature shader-f16"
    assert in_page(browser, "c44") == [said, 0, ["shader-f16"]]


def test_c44_texts_without_the_feature_do_not_name_f16() -> None:
    for name in BUNDLES:
        for variant in variants_of(name):
            if "shader-f16" not in variant.requirements.features:
                text = (GENERATED / name / "wgsl" / variant.NAME / f"{variant_name(variant)}.wgsl").read_text()
                code = " ".join(line.split("//")[0] for line in text.splitlines())
                assert not re.search(r"\bf16\b", code), variant_name(variant)


def test_c47_bindings_are_numbered_from_0_and_are_what_the_text_declares(browser: Browser) -> None:
    """Bind groups of every variant were made from the manifest above; here, that it lists what the text has."""
    found = in_page(browser, "c47")
    assert len(found) == len(variants_of(BLOCKS))
    for name, listed, declared in found:
        assert listed == declared, name
        assert [int(line.split(maxsplit=1)[0]) for line in listed] == [*range(len(listed))]


def test_c55_other_buffers_are_used_at_once(browser: Browser) -> None:
    assert in_page(browser, "c55") == [11.0, 12.0, 23.0]


def test_the_self_test_names_what_is_wrong_and_select_goes_round_it(browser: Browser) -> None:
    found = in_page(browser, "selfTests")
    assert found["passed"] == [NORM]
    assert found["skipped"] == [{"name": "add_xf16__v4_wg64", "reason": "needs feature shader-f16"}]
    said = r"element \d+ of y is \S+, expected \S+"
    for broken in ("scaled", "permuted", "tail", "nothing"):
        (failure,) = found[broken]
        assert failure["name"] == NORM
        assert re.fullmatch(said, failure["reason"]), (broken, failure)
    assert "the device refuses it" in found["text"][0]["reason"]
    assert found["unknown"] == "this kit has no variant matvec_of_nothing"
    assert found["lost"].startswith(f"{NORM}: the device was lost")
    first, second, refused = found["chosen"]
    assert second not in (None, first)
    assert refused == {"name": first, "reason": f"{first} failed the self-test on this device"}


def test_bytes_go_up_and_come_back(browser: Browser) -> None:
    whole = [1, 2, 3, 4, 5, 0, 0, 0]
    assert in_page(browser, "bytes") == [whole, [5, 0, 0, 0], whole, 4]


def test_the_lines_of_the_readme_are_all_that_a_page_needs(browser: Browser) -> None:
    (lines,) = re.findall(r"```js\n(.*?)```", README, re.DOTALL)
    assert len(lines.splitlines()) <= 12
    sizes = {size: int(value) for size, value in re.findall(r"([MNK]): (\d+)", lines)}
    kit = selection.kit_of(json.loads((GENERATED / "bonsai-1.7b-q2_0" / "manifest.json").read_text()))
    plan = selection.select(kit, "linear", sizes, profile.get("swiftshader").data(), {"layout": "ggml"}).plan or {}
    (variant,) = (v for v in variants_of("bonsai-1.7b-q2_0") if variant_name(v) == plan["name"])
    case = Case(name="readme", sizes={"N": sizes["N"], "K": sizes["K"]})
    problem = _problem(variant, case)
    browser.data |= {"/readme.js": lines.encode(), "/bytes": problem.inputs["weights"].tobytes()}
    browser.data["/x"] = problem.inputs["x"].tobytes()
    y = browser.page.evaluate(
        """async () => {
          const { product } = await import("/readme.js");
          const take = async (path) => (await fetch(path)).arrayBuffer();
          return [...await product(await take("/bytes"), new Float32Array(await take("/x")))];
        }"""
    )
    verdict = problem.expected["y"].judge(np.array(y, np.float32).tobytes(), variant.tolerance())
    assert verdict.problem is None


def test_mistakes_are_said_before_the_device_sees_them(browser: Browser) -> None:
    assert in_page(browser, "mistakes") == [
        f"{ADD}: COUNT = 5 does not do, because the elements must be whole loads of 4",
        f"{ADD}: sizes N; expected COUNT",
        f"{ADD}: COUNT is -4; expected a whole number from 0 to 2^32 - 1",
        f"{ADD}: no buffer b (16 bytes)",
        f"{ADD}: buffer a has 16 bytes; expected 32",
        f"{ADD}: has no buffer z; it has a, b, y",
        f"{ADD}: buffer b was made without GPUBufferUsage.STORAGE",
        "rms_norm_xf32_res__v4_wg64: parameter EPS is undefined; expected a number",
    ]
