"""A small decoder on generated plans, token by token, against one in float64.

One command buffer a token; the cache grows, and between tokens the host writes one number, the length. On the int8
route the oracle takes over how the device rounded the activations, once it has seen that each rounding is one.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from wgslgen import formats, layouts
from wgslgen.adapters import open_adapter
from wgslgen.decoder import Choice
from wgslgen.formats.base import Format
from wgslgen.kernels.copy_strided import CopyStrided, sizes_of
from wgslgen.kernels.weighted import Weighted
from wgslgen.model import Model
from wgslgen.oracles import decoder
from wgslgen.oracles.quantize_q8 import order
from wgslgen.plan import Pass, Plan
from wgslgen.plans.decode import decode_plans, layer_name
from wgslgen.rope import rope_table
from wgslgen.session import Session

Floats = NDArray[np.float64]

MODEL = Model(
    hidden=256,
    intermediate=512,
    q_heads=4,
    kv_heads=2,
    head_dim=64,
    layers=3,
    vocab=517,
    rope_theta=1e6,
    eps=1e-6,
    tied=False,
    qk_norm=True,
)
TOKENS = 40
CAPACITY = 48
CLEAR = 1e-4
"""A lead of the best logit, in units of their root mean square, that no rounding of ours can turn."""
SLACK = {"f32": 2.0**-16, "f16": 2.0**-11}
"""How far an activation may lie from where the oracle sees it, relative to its group's largest: by the cache's type,
since a key near a tie of f16 may be rounded to either neighbour. A wrong integer is off by 2^-7."""
SHAPES = {
    "qkv": ((MODEL.q_heads + 2 * MODEL.kv_heads) * MODEL.head_dim, MODEL.hidden),
    "attention_output": (MODEL.hidden, MODEL.q_heads * MODEL.head_dim),
    "gate_up": (2 * MODEL.intermediate, MODEL.hidden),
    "down": (MODEL.hidden, MODEL.intermediate),
}
READS = {"qkv": "attn_normed", "attention_output": "attended", "gate_up": "ffn_normed", "down": "gated"}
"""The plan's buffer that each product reads."""
ADAPTERS = ("lavapipe", "swiftshader", "dawn-swiftshader")


