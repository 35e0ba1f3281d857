import { assert, describe, it } from "@effect/vitest"
import {
  type VideoFault,
  type VideoJob,
  jobOf,
  progressAt,
  type ClipContent,
  ticketOf
} from "../../../src/providers/sandbox/VideoTicket.ts"

const scene: ClipContent = {
  width: 640,
  height: 360,
  seconds: 4,
  lines: ["Grüße 😀", "\u0000\uD800"],
  seed: 7
}

const job = (fault?: VideoFault, ms = 1_000): VideoJob => ({ takenAt: 5_000, ms, fault, scene })

describe("a job ticket of the sandbox", () => {
  it("contains the whole job, in URL-safe characters", () => {
    const ticket = ticketOf(job("break"))
    assert.match(ticket, /^[A-Za-z0-9_-]+$/)
    assert.deepEqual(JSON.parse(JSON.stringify(jobOf(ticket))), JSON.parse(JSON.stringify(job("break"))))
  })

  it("is not recognized in other text", () => {
    for (const none of ["", "ticket", "d97415a1-5796", Buffer.from('{"takenAt":1}').toString("base64url"), "bnVsbA"]) {
      assert.isUndefined(jobOf(none), none)
    }
  })
})

describe("the progress of a job", () => {
  it("depends on the time only", () => {
    const at = (now: number) => progressAt(job(), now)
    assert.deepStrictEqual(at(4_000), { _tag: "Queued" })
    assert.deepStrictEqual(at(5_099), { _tag: "Queued" })
    assert.deepStrictEqual(at(5_100), { _tag: "Processing", progress: 10 })
    assert.deepStrictEqual(at(5_555), { _tag: "Processing", progress: 55 })
    assert.deepStrictEqual(at(5_999), { _tag: "Processing", progress: 99 })
    assert.deepStrictEqual(at(6_000), { _tag: "Ended" })
    assert.deepStrictEqual(progressAt(job(undefined, 0), 5_000), { _tag: "Ended" })
  })

  it("stays at half when the job stalls", () => {
    for (const now of [5_600, 6_000, 1e15]) {
      assert.deepStrictEqual(progressAt(job("stall"), now), { _tag: "Processing", progress: 50 })
    }
  })
})
