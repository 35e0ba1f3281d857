import { type Duration, Effect, Layer, Schedule } from "effect"
import { Videos } from "../inference/Videos.ts"
import { Jobs } from "../jobs/Jobs.ts"

/** Steps of video jobs at a time: most of them wait for a provider to say how far it is. */
const CONCURRENCY = 24

/**
 * Works on video jobs, and looks after those that nobody works on: past their deadline, or lost to the queue. Any number of nodes may
 * be at it.
 */
export const layer = (interval: Duration.Duration) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const jobs = yield* Jobs
      const videos = yield* Videos
      yield* Effect.forkScoped(jobs.work("videos", CONCURRENCY, (id) => videos.step(id)))
      yield* videos.sweep.pipe(
        // Inside the repeat: one bad sweep must not be the last.
        Effect.catchCause((cause) => Effect.logWarning("video jobs cannot be looked after at present", cause)),
        Effect.repeat(Schedule.spaced(interval).pipe(Schedule.jittered)),
        Effect.forkScoped
      )
    })
  )
