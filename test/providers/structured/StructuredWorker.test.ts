import { assert, describe, it } from "@effect/vitest"
import { Worker } from "node:worker_threads"

describe("the thread of schema checks", () => {
  it("reports when it is ready, and answers one job after the other", async () => {
    const worker = new Worker(new URL("../../../src/providers/structured/StructuredWorker.ts", import.meta.url))
    const said: Array<unknown> = []
    try {
      await new Promise<void>((resolve, reject) => {
        worker.on("error", reject)
        worker.on("message", (message) => {
          said.push(message)
          if (said.length === 1) {
            worker.postMessage({ schema: { type: "string" }, text: '"a"' }, [])
            worker.postMessage({ schema: { type: "string" }, text: "1" }, [])
          }
          if (said.length === 3) resolve()
        })
      })
    } finally {
      await worker.terminate()
    }
    assert.deepStrictEqual(said, ["ready", { _tag: "Meets", json: '"a"' }, { _tag: "Fails", detail: "#: type" }])
  })
})
