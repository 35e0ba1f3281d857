import { assert, describe, it } from "@effect/vitest"
import type { Capability, Model, VideoFacts } from "../../src/domain/Model.ts"
import {
  optionProblems,
  MAX_FETCHES,
  MAX_LOST,
  MAX_REFUSED_ROUNDS,
  MAX_SUBMISSIONS,
  neededFor,
  transition,
  type VideoEvent,
  type RecordedVideo,
  type VideoState,
  type VideoOptions,
  waitMs
} from "../../src/domain/Video.ts"

const states: ReadonlyArray<VideoState> = ["queued", "processing", "completed", "failed"]

const events: { readonly [T in VideoEvent["_tag"]]: Extract<VideoEvent, { readonly _tag: T }> } = {
  Full: { _tag: "Full" },
  Submitted: { _tag: "Submitted" },
  NotTaken: { _tag: "NotTaken" },
  NotFetched: { _tag: "NotFetched", message: "image_url could not be fetched" },
  Unclear: { _tag: "Unclear" },
  Refused: { _tag: "Refused", message: "because" },
  Progressed: { _tag: "Progressed", progress: 40 },
  NotAsked: { _tag: "NotAsked" },
  NotRead: { _tag: "NotRead" },
  Ready: { _tag: "Ready" },
  Made: { _tag: "Made" },
  Broke: { _tag: "Broke" },
  Lost: { _tag: "Lost" },
  DeadlinePassed: { _tag: "DeadlinePassed" }
}

const recorded = (state: VideoState, more: Partial<RecordedVideo> = {}): RecordedVideo => ({
  state,
  progress: 10,
  submissions: 1,
  polls: 2,
  faults: 1,
  lost: 1,
  ...more
})

const nothing = "nothing happens"

/** The outcome of every event in every unfinished state. */
const table: Record<"queued" | "processing", Record<VideoEvent["_tag"], string>> = {
  queued: {
    Full: "queued 10 % submissions 1 polls 3 faults 1 lost 1",
    Submitted: "processing 10 % submissions 1 polls 0 faults 0 lost 0",
    NotTaken: "queued 10 % submissions 0 polls 2 faults 2 lost 1",
    NotFetched: "failed validation_error, whole",
    Unclear: "queued 10 % submissions 1 polls 2 faults 2 lost 1",
    Refused: "failed validation_error, whole",
    Progressed: nothing,
    NotAsked: nothing,
    NotRead: nothing,
    Ready: nothing,
    Made: nothing,
    Broke: nothing,
    Lost: nothing,
    DeadlinePassed: "failed upstream_timeout, whole"
  },
  processing: {
    Full: nothing,
    Submitted: nothing,
    NotTaken: nothing,
    NotFetched: nothing,
    Unclear: nothing,
    Refused: "failed validation_error, whole",
    Progressed: "processing 40 % submissions 1 polls 3 faults 0 lost 0",
    NotAsked: "processing 10 % submissions 1 polls 2 faults 2 lost 1",
    NotRead: "processing 10 % submissions 1 polls 2 faults 2 lost 0",
    Ready: "processing 10 % submissions 1 polls 2 faults 0 lost 0",
    Made: "completed, difference",
    Broke: "failed generation_failed, whole",
    Lost: "processing 10 % submissions 1 polls 2 faults 2 lost 2",
    DeadlinePassed: "failed upstream_timeout, whole"
  }
}

const told = (from: RecordedVideo, event: VideoEvent): string => {
  const step = transition(from, event)
  switch (step._tag) {
    case "Nothing":
      return nothing
    case "Goes":
      return `${step.state} ${step.progress} % submissions ${step.submissions} polls ${step.polls} faults ${step.faults} lost ${step.lost}`
    case "Ends":
      assert.strictEqual(step.tells, `video.${step.state}`)
      assert.strictEqual(step.error === undefined, step.state === "completed")
      return `${step.state}${step.error === undefined ? "" : ` ${step.error.code}`}, ${step.refund}`
  }
}

