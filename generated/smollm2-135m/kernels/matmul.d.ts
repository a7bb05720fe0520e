// SPDX-License-Identifier: MIT
// Made by wgslgen from smollm2-135m.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** matmul: Y = X W^T for many tokens. */
export declare const matmul: KernelModule<"matmul", MatmulVariant>;

/** The variants of matmul in this bundle. */
export type MatmulVariant =
  | "matmul_q4_1_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split1"
  | "matmul_q4_1_planar_xf32_yf32_residual__w1_tile_m16_n32_k32_t2_x2_split1"
  | "matmul_q4_1_planar_xf32_yf32_swiglu__w1_tile_m16_n32_k32_t2_x2_split1"
  | "matmul_q4_1_planar_xf32_yf32__w1_tile_m64_n64_k32_t4_x4_split1"
  | "matmul_q4_1_planar_xf32_yf32_residual__w1_tile_m64_n64_k32_t4_x4_split1"
  | "matmul_q4_1_planar_xf32_yf32_swiglu__w1_tile_m64_n64_k32_t4_x4_split1"
  | "matmul_q4_1_planar_xf16_yf32__w1_tile_m64_n64_k32_t4_x4_split1"
  | "matmul_q4_1_planar_xf16_yf16__w1_tile_m64_n64_k32_t4_x4_split1"
  | "matmul_q4_1_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split4"
  | "matmul_q4_1_planar_xf32_yf32__w4_int8_m16_n16_k128_t2_x1_a32_split1"
  | "matmul_q4_1_planar_xf32_yf32_residual__w4_int8_m16_n16_k128_t2_x1_a32_split1"
  | "matmul_q4_1_planar_xf32_yf32_swiglu__w4_int8_m16_n16_k128_t2_x1_a32_split1"
  | "matmul_q4_1_planar_xf32_yf32__w4_int8_m64_n64_k64_t8_x4_a32_split1"
  | "matmul_q4_1_planar_xf32_yf32_residual__w4_int8_m64_n64_k64_t8_x4_a32_split1"
  | "matmul_q4_1_planar_xf32_yf32_swiglu__w4_int8_m64_n64_k64_t8_x4_a32_split1"
  | "matmul_q4_1_planar_xf32_yf32__w4_int8_m16_n16_k128_t2_x1_a32_split4"
  | "matmul_q4_1_planar_xf32_yf32_k576_opf16__w1_subgroup_matrix_m128_n128_k64_sm4_sn2_f16_16x16x16_split1"
  | "matmul_q4_1_planar_xf32_yf32_k576_residual_opf16__w1_subgroup_matrix_m128_n128_k64_sm4_sn2_f16_16x16x16_split1"
  | "matmul_q4_1_planar_xf32_yf32_k1536_opf16__w1_subgroup_matrix_m128_n128_k64_sm4_sn2_f16_16x16x16_split1"
  | "matmul_q4_1_planar_xf32_yf32_k1536_residual_opf16__w1_subgroup_matrix_m128_n128_k64_sm4_sn2_f16_16x16x16_split1"
  | "matmul_q4_1_planar_xf32_yf32_k576_swiglu_opf16__w1_subgroup_matrix_m64_n64_k64_sm2_sn2_f16_16x16x16_split1"
  | "matmul_q4_1_planar_xf32_yf32_opf16__w1_subgroup_matrix_m16_n64_k64_sm1_sn4_f16_16x16x16_split4"
  | "matmul_q4_1_planar_xf32_yf32_opf16__w1_subgroup_matrix_m64_n32_k32_sm2_sn2_f16_8x16x16_split1"
  | "matmul_q4_1_planar_xf32_yf32_residual_opf16__w1_subgroup_matrix_m64_n32_k32_sm2_sn2_f16_8x16x16_split1"
  | "matmul_q4_1_planar_xf32_yf32_swiglu_opf16__w1_subgroup_matrix_m64_n32_k32_sm2_sn2_f16_8x16x16_split1"
  | "matmul_q4_1_planar_xf32_yf32__w1_subgroup_matrix_m64_n32_k32_sm2_sn2_f32_8x8x8_split1"
  | "matmul_q4_1_planar_xf32_yf32_residual__w1_subgroup_matrix_m64_n32_k32_sm2_sn2_f32_8x8x8_split1"
  | "matmul_q4_1_planar_xf32_yf32_swiglu__w1_subgroup_matrix_m64_n32_k32_sm2_sn2_f32_8x8x8_split1"
  | "matmul_q8_0_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split1"
  | "matmul_q8_0_planar_xf32_yf32__w1_tile_m64_n64_k32_t4_x4_split1"
  | "matmul_q8_0_planar_xf32_yf32__w4_int8_m64_n64_k64_t8_x4_a32_split1";
