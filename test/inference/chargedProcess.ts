// A process that runs work charged up front, and prints a line when it calls its provider, which never answers.
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { newClient } from "../ledger/Fixture.ts"
import { asked, rooms } from "./ChargedScene.ts"

const [, , url = "", apiKey = "", requestId = ""] = process.argv

const program = Effect.gen(function* () {
  const sql = yield* newClient(url)
  const search = Effect.andThen(Console.log("asked"), Effect.never)
  yield* Effect.provide(asked(apiKey, requestId), rooms(sql, search))
}).pipe(Effect.scoped)

NodeRuntime.runMain(program)
