/** The thread that draws the sandbox's images. It posts each one as the bytes of a PNG. */
import { parentPort, workerData } from "node:worker_threads"
import { type Drawing, drawPng } from "./Drawing.ts"

for (const drawing of workerData as ReadonlyArray<Drawing>) {
  const png = await drawPng(drawing)
  parentPort?.postMessage(png, [png.buffer as ArrayBuffer])
}
