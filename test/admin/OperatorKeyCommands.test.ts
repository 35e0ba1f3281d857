import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setUp } from "./commandLine.ts"

describe("operator-key", () => {
  it.live("creates a key that is shown once, lists it, and revokes it", () =>
    Effect.gen(function* () {
      const { command, json } = yield* setUp
      const made = yield* json("operator-key create --name support --expires-in-days 90")
      assert.match(made.key, /^svc_ok_[\w-]{43}$/)
      assert.closeTo(Date.parse(made.expires_at) - Date.now(), 90 * 86_400_000, 60_000)
      const { data } = yield* json("operator-key list")
      assert.deepInclude(data[0], { id: made.id, name: "support", state: "active", last4: made.key.slice(-4) })
      assert.notInclude(JSON.stringify(data), made.key)
      assert.deepStrictEqual(yield* json(`operator-key revoke ${made.id}`), { id: made.id, revoked: true })
      const again = yield* command(`operator-key revoke ${made.id}`)
      assert.deepStrictEqual(again.stderr, [`error: There is no active operator key with the id ${made.id}.`])
      const audit = yield* json("audit --operators")
      assert.deepStrictEqual(
        audit.data.map(({ actor, changes, resource, type }: Record<string, unknown>) => ({
          actor,
          changes,
          resource,
          type
        })),
        ["operator_key.revoked", "operator_key.created"].map((type) => ({
          actor: { id: "command-line", name: null },
          changes: { name: "support", expires_at: made.expires_at },
          resource: { type: "operator_key", id: made.id },
          type
        }))
      )
      const text = (yield* command("operator-key list")).stdout.join("\n")
      assert.match(text, new RegExp(`^${made.id}  support  svc_ok_\\.\\.\\.\\S{4}  revoked`, "m"))
      const endless = yield* command("operator-key create --expires-in-days 0")
      assert.include(endless.stderr.join(), "a whole number from 1 to 3660")
    }).pipe(Effect.scoped)
  )
})
