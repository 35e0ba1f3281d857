import { assert, describe, it, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { MAX_PRESETS_PER_ACCOUNT, MAX_VERSIONS_PER_PRESET, Presets } from "../../src/presets/Presets.ts"
import { REMEMBERED_MS } from "../../src/presets/PresetCache.ts"
import { freshDatabase, layer as database, layerUrl } from "../support/Database.ts"
import { giveBack, takeAway, whenBack } from "../support/Outage.ts"

const actor = { type: "operator", id: "test" } as const

const rooms = Layer.mergeAll(Accounts.layer, Presets.layer).pipe(Layer.provideMerge(Audit.layer))

let count = 0
const newAccount = Effect.flatMap(Accounts, (accounts) =>
  Effect.map(accounts.create(`presets-${count++}@example.com`, actor), ({ id }) => id)
)

const config = { model: "gpt-4o-mini" }

const make = (accountId: string, slug = "p", more: object = {}) =>
  Effect.flatMap(Presets, (presets) =>
    presets.create({ accountId, actor, preset: { slug, name: "A preset", config, ...more } })
  )

/** Returns the tag of a failure's reason, or the failure's own tag when it has no reason. */
const whyOf = <A>(effect: Effect.Effect<A, { readonly _tag: string }, Presets>) =>
  Effect.map(Effect.result(effect), (result) => {
    if (Result.isSuccess(result)) return "no failure"
    const error = result.failure as { readonly _tag: string; readonly reason?: { readonly _tag: string } }
    return error.reason?._tag ?? error._tag
  })

/** Runs an effect with the clock ahead by `byMs`. */
const later =
  (byMs: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Clock.Clock, (clock) => {
      const ahead: Clock.Clock = Object.assign(Object.create(clock), {
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + byMs)
      })
      return Effect.provideService(effect, Clock.Clock, ahead)
    })

