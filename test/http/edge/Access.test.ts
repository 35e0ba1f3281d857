import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { giveBack, onceBack, takeAway } from "../../support/Outage.ts"
import { get, json, startService } from "../../support/Service.ts"

/** Three requests a minute. */
const few = { RATE_LIMIT_SCALE: "0.05" }
const unknown = `svc_sk_${"A".repeat(43)}`

describe("a cached key", () => {
  it.live("counts each request once, and opens no operation after it is revoked or loses its scope", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey, managementKey } = yield* service.account(1)
      const ask = (path: string, key: string) => get(`${service.api}${path}`, key)
      const left = (response: Response) => Number(response.headers.get("x-ratelimit-remaining"))
      const outcome = (response: Response) =>
        Effect.map(json(response), ({ error }) => [response.status, error?.code ?? null])
      for (const [path, key] of [
        ["/requests", inferenceKey],
        ["/management/balance", managementKey]
      ] as const) {
        const before = left(yield* ask(path, key))
        assert.strictEqual(left(yield* ask(path, key)), before - 1)
      }
      yield* service.sql`UPDATE api_key SET scopes = '{usage:read}' WHERE account_id = ${account.id} AND kind = 'management'`
      const unscoped = yield* ask("/management/keys", managementKey)
      assert.deepStrictEqual(yield* outcome(unscoped), [403, "insufficient_scope"])
      yield* service.sql`UPDATE api_key SET revoked_at = now() WHERE account_id = ${account.id}`
      for (const [path, key] of [
        ["/requests", inferenceKey],
        ["/management/usage", managementKey]
      ] as const) {
        assert.deepStrictEqual(yield* outcome(yield* ask(path, key)), [401, "invalid_api_key"])
      }
    }).pipe(Effect.scoped)
  )
})

it.live("reports the account's rate limit window, also for a new key, when the gateway prefetches the key", () =>
  Effect.gen(function* () {
    const service = yield* startService()
    const { managementKey } = yield* service.account(1)
    assert.strictEqual((yield* get(`${service.api}/requests`, managementKey)).status, 403)
    const { headers, status } = yield* get(`${service.api}/management/balance`, managementKey)
    assert.deepStrictEqual([status, headers.get("ratelimit-policy")?.split(";")[0]], [200, '"management_reads"'])
  }).pipe(Effect.scoped)
)

