// SPDX-License-Identifier: MIT
// Made by wgslgen from kernels.toml; change that file and run `wgslgen render` instead of editing here.

// Bytes to a device and back: what a page needs beside plans.

/**
 * Return a GPUBuffer for storage that begins with the bytes of `data`, an ArrayBuffer or a view of one.
 *
 * Its size is rounded up to 4 bytes, and the rest is zeros.
 */
export function upload(device, data, label = "upload") {
  const bytes = ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const size = Math.max(4, Math.ceil(bytes.length / 4) * 4);
  const buffer = device.createBuffer({ label, size, usage, mappedAtCreation: true });
  new Uint8Array(buffer.getMappedRange()).set(bytes);
  buffer.unmap();
  return buffer;
}

/** Return the bytes of a GPUBuffer, or of `{ buffer, offset, size }`, once all that was submitted is done. */
export async function download(device, view) {
  const { buffer, offset = 0, size } = view instanceof GPUBuffer ? { buffer: view } : view;
  const length = size ?? buffer.size - offset;
  const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
  const copy = device.createBuffer({ label: "download", size: length, usage });
  const encoder = device.createCommandEncoder({ label: "download" });
  encoder.copyBufferToBuffer(buffer, offset, copy, 0, length);
  device.queue.submit([encoder.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  const bytes = copy.getMappedRange().slice(0);
  copy.destroy();
  return bytes;
}
