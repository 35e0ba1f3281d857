import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { refusal } from "../../../support/Management.ts"
import { operatorScene } from "./scene.ts"

describe("/operator/audit", () => {
  it.live("lists the changes of operators with the names of their keys, page by page", () =>
    Effect.gen(function* () {
      const { account, key, operate, service } = yield* operatorScene()
      yield* operate("POST", `/accounts/${account.id}/suspend`, { reason: "chargeback" })
      yield* operate("PATCH", "/spend/openai", { limit_usd: 5 })
      yield* operate("POST", `/accounts/${account.id}/suspend`, { reason: "again" })
      const owner = yield* service.signedIn(account.id)
      assert.isDefined(owner)
      const { body: first } = yield* operate("GET", "/audit?limit=2")
      assert.deepInclude(first.data[0], {
        type: "account.suspended",
        account_id: account.id,
        email: account.email,
        outcome: "failed",
        code: "conflict",
        actor: { type: "operator", id: key.id, name: "support" }
      })
      assert.deepInclude(first.data[1], {
        type: "provider_spend.limited",
        account_id: null,
        email: null,
        outcome: "succeeded",
        resource: { type: "provider", id: "openai" }
      })
      const { body: next } = yield* operate("GET", `/audit?limit=1&cursor=${first.next_cursor}`)
      assert.deepInclude(next.data[0], { type: "account.suspended", outcome: "succeeded" })
      assert.strictEqual(next.data[0].changes.reason, "chargeback")
      const { body: whole } = yield* operate("GET", "/audit?limit=100")
      assert.isTrue(whole.data.every(({ actor }: { actor: { type: string } }) => actor.type === "operator"))
      assert.isNull(whole.next_cursor)
    }).pipe(Effect.scoped)
  )

  it.live("shows the audit log of any account with the filters that its owner has", () =>
    Effect.gen(function* () {
      const { account, operate } = yield* operatorScene()
      yield* operate("PATCH", `/accounts/${account.id}/limits`, { limit_scale: 2 })
      const { body } = yield* operate("GET", `/accounts/${account.id}/audit?event_types[]=account.limits_changed`)
      assert.deepStrictEqual(
        body.data.map(({ changes }: { changes: object }) => changes),
        [{ limit_scale: { from: 1, to: 2 } }]
      )
      const unknown = yield* operate("GET", `/accounts/${"f".repeat(24)}/audit`)
      assert.deepStrictEqual(refusal(unknown).slice(0, 2), [404, "not_found"])
    }).pipe(Effect.scoped)
  )
})
