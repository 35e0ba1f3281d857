import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { receiver, type Send, sendLongWork } from "../../../src/admin/demo/LongWork.ts"

describe("the demo's long work", () => {
  it("sends two videos and a batch each time, of which every third video and one line of each file fail", async () => {
    const sent: Array<{ readonly path: string; readonly body: object | FormData; readonly play: string | undefined }> =
      []
    const send: Send = async (path, body, play) => {
      sent.push({ path, body, play })
      return { id: `id_${sent.length}` }
    }
    for (const index of [0, 1, 2]) await sendLongWork(send, send, index)
    const videos = sent.filter(({ path }) => path === "/videos")
    assert.strictEqual(videos.length, 6)
    assert.strictEqual(videos.filter(({ play }) => play?.includes("fault=break")).length, 2)
    const upload = sent.find(({ path }) => path === "/files")
    const file = upload?.body instanceof FormData ? upload.body.get("file") : undefined
    const lines = file instanceof Blob ? (await file.text()).split("\n").map((line) => JSON.parse(line)) : []
    assert.deepStrictEqual([lines.length, new Set(lines.map(({ custom_id }) => custom_id)).size], [12, 12])
    assert.strictEqual(lines.filter(({ body }) => body.model === "gpt-4.1-pico").length, 1)
    const batches = sent.filter(({ path }) => path === "/batches")
    assert.deepStrictEqual(
      batches.map(({ body }) => "input_file_id" in body),
      [true, true, true]
    )
  })

  it.live("delivers webhooks to a receiver that accepts them, and to one that is gone", () =>
    Effect.gen(function* () {
      const address = yield* receiver
      const statusOf = (path: string) =>
        Effect.promise(() => fetch(`${address}${path}`, { method: "POST", body: "{}" }).then(({ status }) => status))
      assert.strictEqual(yield* statusOf("/tollgate-events"), 200)
      assert.strictEqual(yield* statusOf("/old"), 410)
    }).pipe(Effect.scoped)
  )
})
