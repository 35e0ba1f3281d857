import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { operatorScene } from "./scene.ts"

const unknown = "0123456789abcdef01234567"

describe("/operator/plans", () => {
  it.live(
    "creates, lists, shows, changes and removes plans, and writes each change into the operators' audit log",
    () =>
      Effect.gen(function* () {
        const { account, key, operate, service } = yield* operatorScene()
        const made = yield* operate("POST", "/plans", { name: "Gold", markup_basis_points: 500 })
        const { id } = made.body.data
        assert.deepInclude(made.body.data, {
          object: "plan",
          name: "Gold",
          markup_basis_points: 500,
          prices: [],
          accounts: 0
        })
        assert.deepInclude((yield* operate("GET", `/plans/${id}`)).body.data, { id, name: "Gold" })
        const again = yield* operate("POST", "/plans", { name: "gold" })
        assert.deepStrictEqual([again.status, again.body.error.message], [409, "Another plan has the name gold."])
        yield* operate("POST", "/plans", { name: "Bronze" })
        const list = yield* operate("GET", "/plans")
        assert.deepStrictEqual(
          list.body.data.map(({ name }: { readonly name: string }) => name),
          ["Bronze", "Gold"]
        )
        assert.strictEqual((yield* operate("PATCH", `/plans/${id}`, { name: "bronze" })).status, 409)
        const changed = yield* operate("PATCH", `/plans/${id}`, { limits: { running_videos: 3 } })
        assert.deepInclude(changed.body.data, { name: "Gold", markup_basis_points: 500 })
        assert.strictEqual(changed.body.data.limits.running_videos, 3)
        yield* operate("PATCH", `/accounts/${account.id}/plan`, { plan_id: id })
        const used = yield* operate("DELETE", `/plans/${id}`)
        assert.strictEqual(used.status, 409)
        assert.include(used.body.error.message, "The plan Gold has 1 account.")
        yield* operate("PATCH", `/accounts/${account.id}/plan`, { plan_id: null })
        const removed = yield* operate("DELETE", `/plans/${id}`)
        assert.deepStrictEqual(removed.body, { data: { id, object: "plan", deleted: true } })
        assert.strictEqual((yield* operate("GET", `/plans/${id}`)).status, 404)
        const events = yield* service.sql<{
          type: string
          actor_id: string
          changes: object
        }>`SELECT type, actor_id, changes
        FROM operator_event WHERE resource_id = ${id} ORDER BY id COLLATE "C"`
        assert.deepStrictEqual(
          events.map(({ type }) => type),
          ["plan.created", "plan.changed", "plan.removed"]
        )
        assert.strictEqual(events[0]?.actor_id, key.id)
        assert.deepStrictEqual(events[1]?.changes, { running_videos: { from: null, to: 3 } })
        const [line, before] = yield* service.audit(account.id)
        assert.deepInclude(line, { type: "account.plan_changed", actor_id: key.id, outcome: "succeeded" })
        assert.deepStrictEqual(
          [before?.changes, line?.changes],
          [
            { plan_id: { from: null, to: id }, plan: { from: null, to: "Gold" } },
            { plan_id: { from: id, to: null }, plan: { from: "Gold", to: null } }
          ]
        )
      }).pipe(Effect.scoped)
  )

  it.live("refuses impossible prices and unknown plans", () =>
    Effect.gen(function* () {
      const { account, operate } = yield* operatorScene()
      const rates = { input_usd_per_million: 1, output_usd_per_million: 2 }
      const refused: ReadonlyArray<readonly [object, RegExp]> = [
        [{ prices: [{ model: "no-such-model", ...rates }] }, /`prices\[0\]\.model` must be the id of a model/],
        [{ prices: [{ model: "flux-dev", ...rates }] }, /must have per_unit_usd, because flux-dev is priced per image/],
        [{ prices: [{ model: "gpt-4o", per_unit_usd: 1 }] }, /must have input_usd_per_million/],
        [
          {
            prices: [
              { model: "gpt-4o", ...rates },
              { model: "gpt-4o", ...rates }
            ]
          },
          /`prices\[1\]\.model` must occur once/
        ],
        [{ markup_basis_points: -10_000 }, /markup_basis_points/]
      ]
      for (const [wrong, message] of refused) {
        const { body, status } = yield* operate("POST", "/plans", { name: "gold", ...wrong })
        assert.strictEqual(status, 400, JSON.stringify(wrong))
        assert.match(body.error.message, message)
      }
      assert.strictEqual((yield* operate("PATCH", `/plans/${unknown}`, { name: "x" })).status, 404)
      const joined = yield* operate("PATCH", `/accounts/${account.id}/plan`, { plan_id: unknown })
      assert.strictEqual(joined.status, 404)
    }).pipe(Effect.scoped)
  )
})
