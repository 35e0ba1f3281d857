import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { inspect } from "node:util"
import { DEMO_EMAIL } from "../../../src/billing/Sandbox.ts"
import { verifyBooks } from "../../../src/billing/Books.ts"
import { freshDatabase, layerUrl } from "../../support/Database.ts"

const program = fileURLToPath(new URL("../../../src/admin/demo.ts", import.meta.url))

const demo = (env: Record<string, string>, options: ReadonlyArray<string>) =>
  Effect.callback<{ readonly code: number | null; readonly said: string }>((resume) => {
    const child = spawn(process.execPath, [program, ...options], { env })
    const said: Array<string> = []
    for (const output of [child.stdout, child.stderr]) output.on("data", (data) => said.push(String(data)))
    child.on("close", (code) => resume(Effect.succeed({ code, said: said.join("") })))
    return Effect.sync(() => child.kill("SIGTERM"))
  })

describe("the demo", () => {
  it.live(
    "spreads real requests over its days, keeps the books correct, and leaves no trigger behind",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase("demo")
        for (const requests of [100, 50]) {
          const { code, said } = yield* demo({ DATABASE_URL: url, SANDBOX: "on" }, [
            "--days=3",
            `--requests=${requests}`
          ])
          assert.strictEqual(code, 0, said)
        }
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const days = yield* sql<{ day: string; requests: number }>`SELECT
              date_trunc('day', r.created_at, 'UTC')::date::text AS day, count(*)::int AS requests
            FROM request r JOIN account a ON a.id = r.account_id WHERE a.email = ${DEMO_EMAIL} GROUP BY 1 ORDER BY 1`
          assert.isAtLeast(days.length, 3)
          assert.isAbove(
            days.reduce((sum, { requests }) => sum + requests, 0),
            100
          )
          const elsewhere = yield* sql`SELECT operation, status, created_at, closed_at FROM request
            WHERE closed_at IS NULL OR closed_at < created_at OR closed_at > created_at + interval '1 hour'`
          assert.deepStrictEqual(elsewhere, [])
          const [kinds] = yield* sql<{ statuses: number; operations: number; open: number; triggers: number }>`SELECT
            count(DISTINCT status)::int AS statuses, count(DISTINCT operation)::int AS operations,
            count(*) FILTER (WHERE state = 'open')::int AS open,
            (SELECT count(*)::int FROM pg_trigger WHERE tgname LIKE 'demo_%') AS triggers FROM request`
          assert.isAtLeast(kinds!.statuses, 2)
          assert.isAtLeast(kinds!.operations, 5)
          assert.deepInclude(kinds, { open: 0, triggers: 0 })
          const [long] = yield* sql<Record<string, number>>`SELECT
            (SELECT count(*)::int FROM video_job WHERE state = 'completed') AS clips,
            (SELECT count(*)::int FROM video_job WHERE state = 'failed' AND refunded) AS refunded,
            (SELECT count(*)::int FROM batch WHERE status = 'completed' AND completed = 11 AND failed = 1) AS batches,
            (SELECT count(*)::int FROM webhook_delivery WHERE status = 'delivered') AS delivered,
            (SELECT count(*)::int FROM webhook_endpoint WHERE status = 'disabled') AS disabled,
            (SELECT count(*)::int FROM (
              SELECT created_at, completed_at AS ended_at FROM video_job
              UNION ALL SELECT created_at, completed_at FROM batch
              UNION ALL SELECT d.created_at, ended_at FROM webhook_delivery d JOIN webhook_endpoint e ON e.id = d.endpoint_id
                -- A message for an endpoint that another one has disabled waits for the owner.
                WHERE e.status = 'enabled' OR d.status <> 'pending'
            ) one WHERE ended_at IS NULL OR ended_at < created_at OR ended_at > created_at + interval '1 hour')
              AS elsewhere,
            (SELECT count(DISTINCT date_trunc('day', created_at, 'UTC'))::int FROM video_job) AS days`
          assert.isAtLeast(long!["clips"]!, 8)
          assert.isAtLeast(long!["refunded"]!, 4)
          assert.isAtLeast(long!["batches"]!, 8)
          assert.isAtLeast(long!["delivered"]!, 8)
          assert.isAtLeast(long!["days"]!, 2)
          assert.deepInclude(long, { disabled: 1, elsewhere: 0 })
          const { checks, ok } = yield* verifyBooks(sql)
          assert.isTrue(ok, inspect(checks))
        }).pipe(Effect.provide(layerUrl(url, 2)))
      }).pipe(Effect.scoped),
    300_000
  )
})
