import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { insertNotification } from "../../src/notifications/NotificationsSql.ts"
import { customer } from "../ledger/Fixture.ts"
import { freshDatabase, layerUrl } from "../support/Database.ts"
import { postbox } from "../support/Postbox.ts"
import { eventually } from "../support/Eventually.ts"

const program = fileURLToPath(new URL("notificationEmailProcess.ts", import.meta.url))

const killed = (child: ChildProcess) =>
  Effect.promise(() => {
    const exit = new Promise((resolve) => child.once("exit", resolve))
    child.kill("SIGKILL")
    return exit
  })

describe("the email worker", () => {
  it.live(
    "sends each email once, though nodes are killed while they send",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase()
        const nodes: { last: ChildProcess | undefined } = { last: undefined }
        let kills = 0
        // The first nodes die when the server has the envelope and not yet the email.
        const box = yield* postbox({
          onRcptTo: (_address, _session, done) => {
            if (kills < 3) {
              kills += 1
              nodes.last?.kill("SIGKILL")
              return
            }
            done()
          }
        })
        const start = Effect.acquireRelease(
          Effect.sync(() => {
            nodes.last = spawn(process.execPath, [program, url, box.settings.SMTP_URL], { stdio: "ignore" })
            return nodes.last
          }),
          (child) => (child.exitCode === null && child.signalCode === null ? killed(child) : Effect.void)
        )
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const accounts = yield* Effect.forEach([1, 2, 3], () => customer(sql, 1_000n))
          for (const { accountId } of accounts)
            yield* insertNotification(sql, {
              accountId,
              kind: "key_change",
              data: { name: accountId, action: "created" }
            })
          for (let round = 1; round <= 3; round++) {
            const child = yield* start
            yield* eventually(
              Effect.sync(() => child.signalCode),
              (signal) => signal === "SIGKILL"
            )
            assert.strictEqual(kills, round)
            assert.deepStrictEqual(box.emails, [])
            // The claims of the killed node end.
            yield* sql`UPDATE letter SET due_at = now() WHERE ended_at IS NULL`
          }
          yield* start
          yield* start
          yield* eventually(sql`SELECT id FROM letter WHERE outcome = 'sent'`, (rows) => rows.length === 3)
          const ids = box.emails.map(({ text }) => /^Message-ID: <([0-9a-f]{24})@example\.com>/m.exec(text)?.[1])
          const rows = yield* sql<{ id: string }>`SELECT id FROM letter`
          assert.deepStrictEqual(ids.toSorted(), rows.map(({ id }) => id).toSorted())
          assert.deepStrictEqual(yield* sql`SELECT id FROM notice`, [])
        }).pipe(Effect.provide(layerUrl(url, 2)))
      }).pipe(Effect.scoped),
    60_000
  )
})
