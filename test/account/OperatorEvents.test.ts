import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { OperatorEvents } from "../../src/account/OperatorEvents.ts"
import { layer as database } from "../support/Database.ts"

const rooms = OperatorEvents.layer.pipe(Layer.provideMerge(database))

describe("the audit log of operators", () => {
  it.live("lists entries newest first, page by page, and rejects changes to them", () =>
    Effect.gen(function* () {
      const events = yield* OperatorEvents
      const sql = yield* SqlClient.SqlClient
      for (const name of ["one", "two", "three"]) {
        yield* events.append({
          type: "plan.created",
          actor: { id: "key", requestId: "req" },
          resource: { type: "plan", id: name },
          changes: { name }
        })
      }
      const first = yield* events.list({ after: null, limit: 2 })
      assert.deepStrictEqual(
        first.map(({ resource_id }) => resource_id),
        ["three", "two"]
      )
      const [last] = yield* events.list({ after: first[1]!.id, limit: 2 })
      assert.deepInclude(last, { type: "plan.created", actor_id: "key", request_id: "req", changes: { name: "one" } })
      const changed = yield* Effect.exit(sql`UPDATE operator_event SET type = 'other'`)
      assert.strictEqual(changed._tag, "Failure")
    }).pipe(Effect.provide(rooms))
  )
})
