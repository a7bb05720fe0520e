"""Names that are safe, and the words that messages are made of."""

from __future__ import annotations

import tomllib

import pytest

from wgslgen.slugs import is_slug, slug
from wgslgen.tomltext import brief, key, printable, toml
from wgslgen.wording import any_of, nearest, nearest_value


@pytest.mark.parametrize("name", ["_", "__x", "-a", "a-", "a..b", "a/b", "a b", "é", "lpt1.x", "a" * 65, ""])
def test_unsafe_names(name: str) -> None:
    assert not is_slug(name)
    assert is_slug(slug(name))


@pytest.mark.parametrize("name", ["a", "bonsai-1.7b-q2_0", "0", "a" * 64])
def test_safe_names_stay(name: str) -> None:
    assert is_slug(name)
    assert slug(name) == name


# The words that messages are made of.


def test_toml_text() -> None:
    assert toml([True, 1, 1.5, 1e-6, "a"]) == '[true, 1, 1.5, 1e-06, "a"]'
    assert toml('"\\\n\t\r\x7f\x00\ud800\U000e0001é') == '"\\"\\\\\\n\\t\\r\\u007f\\u0000?\\U000e0001é"'
    assert toml({"a b": {"c": 1}}) == '{"a b" = {c = 1}}'
    assert key("n,k") == '"n,k"'
    assert brief("a" * 100) == f'"{"a" * 58}…'
    assert printable("a\nb\x1b") == "a?b?"


def test_lists_and_guesses() -> None:
    assert [any_of(list("abc")[:count]) for count in range(4)] == ["nothing", "a", "a or b", "a, b or c"]
    assert nearest("tile_row", ["tile_rows", "step_words"]) == "tile_rows"
    assert nearest("zzz", ["tile_rows"]) is None
    assert nearest_value(100, (32, 64, 128)) == 128
    assert nearest_value([1], (32, 64)) == 32


@pytest.mark.parametrize(
    "value", [True, 0, -1, 1e-6, 1e300, "", 'a"b\\c\n\x00\x7fé\U0001f600', [1, [2.5, "x"]], {"a b": {"c": 1}}]
)
def test_toml_text_reads_back(value: object) -> None:
    assert tomllib.loads(f"v = {toml(value)}") == {"v": value}
