import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { verifyBooks } from "../../../src/billing/Books.ts"
import { functions, install } from "../../../src/ledger/FunctionsSql.ts"
import { commitGroup } from "../../../src/ledger/LedgerSql.ts"
import { backUp, proveBackup, restoreProved } from "../../../src/platform/database/Backup.ts"
import { migrate, type MigrationRecord } from "../../../src/platform/database/Migrations.ts"
import { migrations } from "../../../src/platform/database/MigrationsSql.ts"
import { close, hold } from "../../ledger/Fixture.ts"
import { emptyDatabase, layerUrl } from "../../support/Database.ts"
import { temporaryDirectory } from "../../support/Directories.ts"

const restore = (file: string, known: MigrationRecord, directory: string) =>
  Effect.flatMap(proveBackup(file, known), (proved) => restoreProved(proved, directory))

/** The schema of a later version. */
const later = {
  ...migrations,
  "9999_account_notes": Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`ALTER TABLE account ADD COLUMN note text NOT NULL DEFAULT 'none'`
  )
}

/**
 * A backup that the last version before the baseline made of its sandbox, after four chat completions with idempotency keys, a picture
 * and an embedding.
 */
const BEFORE_BASELINE = fileURLToPath(new URL("./before-baseline.gz", import.meta.url))

describe("restore", () => {
  it.live("migrates the backup of an earlier version, and continues its sequences", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const file = join(directory, "backup.gz")
      const [from, to] = [yield* emptyDatabase("earlier"), yield* emptyDatabase("later")]
      const id = "0123456789abcdef01234567"
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* migrate(migrations)
        yield* sql`INSERT INTO account (id, email, limit_scale) VALUES (${id}, 'ann@example.com', 0.1)`
        yield* sql`INSERT INTO balance (account_id, posted) VALUES (${id}, 9007199254740993)`
        yield* sql`INSERT INTO transfer (debit, credit, amount, kind) VALUES ('house:funding', ${id}, 9007199254740993, 'credit')`
        yield* backUp(file, undefined)
      }).pipe(Effect.provide(layerUrl(from)))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* restore(file, later, directory)
        const restored =
          yield* sql`SELECT a.note, a.limit_scale, b.posted FROM account a JOIN balance b ON b.account_id = a.id`
        assert.deepStrictEqual(restored, [{ note: "none", limit_scale: 0.1, posted: 9_007_199_254_740_993n }])
        const added = yield* sql`INSERT INTO transfer (debit, credit, amount, kind)
          VALUES ('house:funding', ${id}, 1, 'credit') RETURNING id`
        assert.deepStrictEqual(added, [{ id: 2n }])
        const refused = yield* Effect.flip(sql`DELETE FROM transfer`)
        assert.strictEqual(refused._tag, "SqlError")
        const orphan =
          yield* Effect.flip(sql`INSERT INTO api_key (id, account_id, kind, name, hash, prefix, last4, scopes)
          VALUES ('ffffffffffffffffffffffff', 'eeeeeeeeeeeeeeeeeeeeeeee', 'inference', 'x', '\\x00', 'x', 'x', '{}')`)
        assert.strictEqual(orphan._tag, "SqlError")
        assert.strictEqual((yield* sql`SELECT 1 FROM transfer`).length, 2)
      }).pipe(Effect.provide(layerUrl(to)))
    }).pipe(Effect.scoped)
  )

  it.live("restores a backup from before the baseline, and its ledger works", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* restore(BEFORE_BASELINE, migrations, directory)
        const { checks, ok } = yield* verifyBooks(sql, { graceMs: 10 * 365 * 86_400_000 })
        assert.isTrue(ok, JSON.stringify(checks))
        assert.deepStrictEqual(yield* migrate(migrations), [])
        yield* install(functions)
        const [{ account = "", key = "", play = 0n } = {}] = yield* sql<{ account: string; key: string; play: bigint }>`
          SELECT a.id AS account, k.id AS key, p.posted AS play
          FROM account a JOIN api_key k ON k.account_id = a.id AND k.kind = 'inference' JOIN play_balance p ON p.account_id = a.id`
        const claims = yield* sql`SELECT 1 FROM request WHERE idempotency_key LIKE 'order-%' AND claim IS NOT NULL`
        assert.lengthOf(claims, 4)
        const opened = hold({ accountId: account, keyId: key }, 1_000n, { simulated: true })
        const results = [...(yield* commitGroup(sql, [opened])), ...(yield* commitGroup(sql, [close(opened, 900n)]))]
        assert.deepStrictEqual(results, [
          { _tag: "Granted", granted: 1_000n },
          { _tag: "Closed", settled: 900n, absorbed: 0n, posted: play - 900n, held: 0n }
        ])
        assert.isTrue((yield* verifyBooks(sql, { graceMs: 10 * 365 * 86_400_000 })).ok)
      }).pipe(Effect.provide(layerUrl(yield* emptyDatabase("restored"))))
    }).pipe(Effect.scoped)
  )

  it.live("rejects a backup of an older schema, and names the version to start first", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const file = join(directory, "old.gz")
      const old = { "0001_accounts_and_keys": Effect.void, "0002_ledger": Effect.void }
      yield* Effect.andThen(migrate(old), backUp(file, undefined)).pipe(
        Effect.provide(layerUrl(yield* emptyDatabase("old")))
      )
      const refused = yield* Effect.flip(restore(file, migrations, directory)).pipe(
        Effect.provide(layerUrl(yield* emptyDatabase("new")))
      )
      assert.match(
        refused.message,
        /Start the last version with migration 47 \(ledger_versions\) on that database once/
      )
    }).pipe(Effect.scoped)
  )
})
