import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { firstRequestIdAt } from "../../src/platform/Ids.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { setUp } from "./commandLine.ts"
import { exportScene } from "./exportScene.ts"

const DAY = "2026-01-31"

/** The export scene with a directory for the exports. */
const scene = Effect.gen(function* () {
  const shared = yield* exportScene
  const directory = join(yield* temporaryDirectory, "exports")
  const line = (day = DAY) => `export receipts --day ${day} --to ${directory}`
  const receipts = () =>
    readFileSync(join(directory, `receipts-${DAY}.jsonl`), "utf8")
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text))
  return { ...shared, directory, line, receipts }
})

describe("export receipts", () => {
  it.live(
    "writes every receipt of a day with a manifest that matches the books, and changes nothing when repeated",
    () =>
      Effect.gen(function* () {
        const { account, ask, command, directory, json, line, moved, query, receipts } = yield* scene
        const first = yield* moved(yield* ask(), `${DAY}T00:00:00.000Z`)
        const last = yield* moved(yield* ask("gpt-4o"), `${DAY}T23:59:59.999Z`)
        for (const time of ["2026-01-30T23:59:59.999Z", "2026-02-01T00:00:00.000Z"]) yield* moved(yield* ask(), time)
        yield* json(`refund ${last} --reason goodwill`)

        const manifest = yield* json(line())
        assert.deepStrictEqual(
          receipts().map(({ id }) => id),
          [first, last]
        )
        assert.deepInclude(receipts()[0], { object: "request", account_id: account.id, paid_with: "real" })
        const [books] = yield* query<{ charged: bigint; refunded: bigint }>(
          `SELECT sum(amount) FILTER (WHERE kind = 'settle')::int8 AS charged,
          sum(amount) FILTER (WHERE kind = 'refund')::int8 AS refunded
        FROM transfer WHERE request_id IN ('${first}', '${last}')`
        )
        assert.isAbove(Number(books?.refunded), 0)
        assert.deepInclude(manifest, {
          day: DAY,
          receipts: 2,
          settled_nano_usd: String(books?.charged),
          refunded_nano_usd: String(books?.refunded),
          cost_nano_usd: String(books!.charged - books!.refunded)
        })

        const files = () => readdirSync(directory).map((name) => readFileSync(join(directory, name), "utf8"))
        const before = files()
        const again = yield* command(line())
        assert.deepStrictEqual([again.code, again.stderr], [0, []])
        assert.include(again.stdout[0], "already has the 2 receipts of 2026-01-31")
        assert.deepStrictEqual(files(), before)
        writeFileSync(join(directory, `receipts-${DAY}.jsonl`), "{}\n")
        const changed = yield* command(line())
        assert.strictEqual(changed.code, 1)
        assert.include(changed.stderr.join(), "remove both to export the day again")

        const events: ReadonlyArray<{ type: string; resource: { type: string; id: string }; changes: object }> =
          (yield* json("audit --operators")).data
        assert.strictEqual(events.length, 1)
        assert.deepInclude(events[0], { type: "receipts.exported", resource: { type: "receipts", id: DAY } })
        assert.deepInclude(events[0]!.changes, { to: directory, receipts: 2, sha256: manifest.sha256 })
      }).pipe(Effect.scoped)
  )

  it.live("resumes an interrupted run, and discards data that the books contradict", () =>
    Effect.gen(function* () {
      const { ask, command, directory, json, line, moved, receipts, service } = yield* scene
      const ids = [yield* moved(yield* ask(), `${DAY}T01:00:00Z`), yield* moved(yield* ask(), `${DAY}T02:00:00Z`)]
      yield* json(line())
      const whole = receipts()
      const unfinished = join(directory, `receipts-${DAY}.jsonl.unfinished`)
      const cutOff = (lines: ReadonlyArray<object>) => {
        for (const name of readdirSync(directory)) rmSync(join(directory, name))
        writeFileSync(unfinished, lines.map((one) => `${JSON.stringify(one)}\n`).join("") + '{"id":"req_')
      }
      cutOff([whole[0]])
      yield* json(line())
      assert.deepStrictEqual(receipts(), whole)

      cutOff([{ ...whole[0], settled_nano_usd: "1" }])
      const refused = yield* command(line())
      assert.strictEqual(refused.code, 1)
      assert.include(refused.stderr.join(), "changed during the export")
      assert.deepStrictEqual(readdirSync(directory), [])
      yield* json(line())
      assert.deepStrictEqual(
        receipts().map(({ id }) => id),
        ids
      )
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("refuses a day that has not ended, and a day with an open request", () =>
    Effect.gen(function* () {
      const { account, command, directory, line, service } = yield* scene
      const today = new Date().toISOString().slice(0, 10)
      const early = yield* command(line(today))
      assert.deepStrictEqual([early.code, existsSync(directory)], [1, false])
      assert.include(early.stderr.join(), `\`--day\` must have ended over an hour ago (UTC); got ${today}`)
      const id = firstRequestIdAt(Date.parse(`${DAY}T12:00:00Z`))
      yield* service.sql`INSERT INTO request (id, account_id, key_id, operation, model, state, status, expires_at, held, opened)
        VALUES (${id}, ${account.id}, 'k', 'chat.completions', 'm', 'open', 'open', now() + interval '1 hour', 0, '{}')`
      const open = yield* command(line())
      assert.deepStrictEqual([open.code, existsSync(directory)], [1, false])
      assert.include(open.stderr.join(), `All requests of ${DAY} must have ended; 1 have not`)
    }).pipe(Effect.scoped)
  )

  it.live("refuses a directory that cannot be created", () =>
    Effect.gen(function* () {
      const { command } = yield* setUp
      // Node's recursive mkdir never returns here.
      const said = yield* command(`export receipts --day ${DAY} --to /proc/no-such-directory/exports`)
      assert.strictEqual(said.code, 1)
      assert.match(
        said.stderr.join(),
        /^error: The directory of the export must be writable; .*\/proc\/no-such-directory/
      )
    }).pipe(Effect.scoped)
  )
})
