/** The thread that draws the sandbox's images and clips. It posts the bytes of each. */
import { parentPort, workerData } from "node:worker_threads"
import { clipOf } from "./Clip.ts"
import { drawPng } from "./Drawing.ts"
import type { DrawingWork } from "./DrawingThread.ts"

const work = workerData as DrawingWork

const files = "scene" in work ? [clipOf(work.scene)] : work.drawings.map(drawPng)
for (const file of files) {
  const bytes = await file
  parentPort?.postMessage(bytes, [])
}
