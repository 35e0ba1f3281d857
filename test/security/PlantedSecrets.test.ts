/** Every secret of the gateway gets a known value, which the test then looks for in everything that the gateway writes, sends and shows. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawn } from "node:child_process"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { settingsByName } from "../../src/platform/config/SettingsTable.ts"
import { upstream } from "../providers/upstream.ts"
import { freshDatabase } from "../support/Database.ts"
import { allRows } from "../support/AllRows.ts"
import { environment, program } from "../support/Process.ts"
import { get, post, startService } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"

const secretSettings = Object.entries(settingsByName).flatMap(([name, { isSecret }]) => (isSecret ? [name] : []))

/** Returns a recognizable secret of this name, which is valid wherever printable text is. */
const planted = (name: string): string => `Planted-${name.toLowerCase().replaceAll("_", "-")}-0123456789abcdef`

/** Secrets with their own format. */
const formed: Readonly<Record<string, (secret: string) => string>> = {
  DATABASE_URL: (secret) => secret,
  REDIS_URL: (secret) => `redis://:${secret}@127.0.0.1:1`,
  SMTP_URL: (secret) => `smtp://user:${secret}@127.0.0.1:1`,
  OTEL_EXPORTER_OTLP_HEADERS: (secret) => `authorization=${secret}`
}

const written: Readonly<Record<string, string>> = Object.fromEntries(
  secretSettings.map((name) => [name, formed[name]?.(planted(name)) ?? planted(name)])
)

/** Returns a secret in the encodings in which it could leak. */
const formsOf = (secret: string): ReadonlyArray<string> => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString("base64").replace(/=+$/, "").slice(0, -1),
  Buffer.from(secret).toString("hex")
]

/** Returns the secrets that a text contains. */
const leaked = (text: string, secrets: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(secrets).flatMap(([name, secret]) =>
    formsOf(secret).some((form) => text.includes(form)) ? [`${name} near "${around(text, secret)}"`] : []
  )

const around = (text: string, secret: string): string => {
  const at = text.indexOf(secret)
  return text.slice(Math.max(0, at - 120), at)
}

/** A host that refuses every request, repeats it in its answer, and records it. */
const echoing = Effect.gen(function* () {
  const received: Array<string> = []
  const { origin } = yield* upstream((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (piece: string) => (body += piece))
    request.on("end", () => {
      const text = JSON.stringify({ error: { message: `refused: ${JSON.stringify(request.headers)} ${body}` } })
      received.push(`${request.url} ${JSON.stringify(request.headers)} ${body}`)
      response.writeHead(request.url?.includes("v1/traces") ? 200 : 401, { "content-type": "application/json" })
      response.end(text)
    })
  })
  return { origin, received }
})

/** Starts a gateway process with these settings, and records its output. */
const running = (settings: Record<string, string>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const env = environment({ PORT: "0", ...settings })
      const child = spawn(process.execPath, [program("main.ts")], { env, stdio: ["ignore", "pipe", "pipe"] })
      const state = { text: "" }
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (state.text += String(piece)))
      const port = () => /http:\/\/127\.0\.0\.1:(\d+)\/api\/v1/.exec(state.text)?.[1]
      const opsPort = () => /http:\/\/127\.0\.0\.1:(\d+)(?=",| \(\/healthz)/.exec(state.text)?.[1]
      while (port() === undefined || opsPort() === undefined) {
        if (child.exitCode !== null) throw new Error(`the gateway did not start: ${state.text}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      return { child, state, origin: `http://127.0.0.1:${port()}`, ops: `http://127.0.0.1:${opsPort()}` }
    }),
    ({ child }) =>
      Effect.promise(async () => {
        const ended = new Promise((resolve) => child.once("exit", resolve))
        if (child.exitCode !== null) return
        child.kill("SIGTERM")
        await ended
      })
  )

const textOf = (response: Effect.Effect<Response>) =>
  Effect.flatMap(response, (answer) =>
    Effect.promise(async () => `${answer.status} ${JSON.stringify([...answer.headers])} ${await answer.text()}`)
  )

const admin = (env: Record<string, string>, ...words: ReadonlyArray<string>) =>
  Effect.callback<string>((resume) => {
    execFile(process.execPath, [program("admin.ts"), ...words], { env: environment(env) }, (_, out, err) =>
      resume(Effect.succeed(out + err))
    )
  })

