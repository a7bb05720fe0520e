"""The words of WGSL: what a text may call, and what a name must not be.

Source: the W3C's WGSL specification (keywords, reserved words, predeclared types and enumerants, built-in
functions), and the Chromium proposal for subgroup matrices. Built-in *values* such as `workgroup_id` are
no words of this list: they mean something inside `@builtin(…)` only, and parameters are named after them.
"""

from __future__ import annotations

from typing import Final


def words(text: str) -> frozenset[str]:
    """Return the words of `text` as a set."""
    return frozenset(text.split())


KEYWORDS: Final = words(
    """alias break case const const_assert continue continuing default diagnostic discard else enable
    false fn for if let loop override requires return struct switch true var while"""
)

# Refused by every front end as an identifier: words that WGSL keeps for its own future.
RESERVED: Final = words(
    """NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become
    cast catch class co_await co_return co_yield coherent column_major common compile compile_fragment
    concept const_cast consteval constexpr constinit crate debugger decltype delete demote
    demote_to_helper do dynamic_cast enum explicit export extends extern external fallthrough filter
    final finally friend from fxgroup get goto groupshared highp impl implements import inline
    instanceof interface layout lowp macro macro_rules match mediump meta mod module move mut mutable
    namespace new nil noexcept noinline nointerpolation non_coherent noncoherent noperspective null
    nullptr of operator package packoffset partial pass patch pixelfragment precise precision premerge
    priv protected pub public readonly ref regardless register reinterpret_cast require resource
    restrict self set shared sizeof smooth snorm static static_assert static_cast std subroutine super
    target template this thread_local throw trait try type typedef typeid typename typeof union unless
    unorm unsafe unsized use using varying virtual volatile wgsl where with writeonly yield"""
)

SCALARS: Final = frozenset({"bool", "f16", "f32", "i32", "u32"})

# `vec4f` is `vec4<f32>`: the short name, its size and its component.
SHORT_VECTORS: Final = {
    f"vec{size}{letter}": (size, scalar)
    for size in (2, 3, 4)
    for letter, scalar in (("f", "f32"), ("h", "f16"), ("i", "i32"), ("u", "u32"))
}
MATRICES: Final = frozenset(f"mat{c}x{r}{s}" for c in "234" for r in "234" for s in ("", "f", "h"))
VECTORS: Final = frozenset({"vec2", "vec3", "vec4"})
SUBGROUP_MATRICES: Final = frozenset({"subgroup_matrix_left", "subgroup_matrix_right", "subgroup_matrix_result"})
TEXTURES: Final = words(
    """sampler sampler_comparison texture_1d texture_2d texture_2d_array texture_3d texture_cube
    texture_cube_array texture_depth_2d texture_depth_2d_array texture_depth_cube
    texture_depth_cube_array texture_depth_multisampled_2d texture_external texture_multisampled_2d
    texture_storage_1d texture_storage_2d texture_storage_2d_array texture_storage_3d"""
)
TYPES: Final = (
    SCALARS | VECTORS | frozenset(SHORT_VECTORS) | MATRICES | SUBGROUP_MATRICES | TEXTURES | {"array", "atomic", "ptr"}
)
ENUMERANTS: Final = frozenset({"function", "private", "workgroup", "uniform", "storage", "read", "write", "read_write"})

# Legal in WGSL, yet words of the languages that it is lowered to: backends have tripped over them (C41).
FOREIGN: Final = frozenset({"buffer", "packed", "texture"})

BARRIERS: Final = frozenset({"storageBarrier", "textureBarrier", "workgroupBarrier", "workgroupUniformLoad"})
SUBGROUP_FUNCTIONS: Final = words(
    """quadBroadcast quadSwapDiagonal quadSwapX quadSwapY subgroupAdd subgroupAll subgroupAnd subgroupAny
    subgroupBallot subgroupBroadcast subgroupBroadcastFirst subgroupElect subgroupExclusiveAdd
    subgroupExclusiveMul subgroupInclusiveAdd subgroupInclusiveMul subgroupMax subgroupMin subgroupMul
    subgroupOr subgroupShuffle subgroupShuffleDown subgroupShuffleUp subgroupShuffleXor
    subgroupXor"""
)
MATRIX_FUNCTIONS: Final = words(
    """subgroupMatrixLoad subgroupMatrixStore subgroupMatrixMultiply
    subgroupMatrixMultiplyAccumulate"""
)
ATOMIC_FUNCTIONS: Final = words(
    """atomicAdd atomicAnd atomicCompareExchangeWeak atomicExchange atomicLoad atomicMax atomicMin
    atomicOr atomicStore atomicSub atomicXor"""
)
PLAIN_FUNCTIONS: Final = words(
    """abs acos acosh all any arrayLength asin asinh atan atan2 atanh bitcast ceil clamp cos cosh
    countLeadingZeros countOneBits countTrailingZeros cross degrees determinant distance dot
    dot4I8Packed dot4U8Packed dpdx dpdxCoarse dpdxFine dpdy dpdyCoarse dpdyFine exp exp2 extractBits
    faceForward firstLeadingBit firstTrailingBit floor fma fract frexp fwidth fwidthCoarse fwidthFine
    insertBits inverseSqrt ldexp length log log2 max min mix modf normalize pack2x16float pack2x16snorm
    pack2x16unorm pack4x8snorm pack4x8unorm pack4xI8 pack4xI8Clamp pack4xU8 pack4xU8Clamp pow
    quantizeToF16 radians reflect refract reverseBits round saturate select sign sin sinh smoothstep
    sqrt step tan tanh textureDimensions textureGather textureGatherCompare textureLoad
    textureNumLayers textureNumLevels textureNumSamples textureSample textureSampleBaseClampToEdge
    textureSampleBias textureSampleCompare textureSampleCompareLevel textureSampleGrad
    textureSampleLevel textureStore transpose trunc unpack2x16float unpack2x16snorm unpack2x16unorm
    unpack4x8snorm unpack4x8unorm unpack4xI8 unpack4xU8"""
)
STANDARD_FUNCTIONS: Final = PLAIN_FUNCTIONS | ATOMIC_FUNCTIONS | BARRIERS | SUBGROUP_FUNCTIONS | MATRIX_FUNCTIONS

# The names after which `<` opens a template list; no user's name can (WGSL has no generics).
TEMPLATED: Final = (
    VECTORS | MATRICES | SUBGROUP_MATRICES | MATRIX_FUNCTIONS | TEXTURES | {"array", "atomic", "ptr", "bitcast"}
)

RESERVED_WORDS: Final = KEYWORDS | RESERVED | TYPES | ENUMERANTS | FOREIGN | STANDARD_FUNCTIONS


def is_reserved(name: str) -> bool:
    """Say whether `name` must not name anything in a text (C41).

    True for every word of `RESERVED_WORDS` and for names that WGSL refuses by shape: `_`, names that
    start with two underscores, and what is no identifier at all.
    """
    return name in RESERVED_WORDS or name == "_" or name.startswith("__") or not name.isidentifier()
