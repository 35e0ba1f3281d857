/** How late webhooks are at 99 endpoints while a hundredth hangs with a long queue; written by another process than delivers them. */
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { newResourceId } from "../../src/platform/Ids.ts"
import { connect } from "../../src/platform/database/Sql.ts"
import { insertEvent } from "../../src/webhooks/WebhooksSql.ts"
import { receiver, silence, status } from "../support/Receiver.ts"
import { BenchError } from "./BenchError.ts"
import { percentile } from "./Figures.ts"
import { type Faults, progress, type Samples } from "./Measure.ts"
import { atMost, milliseconds, type Row } from "./Report.ts"
import { type Customer, openAccount, type Stage } from "./Stage.ts"

/** An account may have twenty endpoints. */
const ACCOUNTS = 5
const ENDPOINTS_EACH = 20

/** What waits for the one that hangs before anything is measured. */
const QUEUED = 1_000

/** An event of one of the accounts, and so twenty deliveries, every so often. */
const EVERY_MS = 100

/** No other is to be delayed beyond this. */
const MOST_MS = 1_000

/** How long is waited for the last of them. */
const PATIENCE = "30 seconds"

const onDatabase = (url: string) =>
  Layer.effect(SqlClient.SqlClient, connect({ url: Redacted.make(url), poolSize: 2, called: "The bench's database" }))

const register = (port: number, { key }: Customer, url: string, event: string) =>
  Effect.gen(function* () {
    const response = yield* Effect.promise(() =>
      fetch(`http://127.0.0.1:${port}/api/v1/webhooks`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ url, events: [event] })
      })
    )
    if (!response.ok) return yield* new BenchError({ message: `a webhook was refused with ${response.status}` })
  })

const publish = (sql: SqlClient.SqlClient, accountId: string, type: string) =>
  Effect.suspend(() => {
    const id = `evt_${newResourceId()}`
    return insertEvent(sql, { id, accountId, type, body: String(Date.now()), createdAt: new Date() })
  })

export const webhooks = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  yield* progress("webhooks")
  const gateway = yield* stage.freshGateway({
    OUTBOUND_ALLOW_LOOPBACK: "1",
    // The run's other gateways leave what they cannot sign to this one.
    SECRETS_KEY: "the-key-of-the-one-gateway-that-delivers-here"
  })
  const { port } = gateway.endpoint
  const lateness: Array<number> = []
  const others = yield* receiver((message, response) => {
    lateness.push(Date.now() - Number(message.body))
    status(200)(message, response)
  })
  const hanging = yield* receiver(silence)
  const customers = yield* Effect.forEach(Array.from({ length: ACCOUNTS }), (_, index) =>
    openAccount(stage, `webhooks-${index}`)
  )
  for (const customer of customers) {
    for (let made = 0; made < ENDPOINTS_EACH; made++) {
      const hangs = customer === customers[0] && made === 0
      yield* register(port, customer, hangs ? hanging.url : others.url, hangs ? "video.failed" : "video.completed")
    }
  }
  return yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const first = customers[0]!.id
    for (let queued = 0; queued < QUEUED; queued++) yield* publish(sql, first, "video.failed")
    const events = Math.ceil((stage.options.rounds * stage.options.seconds * 1_000) / EVERY_MS)
    let expected = 0
    for (let sent = 0; sent < events; sent++) {
      const { id } = customers[sent % ACCOUNTS]!
      expected += yield* publish(sql, id, "video.completed")
      if (sent % 10 === 0) yield* publish(sql, first, "video.failed")
      yield* Effect.sleep(EVERY_MS)
    }
    yield* Effect.timeoutOption(others.have(expected), PATIENCE)
    faults.add("webhooks", {
      completed: lateness.length,
      failed: Math.abs(expected - lateness.length),
      example: `${lateness.length} came of ${expected}`
    })
    const figures = { p50: percentile(lateness, 0.5), p99: percentile(lateness, 0.99), max: Math.max(...lateness) }
    for (const [name, ms] of Object.entries(figures)) samples.add(`webhooks ${name} ms`, ms)
    const rows: ReadonlyArray<Row> = [
      {
        label: `Webhooks at 99 endpoints beside one that hangs, ${expected} late by, p50`,
        gateway: milliseconds(figures.p50)
      },
      { label: "– p99", gateway: milliseconds(figures.p99) },
      { label: "– at most", gateway: milliseconds(figures.max), must: atMost(figures.max, MOST_MS, " ms") }
    ]
    return rows
  }).pipe(Effect.provide(onDatabase(stage.databaseUrl)))
}, Effect.scoped)
