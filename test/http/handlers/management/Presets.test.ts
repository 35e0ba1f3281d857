import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { PresetList, PresetResult, PresetVersionList } from "../../../../schemas/management/Presets.ts"
import { managing, refusal } from "../../../support/Management.ts"
import { json, post, startService } from "../../../support/Service.ts"

const decodeResult = Schema.decodeUnknownSync(PresetResult, { onExcessProperty: "error" })
const decodeList = Schema.decodeUnknownSync(PresetList, { onExcessProperty: "error" })
const decodeVersions = Schema.decodeUnknownSync(PresetVersionList, { onExcessProperty: "error" })
const actor = { type: "operator", id: "test" } as const
const messages = [{ role: "user", content: "Hello!" }]

const opened = Effect.gen(function* () {
  const service = yield* startService()
  const { account, inferenceKey, managementKey } = yield* service.account()
  const ask = managing(service, managementKey)
  /** Which model and version a request to the preset is served by. */
  const used = (slug: string) =>
    Effect.gen(function* () {
      const response = yield* post(`${service.api}/chat/completions`, inferenceKey, { model: `@${slug}`, messages })
      const answer = yield* json(response)
      return [answer.resolved_model ?? answer.error.code, response.headers.get("x-svc-preset-version")]
    })
  return { service, account, ask, used }
})

const wanted = { slug: "p", name: "First", config: { model: "gpt-4o-mini", max_tokens: 5 } }

