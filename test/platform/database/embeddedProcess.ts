// A process that runs the embedded server until it is stopped, and prints a line with its URL and its directory.
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Redacted } from "effect"
import { prepareDataDirectory } from "../../../src/platform/database/DataDirectory.ts"
import { connectEmbedded, startPostgres } from "../../../src/platform/database/EmbeddedPostgres.ts"

const [, , role, directory = "", fallback] = process.argv

const program = Effect.gen(function* () {
  const dataDirectory = yield* prepareDataDirectory({
    directory,
    explicit: fallback === undefined,
    embedded: true,
    ...(fallback === undefined ? {} : { fallback })
  })
  const { url } = yield* (role === "command" ? connectEmbedded : startPostgres)({ dataDirectory })
  yield* Console.log(JSON.stringify({ url: Redacted.value(url), dataDirectory }))
  return yield* Effect.never
}).pipe(
  Effect.scoped,
  Effect.catchTag("StartError", ({ message }) =>
    Effect.andThen(
      Console.error(message),
      Effect.sync(() => {
        process.exitCode = 1
      })
    )
  )
)

NodeRuntime.runMain(program)
