/** The gateway and the command line as processes on the embedded database, from the first start to the shutdown. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { VERSION } from "../../src/platform/config/Version.ts"
import { freshDatabase } from "../support/Database.ts"
import { environment, keysOf, type Process, program, start } from "../support/Process.ts"
import { endedReceiptOf } from "../support/ReadReceipts.ts"
import { get, json, post } from "../support/Service.ts"
import { frames, lastFrame, textOf } from "../support/Streams.ts"

const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-start-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end. */
const toEnd = (file: string, args: ReadonlyArray<string>, env: Record<string, string>): Effect.Effect<Ended> =>
  Effect.callback((resume) => {
    const child = execFile(file, args, { env }, (_error, stdout, stderr) =>
      resume(Effect.succeed({ code: child.exitCode, stdout, stderr }))
    )
    return Effect.sync(() => child.kill("SIGTERM"))
  })

const runService = (settings: Record<string, string>) =>
  toEnd(process.execPath, [program("main.ts")], environment(settings))

const commands = (settings: Record<string, string>) => {
  const run = (line: string) =>
    toEnd(process.execPath, [program("admin.ts"), ...line.split(" ")], environment(settings))
  return {
    run,
    /** The one JSON object on standard output of a command that must succeed. */
    json: (line: string) =>
      Effect.map(run(`${line} --json`), ({ code, stderr, stdout }) => {
        assert.strictEqual(code, 0, `${line}: ${stderr}`)
        assert.match(stdout, /^\{[^\n]*\}\n$/)
        return JSON.parse(stdout)
      })
  }
}

const ask = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello there" }] }

const chat = (api: string, key: string, body: object = ask, headers: Record<string, string> = {}) =>
  post(`${api}/chat/completions`, key, body, headers)

const statusAndCode = (response: Response) =>
  Effect.map(json(response), (body) => [response.status, body.error?.code ?? null])

/** Opens a stream that takes about a second, and returns after its first text. */
const openStream = (api: string, key: string) =>
  Effect.gen(function* () {
    const steering = {
      "x-svc-sandbox": "chunk_ms=50,text=one%20two%20three%20four%20five%20six%20seven%20eight%20nine%20ten"
    }
    const response = yield* chat(api, key, { ...ask, stream: true }, steering)
    const reader = response.body!.getReader()
    const decoder = new TextDecoder()
    let text = ""
    while (!text.includes('"content":"one')) {
      const { done, value } = yield* Effect.promise(() => reader.read())
      if (done) throw new Error(`the stream ended before its first text: ${text}`)
      text += decoder.decode(value, { stream: true })
    }
    const rest = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
      pull: async (controller) => {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: () => reader.cancel()
    })
    return { requestId: response.headers.get("x-request-id") ?? "", text, whole: new Response(rest) }
  })

/** The statuses of `/healthz` and `/readyz`. */
const probes = (ops: string) =>
  Effect.promise(() => Promise.all(["healthz", "readyz"].map(async (path) => (await fetch(`${ops}/${path}`)).status)))

/** Polls the probes until they have these statuses. */
const untilProbes = (ops: string, statuses: ReadonlyArray<number>): Effect.Effect<void> =>
  Effect.flatMap(probes(ops), (found) =>
    found.join() === statuses.join() ? Effect.void : Effect.suspend(() => untilProbes(ops, statuses))
  )

const missing = ["curl", "bash"].filter((tool) => spawnSync(tool, ["--version"]).status !== 0)
if (missing.length > 0) {
  process.stderr.write(`\n***** SKIPPED: the printed curl line: ${missing.join(" and ")} not found ***\n\n`)
}

class Running extends Context.Service<Running, Process & { readonly directory: string }>()("tollgate/test/Running") {
  static readonly layer = Layer.effect(
    Running,
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      return { ...(yield* start({ DATA_DIR: directory })), directory }
    })
  )
}

