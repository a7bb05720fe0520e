"""One proof: texts before both compilers, results before the oracles, real weights among the inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wgslgen import formats, gguf_model
from wgslgen.adapters import SOFTWARE, open_adapter
from wgslgen.errors import ToolMissing, UsageProblem
from wgslgen.gguf_model import GgufTensor
from wgslgen.kernels import get as kernel_class
from wgslgen.minify import minify
from wgslgen.naming import variant_name
from wgslgen.oracles import problem_maker
from wgslgen.plan import Plan
from wgslgen.render import render
from wgslgen.report import Report
from wgslgen.spec import Case, Frozen, Kernel
from wgslgen.tomltext import brief
from wgslgen.validate import validate
from wgslgen.verify import SOURCE, Outcome, cache_folder, for_gpus, ignore, judge, missing_runs, verify


class Proof(Frozen):
    """What was shown: the judges' report (None for real tensors), and an outcome a variant and adapter."""

    report: Report | None
    outcomes: tuple[Outcome, ...]
    adapters: tuple[str, ...]

    @property
    def never_run(self) -> list[str]:
        """Variants that no adapter could run, but those of `for_gpus`."""
        return missing_runs(self.outcomes)

    @property
    def for_gpus(self) -> list[str]:
        """Variants that no adapter could run for want of subgroup matrices."""
        return for_gpus(self.outcomes)


def choose_adapters(names: Sequence[str], require: bool) -> tuple[str, ...]:
    """Return the adapters to run on: those named, or the software ones that are installed.

    Raises ToolMissing where a named one is missing, where none is there, or with `require` any of them.
    """
    if names or require:
        named = tuple(names) or SOFTWARE
        for name in named:
            open_adapter(name)
        return named
    chosen: list[str] = []
    problems: list[str] = []
    for name in SOFTWARE:
        try:
            open_adapter(name)
            chosen.append(name)
        except ToolMissing as problem:
            problems.append(problem.message)
    if not chosen:
        raise ToolMissing(
            "no software adapter is installed:\n" + "\n".join(problems),
            hint="apt-get install mesa-vulkan-drivers chromium, or name this machine's own: --adapter gpu",
        )
    return tuple(chosen)


def validate_all(variants: Sequence[Kernel], require: Sequence[str], minified: Sequence[Kernel] = ()) -> Report:
    """Have all judges read the texts of `variants`, and those of `minified` as they ship, too.

    Raises ToolMissing where a required judge is missing.
    """
    texts = {variant_name(v): render(v, SOURCE) for v in variants}
    texts |= {f"{variant_name(v)} (minified)": minify(render(v, SOURCE)) for v in minified}
    return validate(texts, require=require)


def prove(
    variants: Sequence[Kernel],
    adapters: Sequence[str],
    require: Sequence[str] = (),
    jobs: int = 1,
    cached: bool = True,
    advance: Callable[[int], None] = ignore,
    plans: Sequence[Plan] = (),
    minified: Sequence[Kernel] = (),
) -> Proof:
    """Validate the variants, then run those that were not rejected, and the plans that need no rejected one.

    The judges read variants in `minified` in both forms.
    """
    report = validate_all(variants, require, minified)
    sound = [v for v in variants if variant_name(v) not in report.rejected]
    whole = [plan for plan in plans if not {variant_name(v) for v in plan.variants} & {*report.rejected}]
    outcomes = verify([*sound, *whole], adapters, jobs, cache_folder() if cached else None, advance)
    return Proof(report=report, outcomes=tuple(outcomes), adapters=tuple(adapters))


def gguf_work(path: Path, group: int | None) -> list[tuple[GgufTensor, Kernel]]:
    """Return what to run for a model file: tensors, of each name and shape the first and the last, and variants.

    Raises UsageProblem where the file is not sound, holds no matrix in a format of ours, or one that no kernel takes.
    """
    tensors = choose_tensors(gguf_model.read_model(path, group).tensors)
    if not tensors:
        raise UsageProblem(
            f"{path}: holds no matrix in a format that wgslgen has", hint=f"it has {', '.join(formats.names())}"
        )
    work: list[tuple[GgufTensor, Kernel]] = []
    for tensor in tensors:
        variants = variants_for(tensor)
        if not variants:
            raise UsageProblem(
                f"{path}: {brief(tensor.name)} is {tensor.format} with {tensor.k} columns, which no kernel takes",
                hint="pad its rows with zeros to a multiple of 4",
            )
        work += [(tensor, variant) for variant in variants]
    return work


def prove_gguf(
    path: Path,
    work: Sequence[tuple[GgufTensor, Kernel]],
    adapters: Sequence[str],
    advance: Callable[[int], None] = ignore,
) -> Proof:
    """Run `matvec` and `get_rows` on real tensors; every outcome names its tensor."""
    outcomes = []
    for name in adapters:
        gpu = open_adapter(name)
        for tensor, variant in work:
            sizes = {"N": tensor.n, "K": tensor.k}
            if variant.NAME == "get_rows":
                sizes |= {"R": min(tensor.n, 33), "FIRST_ROW": 0, "ROWS": tensor.n}
            rng = np.random.default_rng(tensor.n + tensor.k)
            weights = gguf_model.tensor_bytes(path, tensor)
            problem = problem_maker(variant.NAME)(variant.model_dump(), sizes, rng, weights=weights)
            outcome = judge(gpu, variant, [(Case(name=tensor.name, sizes=sizes), problem)], twin=False)
            outcomes.append(outcome.model_copy(update={"tensor": tensor.name}))
            advance(1)
    return Proof(report=None, outcomes=tuple(outcomes), adapters=tuple(adapters))


def choose_tensors(tensors: Sequence[GgufTensor]) -> list[GgufTensor]:
    """Return the matrices to run: of those that differ in the layer's number alone the first and the last."""
    kinds: dict[tuple[object, ...], list[GgufTensor]] = {}
    for tensor in tensors:
        if tensor.format is not None and tensor.n > 1:
            role = ".".join(part for part in tensor.name.split(".") if not part.isdigit())
            kinds.setdefault((role, tensor.format, tensor.n, tensor.k), []).append(tensor)
    return [t for kind in kinds.values() for t in ([kind[0]] if len(kind) == 1 else [kind[0], kind[-1]])]


def variants_for(tensor: GgufTensor) -> list[Kernel]:
    """Return variants of `matvec` and `get_rows` that read this tensor's format: each route and layout."""
    wanted: list[tuple[str, dict[str, Any]]] = [
        ("matvec", {"route": "float", "layout": "planar", "tile_rows": 4, "subgroups": True}),
        ("matvec", {"route": "float", "layout": "ggml", "tile_rows": 4, "subgroups": False}),
        (
            "matvec",
            {"route": "int8", "layout": "planar", "tile_rows": 8, "subgroups": False, "activation_group": 32},
        ),
        ("matvec", {"route": "block", "layout": "ggml", "tile_rows": 1, "subgroups": False, "step_words": 1}),
        ("get_rows", {"layout": "planar"}),
        ("get_rows", {"layout": "ggml"}),
    ]
    found: list[Kernel] = []
    for kernel, constants in wanted:
        for step_words in (4, 2, 1, None):
            choice = {"format": tensor.format, "group": tensor.group, "step_words": step_words, **constants}
            try:
                kernel_class(kernel)(**{**choice, "k": tensor.k})  # tells whether rows of this length are whole steps
                found.append(kernel_class(kernel)(**choice))
                break
            except ValueError:
                continue
    return found
