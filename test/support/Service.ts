/** Starts the whole service in this process, on a new database and a free port, and calls it over HTTP. */
import { Effect, Layer, Logger } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { connect } from "node:net"
import { layer as app } from "../../src/App.ts"
import { Accounts } from "../../src/account/Accounts.ts"
import { OperatorKeys } from "../../src/account/OperatorKeys.ts"
import { OperatorSessions } from "../../src/account/OperatorSessions.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Keys } from "../../src/account/Keys.ts"
import { Plans } from "../../src/account/Plans.ts"
import { Projects } from "../../src/account/Projects.ts"
import { csrfTokenOf, OwnerSessions } from "../../src/account/OwnerSessions.ts"
import { Customers } from "../../src/billing/Customers.ts"
import { NANO_PER_USD } from "../../src/domain/Money.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { Ops } from "../../src/http/handlers/Ops.ts"
import { Config } from "../../src/platform/config/Config.ts"
import { newRequestId, newResourceId } from "../../src/platform/Ids.ts"
import { Media } from "../../src/platform/files/Media.ts"
import { Presets } from "../../src/presets/Presets.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import { layer as telemetry } from "../../src/platform/telemetry/Telemetry.ts"
import { verifyBooks } from "../../src/billing/Books.ts"
import { freshDatabase } from "./Database.ts"
import { temporaryDirectory } from "./Directories.ts"

const actor = { type: "operator", id: "test" } as const

/**
 * Starts a service in this process, which ends when the scope closes. It runs in the sandbox, unless `env` sets
 * other settings. Its log goes to `loggers`, and `adjust` changes the decoded settings.
 */
