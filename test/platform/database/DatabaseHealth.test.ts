/** What operators and clients learn of a database that cannot be used, and of its recovery. */
import { assert, describe, it } from "@effect/vitest"
import type { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Layer, Logger } from "effect"
import type { SqlError } from "effect/sql"
import { execFileSync } from "node:child_process"
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inWords } from "../../../src/platform/telemetry/LogWords.ts"
import { layer as migrations } from "../../../src/platform/database/Migrations.ts"
import { asSuperuser, layerUrl } from "../../support/Database.ts"
import { roleWithDatabase } from "../../support/Role.ts"
import { json, post, type Service, startService } from "../../support/Service.ts"

const chat = { model: "gpt-4o-mini", max_tokens: 5, messages: [{ role: "user", content: "hello" }] }

const readiness = (service: Service) =>
  Effect.promise(async () => {
    const response = await fetch(`${service.ops}/readyz`)
    return { status: response.status, text: await response.text() }
  })

/** Probes every 100 ms until the answer contains these words. */
const untilReady = (service: Service, words: string) =>
  Effect.repeat(Effect.delay(readiness(service), "100 millis"), { until: ({ text }) => text.includes(words) })

const paid = (service: Service, key: string) => post(`${service.api}/chat/completions`, key, chat)

/** A logger that collects its lines. */
const keeping = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ cause, message }) => void lines.push(`${String(message)} ${Cause.pretty(cause)}`))
  return { lines, logger: inWords(logger) }
}

type Do = (sql: PgClient.PgClient) => Effect.Effect<unknown, SqlError.SqlError>

interface Broken {
  readonly words: string
  /** Statements that break the database and that repair it, run as the superuser. */
  readonly breaks: (role: string) => Do
  readonly mends: (role: string) => Do
  /** Whether the connections are dropped after both, so that the gateway opens new ones. */
  readonly disconnect: boolean
  /** Whether paid requests fail too. */
  readonly paid: boolean
}

const conditions: Readonly<Record<string, Broken>> = {
  "a database without free connections": {
    words: "the database accepts no more connections (SQLSTATE 53300: too many connections for role",
    breaks: (role) => (sql) => sql`ALTER ROLE ${sql(role)} CONNECTION LIMIT 0`,
    mends: (role) => (sql) => sql`ALTER ROLE ${sql(role)} CONNECTION LIMIT -1`,
    disconnect: true,
    paid: true
  },
  "a read-only database": {
    words: "the database is read-only (SQLSTATE 25006",
    breaks: (role) => (sql) => sql`ALTER ROLE ${sql(role)} SET default_transaction_read_only = on`,
    mends: (role) => (sql) => sql`ALTER ROLE ${sql(role)} RESET default_transaction_read_only`,
    disconnect: true,
    paid: true
  },
  "a rejected password": {
    words: "the database refuses the password (SQLSTATE 28P01: password authentication failed",
    breaks: (role) => (sql) => sql`ALTER ROLE ${sql(role)} PASSWORD 'another'`,
    mends: (role) => (sql) => sql`ALTER ROLE ${sql(role)} PASSWORD 'planted-password'`,
    disconnect: true,
    paid: true
  },
  "a role without a privilege": {
    words: "the database's role lacks a privilege (SQLSTATE 42501: permission denied for table request)",
    breaks: (role) => (sql) => sql`REVOKE INSERT ON request FROM ${sql(role)}`,
    mends: (role) => (sql) => sql`GRANT INSERT ON request TO ${sql(role)}`,
    disconnect: false,
    paid: true
  },
  "a database without memory": {
    words: "the database is out of memory (SQLSTATE 53200: out of memory)",
    breaks: () => (sql) =>
      Effect.andThen(
        sql.unsafe(`CREATE FUNCTION no_memory() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN RAISE 'out of memory' USING ERRCODE = '53200'; END $$`),
        sql`CREATE TRIGGER no_memory BEFORE INSERT ON durable_write EXECUTE FUNCTION no_memory()`
      ),
    mends: () => (sql) => sql`DROP FUNCTION no_memory CASCADE`,
    disconnect: false,
    paid: false
  }
}