describe("while a gateway runs,", () => {
  it.layer(Running.layer, { excludeTestServices: true })((it) => {
    it.effect.skipIf(missing.length > 0)("its first start has printed a curl line that works as printed", () =>
      Effect.gen(function* () {
        const { greeting } = yield* Running
        const line = greeting.split("\n").find((one) => one.trim().startsWith("curl ")) ?? "exit 9"
        const { code, stdout } = yield* toEnd("bash", ["-c", line], environment({}))
        assert.strictEqual(code, 0)
        assert.include(stdout, "chat.completion.chunk")
        assert.match(stdout, /data: \[DONE\]\s*$/)
      })
    )

    it.effect("its first start has printed two keys of a demo account with simulated money", () =>
      Effect.gen(function* () {
        const { api, directory, greeting } = yield* Running
        // Without a terminal, everything except the account and its keys is one line of JSON.
        const last = JSON.parse(greeting.split("\n").at(-1) ?? "")
        assert.deepInclude(last, { api, message: `tollgate is ready at ${api}`, sandbox: true, version: VERSION })
        assert.notMatch(greeting, /schema|migrat/i)
        const keys = keysOf(greeting)
        assert.match(keys.management, /^svc_mk_.{43}$/)
        assert.strictEqual((yield* chat(api, keys.inference)).status, 200)
        assert.deepStrictEqual(yield* Effect.flatMap(chat(api, keys.management), statusAndCode), [
          403,
          "wrong_key_kind"
        ])
        const { data } = yield* commands({ DATA_DIR: directory }).json("audit --email demo@tollgate.local")
        const credit = data.find((event: { type: string }) => event.type === "balance.topped_up")
        assert.deepStrictEqual([credit.changes, credit.actor.type], [{ amount_usd: 25, simulated: true }, "service"])
      })
    )

    it.effect("the admin commands change accounts and keys, and the gateway uses the changes", () =>
      Effect.gen(function* () {
        const { api, directory } = yield* Running
        const admin = commands({ DATA_DIR: directory })
        const made = yield* admin.json("account create --email ann@example.com --balance-usd 0")
        assert.deepStrictEqual(yield* Effect.flatMap(chat(api, made.inference_key), statusAndCode), [
          402,
          "insufficient_credits"
        ])
        const topped = yield* admin.json("topup --email ann@example.com --amount-usd 10.25")
        assert.strictEqual(topped.balance_usd, 10.25)
        assert.strictEqual((yield* chat(api, made.inference_key)).status, 200)
        const limited = yield* admin.json("account limits --email ann@example.com --scale 3")
        assert.strictEqual(limited.limit_scale, 3)
        const managing = yield* admin.json("key create --email ann@example.com --kind management --scopes usage:read")
        assert.match(managing.key, /^svc_mk_/)
        const verified = yield* admin.json("ledger verify")
        assert.strictEqual(verified.ok, true)
        const { data } = yield* admin.json("audit --email ann@example.com --limit 3")
        assert.deepStrictEqual(
          data.map((event: { type: string }) => event.type),
          ["key.created", "account.limits_changed", "balance.topped_up"]
        )
        const taken = yield* admin.run("account create --email ann@example.com --balance-usd 1 --json")
        assert.deepStrictEqual(taken, {
          code: 1,
          stdout: "",
          stderr: "error: An account with the email address ann@example.com already exists.\n"
        })
      })
    )

    it.effect(
      "the command that revokes a key takes effect on the next request, although the gateway has cached the key",
      () =>
        Effect.gen(function* () {
          const { api, directory } = yield* Running
          const admin = commands({ DATA_DIR: directory })
          const { id, key } = yield* admin.json("key create --email demo@tollgate.local --name short-lived")
          assert.strictEqual((yield* chat(api, key)).status, 200)
          assert.deepStrictEqual(yield* admin.json(`key revoke --id ${id}`), { id, revoked: true })
          assert.deepStrictEqual(yield* Effect.flatMap(chat(api, key), statusAndCode), [401, "invalid_api_key"])
        })
    )

    it.effect(
      "another start with its directory or port, or with a wrong setting, exits with one line that names the cause",
      () =>
        Effect.gen(function* () {
          const { directory, port } = yield* Running
          const spare = yield* temporaryDirectory
          const url = yield* freshDatabase("start")
          const refused = [
            { settings: { DATA_DIR: directory, PORT: "0" }, line: new RegExp(`DATA_DIR ${directory} is in use`) },
            { settings: { DATA_DIR: spare, DATABASE_URL: url, PORT: String(port) }, line: `PORT ${port} is in use` },
            {
              settings: { DATA_DIR: spare, DATABASE_URL: url, OPS_PORT: String(port) },
              line: `OPS_PORT ${port} is in use`
            },
            {
              settings: { DATA_DIR: spare, DATABASE_URL: url, PORT: "0", TRACE_CONTEXT_PROVIDERS: "openai,opnai" },
              line: "TRACE_CONTEXT_PROVIDERS must name known providers; got opnai"
            },
            { settings: { DATA_DIR: spare, PORT: "http" }, line: "PORT must be a port" },
            { settings: { DATA_DIR: program("main.ts"), PORT: "0" }, line: /DATA_DIR .*main\.ts cannot be used/ },
            { settings: { DATA_DIR: spare, DATABASE_URL: "mysql://a:hunter2@b/c" }, line: "DATABASE_URL must be a URL" }
          ]
          const fresh = { DATA_DIR: join(spare, "fresh"), OPS_PORT: String(port) }
          for (const { line, settings } of [
            ...refused,
            { settings: { ...fresh, PORT: String(port), OPS_PORT: "0" }, line: `: PORT ${port} is in use` },
            { settings: { ...fresh, PORT: "0" }, line: `OPS_PORT ${port} is in use` }
          ]) {
            const { code, stderr } = yield* runService(settings)
            assert.strictEqual(code, 1)
            assert.match(stderr, /^tollgate cannot start: [^\n]+\n$/)
            assert.match(stderr, new RegExp(line))
            assert.notInclude(stderr, "hunter2")
          }
          assert.isFalse(existsSync(fresh.DATA_DIR), "a start without a free port must create no directory")
        }).pipe(Effect.scoped)
    )
  })
})

