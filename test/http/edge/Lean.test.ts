import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { leanHandlers } from "../../../src/http/edge/Lean.ts"
import { serve } from "../serve.ts"

const keysOf = (context: Context.Context<never>) => [...context.mapUnsafe.keys()]
const ofPlatform = [
  "effect/FileSystem",
  "effect/http/HttpServer",
  "effect/http/HttpPlatform",
  "effect/Layer/CurrentMemoMap"
]
const ofRooms = (keys: ReadonlyArray<string>) => keys.filter((key) => /^tollgate\/(?!http\/)[^/]+\//.test(key))

const key = <K extends string>(name: K) => Context.Service<string>(name)

describe("the context of a request", () => {
  it.live("contains the edge's services and none of a room", () =>
    Effect.gen(function* () {
      const given = HttpRouter.add(
        "GET",
        "/keys",
        Effect.map(Effect.context<never>(), (context) => HttpServerResponse.jsonUnsafe(keysOf(context)))
      )
      const { origin } = yield* serve(given)
      const keys = (yield* Effect.promise(async () => (await fetch(`${origin}/keys`)).json())) as ReadonlyArray<string>
      assert.deepStrictEqual(ofRooms(keys), [])
      for (const key of ofPlatform) assert.notInclude(keys, key)
      assert.includeMembers(
        [...keys],
        ["tollgate/http/Exchange", "effect/http/HttpServerRequest", "effect/Logger/CurrentLoggers"]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("contains the middleware that its operations declare", () =>
    Effect.gen(function* () {
      const seen = key("tollgate/Seen")
      const handlers = Layer.effect(
        seen,
        Effect.map(Effect.context<never>(), (context) => keysOf(context).join(" "))
      )
      const given = Context.empty().pipe(
        Context.add(key("tollgate/ledger/Ledger"), ""),
        Context.add(key("tollgate/InferenceAccess"), ""),
        Context.add(key("tollgate/ManagementAccess"), ""),
        Context.add(key("effect/FileSystem"), "")
      )
      const context = yield* Layer.build(leanHandlers("chat", handlers)).pipe(Effect.provideContext(given))
      const keys = Context.get(context, seen).split(" ")
      assert.include(keys, "tollgate/InferenceAccess")
      assert.notInclude(keys, "tollgate/ManagementAccess")
      assert.notInclude(keys, "tollgate/ledger/Ledger")
      assert.notInclude(keys, "effect/FileSystem")
    }).pipe(Effect.scoped)
  )
})
