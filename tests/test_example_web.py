"""The example page: its bundle is fresh and proven, it builds, and in Chromium it keeps what it promises."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import playwright.sync_api
import pytest
from browser import launched, served
from cli_runs import run
from example_picture import LARGEST, PICTURE, SIZE, compose
from playwright.sync_api import Page

from wgslgen import bundlefile, plans
from wgslgen.naming import variant_name
from wgslgen.selection import candidates, kit_of

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "web"
BUNDLE = EXAMPLE / "kernels.toml"
VARIANTS = bundlefile.expand(bundlefile.load(BUNDLE)).variants
OPS = ("linear", "embedding", "norm", "attention", "attention_prefill", "argmax")
LINEAR = "linear"
OTHER_HOST = "page.test"
"""A name of this machine that browsers do not take for it, so that a page from there over http is insecure."""
NARROW = 320


# ---- the bundle, and what is built of it -----------------------------------------------------------


def test_the_bundle_is_fresh() -> None:
    result = run("render", "--check", BUNDLE)
    assert result.exit_code == 0, result.output


def test_all_that_the_page_runs_is_proven_in_generated() -> None:
    files = [bundlefile.load(path) for path in sorted((ROOT / "generated").glob("*.toml"))]
    grids = [(bundlefile.expand(file).variants, file.facts) for file in files]
    assert {*VARIANTS} <= {variant for variants, _ in grids for variant in variants}
    proven = {plan for variants, facts in grids for plan in plans.derive(variants, facts)}
    assert {*plans.derive(VARIANTS)} <= proven


def test_the_manual_says_what_lies_there() -> None:
    text = (ROOT / "docs" / "manual.md").read_text().partition("### The example page\n")[2].partition("\n### ")[0]
    assert f"asks for {len(VARIANTS)} variants" in text
    named = re.findall(r"`([\w/]+\.ts|ops/)`", text)
    assert len(named) >= 6
    assert all((EXAMPLE / "src" / name).exists() for name in named)


def npm_tool(name: str, *arguments: object) -> None:
    path = EXAMPLE / "node_modules" / ".bin" / name
    assert path.exists(), f"{path} is missing; run `bash .ci/setup.sh test`"
    done = subprocess.run(
        [str(path), *map(str, arguments)], cwd=EXAMPLE, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_compiles_as_strict_typescript() -> None:
    assert json.loads((EXAMPLE / "tsconfig.json").read_text())["compilerOptions"]["strict"] is True
    npm_tool("tsc", "--noEmit")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that Vite builds."""
    folder = tmp_path_factory.mktemp("example")
    npm_tool("vite", "build", "--outDir", folder, "--emptyOutDir", "--logLevel", "warn")
    return folder


# ---- the page --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.sync_api.Browser]:
    with launched(f"--host-resolver-rules=MAP {OTHER_HOST} 127.0.0.1") as made:
        yield made


@pytest.fixture(scope="module")
def url(built: Path) -> Iterator[str]:
    with served({"example": built}, {}) as origin:
        yield f"{origin}/example/index.html"


Opener = Callable[..., Page]


@pytest.fixture
def opened(browser: playwright.sync_api.Browser, url: str) -> Iterator[Opener]:
    """Return what opens the page, after a script of the test's; errors that nobody caught fail the test."""
    pages, problems = [], []

    def give(script: str = "", *, host: str = "127.0.0.1", text: tuple[str, str] | None = None, **more: Any) -> Page:
        page = browser.new_page(reduced_motion="reduce", **more)
        pages.append(page)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
        page.add_init_script(script)
        if text is not None:
            page.route("**/*.js", lambda route: changed(route, *text))
        page.goto(url.replace("127.0.0.1", host))
        page.locator("#run, .notice[data-absence]").first.wait_for()
        return page

    yield give
    for page in pages:
        page.close()
    assert problems == []


def changed(route: playwright.sync_api.Route, old: str, new: str) -> None:
    """Answer with a script in which a text stands in another's place."""
    answer = route.fetch()
    body = answer.text()
    assert old in body
    route.fulfill(response=answer, body=body.replace(old, new))