describe("the options of the gateway's program", () => {
  it.live("list the settings with --help, print the version with --version, and refuse anything else", () =>
    Effect.gen(function* () {
      const run = (...options: ReadonlyArray<string>) =>
        toEnd(process.execPath, [program("main.ts"), ...options], environment({}))
      const help = yield* run("--help")
      assert.deepStrictEqual([help.code, help.stderr], [0, ""])
      assert.match(help.stdout, /^ {2}PORT +The public port.* \[8787\]$/m)
      const version = yield* run("--version")
      assert.deepStrictEqual(version, { code: 0, stdout: `tollgate ${VERSION}\n`, stderr: "" })
      const admin = yield* commands({}).run("--version")
      assert.deepStrictEqual(admin, { code: 0, stdout: `tollgate ${VERSION}\n`, stderr: "" })
      const unknown = yield* run("--port=1")
      assert.strictEqual(unknown.code, 1)
      assert.match(unknown.stderr, /^tollgate cannot start: [^\n]+; got --port=1\.\n$/)
    })
  )
})

describe("the end of a gateway's process", () => {
  it.live("finishes the streams after SIGTERM, and after SIGKILL leaves a hold that the next start settles", () =>
    Effect.gen(function* () {
      // Short holds, so that the hold of a killed process expires during the test. A busy machine must renew them in time,
      // or the stream ends with its hold.
      const settings = { DATA_DIR: yield* temporaryDirectory, HOLD_TTL: "5 seconds", SWEEP_INTERVAL: "100 millis" }
      const admin = commands(settings)
      const first = yield* start(settings)
      const key = keysOf(first.greeting).inference

      const stream = yield* openStream(first.api, key)
      assert.notMatch(stream.text, /\bten\b/)
      assert.deepStrictEqual(yield* probes(first.ops), [200, 200])
      // While the stream is finished, the process is up and not ready.
      const [code, all] = yield* Effect.all(
        [first.end("SIGTERM"), frames(stream.whole), untilProbes(first.ops, [200, 503])],
        { concurrency: 3 }
      )
      const last = lastFrame(all)
      assert.strictEqual(code, 0)
      assert.strictEqual(all.at(-1), "[DONE]")
      assert.strictEqual(textOf(all).trim(), "one two three four five six seven eight nine ten")
      assert.strictEqual((yield* admin.json("ledger verify")).ok, true)

      const second = yield* start(settings)
      assert.notInclude(second.greeting, "svc_")
      const settled = yield* endedReceiptOf(second, key, stream.requestId)
      assert.deepStrictEqual([settled.status, settled.cost_usd], ["succeeded", last.cost_usd])
      const doomed = yield* openStream(second.api, key)
      assert.strictEqual(yield* second.end("SIGKILL"), "SIGKILL")
      yield* Effect.ignore(Effect.tryPromise(() => doomed.whole.text()))

      const third = yield* start(settings)
      assert.strictEqual((yield* chat(third.api, key)).status, 200)
      const lost = yield* endedReceiptOf(third, key, doomed.requestId)
      assert.strictEqual(lost.status, "failed")
      assert.isAtMost(lost.cost_usd, settled.cost_usd)
      assert.strictEqual((yield* admin.json("ledger verify")).ok, true)
      assert.strictEqual(yield* third.end("SIGINT"), 0)
    }).pipe(Effect.scoped)
  )

  it.live("finishes the streams after SIGTERM also when its log output is closed", () =>
    Effect.gen(function* () {
      const settings = {
        DATA_DIR: yield* temporaryDirectory,
        DATABASE_URL: yield* freshDatabase("start"),
        SANDBOX: "on",
        LOG_LEVEL: "info"
      }
      const { api, child, end, greeting } = yield* start(settings)
      child.stdout?.destroy()
      child.stderr?.destroy()
      const stream = yield* openStream(api, keysOf(greeting).inference)
      // A sandbox writes its emails into the log.
      for (const name of ["ann", "ben", "eve"]) {
        const asked = yield* post(`${api}/console/sign-in`, "", { email: `${name}@example.com` })
        assert.isTrue(asked.ok)
      }
      const [code, all] = yield* Effect.all([end("SIGTERM"), frames(stream.whole)], { concurrency: 2 })
      assert.strictEqual(code, 0)
      assert.strictEqual(all.at(-1), "[DONE]")
    }).pipe(Effect.scoped)
  )
})

