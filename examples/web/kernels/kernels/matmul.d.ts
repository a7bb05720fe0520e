// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** matmul: Y = X W^T for many tokens. */
export declare const matmul: KernelModule<"matmul", MatmulVariant>;

/** The variants of matmul in this bundle. */
export type MatmulVariant =
  | "matmul_q2_0_g64_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split1"
  | "matmul_q2_0_g64_planar_xf32_yf32__w1_tile_m64_n64_k32_t4_x4_split1"
  | "matmul_q2_0_g64_planar_xf32_yf32__w1_tile_m16_n32_k32_t2_x2_split4"
  | "matmul_q2_0_g64_planar_xf32_yf32__w1_int8_m16_n16_k128_t2_x1_a64_split1"
  | "matmul_q2_0_g64_planar_xf32_yf32__w1_int8_m64_n64_k64_t8_x4_a64_split1"
  | "matmul_q2_0_g64_planar_xf32_yf32_k2048_opf16__w1_subgroup_matrix_m128_n128_k64_sm4_sn2_f16_16x16x16_split1"
  | "matmul_q1_0_g128_planar_xf32_yf32__w1_tile_m64_n64_k32_t4_x4_split1"
  | "matmul_q1_0_g128_planar_xf32_yf32__w1_lut_m16_n64_k32_full_split1";
