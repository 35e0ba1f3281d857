import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { readSql, statementsIn } from "../../../src/platform/database/SqlFiles.ts"
import { temporaryDirectory } from "../../support/Directories.ts"

const written = (files: Readonly<Record<string, string>>) =>
  Effect.map(temporaryDirectory, (path) => {
    mkdirSync(join(path, "rules"))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
    return pathToFileURL(`${path}/`)
  })

describe("a file of SQL", () => {
  it.live("contains the files that it includes, indented like the line that includes them", () =>
    Effect.gen(function* () {
      const directory = yield* written({
        "all.sql": "SELECT 1 WHERE\n  -- include: rules/works.sql\n;\n",
        "rules/works.sql": "-- Why.\n\nworks AND\n  -- include: rules/late.sql\n",
        "rules/late.sql": "late\n"
      })
      assert.strictEqual(readSql(directory, "all.sql"), "SELECT 1 WHERE\n  -- Why.\n\n  works AND\n    late\n;")
    }).pipe(Effect.scoped)
  )

  it.live("cannot include itself", () =>
    Effect.gen(function* () {
      const directory = yield* written({ "a.sql": "-- include: b.sql\n", "b.sql": "-- include: a.sql\n" })
      assert.throws(() => readSql(directory, "a.sql"), /a\.sql includes itself \(a\.sql → b\.sql → a\.sql\)/)
    }).pipe(Effect.scoped)
  )

  it("ends a statement at each semicolon outside of comments, quotes and dollar signs", () => {
    const first = "-- a; b\nSELECT ';', '''', \";\" /* ; */"
    const second = "CREATE FUNCTION f() AS $a$ x; $$ y; $$ z; $a$"
    assert.deepStrictEqual(statementsIn(`${first};\n\n${second};\n-- the end;\n`), [first, second])
  })
})