def random_rows(fmt: Format, n: int, k: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return `n` rows of raw random codes whose scales keep sums of K products near 1."""
    raw = fmt.random_blocks(n, k, rng).reshape(-1, fmt.block_bytes)
    at = fmt.scale_offset or 0
    raw[:, at : at + 2] = np.ones((len(raw), 1), np.float16).view(np.uint8)
    size = np.sqrt(np.square(fmt.unpack(raw)).mean())
    scales = rng.uniform(0.5, 1.5, len(raw)) / (size * np.sqrt(k)) * rng.choice([-1.0, 1.0], len(raw))
    raw[:, at : at + 2] = scales.astype(np.float16).view(np.uint8).reshape(-1, 2)
    return raw.reshape(-1)


@dataclass
class Decoder:
    """The same decoder twice: buffers on the device, and weights in float64."""

    session: Session
    choice: Choice
    stride: int
    group: int
    layers: list[decoder.Layer] = field(default_factory=list)
    embedding: Floats = field(default_factory=lambda: np.zeros(0))
    head: Floats = field(default_factory=lambda: np.zeros(0))
    output_norm: Floats = field(default_factory=lambda: np.zeros(0))

    def hold(self, name: str, content: NDArray[Any], writable: bool = False) -> None:
        self.session.hold(name, -(-content.nbytes // 4) * 4, content, read_only=not writable)

    def matrix(self, variant: Weighted, prefix: str, suffix: str, n: int, k: int, rng: np.random.Generator) -> Floats:
        """Hold the planes of a random matrix and return its values [n, k]."""
        fmt = variant.weight_format
        rows = random_rows(fmt, n, k, rng)
        for plane, words in layouts.pack(fmt, variant.layout, rows, n, k).items():
            self.hold(f"{prefix}_{plane}{suffix}", words)
        return fmt.unpack(fmt.rows(rows, n, k))

    def rounded(self, reads: dict[str, str], suffix: str) -> decoder.Rounded:
        """Return what takes the device's int8 activations for the exact ones, and refuses those that are not."""

        def take(name: str, x: Floats) -> Floats:
            if self.choice.route == "float":
                return x
            raw = self.session.read(f"{reads[name]}_x8{suffix}", np.int8)
            integers = np.empty(x.size)
            integers[order(1, x.size, self.stride)] = raw
            pairs = self.session.read(f"{reads[name]}_scale{suffix}", np.float32).reshape(-1, 2).astype(np.float64)
            exact = np.abs(x.reshape(-1, self.group)).max(axis=1) / 127.0
            slack = SLACK[self.choice.cache]
            np.testing.assert_allclose(pairs[:, 0], exact, rtol=slack)
            np.testing.assert_array_equal(pairs[:, 1], integers.reshape(-1, self.group).sum(axis=1))
            scales = np.repeat(pairs[:, 0], self.group)
            assert np.abs(x / scales - integers).max() <= 0.5 + 127 * slack
            taken: Floats = integers * scales
            return taken

        return take


def build(adapter: str, choice: Choice, rng: np.random.Generator) -> Decoder:
    """Return the decoder with everything on the device that a token needs."""
    embedding, layer, head = decode_plans(MODEL, choice)
    copy = snapshot_plan()
    session = Session(open_adapter(adapter), [*embedding.variants, *layer.variants, *head.variants, *copy.variants])
    roles = {step.variant.NAME: step.variant for plan in (embedding, head) for step in plan.passes}
    product = layer.passes[1].variant.model_dump()
    made = Decoder(session, choice, choice.stored.int8_stride or 1, product["activation_group"] or 1)
    table = rope_table(CAPACITY, MODEL.head_dim, MODEL.rope_theta)
    made.hold("rope_table", table)
    made.hold("lengths", np.zeros(1, np.uint32), writable=True)
    made.hold("token", np.array([7], np.uint32), writable=True)
    made.hold("hidden", np.zeros(MODEL.hidden, np.float32), writable=True)
    cache = np.full((MODEL.layers, CAPACITY, MODEL.kv_heads * MODEL.head_dim), np.nan, cache_type(choice))
    for name in ("k_cache", "v_cache"):
        made.hold(name, cache, writable=True)
    made.embedding = made.matrix(weighted(roles["get_rows"]), "embedding", "", MODEL.vocab, MODEL.hidden, rng)
    made.head = made.matrix(weighted(roles["lm_head_argmax"]), "lm_head", "", MODEL.vocab, MODEL.hidden, rng)
    made.output_norm = norm_weight(made, "output_norm_weight", MODEL.hidden, rng)
    session.add(embedding, {"N": MODEL.vocab})
    parameters = {"EPS": MODEL.eps, "SCALE": MODEL.head_dim**-0.5}
    for number in range(MODEL.layers):
        suffix = f".{number}"
        matrices = {
            role: made.matrix(weighted(layer.passes[1].variant), role, suffix, n, k, rng)
            for role, (n, k) in SHAPES.items()
        }
        made.layers.append(
            decoder.Layer(
                attn_norm=norm_weight(made, f"attn_norm_weight{suffix}", MODEL.hidden, rng),
                ffn_norm=norm_weight(made, f"ffn_norm_weight{suffix}", MODEL.hidden, rng),
                qk_norm=norm_weight(made, f"qk_norm_weight{suffix}", 2 * MODEL.head_dim, rng).reshape(2, -1),
                qkv=matrices["qkv"],
                attention_output=matrices["attention_output"],
                gate_up=matrices["gate_up"],
                down=matrices["down"],
            )
        )
        shared = {"rope_table", "lengths", "hidden", "k_cache", "v_cache"}
        names = {buffer.name: f"{buffer.name}{suffix}" for buffer in layer.buffers if buffer.name not in shared}
        sizes = {"CAPACITY": CAPACITY, "LAYERS": MODEL.layers, "LAYER": number, "TABLE_ROWS": CAPACITY}
        session.add(layer, sizes, parameters, names)
        made.hold(f"snapshot{suffix}", np.zeros(MODEL.hidden, np.float32), writable=True)
        session.add(copy, SNAPSHOT, None, {"x": "hidden", "y": f"snapshot{suffix}"})
    session.add(head, {"N": MODEL.vocab}, parameters)
    return made


def cache_type(choice: Choice) -> Any:
    return {"f32": np.float32, "f16": np.float16}[choice.cache]


def weighted(variant: Any) -> Weighted:
    assert isinstance(variant, Weighted)
    return variant


def norm_weight(made: Decoder, name: str, size: int, rng: np.random.Generator) -> Floats:
    weight = rng.uniform(0.5, 1.5, size).astype(np.float32)
    made.hold(name, weight)
    return weight.astype(np.float64)


ROW = (1, 1, 1, MODEL.hidden)
CONTIGUOUS = (MODEL.hidden, MODEL.hidden, MODEL.hidden, 1)
SNAPSHOT = sizes_of(ROW, CONTIGUOUS, CONTIGUOUS)


def snapshot_plan() -> Plan:
    """Return the copy that keeps the hidden state behind a layer, for the comparison alone."""
    return Plan(
        name="snapshot",
        op="copy",
        doc="a copy of the hidden state",
        sizes=CopyStrided.SIZES,
        outputs=(),
        passes=(Pass(variant=CopyStrided()),),
    )


def nmse(actual: NDArray[Any], expected: Floats) -> float:
    return float(np.square(actual.astype(np.float64) - expected).sum() / np.square(expected).sum())


FORMS: list[tuple[str, int, Literal["float", "int8"], bool]] = [
    ("q1_0", 128, "float", False),
    ("q1_0", 128, "int8", True),
    ("q2_0", 64, "float", True),
    ("q2_0", 64, "int8", False),
]
"""Formats, routes and folds that every adapter runs: each with each of the others; lavapipe runs the rest, too."""
TABLES: list[tuple[str, int, Literal["float", "int8"], bool]] = [
    ("iq2_xs", 256, "float", True),
    ("iq3_xxs", 256, "int8", False),
]
"""Formats whose codes point into a table, which each product binds beside its weights."""
OTHERS = [*((name, group, route, not subgroups) for name, group, route, subgroups in FORMS), *TABLES]


@pytest.mark.parametrize(
    ("adapter", "name", "group", "route", "subgroups"),
    [*((adapter, *form) for adapter in ADAPTERS for form in FORMS), *(("lavapipe", *form) for form in OTHERS)],
)
def test_40_tokens_with_a_cache_in_f32(
    adapter: str, name: str, group: int, route: Literal["float", "int8"], subgroups: bool, rng: np.random.Generator
) -> None:
    decode(adapter, Choice(formats.get(name, group), formats.get(name, group), route, subgroups, "f32"), 1e-10, rng)


@pytest.mark.parametrize("route", ["float", "int8"])
def test_40_tokens_with_a_cache_in_f16(route: Literal["float", "int8"], rng: np.random.Generator) -> None:
    """Only lavapipe has f16."""
    decode("lavapipe", Choice(formats.get("q2_0", 64), formats.get("q2_0", 64), route, True, "f16"), 1e-5, rng)


def decode(adapter: str, choice: Choice, bar: float, rng: np.random.Generator) -> None:
    """Run both decoders side by side, and compare the state behind every layer and every clear token."""
    made = build(adapter, choice, rng)
    rounding = np.float16 if choice.cache == "f16" else np.float64
    heads = (MODEL.q_heads, MODEL.kv_heads, MODEL.head_dim)
    shape = decoder.Shape(*heads, MODEL.eps, MODEL.rope_pairing, rounding)
    table = rope_table(CAPACITY, MODEL.head_dim, MODEL.rope_theta).astype(np.float64)
    worst = np.zeros(MODEL.layers)
    token, clear = 7, 0
    for position in range(TOKENS):
        made.session.write("lengths", np.array([position + 1], np.uint32))
        made.session.submit()
        x = made.embedding[token]
        for number, layer in enumerate(made.layers):
            x = decoder.step(x, layer, shape, table[position], made.rounded(READS, f".{number}"))
            worst[number] = max(worst[number], nmse(made.session.read(f"snapshot.{number}", np.float32), x))
        scores = decoder.logits(
            x, made.output_norm, made.head, MODEL.eps, made.rounded({"lm_head": "output_normed"}, "")
        )
        token = int(made.session.read("token", np.uint32)[0])
        if decoder.margin(scores) > CLEAR:
            clear += 1
            assert token == int(np.argmax(scores)), f"token {position}"
    errors = ", ".join(f"{error:.2g}" for error in worst)
    sys.stdout.write(f"{adapter} {layer_name(choice)}: NMSE by layer {errors}\n")
    assert worst.max() <= bar
    assert clear >= TOKENS - 4
    for name in ("k_cache", "v_cache"):
        rows = made.session.read(name, cache_type(choice)).reshape(MODEL.layers, CAPACITY, -1)
        assert np.isfinite(rows[:, :TOKENS]).all()
        assert np.isnan(rows[:, TOKENS:]).all()


@pytest.mark.parametrize(("route", "passes"), [("float", 9), ("int8", 10)])
def test_a_layer_is_nine_passes_or_ten(route: Literal["float", "int8"], passes: int) -> None:
    _, layer, _ = decode_plans(MODEL, Choice(formats.get("q1_0", 128), formats.get("q1_0", 128), route, False, "f32"))
    assert len(layer.passes) == passes