def pick(page: Page, op: str) -> None:
    """Pick an op by its name, and of its shapes the last, which is a small one."""
    page.locator(f"input[name=op][value={op}]").check(force=True)
    shapes = page.locator("select[name=preset]")
    shapes.select_option(index=shapes.locator("option:not([hidden])").count() - 1)


def run_all(page: Page) -> str:
    """Run the candidates and return the verdict on the chosen one."""
    page.locator("#run").click()
    page.wait_for_function("document.querySelector('#status').textContent === 'Done.'", timeout=60_000)
    return page.locator("#chosen .verdict").inner_text()


def refusals(page: Page) -> dict[str, int]:
    return {
        item.locator(".reason").inner_text(): int(item.locator(".count").inner_text())
        for item in page.locator("#refused details").all()
    }


def of_op(op: str) -> set[str]:
    """Return the names of all that does an op in the page's bundle."""
    kit = kit_of(json.loads((EXAMPLE / "kernels" / "manifest.json").read_text()))
    return {plan["name"] for plan in candidates(kit, op)}


@pytest.mark.parametrize("op", OPS)
def test_each_op_is_chosen_run_compared_and_plotted(op: str, opened: Opener) -> None:
    page = opened(viewport=SIZE)
    if op == LINEAR:
        compose(page, rows=256)
        for part in ("#adapter", "#question", "#chosen .verdict", "#times .plot"):
            assert is_seen(page, part), part
    else:
        pick(page, op)
        run_all(page)
    verdict = page.locator("#chosen .verdict").inner_text()
    rows = page.locator("#ranking tbody tr")
    ranked = [str(row.get_attribute("data-name")) for row in rows.all()]
    hidden = page.locator("#refused li.name").all_text_contents()
    assert {*ranked, *hidden} == of_op(op)
    assert len(ranked) + len(hidden) == len(of_op(op))
    assert sum(refusals(page).values()) == len(hidden)
    labels = rows.locator("button").all_text_contents()
    assert len({*labels}) == len(ranked)
    names = page.locator("#chosen .name").all_text_contents()
    assert {*names} <= {variant_name(variant) for variant in VARIANTS}
    assert all(name in ranked[0] or name.startswith("quantize_q8") for name in names)

    assert verdict.startswith("Agrees with the CPU.")
    errors = rows.locator("td:last-child").all_text_contents()
    assert len(errors) == len(ranked) >= 2
    assert all(re.fullmatch(r"(0|\d\.\de[+-]\d+) ✓", error) for error in errors)
    measured = re.search(r"Worst error (\S+) of (\S+) allowed, in (?:all \d+|\d+ of \d+) values", verdict)
    if op == "argmax":
        assert verdict.endswith("Different values: 0 of 3.")
    else:
        assert measured is not None
        assert float(measured[1]) <= float(measured[2]) < (1e-2 if op == LINEAR else 1e-4)

    bars = page.locator("#times .plot li")
    assert bars.count() == len(ranked)
    widths = [float(str(bar.get_attribute("width")).rstrip("%")) for bar in page.locator("#times rect.bar").all()]
    assert widths == sorted(widths)
    assert widths[-1] == 100
    assert page.locator("#times li.chosen").count() == 1
    assert 0.9 < painted(page) < 1.5  # the label of the one that is chosen has its bar's colour


def painted(page: Page) -> float:
    """Return how many pixels of the plot have the colour of a bar, over the pixels that the bars should have."""
    shot = base64.b64encode(page.locator(".plot").screenshot()).decode()
    share: float = page.evaluate(
        """async (shot) => {
          const image = new Image();
          image.src = `data:image/png;base64,${shot}`;
          await image.decode();
          const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
          canvas.drawImage(image, 0, 0);
          const { data } = canvas.getImageData(0, 0, image.width, image.height);
          const bars = [...document.querySelectorAll(".bar")];
          const boxes = bars.map((bar) => bar.getBoundingClientRect());
          const area = boxes.reduce((sum, { width, height }) => sum + width * height, 0);
          const fills = bars.map((bar) => getComputedStyle(bar).fill);
          const colours = fills.map((fill) => fill.match(/\\d+/g).slice(0, 3).map(Number));
          let count = 0;
          for (let at = 0; at < data.length; at += 4) {
            count += Number(colours.some((colour) => colour.every((part, index) => data[at + index] === part)));
          }
          return count / area;
        }""",
        shot,
    )
    return share


