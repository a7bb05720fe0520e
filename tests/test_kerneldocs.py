"""docs/kernels.md is what the specs give, says all of them, and reads as Markdown; its small functions by hand."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import Field

from wgslgen import kerneldocs, kernelforms, kernels
from wgslgen.kernels import KERNELS
from wgslgen.kernels.add import Add
from wgslgen.kernels.attention_split import AttentionSplit
from wgslgen.kernels.matvec import Matvec
from wgslgen.kernels.quantize_q8 import QuantizeQ8
from wgslgen.kernels.rms_norm import RmsNorm
from wgslgen.kernels.rope_cache_kv import RopeCacheKv
from wgslgen.kernels.top_k import TopK
from wgslgen.spec import Binding, Constant, Kernel, UniformField

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / kerneldocs.PAGE).read_text()
TOKENS = MarkdownIt("commonmark").enable("table").parse(PAGE)
EMPHASISED = {"when", "kept", "Refused", "step", "row", "unit", "pair", "segment"}
"""Words that the page and the docstrings stress on purpose."""


def bindings(variant: Kernel) -> tuple[Binding, ...]:
    return variant.bindings()


def uniforms(variant: Kernel) -> tuple[UniformField, ...]:
    return variant.uniforms()


def inline() -> Iterator[Token]:
    for token in TOKENS:
        yield from token.children or ()


def headings() -> list[str]:
    return [token.content for before, token in pairwise(TOKENS) if before.type == "heading_open"]


def anchor(heading: str) -> str:
    """Return what a reader's program makes of a heading for links."""
    return re.sub(r"[^\w -]", "", heading).replace(" ", "-").lower()


def section(name: str) -> str:
    return PAGE.partition(f"\n## {name}\n")[2].partition("\n## ")[0]


# ---- the page -----------------------------------------------------------------------------------


def test_the_page_is_what_the_specs_give() -> None:
    made = kerneldocs.page(ROOT / kerneldocs.SHOWN, ROOT / kerneldocs.COMPARED)
    assert made == PAGE, f"{kerneldocs.PAGE} differs from the specs; write it anew: make docs"


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.NAME)
def test_each_kernel_is_there_with_all_that_it_states(kernel: type[Kernel]) -> None:
    text = section(kernel.NAME)
    assert text
    for name, note in kernel.constants().items():
        assert f"\n| `{name}` | " in text
        assert note.wgsl is None or f"`{note.wgsl}`" in text
    for size in kernel.SIZES:
        assert f"`{size}`" in text
    shown = re.search(r"\nVariant shown: `(\w+)`\.\n", text)
    assert shown is not None
    (body,) = re.findall(r"```wgsl\n(.*?)```", text, re.DOTALL)
    assert f"// variant {shown[1]}\n" in body
    assert "\nenable " not in body
    for caption in (
        "Constants",
        "Bindings",
        "Workgroups",
        "Needs",
        "Tolerance",
        "Shape classes that the oracle judges",
    ):
        assert f"\n{caption}: " in text or f"\n{caption}:\n" in text, caption
    assert "Derivation: " in text


def test_each_op_has_a_plan() -> None:
    ops = set(re.findall(r'op="(\w+)"', "".join(path.read_text() for path in (ROOT / "wgslgen/plans").glob("*.py"))))
    assert {*re.findall(r"\n### Plan `(\w+)`\n", PAGE)} == ops


def test_every_shared_module_has_its_section() -> None:
    folder = Path(kernels.__file__).parent
    shared = {path.stem for path in folder.glob("[!_]*.py")} - {*kernels.MODULES}
    assert {*kerneldocs.SHARED} == shared


def test_links_lead_somewhere_and_anchors_are_single() -> None:
    anchors = [anchor(heading) for heading in headings()]
    assert len(anchors) == len({*anchors})
    links = [str(token.attrs["href"]) for token in inline() if token.type == "link_open"]
    assert len(links) > len(KERNELS)
    for link in links:
        path, _, at = link.partition("#")
        assert (at in anchors) if not path else (ROOT / "docs" / path).is_file(), link