/** Returns what the system shows every user of a process and its children. */
const processesOf = (
  pid: number
): ReadonlyArray<{ readonly pid: number; readonly line: string; readonly env: string }> => {
  const read = (one: number, file: string): string => {
    try {
      return readFileSync(`/proc/${one}/${file}`, "utf8").replaceAll("\0", " ")
    } catch {
      return ""
    }
  }
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && new RegExp(`^PPid:\\s+${pid}$`, "m").test(read(Number(name), "status")))
    .flatMap((name) => processesOf(Number(name)))
  return [{ pid, line: read(pid, "cmdline"), env: read(pid, "environ") }, ...children]
}

/** Returns whether a file is a core dump, snapshot, report or profile of a process. */
const isRemains = (name: string): boolean =>
  /(^|\/)core(\.\d+)?$|\.heapsnapshot$|^report\..*\.json$|\.cpuprofile$/.test(name)

const chat = (content: string) => ({ model: "gpt-4o-mini", messages: [{ role: "user", content }] })

const PROMPT = "Planted-prompt-0123456789abcdef"
const ANSWER = "Planted-answer-0123456789abcdef"

describe("a planted secret", () => {
  it.live(
    "appears in no log, span, metric, page, error, table, report or process list while every provider fails",
    () =>
      Effect.gen(function* () {
        const host = yield* echoing
        const directory = yield* temporaryDirectory
        const database = new URL(yield* freshDatabase("planted"))
        // The tests' database server trusts this machine, so it accepts any password.
        if (database.password === "") database.password = planted("DATABASE_URL")
        const shared = { DATABASE_URL: database.href, SECRETS_KEY: written["SECRETS_KEY"]! }
        const settings = {
          ...written,
          ...shared,
          DATA_DIR: directory,
          SANDBOX: "off",
          LOG_LEVEL: "all",
          LOG_FORMAT: "json",
          ...Object.fromEntries(
            ["OPENAI", "ANTHROPIC", "GEMINI", "VOYAGE", "TAVILY", "FAL", "XAI", "TWILIO", "STRIPE"].map((name) => [
              `${name}_BASE_URL`,
              host.origin
            ])
          ),
          S3_BUCKET: "bucket",
          S3_ENDPOINT: host.origin,
          MAIL_FROM: "no-reply@example.com",
          TWILIO_ACCOUNT_SID: `AC${"0".repeat(32)}`,
          TWILIO_VERIFY_SERVICE_SID: `VA${"0".repeat(32)}`,
          OTEL_EXPORTER_OTLP_ENDPOINT: host.origin,
          OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
          OTEL_METRIC_EXPORT_INTERVAL: "1000",
          OTEL_TRACES_SAMPLER: "always_on",
          OUTBOUND_ALLOW_LOOPBACK: "1",
          PUBLIC_URL: "http://localhost"
        }
        const service = yield* startService({ ...shared, OUTBOUND_ALLOW_LOOPBACK: "1" })
        const { account, inferenceKey, managementKey } = yield* service.account(10)
        const operatorKey = yield* service.operatorKey
        const session = yield* service.signedIn(account.id)
        const webhook = yield* service.webhooks.register({
          accountId: account.id,
          url: `${host.origin}/hook`,
          actor: { type: "operator", id: "test" },
          events: ["video.completed"]
        })
        // A prompt and an answer of the sandbox are planted as well.
        yield* post(`${service.api}/chat/completions`, inferenceKey, chat(PROMPT), {
          "x-svc-sandbox": `text=${ANSWER}`
        })

        const gateway = yield* running(settings)
        const api = `${gateway.origin}/api/v1`
        const secrets: Record<string, string> = {
          ...Object.fromEntries(secretSettings.map((name) => [name, planted(name)])),
          "inference key": inferenceKey,
          "management key": managementKey,
          "operator key": operatorKey,
          session: session.cookie.replace("svc_session=", ""),
          "webhook secret": String(webhook.secret).replace("whsec_", ""),
          prompt: PROMPT,
          answer: ANSWER
        }
        const shown: Array<string> = []
        const ask = (path: string, body: object, key = inferenceKey) =>
          Effect.map(textOf(post(`${api}${path}`, key, body)), (text) => void shown.push(text))
        const messages = [{ role: "user", content: PROMPT }]
        for (const model of ["gpt-4o-mini", "claude-sonnet-4-5", "gemini-2.5-flash", "grok-4"]) {
          yield* ask("/chat/completions", { model, messages })
          yield* ask("/chat/completions", { model, messages, stream: true })
        }
        yield* ask("/messages", { model: "claude-sonnet-4-5", max_tokens: 10, messages })
        yield* ask("/responses", { model: "gpt-4o-mini", input: PROMPT })
        yield* ask("/embeddings", { model: "text-embedding-3-small", input: PROMPT })
        yield* ask("/rerank", { model: "rerank-2.5", query: PROMPT, documents: [PROMPT] })
        yield* ask("/search", { query: PROMPT })
        yield* ask("/images/generations", { model: "flux-dev", prompt: PROMPT })
        yield* ask("/audio/speech", { model: "tts-1", input: PROMPT, voice: "alloy" })
        yield* ask(`/webhooks/${webhook.endpoint.id}/test`, {})
        yield* ask("/console/sign-in", { email: "ann@example.com" })
        // These errors quote the request to its own client, so they are not checked.
        for (const body of [{ model: PROMPT, messages }, { [PROMPT]: PROMPT }])
          yield* textOf(post(`${api}/chat/completions`, inferenceKey, body))
        // Wrong keys, keys of another kind, and keys in paths and queries.
        for (const key of [`${inferenceKey.slice(0, -1)}!`, managementKey, operatorKey])
          yield* ask("/chat/completions", chat("x"), key)
        for (const path of [
          "/management/keys",
          "/operator/accounts",
          "/console/session",
          `/models/${inferenceKey}`,
          `/nothing?key=${inferenceKey}`
        ]) {
          for (const key of [inferenceKey, managementKey, operatorKey]) {
            const text = yield* textOf(get(`${api}${path}`, key))
            if (!path.includes(inferenceKey)) shown.push(text)
          }
        }
        for (const path of ["/", "/docs", "/docs/reference/settings", "/llms-full.txt", "/api/v1/openapi.json"])
          shown.push(yield* textOf(get(`${gateway.origin}${path}`, "")))
        for (const path of ["/metrics", "/readyz", "/healthz"])
          shown.push(yield* textOf(get(`${gateway.ops}${path}`, "")))
        for (const words of [
          ["account", "list"],
          ["account", "show", account.id],
          ["requests", "list", "--account", account.id],
          ["--help"],
          ["nothing"]
        ])
          shown.push(yield* admin(shared, ...words))
        // Two rounds of metrics, and the spans before them.
        yield* Effect.sleep("2500 millis")

        const telemetry = host.received.filter((text) => /^\/v1\/(traces|metrics|logs)/.test(text))
        assert.isNotEmpty(
          telemetry.filter((text) => text.startsWith("/v1/traces")),
          "the collector must get spans"
        )
        assert.isNotEmpty(
          telemetry.filter((text) => text.startsWith("/v1/metrics")),
          "the collector must get metrics"
        )
        // The collector itself gets its own header.
        const told = telemetry.map((text) => text.replaceAll(planted("OTEL_EXPORTER_OTLP_HEADERS"), ""))
        const calls = host.received.join("\n")
        for (const name of ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "XAI_API_KEY", "VOYAGE_API_KEY"])
          assert.include(calls, planted(name), `${name} must have been sent, or nothing could leak`)

        assert.include(gateway.state.text, "DEBUG", "the log must have the debug level")
        assert.deepStrictEqual(leaked(gateway.state.text, secrets), [], "the log")
        assert.deepStrictEqual(leaked(shown.join("\n"), secrets), [], "answers")
        assert.deepStrictEqual(leaked(told.join("\n"), secrets), [], "spans and metrics")
        assert.deepStrictEqual(leaked(yield* allRows(database.href), secrets), [], "the database")
        const [own, ...children] = processesOf(gateway.child.pid!)
        assert.deepStrictEqual(leaked(own!.line, secrets), [], "the process list")
        for (const { env, line } of children) assert.deepStrictEqual(leaked(env + line, secrets), [], "a child")
        const files = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((file) =>
          statSync(join(directory, file)).isFile()
        )
        for (const file of files)
          assert.deepStrictEqual(leaked(readFileSync(join(directory, file), "latin1"), secrets), [], file)
        assert.deepStrictEqual(files.filter(isRemains), [])
      }).pipe(Effect.scoped)
  )
})
