"""The types of expressions, as far as a text shows them without a full type checker."""

from __future__ import annotations

from typing import NamedTuple

from wgslgen.textrules.tokens import suffix
from wgslgen.textrules.tree import Node
from wgslgen.textrules.words import SCALARS, SHORT_VECTORS, VECTORS, words

_SUFFIXES = {"u": "u32", "i": "i32", "f": "f32", "h": "f16"}
_COMPARING = frozenset(("==", "!=", "<", ">", "<=", ">=", "&&", "||"))
_RESULTS = {
    "arrayLength": "u32",
    "dot4I8Packed": "i32",
    "dot4U8Packed": "u32",
    "all": "bool",
    "any": "bool",
    "subgroupElect": "bool",
    **dict.fromkeys(
        ("pack2x16float", "pack2x16snorm", "pack2x16unorm", "pack4x8snorm", "pack4x8unorm", "pack4xI8"), "u32"
    ),
}
_VECTOR_RESULTS = {
    "unpack2x16float": (2, "f32"),
    "unpack2x16snorm": (2, "f32"),
    "unpack2x16unorm": (2, "f32"),
    "unpack4x8snorm": (4, "f32"),
    "unpack4x8unorm": (4, "f32"),
    "unpack4xI8": (4, "i32"),
    "unpack4xU8": (4, "u32"),
    "subgroupBallot": (4, "u32"),
}
# Their result has the type of the first argument.
_ELEMENTWISE = words(
    """abs ceil clamp cos countOneBits exp exp2 extractBits floor fma fract insertBits inverseSqrt log log2
    max min mix pow reverseBits round saturate select sign sin sqrt subgroupAdd subgroupBroadcast
    subgroupBroadcastFirst subgroupMax subgroupMin subgroupMul subgroupShuffle subgroupShuffleDown
    subgroupShuffleUp subgroupShuffleXor tanh trunc workgroupUniformLoad"""
)


class Type(NamedTuple):
    """A type: `base` is a scalar, "vec", "array", "ptr", "atomic" or "struct"; `of` what it is made of."""

    base: str
    size: int = 1
    of: Type | None = None
    struct: Node | None = None

    @property
    def component(self) -> str | None:
        """The scalar of a scalar or vector type."""
        if self.base == "vec":
            return self.of.base if self.of is not None else None
        return self.base if self.base in SCALARS else None


def _vector(size: int, scalar: str) -> Type:
    return Type("vec", size, Type(scalar))


def written(node: Node | None) -> Type | None:
    """Return the type that a type's text names, aliases followed; None where the text leaves it open."""
    if node is None:
        return None
    decl, name = node.decl, node.text
    if decl is not None and decl.kind == "alias":
        return written(decl.type)
    if decl is not None and decl.kind == "struct":
        return Type("struct", struct=decl)
    if name in SCALARS:
        return Type(name)
    if name in SHORT_VECTORS:
        return _vector(*SHORT_VECTORS[name])
    if name in VECTORS and node.args:
        return Type("vec", int(name[3:]), written(node.args[0]))
    if name in ("array", "atomic") and node.args:
        return Type(name, of=written(node.args[0]))
    if name == "ptr" and len(node.args) > 1:
        return Type(name, of=written(node.args[1]))
    return None


def _loaded(found: Type | None) -> Type | None:
    """A pointer may stand for what it points at before `.` and `[`."""
    return found.of if found is not None and found.base == "ptr" else found


class Types:
    """The types of one text's expressions, each found once."""

    def __init__(self) -> None:
        self._known: dict[int, Type | None] = {}

    def of(self, node: Node) -> Type | None:
        """Return the type of an expression or of a declared name; None where this reader cannot tell."""
        key = id(node)
        if key not in self._known:
            self._known[key] = None  # what is declared through itself ends here
            self._known[key] = self._find(node)
        return self._known[key]

    def _find(self, node: Node) -> Type | None:
        match node.kind:
            case "number":
                scalar = _SUFFIXES.get(suffix(node.text))
                return Type(scalar) if scalar is not None else None
            case "bool":
                return Type("bool")
            case "name":
                return self.of(node.decl) if node.decl is not None else None
            case "const" | "let" | "var" | "override":
                return written(node.type) or (self.of(node.kids[0]) if node.kids else None)
            case "param" | "fn":
                return written(node.type)
            case "call":
                return self._call(node)
            case "unary":
                return self._unary(node)
            case "binary":
                return self._binary(node)
            case "member":
                return self._member(node)
            case "index":
                base = _loaded(self.of(node.kids[0]))
                return base.of if base is not None and base.base in ("vec", "array") else None
        return None

    def _call(self, node: Node) -> Type | None:
        if node.decl is not None and node.decl.kind == "fn":
            return written(node.decl.type)
        if node.text == "bitcast":
            return written(node.args[0]) if node.args else None
        if node.text in _RESULTS:
            return Type(_RESULTS[node.text])
        if node.text in _VECTOR_RESULTS:
            return _vector(*_VECTOR_RESULTS[node.text])
        if node.text in ("dot", "length", "distance") and node.kids:
            first = self.of(node.kids[0])
            return first.of if first is not None and first.base == "vec" else first
        if node.text in _ELEMENTWISE and node.kids:
            return _loaded(self.of(node.kids[0]))
        if node.text in VECTORS and not node.args and node.kids:
            component = next((t.component for t in map(self.of, node.kids) if t is not None), None)
            return _vector(int(node.text[3:]), component) if component else None
        return written(node)

    def _unary(self, node: Node) -> Type | None:
        operand = self.of(node.kids[0])
        if node.text == "&":
            return Type("ptr", of=operand)
        return _loaded(operand) if node.text == "*" else operand

    def _binary(self, node: Node) -> Type | None:
        left, right = self.of(node.kids[0]), self.of(node.kids[1])
        if node.text in _COMPARING:
            size = max((t.size for t in (left, right) if t is not None), default=1)
            return _vector(size, "bool") if size > 1 else Type("bool")
        if node.text in ("<<", ">>") or right is None:
            return left
        return right if left is None or right.base == "vec" else left

    def _member(self, node: Node) -> Type | None:
        base = _loaded(self.of(node.kids[0]))
        if base is None:
            return None
        if base.struct is not None:
            return next((written(member.type) for member in base.struct.kids if member.text == node.text), None)
        if base.base == "vec":
            return base.of if len(node.text) == 1 else Type("vec", len(node.text), base.of)
        return None
