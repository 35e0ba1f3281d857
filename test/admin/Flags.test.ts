import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { setUp, state } from "./commandLine.ts"

describe("an invalid value on the command line", () => {
  const ann = "--email ann@example.com"
  const cases: ReadonlyArray<readonly [line: string, named: RegExp]> = [
    ["account create --email ann --balance-usd 1", /--email: "ann"/],
    ["account create --email new@example.com --balance-usd -1", /--balance-usd: "-1"/],
    ["account create --email new@example.com --balance-usd ten", /--balance-usd: "ten"/],
    ["account create --email new@example.com --balance-usd 1e3", /--balance-usd: "1e3"/],
    ["account create --email new@example.com --balance-usd 0.0000000001", /--balance-usd: "0.0000000001"/],
    ["account create --email new@example.com --balance-usd 1000000000.1", /--balance-usd: "1000000000.1"/],
    ["account create --email new@example.com", /--balance-usd/],
    ["account create --email Ann@Example.com --balance-usd 1", /Ann@Example\.com already/],
    ["account limits --email ann@example.com --scale 0", /--scale: "0"/],
    [`account limits ${ann} --scale -2`, /--scale: "-2"/],
    [`account limits ${ann} --scale Infinity`, /--scale: "Infinity"/],
    ["account limits --email nobody@example.com --scale 2", /no account .*nobody@example\.com/],
    [`key create ${ann} --kind other`, /--kind: "other"/],
    [`key create ${ann} --kind management --scopes keys:read,keys:eat`, /--scopes: "keys:read,keys:eat"/],
    [`key create ${ann} --scopes keys:read`, /--scopes requires --kind management/],
    [`key create ${ann} --name ${"n".repeat(257)}`, /--name: "n+"/],
    ["key create --email nobody@example.com", /no account .*nobody@example\.com/],
    ["key revoke --id 123", /--id: "123"/],
    ["key revoke --id 0123456789ABCDEF01234567", /--id: "0123456789ABCDEF01234567"/],
    ["key revoke --id 0123456789abcdef01234567", /no active key .*0123456789abcdef01234567/],
    [`topup ${ann} --amount-usd 0`, /--amount-usd: "0"/],
    [`topup ${ann} --amount-usd -5`, /--amount-usd: "-5"/],
    [`topup ${ann} --amount-usd 5usd`, /--amount-usd: "5usd"/],
    [`topup ${ann} --amount-usd 1 --amount-usd 2`, /--amount-usd: "2 occurrences"/],
    [`topup ${ann} --amount-usd`, /--amount-usd/],
    [`topup ${ann} --amount-usd 1000.000000001`, /above \$1,000\.00 requires --yes/],
    [`topup ${ann} --amount-usd 1 --reference ${"r".repeat(201)}`, /--reference: "r+"/],
    [`adjust ${ann} --amount-usd 0 --reason typo`, /--amount-usd: "0"/],
    [`adjust ${ann} --amount-usd -1e3 --reason typo`, /--amount-usd: "-1e3"/],
    [`adjust ${ann} --amount-usd -5`, /--reason/],
    [`adjust ${ann} --amount-usd -1.000000001 --reason typo`, /\$1\.000000001 cannot be taken: \$1\.00 /],
    [`adjust ${ann} --amount-usd -1001 --reason typo`, /requires --yes/],
    ["adjust --email nobody@example.com --amount-usd 1 --reason typo", /no account .*nobody@example\.com/],
    ["account create --email new@example.com --balance-usd 1001", /requires --yes/],
    ["topup --email nobody@example.com --amount-usd 1", /no account .*nobody@example\.com/],
    ["audit --email nobody@example.com", /no account .*nobody@example\.com/],
    ["audit", /requires --email, --pending, --operators or --acknowledge/],
    ["audit --pending --email nobody@example.com", /no account .*nobody@example\.com/],
    [`audit ${ann} --limit 0`, /--limit: "0"/],
    [`audit ${ann} --emial x`, /--emial.*did you mean --email/],
    [`audit ${ann} more`, /"?more"?/],
    ["audti", /"audti"/]
  ]

  it.live("is reported in one line on standard error, and changes nothing", () =>
    Effect.gen(function* () {
      const { command, json, query } = yield* setUp
      yield* json("account create --email ann@example.com --balance-usd 1")
      const before = yield* query(state)
      for (const [line, named] of cases) {
        for (const { code, stderr, stdout } of [yield* command(`${line} --json`), yield* command(line)]) {
          assert.deepStrictEqual([code, stdout, stderr.length], [1, [], 1], line)
          assert.match(stderr[0]!, named)
          assert.match(stderr[0]!, /^error: [^\n]*$/)
        }
      }
      assert.deepStrictEqual(yield* query(state), before)
    }).pipe(Effect.scoped)
  )
})

describe("an account on the command line", () => {
  it.live("is named by its id or email address, under --email or --account", () =>
    Effect.gen(function* () {
      const { command, json } = yield* setUp
      const { account_id: id } = yield* json("account create --email ann@example.com --balance-usd 1")
      const lines = ["topup --amount-usd 1", "account limits --scale 2", "audit", "key list", "requests", "key create"]
      for (const line of lines) {
        for (const account of [
          "--email ann@example.com",
          "--account ann@example.com",
          `--email ${id}`,
          `--account ${id}`
        ]) {
          const said = yield* command(`${line} ${account}`)
          assert.deepStrictEqual([said.code, said.stderr], [0, []], `${line} ${account}`)
        }
      }
    }).pipe(Effect.scoped)
  )
})
