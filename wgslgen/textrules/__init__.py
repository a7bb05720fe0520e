"""Own rules on WGSL text: what naga and Tint both let pass, or only one of them sees.

`check` reads a web text once and asks every rule. Each rule is a function whose docstring says why it is
and whose decorator names the public cases behind it (C01 to C55); `RULES`
lists them. `is_reserved` tells the spec layer which names a text must not declare.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Final

from wgslgen.report import Finding
from wgslgen.textrules import rules_flow, rules_lanes, rules_values, rules_words
from wgslgen.textrules.text import Rule, Text
from wgslgen.textrules.tokens import WgslSyntaxError, position, tokenize
from wgslgen.textrules.words import RESERVED_WORDS, is_reserved

__all__ = ["RESERVED_WORDS", "RULES", "Rule", "check", "extensions", "is_reserved"]

RULES: Final[tuple[Rule, ...]] = (*rules_words.RULES, *rules_values.RULES, *rules_flow.RULES, *rules_lanes.RULES)


def check(text: str) -> list[Finding]:
    """Return what the rules find in a web text, in the order of the text; an empty list is a pass.

    A text that cannot be read as WGSL gives one finding of the rule `syntax`.
    """
    try:
        subject = Text(text)
        found = [(problem, rule.name) for rule in RULES for problem in rule.check(subject)]
    except WgslSyntaxError as error:
        return [_finding(text, error.at, "syntax", str(error))]
    except RecursionError:
        return [_finding(text, 0, "syntax", "the text is nested too deeply to be read")]
    found.sort(key=lambda item: item[0].at)
    return [_finding(text, problem.at, name, problem.message) for problem, name in found]


def extensions(text: str) -> frozenset[str]:
    """Return what a text enables, without reading it further; empty where it cannot be read at all."""
    try:
        tokens = tokenize(text)
    except WgslSyntaxError:
        return frozenset()
    found: list[str] = []
    for index, token in enumerate(tokens):
        if token.text == "enable":
            names = takewhile(lambda following: following.text != ";", tokens[index + 1 :])
            found += [name.text for name in names if name.kind == "word"]
        elif token.text in ("fn", "struct", "const", "var", "alias"):
            break
    return frozenset(found)


def _finding(text: str, at: int, rule: str, message: str) -> Finding:
    line, column = position(text, at)
    return Finding(judge="rules", severity="error", line=line, column=column, message=f"{rule}: {message}")