describe("a video job", () => {
  it("follows the table for every state and event", () => {
    const found = Object.fromEntries(
      (["queued", "processing"] as const).map((state) => [
        state,
        Object.fromEntries(Object.values(events).map((event) => [event._tag, told(recorded(state), event)]))
      ])
    )
    assert.deepStrictEqual(found, table)
  })

  it("stays unchanged once it has ended", () => {
    for (const state of ["completed", "failed"] as const) {
      for (const event of Object.values(events)) assert.strictEqual(told(recorded(state), event), nothing)
    }
  })

  it("completes at 100 % progress, and fails with its last progress", () => {
    assert.deepInclude(transition(recorded("processing"), events.Made), { progress: 100 })
    assert.deepInclude(transition(recorded("processing"), events.Broke), { progress: 10 })
  })

  it("states why the provider refused the request, and contains no other provider message", () => {
    const refused = transition(recorded("queued"), events.Refused)
    assert.deepInclude(refused, { error: { code: "validation_error", message: "because" } })
    for (const state of states) {
      for (const event of Object.values(events)) {
        const step = transition(recorded(state), event)
        if (step._tag === "Ends" && step.error !== undefined && event._tag !== "Refused") {
          assert.match(step.error.message, /[^.]\. You were not charged\.$/)
        }
      }
    }
  })

  it("is submitted a limited number of times when the outcome is unclear", () => {
    const unclear = (submissions: number) => told(recorded("queued", { submissions, faults: 0 }), events.Unclear)
    assert.match(unclear(MAX_SUBMISSIONS - 1), /^queued/)
    assert.strictEqual(unclear(MAX_SUBMISSIONS), "failed generation_failed, whole")
    // A submission that no provider took does not count.
    assert.deepInclude(transition(recorded("queued", { submissions: 0 }), events.NotTaken), { submissions: 0 })
  })

  it("fails when providers repeatedly refuse it, or its provider repeatedly does not know it", () => {
    const after = (state: VideoState, event: VideoEvent, more: Partial<RecordedVideo>) =>
      told(recorded(state, more), event).split(" ", 1)[0]
    const faults = (state: VideoState, event: VideoEvent, count: number) => after(state, event, { faults: count })
    const lost = (count: number) => after("processing", events.Lost, { faults: 0, lost: count })
    assert.strictEqual(faults("queued", events.NotTaken, MAX_REFUSED_ROUNDS - 2), "queued")
    assert.strictEqual(faults("queued", events.NotTaken, MAX_REFUSED_ROUNDS - 1), "failed")
    assert.strictEqual(faults("queued", events.NotFetched, MAX_FETCHES - 2), "queued")
    assert.strictEqual(faults("queued", events.NotFetched, MAX_FETCHES - 1), "failed")
    assert.strictEqual(lost(MAX_LOST - 2), "processing")
    assert.strictEqual(lost(MAX_LOST - 1), "failed")
    for (const event of [events.NotAsked, events.NotRead, events.Lost]) {
      assert.strictEqual(faults("processing", event, 1_000), "processing")
    }
  })

  it("never lowers its progress, and reaches 100 % only with its clip", () => {
    const after = (progress: number | undefined) => {
      const step = transition(recorded("processing", { progress: 50 }), { _tag: "Progressed", progress })
      return step._tag === "Goes" ? step.progress : undefined
    }
    assert.deepStrictEqual(
      [undefined, Number.NaN, -5, 49, 50.9, 60.7, 100, 1_000].map(after),
      [50, 50, 50, 50, 50, 60, 99, 99]
    )
  })
})

describe("the wait before the next step", () => {
  it("grows with polls and faults, within bounds, and differs from job to job", () => {
    const most = (polls: number, faults: number) => waitMs({ polls, faults }, 1)
    assert.deepStrictEqual(
      [0, 1, 4, 12, 13, 1_000].map((polls) => most(polls, 0)),
      [1_000, 1_250, 2_441, 14_552, 15_000, 15_000]
    )
    assert.deepStrictEqual(
      [1, 2, 5, 6, 1_000].map((faults) => most(50, faults)),
      [2_000, 4_000, 32_000, 60_000, 60_000]
    )
    assert.strictEqual(waitMs({ polls: 0, faults: 0 }, 0), 500)
  })
})

const options: VideoOptions = {
  duration: 4,
  aspectRatio: "16:9",
  imageUrl: undefined,
  referenceImages: [],
  referenceVideo: undefined,
  audio: false
}

const model = (capabilities: ReadonlyArray<Capability>, video?: Partial<VideoFacts>): Model =>
  ({
    id: "m",
    capabilities,
    video: {
      durations: [4, 6, 8],
      aspectRatios: ["16:9"],
      referenceImages: 0,
      referenceVideo: false,
      imageWithReferences: true,
      ...video
    }
  }) as unknown as Model

const all: ReadonlyArray<Capability> = ["image_to_video", "reference_media", "audio_generation"]

const everything: VideoOptions = {
  duration: 5,
  aspectRatio: "9:16",
  imageUrl: "https://example.com/a.png",
  referenceImages: ["https://example.com/b.png", "https://example.com/c.png"],
  referenceVideo: "https://example.com/d.mp4",
  audio: true
}

describe("a video request", () => {
  it("is rejected field by field for parameters that the model does not support", () => {
    const fields = (one: VideoOptions, of: Model) => optionProblems(one, of).map(({ field }) => field)
    assert.deepStrictEqual(fields(options, model([])), [])
    assert.deepStrictEqual(fields(everything, model([])), [
      "duration",
      "aspect_ratio",
      "image_url",
      "generate_audio",
      "reference_images",
      "reference_video"
    ])
    const able = { durations: [5], aspectRatios: ["9:16"] as const, referenceImages: 2, referenceVideo: true }
    assert.deepStrictEqual(fields(everything, model(all, able)), [])
    assert.deepStrictEqual(fields(everything, model(all, { ...able, referenceImages: 1 })), ["reference_images"])
    const either = model(all, { ...able, imageWithReferences: false })
    assert.deepStrictEqual(fields(everything, either), ["image_url"])
    assert.deepStrictEqual(fields({ ...everything, referenceImages: [] }, either), ["image_url"])
    assert.deepStrictEqual(fields({ ...everything, imageUrl: undefined }, either), [])
    assert.deepStrictEqual(fields({ ...everything, referenceImages: [], referenceVideo: undefined }, either), [])
    assert.deepStrictEqual(optionProblems({ ...options, duration: 5 }, model([])), [
      { field: "duration", message: "must be one of 4, 6, 8 for m; got 5" }
    ])
  })

  it("may have any parameters within the contract when the model is unknown", () => {
    const unknown = { id: "m", capabilities: [] } as unknown as Model
    for (const duration of [4, 11, 15]) assert.deepStrictEqual(optionProblems({ ...options, duration }, unknown), [])
  })

  it("requires capabilities of its offers", () => {
    assert.deepStrictEqual(neededFor(options), [])
    assert.deepStrictEqual(neededFor(everything), all)
    assert.deepStrictEqual(neededFor({ ...options, referenceVideo: "https://example.com/d.mp4" }), ["reference_media"])
  })
})
