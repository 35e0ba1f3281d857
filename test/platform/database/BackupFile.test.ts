import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { headerOf, readBackup, writeBackup } from "../../../src/platform/database/BackupFile.ts"
import { temporaryDirectory } from "../../support/Directories.ts"

const header = headerOf({ version: "1.0.0", created_at: "2026-01-31T00:00:00.000Z", migrations: [] })

describe("a backup file", () => {
  it.live("returns every row unchanged, with any characters", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryDirectory, "backup.gz")
      const rows = ["", '(a,"b")', "line\nfeed", "separators \u2028 \u2029 \r", "ünï 💶".repeat(50_000)]
      const manifest = yield* Effect.scoped(
        Effect.gen(function* () {
          const writer = yield* writeBackup(file, header)
          yield* writer.begin("table", "one")
          yield* writer.add(rows)
          yield* writer.end
          yield* writer.begin("table", "empty")
          yield* writer.end
          return yield* writer.finish([{ name: "one_id_seq", value: "9007199254740993" }])
        })
      )
      const found: Array<string> = []
      const read = yield* readBackup(file, { add: async (text) => void found.push(text) })
      assert.deepStrictEqual([found, read], [rows, { header, manifest }])
      assert.deepStrictEqual(
        manifest.parts.map(({ count, name }) => [name, count]),
        [
          ["one", 5],
          ["empty", 0]
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.live("gets its name only when it is complete, and an incomplete one is deleted", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const file = join(directory, "backup.gz")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const writer = yield* writeBackup(file, header)
          yield* writer.begin("table", "one")
          assert.isFalse(existsSync(file))
        })
      )
      assert.deepStrictEqual(readdirSync(directory), [])
      writeFileSync(file, gzipSync(`${JSON.stringify(header)}\n"a row of no table"\n`))
      const error = yield* Effect.flip(readBackup(file))
      assert.strictEqual(error.message, `The file ${file} is not a complete backup: a row belongs to no table`)
    }).pipe(Effect.scoped)
  )
})
