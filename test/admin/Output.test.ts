import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commandWith } from "./commandLine.ts"

describe("errors", () => {
  it.live("name an invalid setting without its value", () =>
    Effect.gen(function* () {
      const said = yield* commandWith({ DATABASE_URL: "mysql://root:hunter2@host/db" }, "ledger verify --json")
      assert.deepStrictEqual([said.code, said.stdout, said.stderr.length], [1, [], 1])
      assert.match(said.stderr[0]!, /^error: DATABASE_URL must be/)
      assert.notInclude(said.stderr[0]!, "hunter2")
    })
  )
})

describe("help", () => {
  // No database listens at this address, because help must not need one.
  const env = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" }

  it.live("exists for every command", () =>
    Effect.gen(function* () {
      const all = {
        "": ["account", "key", "topup", "adjust", "audit", "ledger", "sandbox"],
        "account create": ["--email", "--balance-usd", "--yes", "--json"],
        "account limits": ["--email", "--scale", "--json"],
        "key create": ["--email", "--name", "--kind", "--scopes", "--json"],
        "key revoke": ["--id", "--json"],
        topup: ["--email", "--amount-usd", "--reference", "--yes", "--json"],
        adjust: ["--email", "--amount-usd", "--reason", "--reference", "--yes", "--json"],
        "sandbox clear": ["--yes", "--json"],
        audit: ["--email", "--pending", "--json"],
        "ledger verify": ["--json"]
      }
      for (const [command, words] of Object.entries(all)) {
        const { code, stderr, stdout } = yield* commandWith(env, `${command} --help`)
        assert.deepStrictEqual([code, stderr], [0, []])
        for (const word of ["USAGE", ...words]) assert.include(stdout.join("\n"), word, command)
      }
    })
  )

  it.live("goes to standard error for an incomplete command", () =>
    Effect.gen(function* () {
      for (const line of ["", "account", "key --json"]) {
        const { code, stderr, stdout } = yield* commandWith(env, line)
        assert.deepStrictEqual([code, stdout], [1, []])
        assert.include(stderr.join("\n"), "SUBCOMMANDS")
      }
    })
  )
})
