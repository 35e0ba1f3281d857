import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TollgateStreamError } from "../../src/client/Errors.ts"
import { eventsOf } from "../../src/client/Events.ts"
import { rejection } from "./rejection.ts"

const bytes = new TextEncoder()

const streamOf = (pieces: ReadonlyArray<Uint8Array>): ReadableStream<Uint8Array> => {
  const left = [...pieces]
  return new ReadableStream({
    pull(controller) {
      const piece = left.shift()
      if (piece === undefined) controller.close()
      else controller.enqueue(piece)
    }
  })
}

/** Returns the events of a body that arrives in pieces of `size` bytes. */
const read = async (body: string, size = 1_000): Promise<ReadonlyArray<unknown>> => {
  const whole = bytes.encode(body)
  const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
    whole.subarray(index * size, (index + 1) * size)
  )
  const events: Array<unknown> = []
  for await (const event of eventsOf<unknown>(streamOf(pieces))) events.push(event)
  return events
}

describe("the events of a stream", () => {
  it.effect("are the same however the bytes are split, and exclude comments", () =>
    Effect.promise(async () => {
      const body = 'data: {"a":"ü€😀"}\r\n\r\n: keep-alive\n\nevent: x\ndata:{"b":\ndata: 1}\n\ndata: [DONE]\n\n'
      for (let size = 1; size < 20; size++) assert.deepStrictEqual(await read(body, size), [{ a: "ü€😀" }, { b: 1 }])
    })
  )

  it.effect("end with the last event of each dialect, and fail when the body ends before it", () =>
    Effect.gen(function* () {
      for (const last of ["message_stop", "response.completed", "response.incomplete", "response.failed"]) {
        const body = `data: {"type":"${last}"}\n\n`
        assert.deepStrictEqual(yield* Effect.promise(() => read(body)), [{ type: last }])
      }
      for (const body of ["", 'data: {"type":"message_start"}\n\n', 'data: {"choices":[]}\n\ndata: [DO']) {
        assert.instanceOf(yield* rejection(read(body)), TollgateStreamError)
      }
    })
  )

  it.effect("throw the error that one of them reports", () =>
    Effect.gen(function* () {
      for (const data of [
        '{"error":{"message":"m","code":"c"}}',
        '{"type":"error","error":{"message":"m","code":"c"}}',
        '{"type":"error","message":"m","code":"c"}'
      ]) {
        const error = yield* rejection(read(`data: ${data}\n\n`))
        assert.instanceOf(error, TollgateStreamError)
        assert.deepStrictEqual([error.message, error.error?.code], ["m", "c"])
      }
    })
  )
})
