"""`wgslgen init`: from a preset or a GGUF file to the text of a bundle file."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from wgslgen import formats, presets
from wgslgen.bundletext import bundle_toml
from wgslgen.errors import UsageProblem
from wgslgen.formats import Format
from wgslgen.gguf_model import GgufModel, GgufTensor, read_model
from wgslgen.model import Role, Weight
from wgslgen.slugs import is_slug, slug
from wgslgen.tomltext import brief
from wgslgen.wording import nearest

PRESET_GROUPS = {"q2_0": 64}
"""The group that a preset takes where the format has no default: mainline's files, not the vendor fork's."""

LAYER = re.compile(r"^blk\.\d+\.")


def from_preset(
    preset: str, weight_format: str | None, group: int | None = None, name: str | None = None
) -> tuple[str, str]:
    """Return (name, text) of the bundle file for a preset whose weights all have one format.

    Raises UsageProblem for an unknown preset or format, an illegal group or name, and a format whose blocks
    do not divide the model's rows.
    """
    model = presets.get(preset)
    stored = _format(preset, weight_format, group)
    weights = presets.weights(model, stored)
    own = len(stored.groups) > 1
    usual = stored.group == _usual_group(stored.name)
    chosen = _name(name, f"{preset}-{stored.name.lower()}" + (f"-g{stored.group}" if own and not usual else ""))
    command = f"wgslgen init --preset {preset} --format {stored.name}" + (f" --group {stored.group}" if own else "")
    text = bundle_toml(
        chosen,
        command + _name_option(name),
        f"Kernels for {preset} with weights in {stored}.",
        model,
        weights,
        model.hidden,
    )
    return chosen, text


def from_gguf(path: Path, group: int | None = None, name: str | None = None) -> tuple[str, str]:
    """Return (name, text) of the bundle file for the model in a GGUF file.

    Raises UsageProblem as `gguf_model.read_model` does, and where a matrix has a type without a format here.
    """
    gguf = read_model(path, group)
    weights = _weights(gguf)
    chosen = _name(name, _model_name(gguf))
    command = f"wgslgen init --gguf {shlex.quote(gguf.file)}" + (f" --group {group}" if group is not None else "")
    kinds = Counter(str(stored) for stored in {t.name: t.stored for t, _ in _matrices(gguf)}.values())
    held = ", ".join(f"{stored} ({count})" for stored, count in kinds.most_common())
    text = bundle_toml(
        chosen,
        command + _name_option(name),
        f"Kernels for the {gguf.architecture} model in {gguf.file}; matrices: {held}.",
        gguf.facts,
        weights,
        _hidden(gguf),
    )
    return chosen, text


def write(target: Path, text: str) -> None:
    """Write a new bundle file; raise UsageProblem where one lies there already."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8", newline="\n") as file:
            try:
                file.write(text)
                file.flush()
            except BaseException:  # an interrupt, too, leaves no half of it
                target.unlink()
                raise
    except FileExistsError as problem:
        if Path(problem.filename) != target:  # a file stands where the folder should
            raise UsageProblem(
                f"{target}: {problem.filename} is not a folder", hint="choose another place with --file"
            ) from None
        raise UsageProblem(
            f"{target} exists already; init never overwrites",
            hint="choose another name with --name, or move that file away",
        ) from None
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise UsageProblem(f"{target}: cannot be written: {reason}", hint="choose another place with --file") from None


# ---- formats and names ----------------------------------------------------------------------------


def _format(preset: str, weight_format: str | None, group: int | None) -> Format:
    names = formats.names()
    if weight_format not in names:
        what = "no --format" if weight_format is None else f"--format {weight_format}"
        meant = nearest(weight_format or "", names) or "q2_0"
        raise UsageProblem(
            f"{what}; expected one of: {', '.join(names)}",
            hint=f"wgslgen init --preset {preset} --format {meant}",
        )
    usual = _usual_group(weight_format)
    try:
        return formats.get(weight_format, usual if group is None else group)
    except UsageProblem as problem:
        again = f"wgslgen init --preset {preset} --format {weight_format} --group {usual}"
        raise UsageProblem(problem.message, hint=again) from None


def _usual_group(weight_format: str) -> int | None:
    """Return the group that a preset takes where none is named."""
    default = next(kind.default_group for kind in formats.FORMATS if kind.name == weight_format)
    return PRESET_GROUPS.get(weight_format, default)


def _name(wanted: str | None, otherwise: str) -> str:
    if wanted is None:
        return otherwise
    if not is_slug(wanted):
        raise UsageProblem(
            f"--name {brief(wanted)}; expected at most 64 lower-case letters, digits, '.', '_' and '-'",
            hint=f"--name {slug(wanted)}",
        )
    return wanted


def _name_option(name: str | None) -> str:
    return "" if name is None else f" --name {name}"


def _model_name(gguf: GgufModel) -> str:
    """Return a name for the model: its base name and size, its full name, or the file's."""
    words = [gguf.metadata.get(f"general.{key}") for key in ("basename", "size_label")]
    if all(isinstance(word, str) and word for word in words):
        return slug("-".join(map(str, words)))
    full = gguf.metadata.get("general.name")
    return slug(full if isinstance(full, str) and full else Path(gguf.file).stem)


# ---- the weights of a file ------------------------------------------------------------------------


def _weights(gguf: GgufModel) -> tuple[Weight, ...]:
    """Return the matrices of a file, equal ones of different layers counted together."""
    found: Counter[tuple[str, Role, int, int, Format]] = Counter()
    for tensor, role in _matrices(gguf):
        if tensor.stored is None:
            others = sorted({t.type_name for t, _ in _matrices(gguf) if t.stored is None})
            raise UsageProblem(
                f"{gguf.file}: {brief(tensor.name)} is {tensor.type_name}, which wgslgen has no format for; "
                f"it has {', '.join(formats.names())}",
                hint=f"convert the model without {', '.join(others)}",
            )
        name = LAYER.sub("", tensor.name).removesuffix(".weight")
        found[name, role, tensor.dims[1], tensor.k, tensor.stored] += math.prod(tensor.dims[2:])
    if not found:
        raise UsageProblem(f"{gguf.file}: holds no weight matrix", hint="give a model's .gguf file")
    return tuple(Weight(*key, count=count) for key, count in found.items())


def _matrices(gguf: GgufModel) -> Iterator[tuple[GgufTensor, Role]]:
    """Yield the tensors that kernels multiply by or look up in; a tied embedding comes in both roles."""
    names = {tensor.name for tensor in gguf.tensors}
    for tensor in gguf.tensors:
        if len(tensor.dims) < 2 or tensor.n == 1 or not tensor.name.endswith(".weight"):
            continue
        if tensor.name == "token_embd.weight":
            yield tensor, "embedding"
            if "output.weight" not in names:
                yield tensor, "head"
        else:
            yield tensor, "head" if tensor.name == "output.weight" else "linear"


def _hidden(gguf: GgufModel) -> int | None:
    """Return the length of the rows that the norms see: of the last norm, else of any."""
    norms = {t.name: t.k for t in gguf.tensors if t.n == 1 and t.name.endswith("_norm.weight")}
    return norms.get("output_norm.weight") or next(iter(norms.values()), None)
