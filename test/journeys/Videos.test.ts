/** Videos as their users have them: submitted, asked after, watched, paid for and paid back. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const clip = { model: "veo-3", prompt: "A kite over the sea", duration: 4, aspect_ratio: "16:9" } as const

// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

const submit = (service: Service, key: string, body: object = clip, headers: Record<string, string> = {}) =>
  post(`${service.api}/videos`, key, body, headers)

const look = (service: Service, key: string, id: string): Effect.Effect<Json> =>
  Effect.flatMap(get(`${service.api}/videos/${id}`, key), json)

/** The job once it has ended. */
const ended = (service: Service, key: string, id: string): Effect.Effect<Json> =>
  Effect.repeat(look(service, key, id), {
    schedule: Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: "40 seconds" })),
    until: (job: Json) => job.status === "completed" || job.status === "failed"
  })

describe("a video", () => {
  it.live("is charged up front, made in the background, and there to be watched", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(20)
      const answer = yield* submit(service, inferenceKey)
      const job = yield* json(answer)
      console.log(answer.status, job)
      assert.strictEqual(answer.status, 200)
      const done = yield* ended(service, inferenceKey, job.id)
      console.log(done)
      assert.strictEqual(done.status, "completed")
      assert.deepStrictEqual(yield* service.faults, [])
      void account
    }).pipe(Effect.scoped)
  )
})
