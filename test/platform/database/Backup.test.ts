import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { backUp, restore } from "../../../src/platform/database/Backup.ts"
import { migrate } from "../../../src/platform/database/Migrations.ts"
import { migrations } from "../../../src/platform/database/MigrationsSql.ts"
import { emptyDatabase, layerUrl } from "../../support/Database.ts"
import { temporaryDirectory } from "../../support/Service.ts"

const EARLIER = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0042"))

describe("restore", () => {
  it.live("brings the backup of an earlier version up to date and goes on counting where it stopped", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const file = join(directory, "backup.gz")
      const [from, to] = [yield* emptyDatabase("earlier"), yield* emptyDatabase("later")]
      const id = "0123456789abcdef01234567"
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* migrate(EARLIER)
        yield* sql`INSERT INTO account (id, email, limit_scale) VALUES (${id}, 'ann@example.com', 0.1)`
        yield* sql`INSERT INTO balance (account_id, posted) VALUES (${id}, 9007199254740993)`
        yield* sql`INSERT INTO transfer (debit, credit, amount, kind) VALUES ('house:funding', ${id}, 9007199254740993, 'credit')`
        yield* backUp(file, undefined)
      }).pipe(Effect.provide(layerUrl(from)))
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* restore(file, migrations, directory)
        const restored =
          yield* sql`SELECT a.state, a.limit_scale, b.posted FROM account a JOIN balance b ON b.account_id = a.id`
        assert.deepStrictEqual(restored, [{ state: "active", limit_scale: 0.1, posted: 9_007_199_254_740_993n }])
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
})
