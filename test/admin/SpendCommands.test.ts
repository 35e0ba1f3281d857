import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setUp } from "./commandLine.ts"

describe("spend", () => {
  it.live("sets, shows and removes limits on provider cost", () =>
    Effect.gen(function* () {
      const { command, json } = yield* setUp
      assert.deepStrictEqual(yield* json("spend limit openai --usd 500"), { provider: "openai", limit_usd: 500 })
      yield* json("spend limit all --usd 0.5")
      const { data } = yield* json("spend list")
      assert.deepStrictEqual(data, [
        { provider: "all", limit_usd: 0.5, settled_usd: 0, reserved_usd: 0 },
        { provider: "openai", limit_usd: 500, settled_usd: 0, reserved_usd: 0 }
      ])
      const removed = yield* command("spend limit all --usd none")
      assert.deepStrictEqual(removed.stdout, ["All providers together may cost any amount, within 5 seconds."])
      assert.match((yield* command("spend list")).stdout.join("\n"), /^openai +\$500\.00 +\$0\.00 +\$0\.00$/m)
      const unknown = yield* command("spend limit opnai --usd 2000")
      assert.deepStrictEqual(unknown.code, 1)
      assert.match(unknown.stderr.join(), /^error: There is no provider opnai; the providers are .*\bopenai\b.*\.$/)
      const audited = yield* command("audit --operators")
      assert.match(
        audited.stdout.join("\n"),
        /provider openai +by command-line +\{"limit":\{"from":null,"to":"\$500\.00"\}\}/
      )
      const mixed = yield* command("audit --operators --email ann@example.com")
      assert.deepStrictEqual(mixed.stderr, ["error: --operators lists changes of no account; leave out --email."])
      const wrong = yield* command("spend limit all --usd -1")
      assert.include(wrong.stderr.join(), "an amount of USD such as 25 or 0.5, or none")
    }).pipe(Effect.scoped)
  )
})