describe("presets of an account", () => {
  it.live("are created, versioned, activated and deleted, with immediate effect on requests", () =>
    Effect.gen(function* () {
      const { account, ask, service, used } = yield* opened
      const made = yield* ask("POST", "/presets", wanted)
      assert.strictEqual(made.status, 200, JSON.stringify(made.body))
      assert.deepInclude(decodeResult(made.body).data, { ...wanted, description: null, active_version: 1 })
      assert.strictEqual(made.headers.get("cache-control"), "no-store")
      assert.deepStrictEqual((yield* ask("GET", "/presets/p")).body, made.body)
      assert.deepStrictEqual(yield* used("p"), ["gpt-4o-mini", "1"])
      const config = { model: "gpt-4o", max_tokens: 5 }
      const changed = yield* ask("PATCH", "/presets/p", { name: "Second", description: "d", config })
      assert.deepInclude(decodeResult(changed.body).data, {
        name: "Second",
        description: "d",
        config,
        active_version: 2
      })
      assert.deepStrictEqual(yield* used("p"), ["gpt-4o", "2"])
      const versions = decodeVersions((yield* ask("GET", "/presets/p/versions")).body)
      assert.deepStrictEqual(
        versions.data.map((one) => [one.version, one.config]),
        [
          [2, config],
          [1, wanted.config]
        ]
      )
      const activated = yield* ask("POST", "/presets/p/versions/1/activate")
      assert.deepInclude(decodeResult(activated.body).data, { active_version: 1, config: wanted.config })
      assert.deepStrictEqual(yield* used("p"), ["gpt-4o-mini", "1"])
      const deleted = yield* ask("DELETE", "/presets/p")
      assert.deepStrictEqual(deleted.body, { data: { slug: "p", object: "preset", deleted: true } })
      assert.deepStrictEqual(yield* used("p"), ["not_found", null])
      assert.deepStrictEqual(refusal(yield* ask("DELETE", "/presets/p")), [404, "not_found", null])
      const entries = (yield* service.audit(account.id)).filter(({ resource_type }) => resource_type === "preset")
      assert.deepStrictEqual(
        entries.map(({ outcome, resource_id, type }) => [type, resource_id, outcome]),
        [
          ["preset.removed", "p", "failed"],
          ["preset.removed", "p", "succeeded"],
          ["preset.activated", "p", "succeeded"],
          ["preset.updated", "p", "succeeded"],
          ["preset.created", "p", "succeeded"]
        ]
      )
      assert.deepStrictEqual(entries[2]?.changes, { version: { from: 2, to: 1 } })
    }).pipe(Effect.scoped)
  )

  it.live("are listed by pages, and so are their versions", () =>
    Effect.gen(function* () {
      const { ask } = yield* opened
      for (const slug of ["a", "b", "c"]) yield* ask("POST", "/presets", { ...wanted, slug })
      const page = decodeList((yield* ask("GET", "/presets?limit=2")).body)
      assert.deepStrictEqual(
        page.data.map(({ slug }) => slug),
        ["c", "b"]
      )
      const last = decodeList((yield* ask("GET", `/presets?limit=2&cursor=${page.next_cursor}`)).body)
      assert.deepStrictEqual([last.data.map(({ slug }) => slug), last.next_cursor], [["a"], null])
      for (const max_tokens of [6, 7]) yield* ask("PATCH", "/presets/a", { config: { ...wanted.config, max_tokens } })
      const newest = decodeVersions((yield* ask("GET", "/presets/a/versions?limit=2")).body)
      assert.deepStrictEqual([newest.data.map(({ version }) => version), newest.next_cursor], [[3, 2], 2])
      const oldest = decodeVersions((yield* ask("GET", "/presets/a/versions?limit=2&cursor=2")).body)
      assert.deepStrictEqual([oldest.data.map(({ version }) => version), oldest.next_cursor], [[1], null])
    }).pipe(Effect.scoped)
  )

  it.live("are rejected with the invalid field or the conflict", () =>
    Effect.gen(function* () {
      const { ask } = yield* opened
      yield* ask("POST", "/presets", wanted)
      assert.deepStrictEqual(refusal(yield* ask("POST", "/presets", wanted)), [409, "conflict", null])
      for (const [body, param] of [
        [{ ...wanted, slug: "A" }, "slug"],
        [{ ...wanted, slug: "q\0" }, "slug"],
        [{ ...wanted, colour: 1 }, "colour"],
        [{ ...wanted, config: {} }, "config.model"],
        [{ ...wanted, config: { model: "a", messages } }, "config.messages"]
      ] as const) {
        const refused = yield* ask("POST", "/presets", body)
        assert.deepStrictEqual(refusal(refused), [400, "validation_error", param], JSON.stringify(body))
      }
      assert.deepStrictEqual(refusal(yield* ask("PATCH", "/presets/p", { slug: "q" })), [
        400,
        "validation_error",
        "slug"
      ])
      for (const [config, status, code, param] of [
        [{ model: "gpt-4o-mimi" }, 400, "unknown_model", "config.model"],
        [{ model: "gpt-4o, no-such-model" }, 400, "unknown_model", "config.model"],
        [{ models: ["gpt-4o", "no-such-model"] }, 400, "unknown_model", "config.models"],
        [{ model: "text-embedding-3-small" }, 400, "unknown_model", "config.model"]
      ] as const) {
        const made = yield* ask("POST", "/presets", { ...wanted, slug: "q", config })
        assert.deepStrictEqual(refusal(made), [status, code, param], JSON.stringify(config))
        const changed = yield* ask("PATCH", "/presets/p", { config })
        assert.deepStrictEqual(refusal(changed), [status, code, param], JSON.stringify(config))
      }
      // Whoever may write and not read is shown nothing for a change of nothing.
      assert.deepStrictEqual(refusal(yield* ask("PATCH", "/presets/p", {})), [400, "validation_error", "body"])
      for (const [method, path] of [
        ["GET", "/presets/q"],
        ["GET", "/presets/q/versions"],
        ["POST", "/presets/p/versions/2/activate"],
        ["POST", "/presets/q/versions/1/activate"]
      ] as const) {
        assert.deepStrictEqual(refusal(yield* ask(method, path)), [404, "not_found", null], path)
      }
      assert.deepStrictEqual(refusal(yield* ask("PATCH", "/presets/q", { name: "n" })), [404, "not_found", null])
      assert.deepStrictEqual(refusal(yield* ask("GET", "/presets/A")), [400, "validation_error", "slug"])
    }).pipe(Effect.scoped)
  )

  it.live("of other accounts return 404, and writing needs the routing scope", () =>
    Effect.gen(function* () {
      const { account, ask, service } = yield* opened
      yield* ask("POST", "/presets", wanted)
      const other = managing(service, (yield* service.account()).managementKey)
      for (const [method, path, body] of [
        ["GET", "", undefined],
        ["PATCH", "", { name: "n" }],
        ["DELETE", "", undefined],
        ["GET", "/versions", undefined],
        ["POST", "/versions/1/activate", undefined]
      ] as const) {
        const [foreign, none] = yield* Effect.forEach(["p", "q"], (slug) =>
          other(method, `/presets/${slug}${path}`, body)
        )
        assert.deepStrictEqual(refusal(foreign!), [404, "not_found", null], `${method} ${path}`)
        assert.strictEqual(foreign!.body.error.message.replace("preset p", "preset q"), none!.body.error.message)
      }
      assert.deepStrictEqual((yield* other("GET", "/presets")).body.data, [])
      const of = { accountId: account.id, kind: "management", name: "r", scopes: ["presets:read"], actor } as const
      const reads = managing(service, (yield* service.keys.create(of)).key)
      assert.strictEqual((yield* reads("GET", "/presets/p/versions")).status, 200)
      assert.deepStrictEqual(refusal(yield* reads("PATCH", "/presets/p", { name: "n" })), [
        403,
        "insufficient_scope",
        "routing:write"
      ])
    }).pipe(Effect.scoped)
  )

  it.live("are created once per idempotency key", () =>
    Effect.gen(function* () {
      const { ask } = yield* opened
      const once = () => ask("POST", "/presets", wanted, { "idempotency-key": "k" })
      const first = yield* once()
      const again = yield* once()
      assert.deepStrictEqual([again.status, again.body], [200, first.body])
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
    }).pipe(Effect.scoped)
  )
})
