"""Rules on directives, names and calls: what the words of a text are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wgslgen.textrules.text import Problem, Text, rule
from wgslgen.textrules.words import (
    MATRIX_FUNCTIONS,
    SHORT_VECTORS,
    STANDARD_FUNCTIONS,
    SUBGROUP_FUNCTIONS,
    TYPES,
    is_reserved,
)

MAX_BYTES: Final = 64 * 1024
_NAMING: Final = ("const", "let", "var", "override", "alias", "struct", "field", "fn", "param")
_MATRIX_EXTENSION: Final = "chromium_experimental_subgroup_matrix"
_F16_WORDS: Final = frozenset(("f16", *(name for name, (_, scalar) in SHORT_VECTORS.items() if scalar == "f16")))


@rule("C45")
def directives_first(text: Text) -> Iterator[Problem]:
    """Nothing but comments may stand before a directive, and front ends differ on one given twice."""
    seen: set[tuple[str, ...]] = set()
    declared = None
    for decl in text.module.kids:
        if decl.kind != "directive":
            declared = declared or decl
            continue
        if declared is not None:
            yield Problem(decl.at, f"`{decl.text}` stands after a declaration: directives come first")
        keys = (
            [tuple(arg.text for arg in decl.args)]
            if decl.text == "diagnostic"
            else [(decl.text, arg.text) for arg in decl.args]
        )
        for key in keys:
            if key in seen:
                yield Problem(decl.at, f"`{decl.text} {key[-1]}` is given twice: once is enough")
            seen.add(key)


@rule("C42")
def no_override(text: Text) -> Iterator[Problem]:
    """Pipeline overrides are supported unevenly, and silently broken as array sizes in one browser."""
    for node in text.of_kind("override"):
        yield Problem(node.at, f"`override {node.text}`: a text fixes its constants, so write `const`")


@rule("C41")
def plain_names(text: Text) -> Iterator[Problem]:
    """A name that is a word of WGSL, or of a language it is lowered to, fails or misleads somewhere."""
    global_names = {id(decl) for decl in text.module.kids}
    for node in text.of_kind(*_NAMING):
        hides_nothing = node.text in STANDARD_FUNCTIONS and id(node) not in global_names
        if is_reserved(node.text) and not hides_nothing:
            yield Problem(node.at, f"`{node.text}` names a {node.kind} here, but is a word of WGSL: rename it")


@rule("C44")
def f16_enabled(text: Text) -> Iterator[Problem]:
    """A text that does not enable f16 must run where there is no f16, so it must not mention it."""
    if "f16" in text.enabled:
        return
    for token in text.tokens:
        half = token.kind == "number" and token.text[-1] == "h"
        if half or (token.kind == "word" and (token.text in _F16_WORDS or _is_half_matrix(token.text))):
            yield Problem(token.at, f"`{token.text}` in a text that does not `enable f16;`")


def _is_half_matrix(word: str) -> bool:
    return word.startswith("mat") and word.endswith("h") and word in TYPES


@rule("C54")
def standard_functions(text: Text) -> Iterator[Problem]:
    """Front ends know functions of their own; only the standard's run in every browser."""
    for node in text.of_kind("call"):
        if node.decl is not None or node.text in TYPES:
            continue
        if node.text not in STANDARD_FUNCTIONS:
            yield Problem(node.at, f"`{node.text}` is neither a function of this text nor one of WGSL")
        for functions, extension in (
            (SUBGROUP_FUNCTIONS, "subgroups"),
            (MATRIX_FUNCTIONS, _MATRIX_EXTENSION),
        ):
            if node.text in functions and extension not in text.enabled:
                yield Problem(node.at, f"`{node.text}` needs `enable {extension};` as the text's first line")


@rule("C50")
def small_text(text: Text) -> Iterator[Problem]:
    """Compilers take tens of seconds over texts that are unrolled too far."""
    size = len(text.source.encode())
    if size >= MAX_BYTES:
        yield Problem(0, f"the text has {size} bytes; expected fewer than {MAX_BYTES}: unroll less")


RULES: Final = (directives_first, no_override, plain_names, f16_enabled, standard_functions, small_text)
