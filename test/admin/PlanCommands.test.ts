import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setUp } from "./commandLine.ts"

describe("plan", () => {
  it.live("creates, changes, assigns and removes plans", () =>
    Effect.gen(function* () {
      const { command, json } = yield* setUp
      yield* json("account create --email ann@example.com --balance-usd 1")
      const prices = "gpt-4o-mini=0.2/0.8/0.1,flux-dev=0.03"
      const made = yield* json(`plan create --name gold --markup-percent 12.5 --prices ${prices} --daily-spend-usd 50`)
      assert.deepInclude(made, { name: "gold", markup_basis_points: 1_250, accounts: 0 })
      assert.deepStrictEqual(made.prices, [
        {
          model: "gpt-4o-mini",
          input_usd_per_million: 0.2,
          output_usd_per_million: 0.8,
          cached_input_usd_per_million: 0.1
        },
        { model: "flux-dev", per_unit_usd: 0.03 }
      ])
      const assigned = yield* command("plan assign ann@example.com --plan gold")
      assert.deepStrictEqual(assigned.stdout, [
        "ann@example.com belongs to the plan gold. Running requests keep their price."
      ])
      assert.include((yield* command("account show ann@example.com")).stdout.join("\n"), "those of the plan gold")
      const shown = (yield* command("account show ann@example.com")).stdout.join("\n")
      assert.match(shown, /^Budget +of the plan gold, daily: \$0\.00 spent and \$0\.00 held of \$50\.00$/m)
      const changed = yield* json("plan set gold --running-videos 2 --daily-spend-usd none")
      assert.deepInclude(changed, { markup_basis_points: 1_250, accounts: 1 })
      assert.deepInclude(changed.limits, { running_videos: 2, daily_spend_usd: null })
      const flagless = yield* command("plan set gold")
      assert.strictEqual(flagless.code, 1)
      assert.match(
        flagless.stderr.join(),
        /`plan set` requires at least one of --markup-percent, .*--daily-spend-usd\.$/
      )
      const same = yield* command("plan set gold --running-videos 2")
      assert.match(same.stdout.join(), /^The plan has these values already; nothing changed\./)
      const text = (yield* command("plan show gold")).stdout.join("\n")
      assert.include(text, "gpt-4o-mini $0.2 input and $0.8 output per million tokens")
      assert.include(text, "Daily spend  no limit")
      assert.match((yield* command("plan list")).stdout.join("\n"), /gold +12\.5 % +2 +- +1$/m)
      const refused = yield* command("plan remove gold")
      assert.deepStrictEqual([refused.code, refused.stdout], [1, []])
      assert.include(refused.stderr.join(), "The plan gold has 1 account. Move them to another plan first.")
      yield* json("plan assign ann@example.com --plan none")
      assert.deepStrictEqual(yield* json("plan remove gold"), { id: made.id, removed: true })
      const { data } = yield* json("audit --operators")
      assert.deepStrictEqual(
        data.map(({ resource, type }: { resource: object; type: string }) => ({ ...resource, event: type })),
        ["plan.removed", "plan.changed", "plan.created"].map((event) => ({ type: "plan", id: made.id, event }))
      )
      assert.match((yield* command("audit --operators --limit 1")).stdout.join(), /plan\.removed +plan /)
    }).pipe(Effect.scoped)
  )

  it.live("refuses an unknown plan and impossible prices", () =>
    Effect.gen(function* () {
      const { command } = yield* setUp
      const none = yield* command("plan show silver")
      assert.deepStrictEqual(none.code, 1)
      const wrong = yield* command("plan create --name gold --prices flux-dev=1/2")
      assert.include(wrong.stderr.join(), "must have per_unit_usd, because flux-dev is priced per image")
      const unread = yield* command("plan create --name gold --prices gpt-4o=free")
      assert.include(unread.stderr.join(), "prices such as gpt-4o-mini=0.2/0.8")
    }).pipe(Effect.scoped)
  )
})
