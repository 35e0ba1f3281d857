/** A process that sells and makes a video dies between any two of its steps, and others go on: the job ends once, with the right money. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Videos } from "../../src/videos/Videos.ts"
import { BALANCE, FAL_COST, FilmHost, lived, Mortal, scene } from "./videoScene.ts"

/** Nobody lives long: a process that is not to die of this test does so much at most. */
const MANY = 1_000

interface Story {
  readonly name: string
  readonly states: FilmHost["states"]
  readonly ends: "completed" | "failed"
}

const stories: ReadonlyArray<Story> = [
  {
    name: "one that is made",
    states: [
      Effect.succeed({ _tag: "Processing", progress: 30 }),
      Effect.succeed({ _tag: "Completed", clip: { url: "https://clips.example/1" } })
    ],
    ends: "completed"
  },
  {
    name: "one that its provider gives up",
    states: [Effect.succeed({ _tag: "Failed", detail: "no", refused: false })],
    ends: "failed"
  }
]

/** Sells and makes a video in a process that dies at this step, and in others after it; answers whether it came to die. */
const told = (stage: Effect.Success<ReturnType<typeof scene>>, host: FilmHost, { ends }: Story, at: number) =>
  Effect.gen(function* () {
    const { finish, later, processOf, requests } = stage
    const { accountId, events, files, money, request, rows } = yield* stage.caller
    host.filmed.length = 0
    host.asked = 0
    const claim = { idempotencyKey: "k", claim: "POST /videos k", fingerprint: "f" }
    const mortal = new Mortal(at)
    const first = yield* processOf(mortal)
    const life = (videos: Videos["Service"]) =>
      Effect.gen(function* () {
        // Whoever hears nothing asks again, under the same key.
        const { video } = yield* videos.submit(request({ claim }))
        yield* finish(videos, video.id)
        return video.id
      })
    const outcome = yield* lived(mortal, life(first))
    yield* later
    if (outcome === "died") yield* life(yield* processOf())
    const [row, ...more] = yield* rows
    assert.isDefined(row)
    assert.deepStrictEqual(more, [])
    assert.strictEqual(row.state, ends)
    const cost = ends === "completed" ? FAL_COST : 0n
    assert.deepStrictEqual(yield* money, { posted: BALANCE - cost, held: 0n })
    const told = yield* events
    assert.deepStrictEqual(
      told.map(({ type }) => type),
      [`video.${ends}`]
    )
    assert.strictEqual(JSON.parse(told[0]!.body).data.id, row.id)
    // Handed in once, and once more only where nobody knew what became of it.
    assert.isAtMost(host.filmed.length, outcome === "died" ? 2 : 1)
    const job = yield* stage.jobs.find(row.id)
    const receipt = yield* requests.find(accountId, job!.request_id)
    assert.deepInclude(receipt, {
      status: ends === "completed" ? "succeeded" : "failed",
      settled: FAL_COST,
      refunded: FAL_COST - cost
    })
    if (ends === "completed")
      assert.include(
        (yield* files).map(({ id }) => id),
        job?.file_id
      )
    return { died: outcome === "died", filmed: host.filmed.length, steps: mortal.steps }
  }).pipe(Effect.scoped)

describe("a process that dies at any step", () => {
  for (const story of stories) {
    it.live(
      `of ${story.name} leaves a job that ends once, with the right money`,
      () =>
        Effect.gen(function* () {
          const host = new FilmHost("fal")
          host.states = story.states
          const stage = yield* scene({ hosts: [host] })
          const { filmed, steps } = yield* told(stage, host, story, MANY)
          assert.strictEqual(filmed, 1)
          const again: Array<number> = []
          for (let at = 1; at <= steps; at++) {
            const { died, filmed } = yield* told(stage, host, story, at)
            assert.isTrue(died, `step ${at}`)
            if (filmed > 1) again.push(at)
          }
          // Between the call and the word of it in the database, and nowhere else.
          assert.isAtLeast(again.length, 1)
          assert.isAtMost(again.length, 3, `handed in twice after a death at ${again.join(", ")} of ${steps}`)
          assert.deepStrictEqual(yield* stage.faults, [])
        }).pipe(Effect.scoped),
      240_000
    )
  }
})
