import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs"
import { finishedExport, namesOf, ReceiptsFile } from "../../src/admin/ReceiptsFile.ts"
import { temporaryDirectory } from "../support/Directories.ts"

const DAY = "2026-01-31"

const receipt = (id: string, settled: bigint, refunded = 0n) => ({
  id,
  settled_nano_usd: String(settled),
  refunded_nano_usd: String(refunded)
})

/** More than a JavaScript number represents exactly. */
const LARGE = 9_007_199_254_740_993n

describe("a receipts file", () => {
  it.live("resumes after the last complete line of an interrupted run", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const first = yield* Effect.promise(() => ReceiptsFile.open(directory, DAY))
      first.append([receipt("a", LARGE), receipt("b", 5n, 2n)])
      first.close()
      const names = namesOf(directory, DAY)
      appendFileSync(names.unfinished, '{"id":"c","sett')
      const second = yield* Effect.promise(() => ReceiptsFile.open(directory, DAY))
      assert.deepStrictEqual([second.lastId, second.totals], ["b", { receipts: 2, settled: LARGE + 5n, refunded: 2n }])
      second.append([receipt("c", 1n)])
      const manifest = yield* Effect.promise(() => second.finish(DAY))
      second.close()
      const text = readFileSync(names.file, "utf8")
      assert.deepStrictEqual(
        text
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line).id),
        ["a", "b", "c"]
      )
      assert.deepInclude(manifest, {
        receipts: 3,
        bytes: Buffer.byteLength(text),
        sha256: createHash("sha256").update(text).digest("hex"),
        settled_nano_usd: String(LARGE + 6n),
        refunded_nano_usd: "2",
        cost_nano_usd: String(LARGE + 4n)
      })
      assert.isFalse(existsSync(names.unfinished))
      assert.deepStrictEqual(yield* Effect.promise(() => finishedExport(names)), manifest)
    }).pipe(Effect.scoped)
  )

  it.live("resumes when a run ended between the file and its manifest", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const names = namesOf(directory, DAY)
      const first = yield* Effect.promise(() => ReceiptsFile.open(directory, DAY))
      first.append([receipt("a", 1n)])
      first.close()
      renameSync(names.unfinished, names.file)
      assert.isUndefined(yield* Effect.promise(() => finishedExport(names)))
      const second = yield* Effect.promise(() => ReceiptsFile.open(directory, DAY))
      assert.strictEqual(second.lastId, "a")
      second.close()
    }).pipe(Effect.scoped)
  )

  it.live("does not count as finished once it has changed or is missing", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const names = namesOf(directory, DAY)
      const file = yield* Effect.promise(() => ReceiptsFile.open(directory, DAY))
      yield* Effect.promise(() => file.finish(DAY))
      file.close()
      appendFileSync(names.file, "x")
      assert.strictEqual(yield* Effect.promise(() => finishedExport(names)), "changed")
      rmSync(names.file)
      assert.strictEqual(yield* Effect.promise(() => finishedExport(names)), "changed")
    }).pipe(Effect.scoped)
  )
})
