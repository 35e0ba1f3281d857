import { type Duration, Effect, Layer } from "effect"
import { repeatForever } from "../platform/RepeatForever.ts"
import { Videos } from "./Videos.ts"
import { Jobs } from "../jobs/Jobs.ts"

/** Concurrent steps of video jobs. Most of them wait for a provider's status response. */
const CONCURRENCY = 24

/**
 * Works on video jobs and takes care of abandoned ones: past their deadline, or lost from the queue. Any number of nodes may run
 * it.
 */
export const layer = (interval: Duration.Duration) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const jobs = yield* Jobs
      const videos = yield* Videos
      yield* Effect.forkScoped(jobs.work("videos", CONCURRENCY, (id) => videos.step(id)))
      yield* repeatForever(videos.sweep, {
        every: interval,
        warning: "the gateway cannot look for abandoned video jobs"
      })
    })
  )
