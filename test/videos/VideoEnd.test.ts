import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { upstream } from "../providers/upstream.ts"
import { BALANCE, FAL_COST, FilmHost, scene, videoOptions } from "./videoScene.ts"
import { withFacts } from "../support/Facts.ts"

describe("the end of a video", () => {
  it.live("writes an event with the video's URL and without the prompt", () =>
    Effect.gen(function* () {
      const { events, finish, jobs, request, videos } = yield* scene()
      const { video } = yield* videos.submit(request({ prompt: "a planted secret" }))
      yield* finish(videos, video.id)
      const row = yield* jobs.find(video.id)
      assert.strictEqual(row?.prompt, "a planted secret")
      const [event] = yield* events
      const body = JSON.parse(event!.body)
      assert.deepInclude(body, { id: `evt_${video.id}`, type: "video.completed", object: "event" })
      assert.deepStrictEqual(body.data, {
        id: video.id,
        object: "video",
        status: "completed",
        model: "veo-3",
        cost_usd: 1.6,
        request_id: video.requestId,
        video_url: `https://gate.example/files/${row?.file_id}`
      })
      assert.notInclude(event!.body, "planted secret")
    }).pipe(Effect.scoped)
  )

  it.live("is a failure when the charge was refunded before the video was ready", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      const stage = yield* scene({ hosts: [host] })
      const { accountId, events, faults, files, finish, jobs, ledger, money, request, requests, sql, videos } = stage
      const { video } = yield* videos.submit(request())
      yield* videos.step(video.id)
      // As if nobody had been at it for longer than its charge stands.
      yield* sql`UPDATE request SET expires_at = now() - interval '1 second' WHERE id = ${video.requestId}`
      assert.strictEqual(yield* ledger.refundOverdue, 1)
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
      yield* finish(videos, video.id)
      assert.deepInclude(yield* jobs.find(video.id), { state: "failed", refunded: true, cost: 0n, file_id: null })
      assert.deepStrictEqual(
        (yield* events).map(({ type }) => type),
        ["video.failed"]
      )
      assert.deepStrictEqual(yield* files, [])
      assert.deepInclude(yield* requests.find(accountId, video.requestId), { settled: FAL_COST, refunded: FAL_COST })
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("removes the URLs of its images", () =>
    Effect.gen(function* () {
      const { accountId, finish, request, sql, videos } = yield* scene()
      const { origin } = yield* upstream((_, response) => response.writeHead(404).end())
      const asked = { ...videoOptions, imageUrl: `${origin}/private.png` }
      const { video } = yield* videos.submit(request({ options: asked }))
      yield* finish(videos, video.id)
      assert.deepInclude(yield* videos.status(accountId, video.id), { state: "failed", prompt: "a kite", duration: 4 })
      const rows = yield* sql<{
        told: string
      }>`SELECT to_json(video_job)::text AS told FROM video_job WHERE id = ${video.id}`
      assert.notInclude(rows[0]?.told, "private.png")
    }).pipe(Effect.scoped)
  )

  it.live("shows the failure on the receipt", () =>
    Effect.gen(function* () {
      const host = new FilmHost("fal")
      host.states = [Effect.succeed({ _tag: "Failed", detail: "no", refused: true })]
      const { accountId, finish, request, requests, videos } = yield* scene({ hosts: [host] })
      const { video } = yield* videos.submit(request())
      yield* finish(videos, video.id)
      const { closed } = withFacts((yield* requests.find(accountId, video.requestId))!)
      assert.strictEqual(closed?.error?._tag, "ValidationError")
      assert.strictEqual(closed?.routing?.provider, "fal")
    }).pipe(Effect.scoped)
  )
})
