"""Cases of the text itself, over every variant that this repository ships."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from wgslgen import bundlefile
from wgslgen.adapters import open_adapter
from wgslgen.errors import ToolMissing
from wgslgen.harness import Runner
from wgslgen.kernels import KERNELS
from wgslgen.manifest import entry
from wgslgen.naming import variant_name
from wgslgen.render import render
from wgslgen.spec import Kernel
from wgslgen.validate import validate

FILES = sorted((Path(__file__).parent.parent / "generated").glob("*.toml"))
SHIPPED = tuple(dict.fromkeys(v for file in FILES for v in bundlefile.expand(bundlefile.load(file)).variants))
BINDING = re.compile(
    r"^@group\(0\) @binding\((\d+)\) var<(storage, read|storage, read_write|uniform)> (\w+):", re.MULTILINE
)


def code_of(text: str) -> str:
    return re.sub(r"//.*", "", text)


def longest() -> list[Kernel]:
    """Return the variant with the longest text of each kernel."""
    return [max((v for v in SHIPPED if v.NAME == k.NAME), key=lambda v: len(render(v, "x.toml"))) for k in KERNELS]


def test_c42_no_override_in_any_text() -> None:
    for variant in SHIPPED:
        code = code_of(render(variant, "x.toml"))
        assert not re.search(r"\boverride\b|@id\b", code)
        assert re.search(r"@workgroup_size\(WORKGROUP_SIZE\)", code)


@pytest.mark.parametrize("field", ["n", "k", "tile_rows", "workgroup_size"])
def test_c42_a_constant_of_0_is_refused(field: str) -> None:
    matvec = next(v for v in SHIPPED if v.NAME == "matvec")
    with pytest.raises(ValueError, match=field):
        type(matvec)(**{**matvec.model_dump(), field: 0})


def test_c44_f16_is_in_a_text_only_where_it_is_required() -> None:
    for variant in SHIPPED:
        code = code_of(render(variant, "x.toml"))
        needs = "shader-f16" in variant.requirements.features
        assert ("enable f16;" in code) == needs
        assert bool(re.search(r"\bf16\b", code)) == needs


def test_c44_a_device_without_f16_hears_of_it_before_any_module_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = open_adapter("swiftshader")
    variant = next(v for v in SHIPPED if "shader-f16" in v.requirements.features)
    monkeypatch.setattr(type(gpu), "device", lambda *_: pytest.fail("a device was asked for"))
    with pytest.raises(ToolMissing, match="needs feature shader-f16"):
        Runner(gpu, variant, render(variant, "x.toml"))


def test_c47_bindings_of_manifest_and_text_are_the_same_and_all_are_used() -> None:
    access = {"read": "storage, read", "read_write": "storage, read_write"}
    for variant in SHIPPED:
        text, said = code_of(render(variant, "x.toml")), entry(variant)
        wanted = [(str(b.binding), access[b.access], b.name) for b in said.bindings]
        if said.uniforms is not None:
            wanted.append((str(said.uniforms.binding), "uniform", "params"))
        assert BINDING.findall(text) == wanted
        assert [int(number) for number, _, _ in wanted] == [*range(len(wanted))]
        body = BINDING.sub("", text)
        for _, _, name in wanted:
            assert re.search(rf"\b{name}\s*[.\[]", body), f"{variant_name(variant)} does not use {name}"


def test_c50_texts_are_short_and_compile_in_time() -> None:
    """The case sets the seconds: 64 KiB of text, naga under 2 s, a pipeline under 5 s on lavapipe."""
    assert max(len(render(variant, "x.toml")) for variant in SHIPPED) < 65536
    gpu = open_adapter("lavapipe")
    for variant in longest():
        text = render(variant, "x.toml")
        start = time.perf_counter()
        assert not validate({"text": text}, ("naga",), ("naga",)).rejected
        naga = time.perf_counter()
        Runner(gpu, variant, text)
        pipeline = time.perf_counter()
        assert naga - start < 2.0, f"{variant_name(variant)}: naga took {naga - start:.2f} s"
        assert pipeline - naga < 5.0, f"{variant_name(variant)}: the pipeline took {pipeline - naga:.2f} s"
