import { assert, describe, it } from "@effect/vitest"
import { encodeLegacyVideo, encodeVideo } from "../../../src/dialects/videos/VideosEncode.ts"
import type { Video } from "../../../src/domain/Video.ts"

const queued: Video = {
  id: "0".repeat(24),
  requestId: "req_01M7Z1VG0ZEWT517KCD85PPDN2",
  model: "veo-3",
  state: "queued",
  prompt: "a kite",
  progress: 0,
  createdAt: new Date(1_700_000_000_900),
  completedAt: undefined,
  url: undefined,
  error: undefined,
  cost: 1_600_000_000n,
  refunded: false,
  provider: undefined,
  duration: 4,
  aspectRatio: "16:9",
  imageUrl: undefined,
  referenceImages: [],
  referenceVideo: undefined,
  audio: false
}

const shown = {
  id: queued.id,
  object: "video",
  model: "veo-3",
  status: "queued",
  created_at: 1_700_000_000,
  completed_at: null,
  prompt: "a kite",
  duration: 4,
  aspect_ratio: "16:9",
  progress: 0,
  error: null,
  cost_usd: 1.6,
  refunded: false,
  provider: null,
  request_id: queued.requestId
}

describe("a video job on the wire", () => {
  it("shows null for what is not known yet, and no video URL", () =>
    assert.deepStrictEqual(encodeVideo(queued), shown as never))

  it("shows its video URL once it is completed, and its error once it has failed", () => {
    const completedAt = new Date(1_700_000_009_000)
    const done = encodeVideo({ ...queued, state: "completed", progress: 100, completedAt, url: "u", provider: "fal" })
    assert.deepInclude(done, { completed_at: 1_700_000_009, video_url: "u", provider: "fal", progress: 100 })
    const error = { code: "generation_failed", message: "no" } as const
    const failed = encodeVideo({ ...queued, state: "failed", completedAt, error, cost: 0n, refunded: true })
    assert.deepInclude(failed, { status: "failed", error, cost_usd: 0, refunded: true })
    assert.notProperty(failed, "video_url")
  })

  it("warns of a low balance", () =>
    assert.deepStrictEqual(encodeVideo(queued, "low").balance_warning, { warning: "low_balance", threshold: "low" }))

  it("repeats its id as `job_id` on the legacy routes", () =>
    assert.deepStrictEqual(encodeLegacyVideo(queued), { ...shown, job_id: queued.id } as never))
})
