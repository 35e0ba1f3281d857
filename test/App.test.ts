import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Logger, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layerAfter } from "../src/App.ts"
import { Customers, OPERATOR } from "../src/billing/Customers.ts"
import { localOrigin } from "../src/Demo.ts"
import { NANO_PER_USD } from "../src/domain/Money.ts"
import { Ops } from "../src/http/handlers/Ops.ts"
import { Jobs } from "../src/jobs/Jobs.ts"
import { Ledger } from "../src/ledger/Ledger.ts"
import { Config } from "../src/platform/config/Config.ts"
import { newResourceId } from "../src/platform/Ids.ts"
import { layer as telemetry } from "../src/platform/telemetry/Telemetry.ts"
import { freshDatabase, layerUrl } from "./support/Database.ts"
import { post } from "./support/Service.ts"
import { root } from "./support/Sources.ts"

const chat = { model: "gpt-4o-mini", max_tokens: 20, messages: [{ role: "user", content: "Hello" }] }

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-app-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Returns the status of `/readyz`. */
const readiness = Effect.flatMap(Ops, ({ host, port }) =>
  Effect.promise(() => fetch(`http://${host}:${port}/readyz`).then((response) => response.status))
)

const settingsOn = Effect.fnUntraced(function* (url: string) {
  return Config.layerFrom({
    PORT: "0",
    OPS_PORT: "0",
    HOST: "127.0.0.1",
    SANDBOX: "on",
    LOG_LEVEL: "None",
    SHUTDOWN_DELAY: "0",
    SHUTDOWN_GRACE: "10 minutes",
    DATA_DIR: yield* directory,
    DATABASE_URL: url
  })
})

const builtOn = <E, R>(url: string, first: Layer.Layer<never, E, R>) =>
  Effect.map(settingsOn(url), (settings) =>
    layerAfter(first).pipe(Layer.provide(telemetry), Layer.provideMerge(settings), Layer.provide(Logger.layer([])))
  )

const refuses = (origin: string) =>
  Effect.promise(() =>
    fetch(`${origin}/api/v1/models`).then(
      () => false,
      () => true
    )
  )

/** Prints the packages that loading the gateway loads. */
const loading = `
  import { registerHooks } from "node:module"
  const packages = new Set()
  registerHooks({
    load: (url, context, next) => {
      const [, name] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? []
      if (name !== undefined) packages.add(name)
      return next(url, context)
    }
  })
  await import("./src/App.ts")
  await import("./src/platform/telemetry/Telemetry.ts")
  console.log(JSON.stringify([...packages]))`

describe("the gateway", () => {
  it("loads optional clients and encoders only at their first use", () => {
    const { stderr, stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", loading], {
      cwd: root,
      encoding: "utf8"
    })
    assert.strictEqual(stderr, "")
    const packages: ReadonlyArray<string> = JSON.parse(stdout)
    assert.include(packages, "undici")
    const late = [
      /^@?redis\b/,
      /^nodemailer$/,
      /^@opentelemetry\/(?!api$)/,
      /^gpt-tokenizer$/,
      /^@resvg\//,
      /^h264-mp4-encoder$/
    ]
    assert.deepStrictEqual(
      packages.filter((name) => late.some((one) => one.test(name))),
      []
    )
  })

  it.live("starts no step of a batch during shutdown, while running requests finish", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase("app")
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(yield* builtOn(url, Layer.empty), scope)
      yield* Effect.gen(function* () {
        const origin = yield* localOrigin
        const { account, inferenceKey } = yield* (yield* Customers).open("ann@example.com", NANO_PER_USD, OPERATOR)
        const asked = yield* Effect.forkChild(
          post(`${origin}/api/v1/chat/completions`, inferenceKey, chat, { "x-svc-sandbox": "latency_ms=4000" })
        )
        const ledger = yield* Ledger
        yield* Effect.repeat(ledger.balance(account.id), { until: (balance) => balance!.held > 0n })
        const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void))
        yield* Effect.repeat(refuses(origin), { until: (refused) => refused })
        yield* (yield* Jobs).enqueue("batches", newResourceId())
        assert.strictEqual((yield* Fiber.join(asked)).status, 200)
        yield* Fiber.join(stopping)
      }).pipe(Effect.provide(services))
      const sql = Context.get(yield* Layer.build(layerUrl(url, 2)), SqlClient.SqlClient)
      assert.deepStrictEqual(yield* sql`SELECT state, attempts FROM job WHERE queue_name = 'batches'`, [
        { state: "pending", attempts: 0 }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("is ready only after the first layer is built", () =>
    Effect.gen(function* () {
      let meanwhile = 0
      const first = Layer.effectDiscard(Effect.map(readiness, (status) => void (meanwhile = status)))
      const after = yield* Effect.provide(
        readiness,
        yield* Layer.build(yield* builtOn(yield* freshDatabase("app"), first))
      )
      assert.deepStrictEqual([meanwhile, after], [503, 200])
    }).pipe(Effect.scoped)
  )
})