export const startService = (
  env: Record<string, string> = {},
  loggers: ReadonlyArray<Logger.Logger<unknown, unknown>> = [],
  adjust: (config: Config["Service"]) => Config["Service"] = (config) => config
) =>
  Effect.gen(function* () {
    const databaseUrl = env["DATABASE_URL"] ?? (yield* freshDatabase("service"))
    const dataDirectory = env["DATA_DIR"] ?? (yield* temporaryDirectory)
    const read = Config.layerFrom({
      PORT: "0",
      OPS_PORT: "0",
      HOST: "127.0.0.1",
      SANDBOX: "on",
      RATE_LIMIT_SCALE: "1000",
      DATA_DIR: dataDirectory,
      LOG_LEVEL: "None",
      SHUTDOWN_DELAY: "0",
      ...env,
      DATABASE_URL: databaseUrl
    })
    const settings = Layer.provide(Layer.effect(Config, Effect.map(Config, adjust)), read)
    const context = yield* Layer.build(
      app.pipe(Layer.provide(telemetry), Layer.provideMerge(settings), Layer.provide(Logger.layer(loggers)))
    )
    return yield* Effect.gen(function* () {
      const { address } = yield* HttpServer.HttpServer
      const origin = `http://127.0.0.1:${"port" in address ? address.port : 0}`
      const accountsOf = yield* Accounts
      const audit = yield* Audit
      const customers = yield* Customers
      const ledger = yield* Ledger
      const ops = yield* Ops
      const keys = yield* Keys
      const operatorKeys = yield* OperatorKeys
      const operatorSessions = yield* OperatorSessions
      const media = yield* Media
      const sessions = yield* OwnerSessions
      const presets = yield* Presets
      const plans = yield* Plans
      const projects = yield* Projects
      const webhooks = yield* Webhooks
      const sql = yield* SqlClient.SqlClient
      let accounts = 0
      return {
        origin,
        /** The base URL of the API. */
        api: `${origin}/api/v1`,
        /** The origin of the ops port, with `/metrics` and `/readyz`. */
        ops: `http://127.0.0.1:${ops.port}`,
        databaseUrl,
        /** The directory of its files. */
        dataDirectory,
        accounts: accountsOf,
        customers,
        ledger,
        keys,
        operatorKeys,
        /** Creates a price plan without limits, and returns its id. */
        plan: (name: string) =>
          Effect.map(
            plans.create(
              {
                name,
                markup_bp: 0,
                prices: [{ model: "flux-dev", per_unit_usd: 0.03 }],
                requests_per_minute: null,
                running_videos: null,
                running_batches: null,
                daily_spend: null
              },
              { id: "test" }
            ),
            ({ id }) => id
          ),
        /** Creates an operator key, and returns its secret. */
        operatorKey: Effect.map(operatorKeys.create({ name: "test", expiresAt: null }), ({ key }) => key),
        /** Signs an operator in with this key, or with a new one. Returns the headers of the session. */
        operatorSignedIn: (keyId?: string) =>
          Effect.gen(function* () {
            const id = keyId ?? (yield* operatorKeys.create({ name: "console", expiresAt: null })).id
            const origin = { browser: null, address: null }
            const { token } = (yield* operatorSessions.begin({ keyId: id, requestId: newRequestId(), origin }))!
            return { cookie: `svc_operator=${token}`, "x-csrf-token": csrfTokenOf(token) }
          }),
        media,
        presets,
        webhooks,
        /** Creates a preset of an account. */
        preset: (accountId: string, slug: string, config: object) =>
          presets.create({ accountId, preset: { slug, name: slug, config }, actor }),
        /** The newest lines of an account's audit log, at most 20. */
        audit: (accountId: string) => audit.list(accountId, 20),
        /** Creates a project of an account. */
        project: (accountId: string, name: string) =>
          projects.create({ accountId, id: newResourceId(), project: { name }, actor }),
        /** The checks of the books that fail; none in a correct service. */
        faults: Effect.map(verifyBooks(sql), ({ checks }) => checks.filter((check) => !check.ok)),
        /** Opens an account with a balance in USD, and returns it with its keys. */
        account: (usd = 100, money: "real" | "play" = "real") =>
          customers.open(
            `caller-${accounts++}@example.com`,
            BigInt(Math.round(usd * Number(NANO_PER_USD))),
            actor,
            money
          ),
        /** Signs an account's owner in, and returns the id of the session. */
        ownerSession: (accountId: string) => Effect.map(sessions.begin(accountId), ({ id }) => id),
        /** Signs an account's owner in to the console, and returns the headers of the session. */
        signedIn: (accountId: string) =>
          Effect.map(sessions.begin(accountId), ({ token }) => ({
            cookie: `svc_session=${token}`,
            "x-csrf-token": csrfTokenOf(token)
          })),
        sql,
        /** An account's balance in nano-USD. */
        balance: (accountId: string) => Effect.map(ledger.balance(accountId), (balance) => balance!)
      }
    }).pipe(Effect.provide(context))
  })

export type Service = Effect.Success<ReturnType<typeof startService>>

/** Posts a JSON body with a key as bearer token. A string is sent as it is. */
export const post = (
  url: string,
  key: string,
  body: unknown,
  headers: Record<string, string> = {}
): Effect.Effect<Response> =>
  Effect.promise(() =>
    fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body)
    })
  )

/** Makes a GET request with a key as bearer token. */
export const get = (url: string, key: string): Effect.Effect<Response> =>
  Effect.promise(() => fetch(url, { headers: { authorization: `Bearer ${key}` } }))

/** Posts a body below the API over a connection that reads nothing of the answer, which fills at most the kernel's buffers. */
export const unread = (service: { readonly api: string }, key: string, path: string, content: object) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const { host, hostname, port } = new URL(service.api)
      const body = JSON.stringify(content)
      const head = [`host: ${host}`, `authorization: Bearer ${key}`, "content-type: application/json"].join("\r\n")
      const socket = connect(Number(port), hostname)
      socket.on("error", () => {})
      socket.pause()
      socket.write(`POST /api/v1${path} HTTP/1.1\r\n${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

/** The body of a response as JSON, untyped, for assertions. */
// oxlint-disable-next-line typescript/no-explicit-any
export const json = (response: Response): Effect.Effect<any> => Effect.promise(() => response.json())
