import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { emptyDatabase, layerUrl } from "../support/Database.ts"
import { post, startService } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { commandWith, setUp } from "./commandLine.ts"

const chat = (service: { readonly api: string }, key: string) =>
  post(`${service.api}/chat/completions`, key, {
    model: "openai/gpt-5-mini",
    messages: [{ role: "user", content: "hello" }]
  })

const tablesOf = (url: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`
  ).pipe(Effect.provide(layerUrl(url, 1)))

describe("backup and restore", () => {
  it.live("take a consistent backup under load, from which a gateway serves with the same keys", () =>
    Effect.gen(function* () {
      const { json, url } = yield* setUp
      const file = join(yield* temporaryDirectory, "tollgate.gz")
      const service = yield* startService({ DATABASE_URL: url })
      const { account, inferenceKey } = yield* service.account(5)
      // More rows than one statement reads, with characters that the format itself uses.
      yield* service.sql`INSERT INTO audit_event (id, account_id, type, actor_type, actor_id, resource_type, resource_id, changes)
        SELECT lpad(to_hex(n), 24, '0'), ${account.id}, 'test.noted', 'operator', 'test', 'account', ${account.id},
          jsonb_build_object('text', E'quote " comma , line \n ' || chr(8232) || ' \\ ' || n)
        FROM generate_series(1, 450) AS n`
      const load = { busy: true, served: 0 }
      const untilServed = (count: number) =>
        Effect.gen(function* () {
          while (load.served < count) yield* Effect.sleep("5 millis")
        })
      const calls = Effect.gen(function* () {
        while (load.busy) {
          assert.strictEqual((yield* chat(service, inferenceKey)).status, 200)
          load.served += 1
        }
      })
      const [made] = yield* Effect.all(
        [
          Effect.gen(function* () {
            yield* untilServed(10)
            const backedUp = yield* json(`backup ${file}`)
            yield* untilServed(load.served + 5)
            return backedUp
          }).pipe(Effect.ensuring(Effect.sync(() => (load.busy = false)))),
          calls,
          calls
        ],
        { concurrency: 3 }
      )
      assert.isAtLeast(made.tables.request, 10)
      assert.isBelow(made.tables.request, load.served)
      assert.strictEqual(made.tables.account, 1)
      assert.deepStrictEqual(made.files, [])
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)

      const other = yield* emptyDatabase("restored")
      const restored = yield* commandWith({ DATABASE_URL: other, LOG_FORMAT: "json" }, `restore ${file} --json`)
      assert.deepStrictEqual([restored.code, restored.stderr], [0, []])
      const report = JSON.parse(restored.stdout[0]!)
      assert.deepStrictEqual([report.ok, report.tables], [true, made.tables])

      const again = yield* startService({ DATABASE_URL: other })
      const noted =
        yield* again.sql`SELECT id, changes::text AS changes FROM audit_event WHERE type = 'test.noted' ORDER BY id`
      const before =
        yield* service.sql`SELECT id, changes::text AS changes FROM audit_event WHERE type = 'test.noted' ORDER BY id`
      assert.deepStrictEqual(noted, before)
      assert.strictEqual((yield* chat(again, inferenceKey)).status, 200)
      assert.deepStrictEqual(yield* again.faults, [])
      const [rules] = yield* Effect.all([
        again.sql`SELECT
        (SELECT count(*) FROM pg_constraint WHERE contype = 'f') AS keys,
        (SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'O') AS triggers`
      ])
      const [rulesBefore] = yield* Effect.all([
        service.sql`SELECT
        (SELECT count(*) FROM pg_constraint WHERE contype = 'f') AS keys,
        (SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'O') AS triggers`
      ])
      assert.deepStrictEqual(rules, rulesBefore)
    }).pipe(Effect.scoped)
  )

  it.live("reject a database that is not empty, an existing file and a damaged file, and change nothing", () =>
    Effect.gen(function* () {
      const { command, json, query, url } = yield* setUp
      const directory = yield* temporaryDirectory
      const file = join(directory, "tollgate.gz")
      yield* json("account create --email ann@example.com --balance-usd 3")
      const said = yield* command(`backup ${file}`)
      assert.strictEqual(said.code, 0, said.stderr.join())
      assert.match(
        said.stdout.join("\n"),
        /^Backed up \d+ rows of \d+ tables to .*\nNot included: the files .*\nNot included: the secrets key/
      )
      const twice = yield* command(`backup ${file}`)
      assert.strictEqual(twice.code, 1)
      assert.deepStrictEqual(twice.stderr, [
        `error: The file ${file} already exists; \`backup\` never overwrites a file.`
      ])
      const full = yield* command(`restore ${file}`)
      assert.match(full.stderr.join(), /The database is not empty: it has \d+ tables\. Restore into a new database/)
      assert.strictEqual((yield* query("SELECT 1 FROM account")).length, 1)

      const other = yield* emptyDatabase("restored")
      const refuses = (name: string, bytes: Uint8Array, why: RegExp) =>
        Effect.gen(function* () {
          const damaged = join(directory, name)
          writeFileSync(damaged, bytes)
          const refused = yield* commandWith({ DATABASE_URL: other }, `restore ${damaged}`)
          assert.strictEqual(refused.code, 1)
          assert.match(refused.stderr.join(), why)
          assert.deepStrictEqual(yield* tablesOf(other), [])
        })
      const whole = readFileSync(file)
      const text = gunzipSync(whole).toString()
      yield* refuses("cut.gz", whole.subarray(0, whole.length - 20), /is not a complete backup/)
      const lines = text.trimEnd().split("\n")
      yield* refuses("short.gz", gzipSync(`${lines.slice(0, -1).join("\n")}\n`), /its end is missing/)
      yield* refuses(
        "changed.gz",
        gzipSync(text.replace("ann@example.com", "eve@example.com")),
        /does not match its checksum/
      )
      yield* refuses("other.gz", gzipSync("{}\n"), /other\.gz is not a backup of tollgate\.$/)
      yield* refuses("text.txt", Buffer.from("a text\n"), /text\.txt is not a backup of tollgate\.$/)
      const missing = yield* commandWith({ DATABASE_URL: other }, `restore ${join(directory, "missing.gz")}`)
      assert.deepStrictEqual(missing.stderr, [`error: There is no file ${join(directory, "missing.gz")}.`])
      yield* refuses("later.gz", gzipSync(text.replace('"name":"baseline"', '"name":"later"')), /use that version/)
      const empty = yield* commandWith({ DATABASE_URL: other }, `backup ${join(directory, "empty.gz")}`)
      assert.match(empty.stderr.join(), /The database is empty/)
      assert.isFalse(existsSync(join(directory, "empty.gz")))
      assert.include(url, "admin")
    }).pipe(Effect.scoped)
  )

  it.live("move the embedded database with the files and the secrets key into a new data directory", () =>
    Effect.gen(function* () {
      const [from, to, out] = [yield* temporaryDirectory, yield* temporaryDirectory, yield* temporaryDirectory]
      const file = join(out, "tollgate.gz")
      const run = (directory: string, line: string) =>
        Effect.map(commandWith({ DATA_DIR: directory, LOG_LEVEL: "None" }, `${line} --json`), (said) => {
          assert.deepStrictEqual([said.code, said.stderr], [0, []], line)
          return JSON.parse(said.stdout[0]!)
        })
      yield* run(from, "account create --email ann@example.com --balance-usd 3")
      const bytes = Buffer.from(Array.from({ length: 500_000 }, (_, index) => (index * 7) % 256))
      mkdirSync(join(from, "files"))
      writeFileSync(join(from, "files", "file_01"), bytes)
      writeFileSync(join(from, "files", "file_02.part"), "unfinished")
      writeFileSync(join(from, "secrets.key"), "a key that is as long as a real key would be")
      const made = yield* run(from, `backup ${file} --with-files`)
      assert.deepStrictEqual(made.files, ["secrets.key", "files/file_01"])
      const restored = yield* run(to, `restore ${file}`)
      assert.isTrue(restored.ok)
      assert.isTrue(readFileSync(join(to, "files", "file_01")).equals(bytes))
      assert.strictEqual(readFileSync(join(to, "secrets.key"), "utf8"), readFileSync(join(from, "secrets.key"), "utf8"))
      assert.strictEqual((yield* run(to, "account show ann@example.com")).balance_usd, 3)
    }).pipe(Effect.scoped)
  )

  it.live("start and create no database for a file that cannot be restored", () =>
    Effect.gen(function* () {
      const directory = join(yield* temporaryDirectory, "data")
      const file = join(directory, "missing.gz")
      const said = yield* commandWith({ DATA_DIR: directory }, `restore ${file}`)
      assert.deepStrictEqual([said.code, said.stderr], [1, [`error: There is no file ${file}.`]])
      assert.isFalse(existsSync(directory))
    }).pipe(Effect.scoped)
  )
})
