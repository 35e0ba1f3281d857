import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { scopes } from "../../src/auth/Scopes.ts"
import { setUp, state } from "./commandLine.ts"

describe("account create", () => {
  it.live("creates an account with its balance, keys and audit log", () =>
    Effect.gen(function* () {
      const { json, query } = yield* setUp
      const made = yield* json("account create --email ann@example.com --balance-usd 12.000000001")
      assert.hasAllKeys(made, ["account_id", "email", "balance_usd", "inference_key", "management_key"])
      assert.match(made.account_id, /^[0-9a-f]{24}$/)
      assert.match(made.inference_key, /^svc_sk_/)
      assert.match(made.management_key, /^svc_mk_/)
      assert.deepStrictEqual([made.email, made.balance_usd], ["ann@example.com", 12.000000001])
      assert.deepStrictEqual(yield* query("SELECT posted, held FROM balance"), [{ posted: 12_000_000_001n, held: 0n }])
      const keys = yield* query<{ kind: string; scopes: Array<string> }>(
        "SELECT kind, scopes FROM api_key ORDER BY kind"
      )
      assert.deepStrictEqual(keys, [
        { kind: "inference", scopes: [] },
        { kind: "management", scopes: [...scopes] }
      ])
      const { data } = yield* json("audit --email ann@example.com")
      assert.sameMembers(
        data.map((event: { type: string }) => event.type),
        ["account.created", "key.created", "key.created", "balance.topped_up"]
      )
      assert.notInclude(JSON.stringify(data), made.inference_key.slice(8))
    }).pipe(Effect.scoped)
  )

  it.live("prints the same as text, and accepts a balance of zero", () =>
    Effect.gen(function* () {
      const { command, query } = yield* setUp
      const { code, stderr, stdout } = yield* command("account create --email poor@example.com --balance-usd 0")
      assert.deepStrictEqual([code, stderr], [0, []])
      const text = stdout.join("\n")
      for (const part of [/poor@example\.com/, /\$0\.00/, /inference key {3}svc_sk_/, /management key {2}svc_mk_/]) {
        assert.match(text, part)
      }
      assert.deepStrictEqual(yield* query("SELECT count(*) AS n FROM transfer"), [{ n: 0n }])
    }).pipe(Effect.scoped)
  )
})

describe("commands on an account", () => {
  it.live("top up exactly to the nano-USD", () =>
    Effect.gen(function* () {
      const { command, json, query } = yield* setUp
      yield* json("account create --email ann@example.com --balance-usd 0.1")
      const first = yield* json("topup --email ANN@example.com --amount-usd 0.2")
      assert.deepStrictEqual([first.email, first.amount_usd, first.balance_usd], ["ann@example.com", 0.2, 0.3])
      yield* json("topup --email ann@example.com --amount-usd 0.000000001")
      assert.deepStrictEqual(yield* query("SELECT posted FROM balance"), [{ posted: 300_000_001n }])
      const said = yield* command("topup --email ann@example.com --amount-usd 1000000000 --yes")
      assert.match(said.stdout.join("\n"), /^Added \$1,000,000,000\.00 .* now \$1,000,000,000\.300000001/)
      const { data } = yield* json("audit --email ann@example.com --limit 1")
      assert.strictEqual(data.length, 1)
      assert.deepInclude(data[0], {
        type: "balance.topped_up",
        actor: { type: "operator", id: "command-line" },
        changes: { amount_usd: 1_000_000_000 }
      })
    }).pipe(Effect.scoped)
  )

  it.live("create five inference keys, and refuse a sixth until one is revoked", () =>
    Effect.gen(function* () {
      const { command, json, query } = yield* setUp
      yield* json("account create --email ann@example.com --balance-usd 1")
      const ids: Array<string> = []
      for (const name of ["b", "c", "d", "e"]) {
        const made = yield* json(`key create --email ann@example.com --name ${name}`)
        assert.hasAllKeys(made, ["id", "key"])
        assert.match(made.key, /^svc_sk_/)
        ids.push(made.id)
      }
      const before = yield* query(state)
      const sixth = yield* command("key create --email ann@example.com --json")
      assert.deepStrictEqual([sixth.code, sixth.stdout], [1, []])
      assert.deepStrictEqual(sixth.stderr, [
        "error: An account has at most 5 active inference keys; revoke one to create another."
      ])
      assert.deepStrictEqual(yield* query(state), before)
      assert.deepStrictEqual(yield* json(`key revoke --id ${ids[0]}`), { id: ids[0], revoked: true })
      const again = yield* command(`key revoke --id ${ids[0]}`)
      assert.deepStrictEqual([again.code, again.stderr], [1, [`error: There is no active key with the id ${ids[0]}.`]])
      yield* json("key create --email ann@example.com")
    }).pipe(Effect.scoped)
  )

  it.live("give a management key the requested scopes, or all of them", () =>
    Effect.gen(function* () {
      const { json, query } = yield* setUp
      yield* json("account create --email ann@example.com --balance-usd 1")
      const some = yield* json("key create --email ann@example.com --kind management --scopes usage:read,keys:read")
      const all = yield* json("key create --email ann@example.com --kind management --name deploy")
      assert.match(some.key, /^svc_mk_/)
      const scopesOf = (id: string) => query(`SELECT name, scopes FROM api_key WHERE id = '${id}'`)
      assert.deepStrictEqual(yield* scopesOf(some.id), [{ name: "default", scopes: ["keys:read", "usage:read"] }])
      assert.deepStrictEqual(yield* scopesOf(all.id), [{ name: "deploy", scopes: [...scopes] }])
    }).pipe(Effect.scoped)
  )

  it.live("set limits, and record the old and the new value in the audit log", () =>
    Effect.gen(function* () {
      const { command, json, query } = yield* setUp
      const made = yield* json("account create --email ann@example.com --balance-usd 1")
      const set = yield* json("account limits --email ann@example.com --scale 2.5")
      assert.deepStrictEqual(set, { account_id: made.account_id, email: "ann@example.com", limit_scale: 2.5 })
      assert.deepStrictEqual(yield* query("SELECT limit_scale FROM account"), [{ limit_scale: 2.5 }])
      const { stdout } = yield* command("audit --email ann@example.com --limit 1")
      assert.match(stdout.join("\n"), /account\.limits_changed .*"from":1.*"to":2\.5|"to":2\.5.*"from":1/)
    }).pipe(Effect.scoped)
  )
})