@pytest.mark.parametrize(
    ("op", "old", "new"),
    [
        ("norm", "let inverse = inverseSqrt(", "let inverse = 1.02 * inverseSqrt("),
        ("linear", "let result = total_sum(", "let result = 1.02 * total_sum("),
        ("argmax", "token[row] = winner.y", "token[row] = winner.y + 1u"),
    ],
)
def test_a_kernel_that_is_wrong_is_told(op: str, old: str, new: str, opened: Opener) -> None:
    page = opened(text=(old, new))
    pick(page, op)
    if op == LINEAR:
        page.locator("select[name=layout]").select_option("ggml")  # which matvec alone reads
    verdict = run_all(page)
    assert verdict.startswith("Differs from the CPU.")
    assert op != "argmax" or verdict.endswith("Different values: 3 of 3.")
    assert "✗" in page.locator("#ranking").inner_text()


def test_a_kernel_that_does_not_compile_is_told_and_the_others_run(opened: Opener) -> None:
    page = opened(text=("fn load_x(at: u32) -> vec4<f32> {", "fn load_x(at: u32) -> vec4<nothing> {"))
    page.locator("input[value=norm]").check(force=True)
    run_all(page)
    cells = page.locator("#ranking tbody td:nth-child(5)").all_text_contents()
    assert any("the device refuses it" in cell for cell in cells)
    assert page.locator(".plot li").count() == len([cell for cell in cells if re.fullmatch(r"[\d.]+ (µs|ms|s)", cell)])


def test_the_text_shown_is_the_file_of_the_bundle(opened: Opener) -> None:
    page = opened()
    pick(page, LINEAR)
    page.locator("select[name=rounding]").select_option("int8")
    kernels = set()
    for button in page.locator("#ranking button").all():
        button.click()
        options = page.locator("#text select option").count()
        for index in range(max(1, options)):
            if options:
                page.locator("#text select").select_option(index=index)
            name = page.locator("#text h2").inner_text()
            kernel = next(variant.NAME for variant in VARIANTS if f"{variant_name(variant)}.wgsl" == name)
            shown = page.locator("#text code").text_content()
            assert shown == (EXAMPLE / "kernels" / "wgsl" / kernel / name).read_text()
            kernels.add(kernel)
    assert kernels == {"matvec", "matmul", "quantize_q8", "sum_splits"}


def test_refusals_have_reasons_and_choices_change_them(opened: Opener) -> None:
    page = opened()
    pick(page, LINEAR)
    said = refusals(page)
    assert said["format is q1_0, not q2_0"] > 0
    assert said["it rounds operands to int8, and none is the most that is wanted"] > 0
    page.locator("select[name=rounding]").select_option("f16")
    assert any("needs feature shader-f16" in reason for reason in refusals(page))
    page.locator("select[name=layout]").select_option("ggml")
    assert refusals(page)["layout is planar, not ggml"] > 0
    page.locator("select[name=format]").select_option("q1_0")
    reasons = page.locator("#nothing li").all_text_contents()
    assert {*reasons} == {"layout is planar, not ggml", "format is q2_0, not q1_0"}
    page.locator("select[name=layout]").select_option("")
    assert "subgroups" in page.locator("#chosen").inner_text()
    page.locator("#features").uncheck()
    assert "no optional feature" in page.locator("#chosen").inner_text()
    assert refusals(page)["needs feature subgroups"] > 0


MISTAKES = (
    ("K", "100", "a row must be whole blocks of 64 weights"),
    ("N", "many", "N is NaN, which is no u32"),
    ("N", "", "N is NaN, which is no u32"),
    ("N", "-1", "N is -1, which is no u32"),
    ("N", "1.5", "N is 1.5, which is no u32"),
    ("N", "1e9", "maxStorageBufferBindingSize"),
    ("K", "4294967232", "maxStorageBufferBindingSize"),
)


