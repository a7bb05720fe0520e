"""What a route of `matmul` says of itself: which constants it takes, and what follows from them.

A route has no state: everything it is asked, it is asked about a variant `v`. The partial
templates/partials/matmul_<route>.wgsl.j2 holds its text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from wgslgen.spec import Binding, Const, Tolerance, WorkgroupVariable

if TYPE_CHECKING:
    from wgslgen.kernels.matmul import Matmul


class Route(ABC):
    """A way to form the products of a tile."""

    name: ClassVar[str]
    takes: ClassVar[Mapping[str, Any]]
    """The constants that are this route's to choose, and what each is where nobody chose."""
    decode: ClassVar[Literal["value4", "packed4"] | None] = "value4"
    """Which of the format's decodes the text uses."""
    plain: ClassVar[Mapping[str, Any]]
    """The constants of the plainest variant, for all formats."""

    what: ClassVar[frozenset[str]] = frozenset({"operand"})
    """Constants among them that say what is computed, so that the plain variant has them, too."""
    strided: ClassVar[bool] = True
    """Whether rows of x may lie apart."""

    layouts: ClassVar[tuple[str, ...]] = ("planar", "ggml")
    """The layouts that the text reads."""
    uses_subgroups: ClassVar[bool] = False
    """Whether the text asks which subgroup a thread is in."""

    def defaults(self, values: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002  # whatever else was chosen
        """Return what each constant of the route is where nobody chose, given those that somebody did."""
        return self.takes

    def refusals(self, v: Matmul) -> Iterator[str]:  # noqa: ARG002  # nothing more to refuse
        """Yield what does not go together."""
        yield from ()

    def consts(self, v: Matmul) -> Iterator[Const]:  # noqa: ARG002  # nothing more to name
        """Yield the derived constants of the text."""
        yield from ()

    def activations(self, v: Matmul) -> tuple[Binding, ...]:
        """Return the buffers of the activations: as they are, unless a route says otherwise."""
        x = Binding(
            name="x",
            access="read",
            element=f"vec4<{v.activation}>",
            length=f"((max({v.x_rows}, 1) - 1) * {v.x_stride} + K) // 4",
            doc=f"activations {v.x_shape}",
        )
        return (x,)

    @abstractmethod
    def shared(self, v: Matmul) -> tuple[WorkgroupVariable, ...]:
        """Return what lies in workgroup memory."""

    @abstractmethod
    def threads(self, v: Matmul) -> int:
        """Return the invocations of a workgroup."""

    @abstractmethod
    def tolerance(self, v: Matmul) -> Tolerance:
        """Return how close f32 sums come to the oracle's, before an epilogue."""

    def features(self, v: Matmul) -> tuple[str, ...]:  # noqa: ARG002  # none
        """Return the WebGPU features that the route's text needs beside those of its bindings."""
        return ()

    def template_values(self, v: Matmul) -> dict[str, Any]:  # noqa: ARG002  # none
        """Return what the partial needs beside the fields to choose structure."""
        return {}
