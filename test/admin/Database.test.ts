import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync } from "node:fs"
import { temporaryDirectory } from "../support/Directories.ts"
import { commandWith } from "./commandLine.ts"

describe("commands on an existing database", () => {
  it.live("fail, and create nothing, when DATA_DIR holds no database", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      for (const line of ["account list", "ledger verify", `backup ${directory}/out.gz`, "topups list"]) {
        const said = yield* commandWith({ DATA_DIR: directory }, line)
        const message = `\`DATA_DIR\` must hold a tollgate database; ${directory} has none. Set DATA_DIR or DATABASE_URL.`
        assert.deepStrictEqual([said.code, said.stdout, said.stderr], [1, [], [`error: ${message}`]], line)
      }
      assert.deepStrictEqual(readdirSync(directory), [])
    }).pipe(Effect.scoped)
  )
})