describe("pending work of the operator", () => {
  it.live("includes open top-ups, which the operator ends and the audit log records", () =>
    Effect.gen(function* () {
      const { command, json, query } = yield* setUp
      const made = yield* json("account create --email ann@example.com --balance-usd 1")
      const id = "0123456789abcdef01234567"
      yield* query(
        `INSERT INTO top_up (id, account_id, amount_cents, processor, return_url, ask_at, stopped, attention)
          VALUES ('${id}', '${made.account_id}', 500, 'stripe', 'http://localhost', now(), true, 'lost')`
      )
      const ended = yield* json(`topups end --id ${id}`)
      assert.deepStrictEqual(ended, { id, account_id: made.account_id, amount_usd: 5, status: "expired" })
      assert.deepStrictEqual(yield* query("SELECT status FROM top_up"), [{ status: "expired" }])
      assert.deepStrictEqual(yield* query("SELECT posted FROM balance"), [{ posted: 1_000_000_000n }])
      const { data } = yield* json("audit --email ann@example.com --limit 1")
      assert.deepInclude(data[0], {
        type: "top_up.ended",
        actor: { type: "operator", id: "command-line" },
        resource: { type: "top_up", id },
        changes: { status: { from: "open", to: "expired" }, amount_usd: 5 }
      })
      const again = yield* command(`topups end --id ${id}`)
      assert.deepStrictEqual([again.code, again.stderr], [1, [`error: There is no open top-up with the id ${id}.`]])
    }).pipe(Effect.scoped)
  )

  it.live("includes pending audit entries, which the operator acknowledges without changing them", () =>
    Effect.gen(function* () {
      const { command, json, query } = yield* setUp
      const made = yield* json("account create --email ann@example.com --balance-usd 1")
      const line = "0123456789abcdef01234567"
      const open = (age: string) =>
        query(`WITH line AS (INSERT INTO audit_event (id, account_id, type, actor_type, actor_id, resource_type, resource_id,
            effective_at, awaited) VALUES ('${line}', '${made.account_id}', 'key.revoked', 'key', 'k', 'key', 'k', now(), true)
            ON CONFLICT DO NOTHING)
          INSERT INTO audit_open (event_id, opened_at) VALUES ('${line}', now() - interval '${age}')
            ON CONFLICT (event_id) DO UPDATE SET opened_at = EXCLUDED.opened_at`)
      const none = [1, [`error: No audit entry with the id ${line} has been pending for over a minute.`]]
      yield* open("1 second")
      const early = yield* command(`audit --acknowledge ${line}`)
      assert.deepStrictEqual([early.code, early.stderr], none)
      yield* open("2 minutes")
      assert.strictEqual((yield* json("audit --pending")).pending, 1)
      const said = yield* json(`audit --acknowledge ${line}`)
      assert.deepStrictEqual(said, { id: line, account_id: made.account_id, acknowledged: true })
      assert.strictEqual((yield* json("audit --pending")).pending, 0)
      const { data } = yield* json("audit --email ann@example.com")
      const found = data.find(({ id }: { id: string }) => id === line)
      assert.deepInclude(found, { status: "pending", outcome: null })
      assert.deepInclude(data[0], { type: "audit.acknowledged", resource: { type: "audit_event", id: line } })
      const again = yield* command(`audit --acknowledge ${line}`)
      assert.deepStrictEqual([again.code, again.stderr], none)
    }).pipe(Effect.scoped)
  )
})

describe("ledger verify", () => {
  it.live("exits with 0 while the books are correct, and with 1 and the name of the failed check otherwise", () =>
    Effect.gen(function* () {
      const { command, json, query } = yield* setUp
      yield* json("account create --email ann@example.com --balance-usd 1")
      const good = yield* json("ledger verify")
      assert.strictEqual(good.ok, true)
      assert.isTrue(good.checks.length > 0)
      for (const check of good.checks) assert.hasAllKeys(check, ["name", "ok", "detail"])
      yield* query("UPDATE balance SET posted = posted + 1")
      const bad = yield* command("ledger verify --json")
      const found = JSON.parse(bad.stdout.join("\n"))
      const failed = found.checks.filter((check: { ok: boolean }) => !check.ok)
      assert.deepStrictEqual([bad.code, bad.stdout.length, found.ok], [1, 1, false])
      assert.isAbove(failed.length, 0)
      assert.strictEqual(bad.stderr.length, 1)
      assert.include(bad.stderr[0]!, failed[0].name)
      const people = yield* command("ledger verify")
      assert.strictEqual(people.code, 1)
      assert.match(people.stdout.join("\n"), new RegExp(`^FAILED +${failed[0].name}`, "m"))
    }).pipe(Effect.scoped)
  )
})
