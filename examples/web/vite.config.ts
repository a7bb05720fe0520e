import { defineConfig } from "vite";

export default defineConfig({
  base: "./", // the built page works below any path
  build: {
    target: "es2022", // what has WebGPU has this
    chunkSizeWarningLimit: 1000, // kB: the texts of the kernels are most of it, and shrink to a tenth on the way
  },
});