describe("a database", () => {
  it.live(
    "that cannot be used is described by the probe and in the log, and paid requests get 503, until it is repaired",
    () =>
      Effect.gen(function* () {
        const { database, disconnect, role, url } = yield* roleWithDatabase({ owner: true })
        const { lines, logger } = keeping()
        const service = yield* startService({ DATABASE_URL: url }, [logger])
        const { inferenceKey } = yield* service.account(10)
        yield* untilReady(service, "ready\n")
        assert.strictEqual((yield* paid(service, inferenceKey)).status, 200)
        for (const [name, broken] of Object.entries(conditions)) {
          lines.length = 0
          yield* asSuperuser(broken.breaks(role), database)
          if (broken.disconnect) yield* disconnect
          if (broken.paid) {
            const refused = yield* paid(service, inferenceKey)
            assert.strictEqual(refused.status, 503, name)
            assert.strictEqual((yield* json(refused)).error.code, "store_unavailable", name)
          }
          const found = yield* untilReady(service, broken.words.split(" (")[0]!)
          assert.strictEqual(found.status, 503, name)
          assert.include(found.text, broken.words, name)
          const log = lines.join("\n")
          assert.include(log, `Not ready: ${broken.words}`, name)
          if (broken.paid) assert.match(log, new RegExp(`StoreUnavailable.*${broken.words.split(" (")[0]!}`, "s"), name)
          assert.notMatch(log, /UnknownError|AuthorizationError|planted-password/, name)
          yield* asSuperuser(broken.mends(role), database)
          if (broken.disconnect) yield* disconnect
          yield* untilReady(service, "ready\n")
          assert.strictEqual((yield* paid(service, inferenceKey)).status, 200, name)
          assert.include(lines.join("\n"), "Ready again", name)
        }
      }).pipe(Effect.scoped),
    60_000
  )

  it.live("without the right to create tables stops the start with its first error", () =>
    Effect.gen(function* () {
      const { url } = yield* roleWithDatabase({ owner: false })
      const error = yield* Effect.flip(Layer.build(migrations.pipe(Layer.provide(layerUrl(url)))))
      assert.strictEqual(
        error.message,
        "The schema cannot be migrated: the database's role lacks a privilege (SQLSTATE 42501: permission denied for schema public). Run `npm run admin -- migrate` as the owner of the tables, then start with DATABASE_MIGRATE=0."
      )
    }).pipe(Effect.scoped)
  )

  it.live("that rejects the password stops the start with an explanation", () =>
    Effect.gen(function* () {
      const { role, url } = yield* roleWithDatabase({ owner: true })
      yield* asSuperuser((sql) => sql`ALTER ROLE ${sql(role)} PASSWORD 'another'`)
      const error = yield* Effect.flip(Layer.build(layerUrl(url)))
      assert.strictEqual(
        error.message,
        `The test database cannot be used: the database refuses the password (SQLSTATE 28P01: password authentication failed for user "${role}")`
      )
    }).pipe(Effect.scoped)
  )
})

/** A small disk for a tablespace of this machine's PostgreSQL; undefined when this process may not mount one. */
const makeDisk = (): string | undefined => {
  if (process.getuid?.() !== 0 || (process.env["TEST_DATABASE_URL"] ?? "") !== "") return undefined
  const path = mkdtempSync(join(tmpdir(), "tollgate-disk-"))
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=48m", "none", path], { stdio: "ignore" })
    chownSync(path, 65_534, 65_534)
    return path
  } catch {
    rmSync(path, { recursive: true, force: true })
    return undefined
  }
}

const removeDisk = (path: string) => {
  execFileSync("umount", ["-l", path])
  rmSync(path, { recursive: true, force: true })
}

const canMount = (() => {
  const path = makeDisk()
  if (path !== undefined) removeDisk(path)
  return path !== undefined
})()
if (!canMount) process.stderr.write("\n*** SKIPPED: no disk is filled: that takes root and the right to mount ***\n\n")

describe.skipIf(!canMount)("a database on a full disk", () => {
  it.live(
    "makes the gateway report not ready with the reason, and ready again once there is space",
    () =>
      Effect.gen(function* () {
        const disk = yield* Effect.acquireRelease(
          Effect.sync(() => makeDisk()!),
          (path) => Effect.sync(() => removeDisk(path))
        )
        const tablespace = `disk_${process.pid}`
        yield* Effect.acquireRelease(
          asSuperuser((sql) => sql`CREATE TABLESPACE ${sql(tablespace)} LOCATION '${sql.literal(disk)}'`),
          () => Effect.ignore(asSuperuser((sql) => sql`DROP TABLESPACE ${sql(tablespace)}`))
        )
        const { url } = yield* roleWithDatabase({ owner: true, tablespace })
        const { lines, logger } = keeping()
        const service = yield* startService({ DATABASE_URL: url }, [logger])
        const { inferenceKey } = yield* service.account(10)
        yield* untilReady(service, "ready\n")
        const filling = join(disk, "filling")
        const full = yield* Effect.exit(Effect.try(() => writeFileSync(filling, Buffer.alloc(48 * 1_048_576))))
        assert.strictEqual(full._tag, "Failure")
        // The allocated pages have room for a few more requests.
        const refused = yield* Effect.repeat(paid(service, inferenceKey), { until: ({ status }) => status !== 200 })
        assert.strictEqual(refused.status, 503)
        const found = yield* untilReady(service, "the database's disk is full")
        assert.strictEqual(found.status, 503)
        assert.match(found.text, /^the database's disk is full \(SQLSTATE 53100: could not extend file .*No space left/)
        assert.match(lines.join("\n"), /StoreUnavailable.*the database's disk is full/s)
        rmSync(filling)
        yield* untilReady(service, "ready\n")
        assert.strictEqual((yield* paid(service, inferenceKey)).status, 200)
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped),
    60_000
  )
})
