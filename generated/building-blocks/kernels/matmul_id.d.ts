// SPDX-License-Identifier: MIT
// Made by wgslgen from building-blocks.toml; change that file and run `wgslgen render` instead of editing here.

import type { KernelModule } from "../runtime/index.js";

/** matmul_id: Y = X W^T with an expert's W for each pair of token and expert. */
export declare const matmul_id: KernelModule<"matmul_id", MatmulIdVariant>;

/** The variants of matmul_id in this bundle. */
export type MatmulIdVariant =
  | "matmul_id_q4_K_planar_xf32_yf32_m16__tile_n32_k32_t1_x4_split1"
  | "matmul_id_q4_K_planar_xf32_yf32_swiglu_m16__tile_n32_k32_t1_x4_split1"
  | "matmul_id_q2_0_g64_planar_xf32_yf32_m32__w1_int8_n64_k64_t4_x4_a64_split1"
  | "matmul_id_q2_0_g64_planar_xf32_yf32_m32_of_pair__w1_int8_n64_k64_t4_x4_a64_split1";