def test_sizes_that_do_not_do_get_selections_own_words(opened: Opener) -> None:
    page = opened()
    shapes = page.locator("select[name=preset] option:checked")
    for size, text, said in MISTAKES:
        pick(page, LINEAR)
        assert page.locator("#run").is_enabled()
        assert shapes.inner_text() == "a small one"
        page.locator(f"[name={size}]").fill(text)
        assert said in page.locator("#nothing").inner_text()
        assert said in page.locator("#status").inner_text()
        assert page.locator("#run").is_disabled()
        assert shapes.inner_text() == "your own"


def test_without_timestamps_the_pages_own_clock_measures(opened: Opener) -> None:
    page = opened("""
      const has = GPUSupportedFeatures.prototype.has;
      GPUSupportedFeatures.prototype.has = function (name) {
        return name !== "timestamp-query" && has.call(this, name);
      };""")
    pick(page, "argmax")
    run_all(page)
    assert "By wall clock" in page.locator("#times").inner_text()
    values = page.locator(".plot .value").all_text_contents()
    assert len(values) == len(of_op("argmax"))
    assert all(float(value.split()[0]) > 0 for value in values)


def test_a_run_can_be_stopped_and_a_new_question_stops_it(opened: Opener) -> None:
    page = opened()
    pick(page, LINEAR)
    button, bars = page.locator("#run"), page.locator(".plot li")
    button.click()
    bars.first.wait_for()
    assert button.inner_text() == "Stop"
    button.click()
    page.wait_for_function("document.querySelector('#status').textContent === 'Stopped.'")
    assert 0 < bars.count() < page.locator("#ranking tbody tr").count()
    button.click()
    bars.first.wait_for()
    pick(page, "argmax")
    page.wait_for_function("document.querySelector('#run').textContent === 'Run all 2 here'")
    assert bars.count() == 0
    assert run_all(page).startswith("Agrees")


def test_an_empty_result_is_no_mistake(opened: Opener) -> None:
    page = opened()
    pick(page, LINEAR)
    page.locator("select[name=format]").select_option("q1_0")
    page.locator("[name=M]").fill("0")
    assert run_all(page) == "Agrees with the CPU. The result is empty."


# ---- without a GPU ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("absence", "script", "host", "advice"),
    [
        ("no-webgpu", "delete Navigator.prototype.gpu", "127.0.0.1", "Chrome or Edge from 113"),
        ("no-adapter", "GPU.prototype.requestAdapter = async () => null", "127.0.0.1", "hardware acceleration"),
        ("insecure", "", OTHER_HOST, "https"),
    ],
)
def test_a_page_without_a_gpu_says_why_and_what_to_do(
    absence: str, script: str, host: str, advice: str, opened: Opener
) -> None:
    page = opened(script, host=host, viewport={"width": NARROW, "height": 600})
    notice = page.locator(".notice[data-absence]")
    assert notice.get_attribute("data-absence") == absence
    assert notice.get_attribute("role") == "alert"
    assert advice in notice.inner_text()
    assert page.locator("form").count() == 0
    assert overflow(page) <= 0


def test_a_lost_device_is_told_and_asked_for_anew(opened: Opener) -> None:
    """The first device says that it is lost; the second is as any."""
    page = opened("""
      const request = GPUAdapter.prototype.requestDevice;
      let first = true;
      GPUAdapter.prototype.requestDevice = async function (...asked) {
        const device = await request.apply(this, asked);
        if (first) {
          const lost = Promise.resolve({ reason: "unknown", message: "the driver fell over" });
          Object.defineProperty(device, "lost", { value: lost });
        }
        first = false;
        return device;
      };""")
    pick(page, "argmax")
    run_all(page)
    banner = page.locator("#lost")
    assert banner.is_visible()
    assert "The browser lost the GPU: the driver fell over." in banner.inner_text()
    assert "Run again" in banner.inner_text()
    run_all(page)
    assert banner.is_hidden()


def test_a_device_that_cannot_be_had_is_told(opened: Opener) -> None:
    page = opened("GPUAdapter.prototype.requestDevice = async () => { throw new Error('no more devices'); }")
    pick(page, "argmax")
    page.locator("#run").click()
    page.wait_for_function("document.querySelector('#status').textContent === 'no more devices'")
    assert page.locator("#run").is_enabled()