describe("a start with real providers", () => {
  it.live("prints a command that creates an account while there is none, and the command works as printed", () =>
    Effect.gen(function* () {
      const settings = {
        DATA_DIR: yield* temporaryDirectory,
        DATABASE_URL: yield* freshDatabase("start"),
        OPENAI_API_KEY: "sk-not-asked"
      }
      const first = yield* start(settings)
      const command = /^ {2}npm run admin -- (account create .*)$/m.exec(first.greeting)?.[1] ?? ""
      assert.deepStrictEqual(yield* probes(first.ops), [200, 200])
      const made = yield* commands(settings).json(command)
      const models = yield* get(`${first.api}/models`, made.inference_key)
      assert.strictEqual(models.status, 200)
      yield* first.end("SIGTERM")
      const second = yield* start(settings)
      assert.notInclude(second.greeting, "account create")
    }).pipe(Effect.scoped)
  )

  it.live("but without a provider key names the missing setting, and /readyz answers 503", () =>
    Effect.gen(function* () {
      const settings = { DATA_DIR: yield* temporaryDirectory, DATABASE_URL: yield* freshDatabase("start") }
      const { greeting, ops } = yield* start({ ...settings, LOG_FORMAT: "json" })
      const words = "no model can be served: set the key of a provider, such as OPENAI_API_KEY"
      assert.include(greeting.split("\n").at(-1), `tollgate is not ready at http://127.0.0.1`)
      assert.include(greeting.split("\n").at(-1), words)
      assert.match(greeting, new RegExp(`^\\{.*WARN.*${words}.*\\}$`, "m"))
      assert.strictEqual(JSON.parse(greeting.split("\n").at(-1) ?? "").version, VERSION)
      const probe = yield* Effect.promise(() => fetch(`${ops}/readyz`))
      assert.strictEqual(probe.status, 503)
      assert.include(yield* Effect.promise(() => probe.text()), words)
    }).pipe(Effect.scoped)
  )
})
