/**
 * The delay of webhooks at 99 endpoints while one more hangs with a long queue. This process writes the events; a gateway delivers them.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { newResourceId } from "../../src/platform/Ids.ts"
import { connectionTo } from "./Database.ts"
import { insertEvent } from "../../src/webhooks/WebhooksSql.ts"
import { receiver, silence, status } from "../support/Receiver.ts"
import { BenchError } from "./BenchError.ts"
import { percentile } from "./Figures.ts"
import { type Failures, progress, type Samples } from "./Measure.ts"
import { atMost, milliseconds, type Row } from "./Report.ts"
import { type Account, openAccount, type Testbed } from "./Testbed.ts"

/** An account may have twenty endpoints. */
const ACCOUNTS = 5
const ENDPOINTS_EACH = 20

/** Deliveries in the queue of the hanging endpoint before the measurement. */
const QUEUED = 1_000

/** Between two events. Each event has twenty deliveries. */
const EVERY_MS = 100

/** The longest delay of another endpoint's delivery. */
const MAX_MS = 1_000

/** How long to wait for the last deliveries. */
const LAST_DELIVERIES = "30 seconds"

const register = (port: number, { key }: Account, url: string, event: string) =>
  Effect.gen(function* () {
    const response = yield* Effect.promise(() =>
      fetch(`http://127.0.0.1:${port}/api/v1/webhooks`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ url, events: [event] })
      })
    )
    if (!response.ok) return yield* new BenchError({ message: `Registering a webhook failed with ${response.status}.` })
  })

const publish = (sql: SqlClient.SqlClient, accountId: string, type: string) =>
  Effect.suspend(() => {
    const id = `evt_${newResourceId()}`
    return insertEvent(sql, { id, accountId, type, body: String(Date.now()), createdAt: new Date() })
  })

export const webhooks = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  yield* progress("webhooks")
  const gateway = yield* testbed.freshGateway({
    OUTBOUND_ALLOW_LOOPBACK: "1",
    // The run's other gateways skip what they cannot sign, so this one delivers alone.
    SECRETS_KEY: "the-key-of-the-one-gateway-that-delivers-here"
  })
  const { port } = gateway.endpoint
  const lateness: Array<number> = []
  const others = yield* receiver((message, response) => {
    lateness.push(Date.now() - Number(message.body))
    status(200)(message, response)
  })
  const hanging = yield* receiver(silence)
  const accounts = yield* Effect.forEach(Array.from({ length: ACCOUNTS }), (_, index) =>
    openAccount(testbed, `webhooks-${index}`)
  )
  for (const account of accounts) {
    for (let made = 0; made < ENDPOINTS_EACH; made++) {
      const hangs = account === accounts[0] && made === 0
      yield* register(port, account, hangs ? hanging.url : others.url, hangs ? "video.failed" : "video.completed")
    }
  }
  return yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const first = accounts[0]!.id
    for (let queued = 0; queued < QUEUED; queued++) yield* publish(sql, first, "video.failed")
    const events = Math.ceil((testbed.options.rounds * testbed.options.seconds * 1_000) / EVERY_MS)
    let expected = 0
    for (let sent = 0; sent < events; sent++) {
      const { id } = accounts[sent % ACCOUNTS]!
      expected += yield* publish(sql, id, "video.completed")
      if (sent % 10 === 0) yield* publish(sql, first, "video.failed")
      yield* Effect.sleep(EVERY_MS)
    }
    yield* Effect.timeoutOption(others.have(expected), LAST_DELIVERIES)
    failures.add("webhooks", {
      completed: lateness.length,
      failed: Math.abs(expected - lateness.length),
      example: `${lateness.length} of ${expected} arrived`
    })
    const figures = { p50: percentile(lateness, 0.5), p99: percentile(lateness, 0.99), max: Math.max(...lateness) }
    for (const [name, ms] of Object.entries(figures)) samples.add(`webhooks ${name} ms`, ms)
    const rows: ReadonlyArray<Row> = [
      {
        label: `Delay of ${expected} webhooks at 99 endpoints beside one that hangs, p50`,
        gateway: milliseconds(figures.p50)
      },
      { label: "– p99", gateway: milliseconds(figures.p99) },
      { label: "– maximum", gateway: milliseconds(figures.max), must: atMost(figures.max, MAX_MS, " ms") }
    ]
    return rows
  }).pipe(Effect.provide(connectionTo(testbed.databaseUrl, 2)))
}, Effect.scoped)