describe("Presets", () => {
  layer(rooms.pipe(Layer.provideMerge(database)), { excludeTestServices: true })((it) => {
    it.effect("creates a preset with its first version, which only its own account can use", () =>
      Effect.gen(function* () {
        const presets = yield* Presets
        const [mine, other] = [yield* newAccount, yield* newAccount]
        const made = yield* make(mine, "p", { description: "For tests" })
        assert.match(made.id, /^[0-9a-f]{24}$/)
        assert.deepInclude(made, { slug: "p", name: "A preset", description: "For tests", active_version: 1, config })
        assert.deepStrictEqual(yield* presets.get(mine, "p"), made)
        assert.deepStrictEqual(yield* presets.resolve(mine, "p"), { slug: "p", version: 1, config })
        assert.isUndefined(yield* presets.get(other, "p"))
        assert.deepStrictEqual((yield* presets.versions(other, "p", { limit: 9, before: undefined })).rows, [])
        assert.strictEqual(yield* whyOf(presets.resolve(other, "p")), "NotFound")
        assert.isFalse(yield* presets.remove({ accountId: other, slug: "p", actor }))
        const foreign = { accountId: other, slug: "p", actor }
        assert.strictEqual(yield* whyOf(presets.update({ ...foreign, change: { name: "Mine" } })), "NotFound")
        assert.strictEqual(yield* whyOf(presets.activate({ ...foreign, version: 1 })), "NotFound")
        assert.strictEqual((yield* make(other)).active_version, 1)
      })
    )

    it.effect("rejects an invalid preset by field, and stores nothing of it", () =>
      Effect.gen(function* () {
        const presets = yield* Presets
        const accountId = yield* newAccount
        const refused = yield* Effect.flip(make(accountId, "p", { config: { ...config, temperature: 9 } }))
        assert.deepInclude(refused, { _tag: "Failure" })
        assert.include(JSON.stringify(refused), `"config.temperature"`)
        assert.isUndefined(yield* presets.get(accountId, "p"))
        yield* make(accountId)
        const change = { config: { ...config, stream: true } }
        assert.strictEqual(yield* whyOf(presets.update({ accountId, slug: "p", actor, change })), "ValidationError")
        assert.strictEqual((yield* presets.get(accountId, "p"))?.active_version, 1)
        assert.strictEqual(yield* whyOf(make(accountId)), "SlugTaken")
      })
    )

    it.effect("creates a new version for another configuration, and none for the same one", () =>
      Effect.gen(function* () {
        const presets = yield* Presets
        const accountId = yield* newAccount
        const made = yield* make(accountId)
        const update = (change: object) => presets.update({ accountId, slug: "p", actor, change })
        const second = { models: ["gpt-4o", "gpt-4o-mini"], instructions: "Be brief." }
        const changed = yield* update({ config: second })
        assert.deepInclude(changed, { id: made.id, active_version: 2, config: second, name: "A preset" })
        assert.isAtLeast(changed.updated_at.getTime(), made.updated_at.getTime())
        assert.strictEqual((yield* update({ config: { ...second, top_p: null } })).active_version, 2)
        assert.deepInclude(yield* update({ name: "B", description: "D" }), { active_version: 2, name: "B" })
        assert.isNull((yield* update({ description: null })).description)
        assert.strictEqual((yield* update({ config })).active_version, 3)
        const { rows, next } = yield* presets.versions(accountId, "p", { limit: 2, before: undefined })
        assert.deepStrictEqual(
          rows.map(({ version }) => version),
          [3, 2]
        )
        assert.strictEqual(next, 2)
        const rest = yield* presets.versions(accountId, "p", { limit: 2, before: 2 })
        assert.deepStrictEqual(
          rest.rows.map(({ config, version }) => [version, config]),
          [[1, config]]
        )
        assert.isNull(rest.next)
      })
    )

    it.effect("activates an earlier version, and numbers the next one after the newest", () =>
      Effect.gen(function* () {
        const presets = yield* Presets
        const accountId = yield* newAccount
        yield* make(accountId)
        const doing = { accountId, slug: "p", actor }
        yield* presets.update({ ...doing, change: { config: { model: "gpt-4o" } } })
        assert.deepInclude(yield* presets.activate({ ...doing, version: 1 }), { active_version: 1, config })
        assert.deepInclude(yield* presets.resolve(accountId, "p"), { version: 1, config })
        for (const version of [0, -1, 3, 1.5, Number.NaN, 1e12]) {
          assert.strictEqual(yield* whyOf(presets.activate({ ...doing, version })), "NotFound", String(version))
        }
        const third = yield* presets.update({ ...doing, change: { config: { model: "o3" } } })
        assert.strictEqual(third.active_version, 3)
      })
    )

    it.effect("keeps the order of fields, which matters in an output schema", () =>
      Effect.gen(function* () {
        const presets = yield* Presets
        const accountId = yield* newAccount
        const properties = { zebra: { type: "string" }, a: { type: "string" }, middle: { type: "string" } }
        const json_schema = { name: "n", schema: { type: "object", properties } }
        yield* make(accountId, "p", { config: { ...config, response_format: { type: "json_schema", json_schema } } })
        const { config: read } = yield* presets.resolve(accountId, "p")
        assert.include(JSON.stringify(read), JSON.stringify(properties))
      })
    )

    it.effect("records every change and its actor in the audit log, without the configuration", () =>
      Effect.gen(function* () {
        const presets = yield* Presets
        const accountId = yield* newAccount
        const { id } = yield* make(accountId)
        const doing = { accountId, slug: "p", actor }
        yield* presets.update({ ...doing, change: { name: "B", config: { ...config, instructions: "a secret" } } })
        yield* presets.update({ ...doing, change: { name: "B" } })
        yield* presets.activate({ ...doing, version: 1 })
        yield* presets.activate({ ...doing, version: 1 })
        yield* presets.remove(doing)
        yield* presets.remove(doing)
        const events = (yield* (yield* Audit).list(accountId, 10)).filter(({ resource_id }) => resource_id === "p")
        assert.deepStrictEqual(
          events.map(({ actor_type, changes, resource_type, type }) => [type, resource_type, actor_type, changes]),
          [
            ["preset.removed", "preset", "operator", { id }],
            ["preset.activated", "preset", "operator", { version: { from: 2, to: 1 } }],
            [
              "preset.updated",
              "preset",
              "operator",
              { name: { from: "A preset", to: "B" }, version: { from: 1, to: 2 } }
            ],
            ["preset.created", "preset", "operator", { slug: "p", name: "A preset", version: 1 }]
          ]
        )
      })
    )

    it.effect("forgets on `forget` a preset that it read before the outer transaction of a change committed", () =>
      Effect.gen(function* () {
        const presets = yield* Presets
        const sql = yield* SqlClient.SqlClient
        const accountId = yield* newAccount
        yield* make(accountId)
        const [changed, read] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const change = { ...config, max_tokens: 5 }
        const outer = presets
          .update({ accountId, slug: "p", actor, change: { config: change } })
          .pipe(
            Effect.andThen(Deferred.succeed(changed, undefined)),
            Effect.andThen(Deferred.await(read)),
            sql.withTransaction
          )
        const committing = yield* Effect.forkChild(outer)
        yield* Deferred.await(changed)
        assert.strictEqual((yield* presets.resolve(accountId, "p")).version, 1)
        yield* Deferred.succeed(read, undefined)
        yield* Fiber.join(committing)
        yield* presets.forget(accountId, "p")
        assert.deepStrictEqual(yield* presets.resolve(accountId, "p"), { slug: "p", version: 2, config: change })
      })
    )

    it.effect("lists the newest first, page by page", () =>
      Effect.gen(function* () {
        const presets = yield* Presets
        const accountId = yield* newAccount
        const slugs = ["a", "b", "c", "d", "e"]
        const ids = (yield* Effect.forEach(slugs, (slug) => make(accountId, slug))).map(({ id }) => id)
        const seen: Array<string> = []
        let cursor: string | undefined
        do {
          const page = yield* presets.list(accountId, { limit: 2, cursor })
          seen.push(...page.rows.map(({ id }) => id))
          cursor = page.next ?? undefined
        } while (cursor !== undefined)
        assert.deepStrictEqual(seen, ids.toSorted().toReversed())
        assert.isNull((yield* presets.list(accountId, { limit: 5, cursor: undefined })).next)
      })
    )

    it.effect("allows 100 presets per account, however many are created at once", () =>
      Effect.gen(function* () {
        const accountId = yield* newAccount
        yield* Effect.forEach(Array.from({ length: MAX_PRESETS_PER_ACCOUNT - 3 }), (_, at) => make(accountId, `p${at}`))
        const made = yield* Effect.forEach(Array.from({ length: 8 }), (_, at) => whyOf(make(accountId, `q${at}`)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          [
            made.filter((why) => why === "no failure").length,
            made.filter((why) => why === "PresetLimitReached").length
          ],
          [3, 5]
        )
      })
    )

    it.effect("numbers versions without a gap, however many are created at once, up to 1,000", () =>
      Effect.gen(function* () {
        const presets = yield* Presets
        const sql = yield* SqlClient.SqlClient
        const accountId = yield* newAccount
        const { id } = yield* make(accountId)
        const update = (seed: number) =>
          presets.update({ accountId, slug: "p", actor, change: { config: { ...config, seed } } })
        const made = yield* Effect.forEach([1, 2, 3, 4, 5, 6], update, { concurrency: "unbounded" })
        assert.sameMembers(
          made.map(({ active_version }) => active_version),
          [2, 3, 4, 5, 6, 7]
        )
        yield* sql`INSERT INTO preset_version (preset_id, version, config)
          SELECT ${id}, n, '{"model":"a"}'::json FROM generate_series(8, ${MAX_VERSIONS_PER_PRESET}::int - 1) AS n`
        assert.strictEqual((yield* update(8)).active_version, MAX_VERSIONS_PER_PRESET)
        assert.strictEqual(yield* whyOf(update(9)), "PresetLimitReached")
        assert.strictEqual((yield* presets.activate({ accountId, slug: "p", actor, version: 4 })).active_version, 4)
      })
    )

    it.effect("never changes a version, and deletes it only with its preset", () =>
      Effect.gen(function* () {
        const presets = yield* Presets
        const sql = yield* SqlClient.SqlClient
        const accountId = yield* newAccount
        const { id } = yield* make(accountId)
        for (const statement of [
          sql`UPDATE preset_version SET config = '{}'::json WHERE preset_id = ${id}`,
          sql`UPDATE preset_version SET version = 2 WHERE preset_id = ${id}`,
          sql`DELETE FROM preset_version WHERE preset_id = ${id}`,
          sql`TRUNCATE preset_version CASCADE`,
          sql`UPDATE preset SET active_version = 2 WHERE id = ${id}`
        ]) {
          assert.isTrue(Exit.isFailure(yield* Effect.exit(statement)))
        }
        assert.deepInclude(yield* presets.get(accountId, "p"), { active_version: 1, config })
        const versions = Effect.map(sql`SELECT 1 FROM preset_version WHERE preset_id = ${id}`, (rows) => rows.length)
        assert.strictEqual(yield* versions, 1)
        assert.isTrue(yield* presets.remove({ accountId, slug: "p", actor }))
        assert.strictEqual(yield* versions, 0)
        assert.isUndefined(yield* presets.get(accountId, "p"))
        assert.deepInclude(yield* make(accountId), { active_version: 1 })
      })
    )

    it.effect("finds nothing under an invalid slug", () =>
      Effect.gen(function* () {
        const presets = yield* Presets
        const accountId = yield* newAccount
        for (const slug of ["", "P", "a b", "\0", "\ud800", "a".repeat(64)]) {
          assert.strictEqual(yield* whyOf(presets.resolve(accountId, slug)), "NotFound", JSON.stringify(slug))
        }
      })
    )

    it.effect("shows a change by this node at once, and one by another node within five seconds", () =>
      Effect.gen(function* () {
        const here = yield* Presets
        const elsewhere = yield* Effect.provide(Presets, Layer.fresh(Presets.layer), { local: true })
        const accountId = yield* newAccount
        yield* make(accountId)
        const doing = { accountId, slug: "p", actor }
        const seen = (presets: Presets["Service"], byMs = 0) =>
          Effect.map(later(byMs)(presets.resolve(accountId, "p")), ({ version }) => version)
        assert.deepStrictEqual([yield* seen(here), yield* seen(elsewhere)], [1, 1])
        yield* here.update({ ...doing, change: { config: { model: "gpt-4o" } } })
        assert.deepStrictEqual([yield* seen(here), yield* seen(elsewhere)], [2, 1])
        assert.strictEqual(yield* seen(elsewhere, REMEMBERED_MS), 2)
        yield* here.activate({ ...doing, version: 1 })
        assert.strictEqual(yield* seen(here), 1)
        yield* elsewhere.remove(doing)
        assert.strictEqual(yield* whyOf(elsewhere.resolve(accountId, "p")), "NotFound")
        assert.strictEqual(yield* seen(here), 1)
        yield* make(accountId, "p", { config: { model: "o3" } })
        assert.deepInclude((yield* here.resolve(accountId, "p")).config, { model: "o3" })
      })
    )
  })

  it.live("is unavailable while the database is down, except for cached presets", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase("presets")
      yield* Effect.gen(function* () {
        const presets = yield* Presets
        const accountId = yield* newAccount
        yield* make(accountId, "known")
        yield* make(accountId, "p")
        yield* presets.resolve(accountId, "known")
        yield* takeAway(url)
        assert.deepInclude(yield* presets.resolve(accountId, "known"), { version: 1 })
        assert.strictEqual(yield* whyOf(presets.resolve(accountId, "p")), "StoreUnavailable")
        assert.strictEqual(yield* whyOf(later(REMEMBERED_MS)(presets.resolve(accountId, "known"))), "StoreUnavailable")
        assert.strictEqual(yield* whyOf(presets.get(accountId, "p")), "Unavailable")
        assert.strictEqual(yield* whyOf(make(accountId, "q")), "Unavailable")
        yield* giveBack(url)
        assert.deepInclude(yield* whenBack(presets.resolve(accountId, "p")), { version: 1 })
      }).pipe(Effect.provide(rooms.pipe(Layer.provideMerge(layerUrl(url)))))
    }).pipe(Effect.scoped)
  )
})
