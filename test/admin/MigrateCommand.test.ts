import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { APPEND_ONLY } from "../../src/platform/database/GrantsSql.ts"
import { migrations } from "../../src/platform/database/MigrationsSql.ts"
import { asSuperuser, layerUrl } from "../support/Database.ts"
import { roleWithDatabase } from "../support/Role.ts"
import { json, post, startService } from "../support/Service.ts"
import { commandWith } from "./commandLine.ts"

const PASSWORD = "planted-password"

/** A database that one role owns, and a second role that may only connect. */
const twoRoles = Effect.gen(function* () {
  const owner = yield* roleWithDatabase({ owner: true })
  const service = `service_${randomBytes(6).toString("hex")}`
  yield* Effect.acquireRelease(
    asSuperuser((sql) => sql`CREATE ROLE ${sql(service)} LOGIN PASSWORD '${sql.literal(PASSWORD)}'`),
    () =>
      Effect.ignore(
        Effect.andThen(
          asSuperuser((sql) => sql`DROP OWNED BY ${sql(service)}`, owner.database),
          asSuperuser((sql) => sql`DROP ROLE ${sql(service)}`)
        )
      )
  )
  const url = new URL(owner.url)
  url.username = service
  url.password = PASSWORD
  return { owner, service, url: url.toString() }
})

const as = (url: string, statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
    Effect.provide(layerUrl(url, 1)),
    Effect.flip,
    Effect.map((error) => JSON.stringify(error))
  )

const chat = { model: "gpt-4o-mini", max_tokens: 5, messages: [{ role: "user", content: "hello" }] }

describe("migrate", () => {
  it.live("lets a gateway serve with a role that cannot change tables, the books or the audit log", () =>
    Effect.gen(function* () {
      const { owner, service, url } = yield* twoRoles
      const node = { DATABASE_URL: url, DATABASE_MIGRATE: "0" }

      const early = yield* Effect.flip(startService(node))
      assert.include(String(early), "The database has no tables of tollgate, and DATABASE_MIGRATE is 0")
      const refused = yield* commandWith(node, "account list")
      assert.strictEqual(refused.code, 1)
      assert.include(refused.stderr.join(), "npm run admin -- migrate")

      const unowned = yield* commandWith({ DATABASE_URL: url }, "account list")
      assert.match(
        unowned.stderr.join(),
        /^error: The schema cannot be migrated: .*\. Run `npm run admin -- migrate` as the owner of the tables, then start with DATABASE_MIGRATE=0\.$/
      )

      const migrated = yield* commandWith({ DATABASE_URL: owner.url }, `migrate --service-role ${service} --json`)
      assert.deepStrictEqual(migrated.stderr, [])
      assert.deepStrictEqual(JSON.parse(migrated.stdout[0]!).ran, Object.keys(migrations).toSorted())
      const again = yield* commandWith({ DATABASE_URL: owner.url }, `migrate --service-role ${service} --json`)
      assert.deepStrictEqual(JSON.parse(again.stdout[0]!).ran, [])

      const gateway = yield* startService(node)
      const { account, inferenceKey } = yield* gateway.account(5)
      const served = yield* post(`${gateway.api}/chat/completions`, inferenceKey, chat)
      assert.strictEqual(served.status, 200)
      const clip = { model: "veo-3", prompt: "A kite over the sea", duration: 4, aspect_ratio: "16:9" }
      assert.isBelow((yield* post(`${gateway.api}/videos`, inferenceKey, clip)).status, 300)
      const { request_id: id } = yield* json(served)
      const refund = yield* commandWith(node, `refund ${id} --amount-usd 0.000001 --reason slow --reference T-1 --json`)
      assert.deepStrictEqual([refund.code, refund.stderr], [0, []])
      const verified = yield* commandWith(node, "ledger verify --whole --json")
      assert.deepStrictEqual([verified.code, JSON.parse(verified.stdout[0]!).ok], [0, true])

      // A current schema needs no right to change it, with the default of DATABASE_MIGRATE too.
      const byDefault = yield* commandWith({ DATABASE_URL: url }, "ledger verify --json")
      assert.deepStrictEqual([byDefault.code, byDefault.stderr], [0, []])

      for (const table of APPEND_ONLY) {
        assert.include(yield* as(url, `DELETE FROM ${table}`), "42501")
        assert.include(yield* as(url, `TRUNCATE ${table}`), "42501")
      }
      assert.include(yield* as(url, "UPDATE transfer SET amount = 0"), "42501")
      assert.include(yield* as(url, "ALTER TABLE balance ADD COLUMN more int"), "42501")
      assert.include(yield* as(url, "CREATE TABLE more (id int)"), "42501")
      assert.include(yield* as(url, "UPDATE schema_migration SET name = 'more'"), "42501")
      assert.isAbove(Number((yield* gateway.balance(account.id)).posted), 0)
    }).pipe(Effect.scoped)
  )

  it.live("names a role that does not exist", () =>
    Effect.gen(function* () {
      const owner = yield* roleWithDatabase({ owner: true })
      const { code, stderr } = yield* commandWith({ DATABASE_URL: owner.url }, "migrate --service-role no_such_role")
      assert.strictEqual(code, 1)
      assert.deepStrictEqual(stderr, ["error: There is no role no_such_role; create it with CREATE ROLE."])
      const tables = yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`SELECT to_regclass('account') AS found`
      ).pipe(Effect.provide(layerUrl(owner.url, 1)))
      assert.deepStrictEqual(tables, [{ found: null }])
    }).pipe(Effect.scoped)
  )
})
