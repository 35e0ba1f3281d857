/** Batches whose processes are killed or work at the same time. Each request is served and charged once. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import OpenAI, { toFile } from "openai"
import { Jobs } from "../../src/jobs/Jobs.ts"
import { verify } from "../../src/ledger/Verify.ts"
import { environment, makeGateway, program } from "../crash/Gateway.ts"
import { nano } from "../support/Amounts.ts"
import { until } from "../support/Until.ts"
import { freshDatabase, layerUrl } from "../support/Database.ts"
import { bucket, startS3 } from "../support/S3.ts"
import { get, json, post, startService } from "../support/Service.ts"

const DOLLARS = 50

const EMAIL = "batches@example.com"

const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-batches-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Starts gateway processes on one database, and creates an account to call them. */
const startGateways = (count: number, more: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const databaseUrl = yield* freshDatabase("batches")
    const directory = yield* temporaryDirectory
    const settings = {
      DATABASE_URL: databaseUrl,
      DATA_DIR: directory,
      SANDBOX: "on",
      RATE_LIMIT_SCALE: "1000",
      HOLD_TTL: "5 seconds",
      SWEEP_INTERVAL: "500 millis",
      ...more
    }
    const gateways = yield* Effect.forEach(Array.from({ length: count }), () => makeGateway(settings))
    yield* Effect.forEach(gateways, ({ start }) => start, { concurrency: "unbounded" })
    const created = yield* Effect.promise<string>(
      () =>
        new Promise((resolve, reject) => {
          const flags = ["--email", EMAIL, "--balance-usd", String(DOLLARS), "--json"]
          execFile(
            process.execPath,
            [program("admin.ts"), "account", "create", ...flags],
            { env: environment(settings) },
            (error, stdout) => (error === null ? resolve(stdout) : reject(error))
          )
        })
    )
    const { inference_key: key } = JSON.parse(created) as { readonly inference_key: string }
    const sql = yield* Effect.map(Layer.build(layerUrl(databaseUrl, 2)), (context) => context)
    const asked = <A, E>(query: (client: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
      Effect.provide(Effect.flatMap(SqlClient.SqlClient, query), sql)
    return { gateways, key, asked, apiOf: (port: number) => `http://127.0.0.1:${port}/api/v1` }
  })

type Asked = Effect.Success<ReturnType<typeof startGateways>>["asked"]

/** Returns the charges of an operation, the number of charged requests and of their idempotency keys, and the balance. */
const charged = (asked: Asked, operation: string) =>
  asked((sql) =>
    Effect.map(
      sql<{ requests: bigint; keys: bigint; cost: bigint; posted: bigint; held: bigint }>`SELECT
        count(*) FILTER (WHERE settled > 0) AS requests,
        count(DISTINCT idempotency_key) FILTER (WHERE settled > 0) AS keys,
        coalesce(sum(settled), 0)::bigint AS cost,
        (SELECT posted FROM balance JOIN account a ON a.id = account_id WHERE email = ${EMAIL}) AS posted,
        (SELECT held FROM balance JOIN account a ON a.id = account_id WHERE email = ${EMAIL}) AS held
      FROM request WHERE operation = ${operation}`,
      ([row]) => row!
    )
  )

const noFaults = (asked: Asked) =>
  Effect.map(asked(verify), ({ checks }) =>
    assert.deepStrictEqual(
      checks.filter(({ ok }) => !ok),
      []
    )
  )

const line = (at: number) => ({
  custom_id: `line ${at}`,
  method: "POST",
  url: "/v1/chat/completions",
  body: { model: "gpt-4o-mini", max_tokens: 200, messages: [{ role: "user", content: `Say ${at}` }] }
})

const begin = (client: OpenAI, count: number) =>
  Effect.promise(async () => {
    const text = Array.from({ length: count }, (_, at) => JSON.stringify(line(at))).join("\n")
    const { id } = await client.files.create({ file: await toFile(Buffer.from(text), "in.jsonl"), purpose: "batch" })
    return client.batches.create({ input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" })
  })

/** Returns the counts of a batch that has ended, and the custom ids and the cost of its output. */
const outputOf = (client: OpenAI, id: string) =>
  Effect.promise(async () => {
    const batch = await client.batches.retrieve(id)
    const text = await (await client.files.content(batch.output_file_id!)).text()
    const lines = text
      .trimEnd()
      .split("\n")
      .map((one) => JSON.parse(one))
    return {
      counts: batch.request_counts,
      ids: lines.map(({ custom_id }) => custom_id),
      cost: lines.reduce((all, { response }) => all + nano(response.body.cost_usd), 0n)
    }
  })

const expected = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`)

describe("the input file of a batch", () => {
  it.live(
    "is in no list when its gateway is killed before the bytes are stored, and the sweep removes it",
    () =>
      Effect.gen(function* () {
        const s3 = yield* startS3
        const { apiOf, asked, gateways, key } = yield* startGateways(1, {
          S3_ENDPOINT: s3.origin,
          S3_BUCKET: bucket.name,
          S3_REGION: bucket.region,
          S3_ACCESS_KEY_ID: bucket.accessKeyId,
          S3_SECRET_ACCESS_KEY: bucket.secret
        })
        const gateway = gateways[0]!
        const client = new OpenAI({ baseURL: apiOf(gateway.port), apiKey: key, maxRetries: 0 })
        const send = Effect.tryPromise(async () =>
          client.files.create({
            file: await toFile(Buffer.from(JSON.stringify(line(0))), "in.jsonl"),
            purpose: "batch"
          })
        )
        s3.faults.push("hang")
        const sending = yield* Effect.forkChild(Effect.exit(send))
        yield* until(
          "the upload to the bucket has started",
          Effect.sync(() => s3.seen.some((request) => request.startsWith("PUT ")))
        )
        yield* gateway.kill
        assert.strictEqual((yield* Fiber.join(sending))._tag, "Failure")
        const rows = asked((sql) => sql<{ id: string; state: string }>`SELECT id, state FROM file`)
        const left = yield* rows
        assert.deepStrictEqual(
          left.map(({ state }) => state),
          ["storing"]
        )
        yield* gateway.start
        assert.isEmpty((yield* Effect.promise(() => client.files.list())).data)
        for (const path of ["", "/content"]) {
          const found = yield* get(`${apiOf(gateway.port)}/files/${left[0]!.id}${path}`, key)
          assert.strictEqual(found.status, 404, path)
        }
        const begun = yield* post(`${apiOf(gateway.port)}/batches`, key, {
          input_file_id: left[0]!.id,
          endpoint: "/v1/chat/completions",
          completion_window: "24h"
        })
        assert.deepStrictEqual([begun.status, (yield* json(begun)).error.param], [400, "input_file_id"])
        yield* asked((sql) => sql`UPDATE file SET state_at = now() - interval '61 minutes'`)
        yield* until(
          "the sweep has removed the row",
          Effect.map(rows, ({ length }) => length === 0)
        )
        assert.strictEqual(s3.objects.size, 0)
        const again = yield* send
        assert.deepStrictEqual([...s3.objects.keys()], [`files/${again.id}`])
        const { held, posted } = yield* charged(asked, "files.create")
        assert.deepStrictEqual([held, posted], [0n, BigInt(DOLLARS) * 1_000_000_000n])
        yield* noFaults(asked)
      }).pipe(Effect.scoped),
    120_000
  )
})

describe("a batch", () => {
  it.live(
    "in one call resumes under its idempotency key after its gateway was killed",
    () =>
      Effect.gen(function* () {
        const { apiOf, asked, gateways, key } = yield* startGateways(1)
        const gateway = gateways[0]!
        const requests = Array.from({ length: 60 }, (_, at) => ({ custom_id: `${at}`, body: line(at).body }))
        const send = (steering: string) =>
          post(
            `${apiOf(gateway.port)}/batch`,
            key,
            { requests },
            { "idempotency-key": "killed", "x-svc-sandbox": steering }
          )
        const first = yield* Effect.forkChild(Effect.exit(send("latency_ms=200")))
        yield* until(
          "some requests are served",
          Effect.map(charged(asked, "chat.completions"), (before) => before.requests >= 10n)
        )
        yield* gateway.kill
        yield* Fiber.join(first)
        const before = yield* charged(asked, "chat.completions")
        assert.isBelow(Number(before.requests), 60)
        yield* gateway.start
        let response = yield* send("")
        const statuses = new Set([response.status])
        yield* until(
          "the batch has resumed and ended",
          Effect.gen(function* () {
            if (response.status === 200) return true
            yield* Effect.promise(() => response.text())
            response = yield* send("")
            statuses.add(response.status)
            return response.status === 200
          })
        )
        assert.isEmpty([...statuses].filter((status) => status !== 200 && status !== 409))
        const body = yield* json(response)
        assert.lengthOf(body.data, 60)
        const after = yield* charged(asked, "chat.completions")
        assert.deepStrictEqual([after.requests, after.keys, after.held], [60n, 60n, 0n])
        assert.strictEqual(after.cost, nano(body.cost_usd))
        assert.strictEqual(after.posted, BigInt(DOLLARS) * 1_000_000_000n - after.cost)
        yield* noFaults(asked)
      }).pipe(Effect.scoped),
    120_000
  )

  it.live(
    "in the background resumes after both gateways were killed",
    () =>
      Effect.gen(function* () {
        const { apiOf, asked, gateways, key } = yield* startGateways(2)
        const clients = gateways.map(({ port }) => new OpenAI({ baseURL: apiOf(port), apiKey: key, maxRetries: 0 }))
        const [client] = clients
        const count = 1_500
        const { id } = yield* begin(client!, count)
        yield* until(
          "some lines are served",
          Effect.map(charged(asked, "chat.completions"), (before) => before.requests >= 100n)
        )
        yield* Effect.forEach(gateways, ({ kill }) => kill, { concurrency: "unbounded" })
        const before = yield* charged(asked, "chat.completions")
        assert.isBelow(Number(before.requests), count)
        yield* Effect.forEach(gateways, ({ start }) => start, { concurrency: "unbounded" })
        yield* until(
          "the batch is completed",
          Effect.map(
            Effect.promise(() => client!.batches.retrieve(id)),
            ({ status }) => status === "completed"
          ),
          "100 seconds"
        )
        const { cost, counts, ids } = yield* outputOf(client!, id)
        assert.deepStrictEqual(counts, { total: count, completed: count, failed: 0 })
        assert.deepStrictEqual(ids, expected(count))
        const after = yield* charged(asked, "chat.completions")
        assert.deepStrictEqual([after.requests, after.keys, after.held], [BigInt(count), BigInt(count), 0n])
        assert.strictEqual(after.cost, cost)
        yield* noFaults(asked)
      }).pipe(Effect.scoped),
    180_000
  )

  it.live(
    "in the background is served once when two gateways work on it at the same time",
    () =>
      Effect.gen(function* () {
        const DATA_DIR = yield* temporaryDirectory
        const one = yield* startService({ DATA_DIR })
        yield* startService({ DATA_DIR, DATABASE_URL: one.databaseUrl })
        const { account, inferenceKey } = yield* one.account(100)
        const client = new OpenAI({ baseURL: one.api, apiKey: inferenceKey, maxRetries: 0 })
        const count = 1_000
        const { id } = yield* begin(client, count)
        const jobs = Jobs.layerFrom({
          lease: "30 seconds",
          pollInterval: "1 second",
          idlePollInterval: "1 second",
          grace: "1 second"
        })
        let deliveries = 0
        yield* until(
          "the batch is completed",
          Effect.gen(function* () {
            // Delivers a batch in progress again, to a free worker of either gateway.
            yield* Effect.flatMap(Jobs, ({ enqueue }) => enqueue("batches", id))
            deliveries++
            const { status } = yield* Effect.promise(() => client.batches.retrieve(id))
            return status === "completed"
          }).pipe(Effect.provide(jobs.pipe(Layer.provide(layerUrl(one.databaseUrl, 2)))))
        )
        assert.isAbove(deliveries, 1)
        const { cost, counts, ids } = yield* outputOf(client, id)
        assert.deepStrictEqual(counts, { total: count, completed: count, failed: 0 })
        assert.deepStrictEqual(ids, expected(count))
        const { held, posted } = yield* one.balance(account.id)
        assert.deepStrictEqual([held, 100_000_000_000n - posted], [0n, cost])
        assert.deepStrictEqual(yield* one.faults, [])
      }).pipe(Effect.scoped),
    120_000
  )
})
