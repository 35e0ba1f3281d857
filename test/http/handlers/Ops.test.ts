import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Ops, readiness } from "../../../src/http/handlers/Ops.ts"
import { Shutdown } from "../../../src/http/edge/Shutdown.ts"
import { Config } from "../../../src/platform/config/Config.ts"
import { giveBack, takeAway } from "../../support/Outage.ts"
import { newClient } from "../../ledger/Fixture.ts"
import { makeWire } from "../../ledger/Wire.ts"
import { freshDatabase, layer as database } from "../../support/Database.ts"
import { post, startService } from "../../support/Service.ts"

const ask = (url: string, init?: RequestInit) =>
  Effect.promise(async () => {
    const response = await fetch(url, init)
    return { status: response.status, text: await response.text(), type: response.headers.get("content-type") }
  })

/** Asks again until it is answered so; the answer of before may stand for a second. */
const untilStatus = (url: string, status: number): ReturnType<typeof ask> =>
  Effect.flatMap(ask(url), (found) =>
    found.status === status
      ? Effect.succeed(found)
      : Effect.andThen(Effect.sleep("50 millis"), untilStatus(url, status))
  )

describe("the ops address", () => {
  it.live("counts paid requests by operation, and tokens only for token prices", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const bodies = {
        embeddings: { model: "text-embedding-3-small", input: "hi" },
        "audio/speech": { model: "tts-1", input: "hi", voice: "nova" }
      }
      for (const [path, body] of Object.entries(bodies)) {
        assert.strictEqual((yield* post(`${service.api}/${path}`, inferenceKey, body)).status, 200)
      }
      const { text } = yield* ask(`${service.ops}/metrics`)
      const labels = (operation: string, model: string) =>
        `gen_ai_operation_name="${operation}",gen_ai_provider_name="openai",gen_ai_request_model="${model}"`
      const embeddings = labels("embeddings", "text-embedding-3-small")
      const speech = labels("text_to_speech", "tts-1")
      for (const line of [
        `gen_ai_server_request_duration_seconds_count{${embeddings}} 1`,
        `gen_ai_client_token_usage_count{${embeddings},gen_ai_token_type="input"} 1`,
        `gen_ai_server_request_duration_seconds_count{${speech}} 1`
      ]) {
        assert.include(text.split("\n"), line)
      }
      assert.notInclude(text, `gen_ai_client_token_usage_count{${speech}`)
      assert.notInclude(text, 'gen_ai_operation_name="chat"')
    }).pipe(Effect.scoped)
  )

  it.live("serves health, readiness and metrics, and the public address does not", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const body = { model: "gpt-4o-mini", max_tokens: 5, messages: [{ role: "user", content: "PLANTED" }] }
      assert.strictEqual((yield* post(`${service.api}/chat/completions`, inferenceKey, body)).status, 200)
      assert.deepInclude(yield* ask(`${service.ops}/healthz`), { status: 200, text: "up\n" })
      assert.deepInclude(yield* ask(`${service.ops}/readyz`), { status: 200, text: "ready\n" })
      const { status, text, type } = yield* ask(`${service.ops}/metrics`)
      assert.deepStrictEqual([status, type], [200, "text/plain; version=0.0.4; charset=utf-8"])
      const model = 'gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-4o-mini"'
      for (const line of [
        `gen_ai_server_request_duration_seconds_count{${model}} 1`,
        `gen_ai_client_operation_duration_seconds_count{${model}} 1`,
        'svc_provider_attempts_total{gen_ai_provider_name="openai",svc_outcome="served"} 1',
        'svc_ledger_holds_total{svc_outcome="admitted"} 1',
        "svc_ledger_holds_open 0",
        'svc_http_requests_total{http_response_status_class="2xx"} 1'
      ]) {
        assert.include(text.split("\n"), line)
      }
      assert.match(text, /^process_memory_usage_bytes \d{7,}$/m)
      for (const secret of [inferenceKey.slice(11, 40), "PLANTED"]) assert.notInclude(text, secret)
      for (const path of ["healthz", "readyz", "metrics"]) {
        assert.strictEqual((yield* ask(`${service.origin}/${path}`)).status, 404)
        assert.strictEqual((yield* ask(`${service.api}/${path}`)).status, 404)
      }
      assert.strictEqual((yield* ask(`${service.ops}/api/v1/models`)).status, 404)
      const posted = yield* Effect.promise(() => fetch(`${service.ops}/healthz`, { method: "POST" }))
      assert.deepStrictEqual([posted.status, posted.headers.get("allow")], [405, "GET, HEAD"])
    }).pipe(Effect.scoped)
  )

  it.live("reports not ready while the database is down, and stays healthy", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      yield* untilStatus(`${service.ops}/readyz`, 200)
      yield* takeAway(service.databaseUrl)
      const { text } = yield* untilStatus(`${service.ops}/readyz`, 503)
      assert.match(text, /^the database (refuses connections|ended the connection|cannot be reached|does not answer)/)
      assert.strictEqual((yield* ask(`${service.ops}/healthz`)).status, 200)
      yield* giveBack(service.databaseUrl)
      yield* untilStatus(`${service.ops}/readyz`, 200)
    }).pipe(Effect.scoped)
  )

  it.live("reports a hanging database within a prober's timeout, and its recovery", () =>
    Effect.gen(function* () {
      const wire = yield* makeWire(yield* freshDatabase())
      const client = Layer.effect(SqlClient.SqlClient, newClient(wire.url))
      const layers = readiness.pipe(
        Layer.provideMerge(Layer.mergeAll(Ops.layer, Shutdown.layer)),
        Layer.provide(client),
        Layer.provide(Config.layerFrom({ OPS_PORT: "0", SHUTDOWN_DELAY: "0" }))
      )
      const { port } = yield* Effect.provide(Ops, yield* Layer.build(layers))
      const url = `http://127.0.0.1:${port}/readyz`
      assert.strictEqual((yield* ask(url)).status, 200)
      yield* wire.hang
      yield* Effect.timeout(untilStatus(url, 503), "4 seconds")
      for (let probe = 0; probe < 3; probe++) {
        assert.deepInclude(yield* Effect.timeout(ask(url), "2 seconds"), { status: 503 })
      }
      yield* wire.mend
      yield* untilStatus(url, 200)
    }).pipe(Effect.scoped)
  )

  it.live(
    "reads from the database at most once a second and writes every ten seconds, however often it is probed",
    () =>
      Effect.gen(function* () {
        const stores = yield* Layer.build(database)
        const sql = yield* Effect.provide(SqlClient.SqlClient, stores)
        const asked = { all: 0, writes: 0 }
        const counting = new Proxy(sql, {
          apply: (target, self, words) => {
            asked.all++
            if (String(words[0]).includes("write_durably")) asked.writes++
            return Reflect.apply(target as never, self, words)
          }
        })
        const ops = Ops.layer.pipe(
          Layer.provide(Layer.succeed(SqlClient.SqlClient, counting)),
          Layer.provide(Config.layerFrom({ OPS_PORT: "0", SHUTDOWN_DELAY: "0" }))
        )
        const { port } = yield* Effect.provide(Ops, yield* Layer.build(ops))
        const startedAt = performance.now()
        const probes = Array.from({ length: 50 }, () => ask(`http://127.0.0.1:${port}/readyz`))
        const answers = yield* Effect.all(probes, { concurrency: 10 })
        assert.isTrue(answers.every(({ text }) => text === "the service is starting\n"))
        assert.isAtMost(asked.all - asked.writes, 1 + Math.floor((performance.now() - startedAt) / 1_000))
        assert.isAtLeast(asked.all - asked.writes, 1)
        assert.strictEqual(asked.writes, 1)
      }).pipe(Effect.scoped)
  )

  it.live("reports shutdown before the service stops, and answers until the end", () =>
    Effect.gen(function* () {
      const stores = yield* Layer.build(database)
      const seen: Array<string> = []
      const scope = yield* Scope.make()
      /** Stands for the public server: at its end it looks at what is said of it. */
      const server = Layer.effectDiscard(
        Effect.gen(function* () {
          const { port } = yield* Ops
          const look = Effect.gen(function* () {
            for (const path of ["readyz", "healthz"]) {
              const { status, text } = yield* ask(`http://127.0.0.1:${port}/${path}`)
              seen.push(`${status} ${text.trim()}`)
            }
          })
          yield* look
          yield* Effect.addFinalizer(() => look)
        })
      )
      const layers = readiness.pipe(
        Layer.provideMerge(server),
        Layer.provideMerge(Layer.mergeAll(Ops.layer, Shutdown.layer)),
        Layer.provide(Layer.succeedContext(stores)),
        Layer.provide(Config.layerFrom({ OPS_PORT: "0", SHUTDOWN_DELAY: "0" }))
      )
      const { port } = yield* Effect.provide(Ops, yield* Layer.buildWithScope(layers, scope))
      assert.strictEqual((yield* ask(`http://127.0.0.1:${port}/readyz`)).status, 200)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(seen, ["503 the service is starting", "200 up", "503 the service is stopping", "200 up"])
      assert.strictEqual(
        (yield* Effect.exit(Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/`))))._tag,
        "Failure"
      )
    }).pipe(Effect.scoped)
  )

  it.live("names the variable of a port in use", () =>
    Effect.gen(function* () {
      const taken = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const server = createServer()
          await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
          return server
        }),
        (server) => Effect.promise(() => new Promise<void>((resolve) => server.close(() => resolve())))
      )
      const { port } = taken.address() as AddressInfo
      const layers = Ops.layer.pipe(
        Layer.provide(Config.layerFrom({ OPS_PORT: String(port) })),
        Layer.provide(database)
      )
      const error = yield* Effect.flip(Layer.build(layers))
      assert.deepInclude(error, {
        _tag: "StartError",
        message: `OPS_PORT ${port} is in use; stop the program that uses it, or set OPS_PORT to another port`
      })
    }).pipe(Effect.scoped)
  )

  it.live("names the variable when the address belongs to another machine", () =>
    Effect.gen(function* () {
      const layers = Ops.layer.pipe(
        Layer.provide(Config.layerFrom({ OPS_HOST: "192.0.2.1", OPS_PORT: "0" })),
        Layer.provide(database)
      )
      const error = yield* Effect.flip(Layer.build(layers))
      assert.strictEqual(error.message, "OPS_HOST 192.0.2.1 is not an address of this machine (EADDRNOTAVAIL)")
    }).pipe(Effect.scoped)
  )
})
