import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setUp } from "./commandLine.ts"

describe("key commands", () => {
  it.live("list keys of both kinds with their state and revoke one by its id", () =>
    Effect.gen(function* () {
      const { command, json, query } = yield* setUp
      const made = yield* json("account create --email ann@example.com --balance-usd 1")
      const laptop = yield* json("key create --email ann@example.com --name laptop")
      yield* json("account create --email bob@example.com --balance-usd 1")
      const revoked = yield* json(`key revoke ${laptop.id}`)
      assert.deepStrictEqual(revoked, { id: laptop.id, revoked: true })
      yield* query(`UPDATE api_key SET expires_at = now() - interval '1 second' WHERE kind = 'management'`)
      const { data } = yield* json("key list --account ann@example.com")
      assert.deepStrictEqual(
        data.map(({ kind, name, state }: Record<string, string>) => [name, kind, state]).toSorted(),
        [
          ["default", "inference", "active"],
          ["default", "management", "expired"],
          ["laptop", "inference", "revoked"]
        ]
      )
      assert.notInclude(JSON.stringify(data), made.inference_key)
      const text = (yield* command(`key list --account ${made.account_id}`)).stdout.join("\n")
      assert.match(text, new RegExp(`^${laptop.id}  inference   laptop   svc_sk_\\S{4}\\.\\.\\.\\S{4}  revoked`, "m"))
      const events = yield* json("audit --email ann@example.com --limit 1")
      assert.deepInclude(events.data[0], { type: "key.revoked", resource: { type: "key", id: laptop.id } })
    }).pipe(Effect.scoped)
  )

  it.live("refuse a revocation without a key, with two keys or of a revoked key", () =>
    Effect.gen(function* () {
      const { command, json } = yield* setUp
      yield* json("account create --email ann@example.com --balance-usd 1")
      const { id } = yield* json("key create --email ann@example.com")
      for (const line of ["key revoke", `key revoke ${id} --id ${id}`]) {
        const refused = yield* command(line)
        assert.deepStrictEqual([refused.code, refused.stderr], [1, ["error: key revoke requires one key's id."]])
      }
      yield* json(`key revoke --id ${id}`)
      const again = yield* command(`key revoke ${id}`)
      assert.deepStrictEqual(again.stderr, [`error: There is no active key with the id ${id}.`])
    }).pipe(Effect.scoped)
  )
})
