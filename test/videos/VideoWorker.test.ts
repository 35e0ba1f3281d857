import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Layer, Ref, Result } from "effect"
import { failure } from "../../src/domain/Failure.ts"
import { Videos } from "../../src/videos/Videos.ts"
import { Jobs } from "../../src/jobs/Jobs.ts"
import { Unavailable } from "../../src/platform/database/Sql.ts"
import { layer } from "../../src/videos/VideoWorker.ts"

const unplanned = () => Result.fail(failure({ _tag: "InternalError" }))
const unused = () => Effect.die(new Error("nobody calls this"))

describe("the work on videos", () => {
  it.live("runs a step of each job that the queue delivers", () =>
    Effect.gen(function* () {
      const stepped = yield* Deferred.make<string>()
      const videos = Videos.of({
        submit: unused,
        prepare: unplanned,
        status: unused,
        list: unused,
        step: (id) => Effect.as(Deferred.succeed(stepped, id), "done" as const),
        sweep: Effect.succeed(0)
      })
      const jobs = Jobs.of({
        enqueue: unused,
        work: (queue, concurrency, handle) => {
          assert.strictEqual(queue, "videos")
          assert.isAbove(concurrency, 1)
          return Effect.andThen(Effect.orDie(handle("v1", 1)), Effect.never)
        }
      })
      yield* Layer.build(
        layer(Duration.hours(1)).pipe(Layer.provide([Layer.succeed(Videos, videos), Layer.succeed(Jobs, jobs)]))
      )
      assert.strictEqual(yield* Deferred.await(stepped), "v1")
    }).pipe(Effect.scoped)
  )

  it.live("looks for abandoned jobs again and again, also after a failure", () =>
    Effect.gen(function* () {
      const swept = yield* Ref.make(0)
      const enough = yield* Deferred.make<void>()
      const sweep = Effect.flatMap(
        Ref.updateAndGet(swept, (count) => count + 1),
        (count) =>
          count === 1
            ? Effect.fail(new Unavailable({ store: "database" }))
            : Effect.as(count < 3 ? Effect.void : Deferred.succeed(enough, undefined), 0)
      )
      const videos = Videos.of({
        submit: unused,
        prepare: unplanned,
        status: unused,
        list: unused,
        step: unused,
        sweep
      })
      const jobs = Jobs.of({ enqueue: unused, work: () => Effect.never })
      yield* Layer.build(
        layer(Duration.millis(1)).pipe(Layer.provide([Layer.succeed(Videos, videos), Layer.succeed(Jobs, jobs)]))
      )
      yield* Deferred.await(enough)
    }).pipe(Effect.scoped)
  )
})