describe("limits", () => {
  it.live("count by key for valid keys, and by address otherwise", () =>
    Effect.gen(function* () {
      const service = yield* startService(few)
      const { inferenceKey } = yield* service.account(1)
      const ask = (key: string, path = "/requests") => get(`${service.api}${path}`, key)
      assert.strictEqual((yield* ask(inferenceKey)).status, 200)
      const seen = []
      for (const key of [unknown, unknown, unknown, unknown]) seen.push((yield* ask(key)).status)
      assert.deepStrictEqual(seen, [401, 401, 401, 429])
      assert.strictEqual((yield* ask("", "/models")).status, 429)
      const mine = []
      for (let sent = 0; sent < 3; sent++) {
        const { headers, status } = yield* ask(inferenceKey)
        mine.push([status, headers.get("x-ratelimit-remaining"), headers.get("x-should-retry")])
      }
      assert.deepStrictEqual(mine, [
        [200, "1", null],
        [200, "0", null],
        [429, "0", "true"]
      ])
    }).pipe(Effect.scoped)
  )

  it.live("count public reads against their valid key, and those without one against the client's address", () =>
    Effect.gen(function* () {
      const service = yield* startService(few)
      const { inferenceKey, managementKey } = yield* service.account(1)
      const left = (key: string, path = "/models") =>
        Effect.map(get(`${service.api}${path}`, key), ({ headers, status }) => [
          status,
          headers.get("x-ratelimit-remaining")
        ])
      assert.deepStrictEqual(yield* left(inferenceKey), [200, "2"])
      assert.deepStrictEqual(yield* left(inferenceKey, "/requests"), [200, "1"])
      assert.deepStrictEqual(yield* left(managementKey), [200, "2"])
      assert.deepStrictEqual(yield* left(""), [200, "2"])
      assert.deepStrictEqual(yield* left(unknown, "/models/gpt-4o"), [200, "1"])
      assert.deepStrictEqual(yield* left(""), [200, "0"])
      for (const key of ["", unknown]) assert.deepStrictEqual(yield* left(key), [429, "0"])
      assert.deepStrictEqual(yield* left(inferenceKey, "/models/gpt-4o"), [200, "0"])
      assert.deepStrictEqual(yield* left(inferenceKey), [429, "0"])
      assert.deepStrictEqual(yield* left(managementKey), [200, "1"])
    }).pipe(Effect.scoped)
  )

  it.live("serve public reads while keys cannot be checked, counted against the address", () =>
    Effect.gen(function* () {
      const service = yield* startService(few)
      const { inferenceKey } = yield* service.account(1)
      yield* takeAway(service.databaseUrl)
      const { headers, status } = yield* get(`${service.api}/models`, inferenceKey)
      assert.deepStrictEqual([status, headers.get("x-ratelimit-remaining")], [200, "2"])
      yield* giveBack(service.databaseUrl)
    }).pipe(Effect.scoped)
  )

  it.live("do not apply to preflights", () =>
    Effect.gen(function* () {
      const service = yield* startService({ RATE_LIMIT_SCALE: "0.01" })
      const preflight = Effect.promise(() =>
        fetch(`${service.api}/models`, {
          method: "OPTIONS",
          headers: { origin: "https://page.example", "access-control-request-method": "GET" }
        })
      )
      const seen = Effect.map(preflight, ({ headers, status }) => [
        status,
        headers.get("x-ratelimit-remaining"),
        headers.get("retry-after"),
        headers.get("x-should-retry")
      ])
      for (const _ of [1, 2, 3]) assert.deepStrictEqual(yield* seen, [204, "1", null, null])
      assert.strictEqual((yield* get(`${service.api}/models`, "")).status, 200)
      assert.strictEqual((yield* get(`${service.api}/models`, "")).status, 429)
      for (const _ of [1, 2]) assert.deepStrictEqual(yield* seen, [204, "0", null, null])
    }).pipe(Effect.scoped)
  )

  it.live("are checked before the database is queried for an unknown key", () =>
    Effect.gen(function* () {
      const service = yield* startService(few)
      const { inferenceKey } = yield* service.account(1)
      const { inferenceKey: second } = yield* service.account(1)
      const ask = (key: string) => Effect.map(get(`${service.api}/requests`, key), ({ status }) => status)
      assert.strictEqual(yield* ask(inferenceKey), 200)
      const madeUp = (at: number) => `svc_sk_${String(at).padStart(43, "A")}`
      for (const at of [1, 2, 3]) assert.strictEqual(yield* ask(madeUp(at)), 401)
      yield* takeAway(service.databaseUrl)
      // A key that were looked up now would be answered 503.
      for (const key of [madeUp(4), madeUp(5), second]) assert.strictEqual(yield* ask(key), 429)
      yield* giveBack(service.databaseUrl)
      assert.strictEqual(yield* ask(second), 429)
      assert.strictEqual(yield* ask(inferenceKey), 200)
    }).pipe(Effect.scoped)
  )

  it.live("do not count keys that could not be checked against the address", () =>
    Effect.gen(function* () {
      const service = yield* startService(few)
      const { inferenceKey, managementKey } = yield* service.account(1)
      const session = yield* service.signedIn((yield* service.account(1)).account.id)
      const asks = [
        get(`${service.api}/requests`, inferenceKey),
        get(`${service.api}/management/balance`, managementKey),
        Effect.promise(() => fetch(`${service.api}/console/session`, { headers: session }))
      ]
      yield* takeAway(service.databaseUrl)
      for (const ask of [...asks, ...asks]) {
        const { headers, status } = yield* ask
        assert.deepStrictEqual([status, headers.get("x-ratelimit-remaining")], [503, "3"])
      }
      yield* giveBack(service.databaseUrl)
      for (const ask of asks) assert.strictEqual((yield* onceBack(ask)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("of an account are not used up by a key without the scope", () =>
    Effect.gen(function* () {
      const service = yield* startService(few)
      const { account, managementKey } = yield* service.account(1)
      const actor = { type: "operator", id: "test" } as const
      const { key } = yield* service.keys.create({
        accountId: account.id,
        kind: "management",
        name: "leaked",
        scopes: ["usage:read"],
        actor
      })
      const path = `${service.api}/management/keys/${"0".repeat(24)}`
      const revoke = (by: string) =>
        Effect.promise(() => fetch(path, { method: "DELETE", headers: { authorization: `Bearer ${by}` } }))
      const seen = []
      for (const _ of [1, 2, 3, 4]) {
        const { headers, status } = yield* revoke(key)
        seen.push([status, headers.get("ratelimit-policy")])
      }
      const own = `"default";q=3;w=60`
      assert.deepStrictEqual(seen, [...[1, 2, 3].map(() => [403, own]), [429, own]])
      assert.strictEqual((yield* revoke(managementKey)).status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("return 429 in the error envelope with Retry-After", () =>
    Effect.gen(function* () {
      const service = yield* startService({ RATE_LIMIT_SCALE: "0.01" })
      yield* get(`${service.api}/models`, "")
      const response = yield* get(`${service.api}/models`, "")
      const { error } = yield* json(response)
      assert.deepStrictEqual(
        [response.status, error.type, error.code, error.param],
        [429, "rate_limit_error", "rate_limit_exceeded", null]
      )
      const after = Number(response.headers.get("retry-after"))
      assert.isAtLeast(after, Math.max(1, Number(response.headers.get("x-ratelimit-reset"))))
      assert.include(error.message, `${after} s`)
    }).pipe(Effect.scoped)
  )

  it.live("distinguish clients behind a trusted proxy", () =>
    Effect.gen(function* () {
      const service = yield* startService({ RATE_LIMIT_SCALE: "0.01", TRUSTED_PROXIES: "127.0.0.1" })
      const from = (address: string) =>
        Effect.promise(() => fetch(`${service.api}/models/gpt-4o`, { headers: { "x-forwarded-for": address } }))
      const seen = []
      for (const address of ["198.51.100.1", "198.51.100.2", "198.51.100.1", "1.1.1.1, 198.51.100.2"]) {
        seen.push((yield* from(address)).status)
      }
      assert.deepStrictEqual(seen, [200, 200, 429, 429])
    }).pipe(Effect.scoped)
  )
})
