// A separate worker for the videos of the database in its first argument. Its second argument is the length of its lease in
// seconds. It prints each delivery. When its third argument is "hold", it takes one job and never ends it.
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { Jobs } from "../../src/jobs/Jobs.ts"
import { layerUrl } from "../support/Database.ts"

const [url = "", lease = "", mode = ""] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const { work } = yield* Jobs
  yield* Effect.forkChild(
    work("videos", mode === "hold" ? 1 : 4, (id, attempt) =>
      Effect.andThen(Console.log(`${id} ${attempt}`), mode === "hold" ? Effect.never : Effect.succeed("done" as const))
    )
  )
  yield* Console.log("working")
  return yield* Effect.never
})

const jobs = Jobs.layerFrom({
  lease: `${Number(lease)} seconds`,
  pollInterval: "50 millis",
  idlePollInterval: "50 millis",
  grace: "1 second"
})

NodeRuntime.runMain(program.pipe(Effect.provide(jobs.pipe(Layer.provideMerge(layerUrl(url, 4))))))
