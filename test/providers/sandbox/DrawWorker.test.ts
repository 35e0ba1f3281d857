import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { drawPng } from "../../../src/providers/sandbox/Drawing.ts"

describe("DrawWorker", () => {
  it("sends a PNG for each drawing, in their order, and ends", async () => {
    const drawings = [1, 2].map((seed) => ({ width: 64, height: 48, lines: ["a"], seed }))
    const worker = new Worker(new URL("../../../src/providers/sandbox/DrawWorker.ts", import.meta.url), {
      workerData: drawings,
      env: {},
      execArgv: []
    })
    const pngs: Array<Uint8Array> = []
    worker.on("message", (png: Uint8Array) => pngs.push(png))
    const [code] = await once(worker, "exit")
    assert.strictEqual(code, 0)
    assert.deepStrictEqual(pngs.map(Buffer.from), (await Promise.all(drawings.map(drawPng))).map(Buffer.from))
  })
})
