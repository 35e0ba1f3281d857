import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { Worker } from "node:worker_threads"

describe("FilmWorker", () => {
  it("sends the clip of its scene", async () => {
    const worker = new Worker(new URL("../../../src/providers/sandbox/FilmWorker.ts", import.meta.url), {
      workerData: { width: 64, height: 48, seconds: 4, lines: [], seed: 1, audio: true, picture: undefined },
      env: {},
      execArgv: []
    })
    const [clip] = await once(worker, "message")
    await worker.terminate()
    assert.strictEqual(Buffer.from(clip).toString("latin1", 4, 8), "ftyp")
  })
})