def test_no_sign_of_a_docstring_is_taken_for_markdown_that_was_not_meant() -> None:
    """Text between stars or underscores, angle brackets and indented lines are the accidents that happen."""
    found = [*inline()]
    stressed = {b.content for a, b in pairwise(found) if a.type in ("em_open", "strong_open")}
    assert stressed <= EMPHASISED
    kinds = {token.type for token in [*TOKENS, *found]}
    assert not kinds & {"html_inline", "html_block", "image", "blockquote_open", "ordered_list_open", "hr", "hardbreak"}
    formulas = [token.content for token in TOKENS if token.type == "code_block"]
    assert all("=" in formula for formula in formulas)
    assert not [text for text in PAGE.splitlines() if text != text.rstrip()]


def test_the_module_writes_the_page(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "wgslgen.kerneldocs"]
    written = subprocess.run(
        [*command, str(tmp_path / "page.md")], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (tmp_path / "page.md").read_text() == PAGE
    assert written.stdout == ""


# ---- its functions ------------------------------------------------------------------------------


class Toy(Kernel):
    """`toy`: nothing but constants."""

    NAME = "toy"
    SUMMARY = "nothing"
    SIZES = ("N",)

    few: Annotated[Literal[1, 2], Constant("a choice", "what")]
    some: Annotated[int, Field(ge=1, lt=9), Constant("a number", "what")] = 4
    maybe: Annotated[Literal["a", "b"] | None, Constant("a word", "what")] = None
    flag: Annotated[bool, Constant("a flag", "how")] = False
    free: Annotated[str, Constant("a name", "how")] = "x"


@pytest.mark.parametrize(
    ("name", "values", "default"),
    [
        ("few", "1, 2", ""),
        ("some", "whole numbers from 1 below 9", "4"),
        ("maybe", "a, b, none", "none"),
        ("flag", "true, false", "false"),
        ("free", "names", "x"),
    ],
)
def test_values_and_default_of_a_constant(name: str, values: str, default: str) -> None:
    assert kerneldocs.values(Toy, name) == values
    assert kerneldocs.default(Toy, name) == default


def test_values_of_formats_are_those_that_are_known() -> None:
    assert "q2_0" in kerneldocs.values(Matvec, "format").split(", ")
    assert kerneldocs.values(Matvec, "group") == "32, 64, 128, none"
    assert kerneldocs.values(QuantizeQ8, "group") == "32, 64, 128"


def test_a_kernel_that_no_bundle_ships_is_named(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="no bundle ships a variant of matvec"):
        kerneldocs.page(tmp_path, tmp_path)


def test_a_table_leaves_out_empty_columns_and_escapes_bars() -> None:
    lines = [*kerneldocs.table("Things", ("a", "b", "c"), [("1", "", "x|y"), ("2", "", "")])]
    assert lines == ["Things:\n", "| a | c |", "| --- | --- |", "| 1 | x\\|y |", "| 2 |  |", ""]
    assert [*kerneldocs.table("Things", ("a",), [])] == []
    assert [*kerneldocs.bullets("Things", [])] == []
    assert [*kerneldocs.bullets("Things", ["one"])] == ["Things:\n", "- one", ""]


@pytest.mark.parametrize("text", ["a * b_c * d", "*all* of _it_", "(adds) * 2^-24 * k_", "x*y*z", "plain"])
def test_literal_text_stays_as_it_is(text: str) -> None:
    (_, paragraph, _) = MarkdownIt("commonmark").parse(kerneldocs.literal(text))
    assert "".join(token.content for token in paragraph.children or ()) == text


def test_prose_links_sections_but_not_the_names_that_mean_something_else() -> None:
    text = kerneldocs.prose("wgslgen.kernels.matvec", but=("matvec", "swiglu"))
    assert text.startswith("`matvec`: ")
    assert "[`product`](#base-product)" in text
    assert "- `swiglu`: " in text
    assert "    y = sum of" in kerneldocs.prose("wgslgen.kernels.attention_merge")


def test_imports_of_both_forms_are_found() -> None:
    assert kerneldocs.imported("wgslgen.kernels.rms_norm") == ["q8", "reduction"]
    assert kerneldocs.imported("wgslgen.kernels.reduction") == []


# ---- what forms differ in -----------------------------------------------------------------------

FLOAT = Matvec(format="q1_0", group=128, route="float")
GGML = FLOAT.changed(layout="ggml", step_words=1, n=64)
INT8 = FLOAT.changed(route="int8", activation_group=128, subgroups=True)
POPCOUNT = FLOAT.changed(route="popcount", layout="planes", activation_group=128)
TERNARY = Matvec(format="q2_0", group=64, route="popcount", layout="planes", activation_group=64, step_words=2)


def test_when_a_binding_is_there_is_found_by_trying() -> None:
    found = {b.name: when for b, when in kernelforms.parts_of(FLOAT, [FLOAT, GGML, INT8, POPCOUNT], bindings)}
    int8, popcount = "`route` int8, `activation_group`", "`layout` planes, `route` popcount, `activation_group`"
    assert found == {
        "codes": f"not with `layout` ggml, or {popcount}",
        "scales": "not with `layout` ggml",
        "x": f"not with {int8}, or {popcount}",
        "y": "",
        "weights": "with `layout` ggml",
        "x8": f"with {int8}",
        "x_scale": f"with {int8}, or {popcount}",
        "plus": f"with {popcount}",
        "minus": f"with {popcount}",
        "x1": f"with {popcount}",
    }


def test_a_binding_that_takes_more_changes_than_are_tried_is_still_named() -> None:
    wide = FLOAT.changed(format="q4_0", group=None, layout="ggml", step_words=1)
    found = {b.name: when for b, when in kernelforms.parts_of(wide, [TERNARY], bindings)}
    assert found["plus"] == "in other forms"
    assert found["y"] == ""


def test_what_a_constant_turns_off_is_there_with_it_and_what_it_turns_on_without_it() -> None:
    rope = RopeCacheKv(q_heads=4, kv_heads=2, head_dim=64)
    normed = rope.changed(qk_norm=True)
    for base, other in ((rope, normed), (normed, rope)):
        found = {b.name: when for b, when in kernelforms.parts_of(base, [other], bindings)}
        assert found["norm_weight"] == "with `qk_norm`"
    baked = FLOAT.changed(k=256)
    for one, without, when in ((baked, FLOAT, "without `k`"), (FLOAT, baked, "not with `k`")):
        assert [w for field, w in kernelforms.parts_of(one, [without], uniforms) if field.name == "k"] == [when]


def test_other_kernels_tell_nothing() -> None:
    assert all(not when for _, when in kernelforms.parts_of(FLOAT, [Add()], bindings))


def test_the_example_has_the_most_shape_classes_then_the_fewest_baked_sizes_and_no_features() -> None:
    baked = FLOAT.changed(n=64, k=256)
    shipped = [Add(), FLOAT.changed(subgroups=True), baked, FLOAT, FLOAT.changed(tile_rows=8)]
    assert len(baked.cases()) < len(FLOAT.cases())
    assert kernelforms.example(Matvec, shipped) is FLOAT
    norm = RmsNorm()
    assert kernelforms.example(RmsNorm, [RmsNorm(d=64), norm, RmsNorm(vector=1)]) is norm
    with pytest.raises(LookupError, match="no bundle ships a variant of matvec that needs no optional feature"):
        kernelforms.example(Matvec, shipped[:2])


def test_refusals_are_sentences_each_kind_once() -> None:
    found = [*kernelforms.refusals(AttentionSplit(q_heads=16, kv_heads=8, head_dim=128, num_splits=8))]
    assert ("num_splits", "0", "num_splits 0 is outside 1 to 32, which attention_merge handles") in found
    assert ("q_heads", "3", "q_heads 3 is not a multiple of kv_heads 8") in found
    kinds = [(name, re.sub(r"\d+", "#", why)) for name, _, why in found]
    assert len(kinds) == len({*kinds})
    assert [*kernelforms.refusals(Add())] == []
    # The type of k_top states its bounds, so its refusal would repeat the table of constants.
    assert [*kernelforms.refusals(TopK())] == []