# ---- for everyone ----------------------------------------------------------------------------------


def overflow(page: Page) -> int:
    pixels: int = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return pixels


def test_nothing_is_wider_than_a_narrow_screen(opened: Opener) -> None:
    page = opened(viewport={"width": NARROW, "height": 700})
    for op in OPS:
        pick(page, op)
        for details in page.locator("#refused details").all():
            details.evaluate("(element) => { element.open = true; }")
        assert overflow(page) <= 0, op
        if op == "norm":
            run_all(page)
            assert overflow(page) <= 0
        page.locator(".sizes input").first.fill("x")
        assert page.locator("#nothing").is_visible()
        assert overflow(page) <= 0, op


def test_the_keyboard_is_enough_and_all_controls_have_names(opened: Opener) -> None:
    page = opened()
    focused = "document.activeElement"
    page.keyboard.press("Tab")
    assert page.evaluate(f"{focused}.value") == LINEAR
    for _ in OPS[1:]:
        page.keyboard.press("ArrowDown")
    assert page.evaluate(f"{focused}.value") == "argmax"
    outline = "getComputedStyle(document.activeElement.nextElementSibling).outlineStyle"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("Tab")
    assert page.evaluate(f"{focused}.name") == "preset"
    page.keyboard.press("End")
    page.keyboard.press("Tab")
    assert page.evaluate(f"{focused}.name") == "M"
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#status').textContent === 'Done.'")
    nameless = page.evaluate("""() => {
      const own = (label) => [...label.childNodes].filter((node) => !node.matches?.("input, select"));
      const text = (label) => own(label).map((node) => node.textContent).join("").trim();
      const named = (each) => [...(each.labels ?? [])].some(text) || each.getAttribute("aria-label") ||
        (each.tagName === "BUTTON" && each.textContent.trim());
      const controls = [...document.querySelectorAll("input, select, button, [tabindex]")];
      return controls.filter((each) => !named(each)).map((each) => each.outerHTML);
    }""")
    assert nameless == []


TEXTS = ("h1", ".lead", "dt", "#run", ".verdict b", ".chosen .label", ".count", ".comment", ".keyword", ".type")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_both_schemes(scheme: str, opened: Opener) -> None:
    """WCAG 2 asks for a contrast of 4.5."""
    page = opened(color_scheme=scheme)
    pick(page, "norm")
    run_all(page)
    for text in TEXTS:
        colours = page.locator(text).first.evaluate(
            """(element) => {
              const rgb = (colour) => colour.match(/[\\d.]+/g).map(Number);
              const paper = (under) => {
                const colour = rgb(getComputedStyle(under).backgroundColor);
                return colour[3] === 0 ? paper(under.parentElement) : colour;
              };
              return [rgb(getComputedStyle(element).color), paper(element)];
            }"""
        )
        assert contrast(*colours) >= 4.5, f"{text} {colours}"
    dark = luminance(page.evaluate("getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g)")) < 0.1
    assert dark == (scheme == "dark")


def luminance(colour: list[Any]) -> float:
    parts = [float(part) / 255 for part in colour[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: list[Any], other: list[Any]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


# ---- the picture -----------------------------------------------------------------------------------


def is_seen(page: Page, part: str) -> bool:
    """Tell whether a part lies whole within the picture."""
    box = page.locator(part).bounding_box()
    assert box is not None
    right, bottom = box["x"] + box["width"], box["y"] + box["height"]
    return 0 <= box["x"] <= right <= SIZE["width"] and 0 <= box["y"] <= bottom <= SIZE["height"]


def test_the_picture_of_the_documents_is_small_and_shown() -> None:
    """`python tests/example_picture.py` made it; the first of the ops above is run as it is there."""
    stored = PICTURE.read_bytes()
    assert stored[:8] == b"\x89PNG\r\n\x1a\n"
    assert [int.from_bytes(stored[at : at + 4], "big") for at in (16, 20)] == [SIZE["width"], SIZE["height"]]
    assert len(stored) < LARGEST
    assert f"]({PICTURE.relative_to(ROOT)})" in (ROOT / "README.md").read_text()
