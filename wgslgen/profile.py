"""What a page sees of devices, by class: features, limits and subgroup sizes, each with where it is known from.

One JSON file a class under `profiles/`. Values are lower bounds where a device was not seen; `grades` says for each
field D (seen in a dump), S (read in source) or I (inferred), and what the source is.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, Literal

from pydantic import Field

from wgslgen.errors import UsageProblem
from wgslgen.frozen import Frozen
from wgslgen.wording import nearest

GRADED = ("features", "languageFeatures", "limits", "subgroups")


class SubgroupSizes(Frozen):
    """The subgroup sizes that a device reports, and the one that its kernels get where the browser pins it."""

    min: int
    max: int
    pinned: int | None = None


class Profile(Frozen):
    """A device class, in the words that `profileOf` of a bundle's module uses for a live adapter."""

    name: str
    about: str
    kind: Literal["gpu", "software"] = "gpu"
    """Whose costs a plan has there (`wgslgen.costs`)."""
    features: tuple[str, ...]
    language_features: tuple[str, ...] = Field(alias="languageFeatures")
    limits: dict[str, int]
    subgroups: SubgroupSizes | None
    subgroup_matrices: tuple[dict[str, str | int], ...] = Field(alias="subgroupMatrices")
    grades: dict[str, str]

    def data(self) -> dict[str, Any]:
        """Return the profile as `selection` reads it."""
        return self.model_dump(mode="json", by_alias=True)


@cache
def profiles() -> dict[str, Profile]:
    """Return all profiles by name."""
    folder = resources.files(__package__) / "profiles"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
    found = (Profile.model_validate_json(file.read_text(encoding="utf-8"), strict=False) for file in files)
    return {profile.name: profile for profile in found}


def get(name: str) -> Profile:
    """Return a profile; raise UsageProblem that lists them for another name."""
    known = profiles()
    if name not in known:
        raise UsageProblem(
            f"--profile {name}; expected one of: {', '.join(known)}",
            hint=f"--profile {nearest(name, [*known]) or 'core'}",
        )
    return known[name]
