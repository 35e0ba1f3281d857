/** Tests the audit of known vulnerabilities against registries on loopback. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { gunzipSync } from "node:zlib"
import { temporaryDirectory } from "../support/Directories.ts"
import { root } from "../support/Sources.ts"

/** Severities of advisories by package. */
type Advisories = Readonly<Record<string, "high" | "moderate">>

/** Starts a registry with these advisories, or one that answers only errors. It records the packages that a client asks about. */
const registry = (advisories: Advisories | undefined) =>
  Effect.gen(function* () {
    const asked = new Set<string>()
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => void chunks.push(chunk))
      request.on("end", () => {
        if (advisories === undefined || request.method !== "POST") return void response.writeHead(503).end()
        const body = Buffer.concat(chunks)
        const names = Object.keys(
          JSON.parse((request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString())
        )
        for (const name of names) asked.add(name)
        const known = names.filter((name) => name in advisories)
        const answer = known.map((name, id) => [
          name,
          [
            {
              id: id + 1,
              url: `https://example.com/${id}`,
              title: name,
              severity: advisories[name],
              vulnerable_versions: "*"
            }
          ]
        ])
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(Object.fromEntries(answer)))
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => server.close())
    )
    return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
  })

const audit = Effect.fnUntraced(function* (url: string) {
  // npm caches advisories by their number.
  const cache = yield* temporaryDirectory
  return yield* Effect.callback<{ readonly code: number | null; readonly text: string }>((resume) => {
    const env = {
      ...process.env,
      npm_config_cache: cache,
      npm_config_registry: url,
      npm_config_fetch_retries: "0",
      npm_config_update_notifier: "false"
    }
    const child = spawn(process.execPath, ["test/audit/main.ts"], { cwd: root, env })
    let text = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += String(chunk)))
    child.once("exit", (code) => resume(Effect.succeed({ code, text })))
  })
})

describe("the audit of vulnerabilities", () => {
  it.live("fails for a severe one in a production package, and names the package", () =>
    Effect.gen(function* () {
      const { asked, url } = yield* registry({ undici: "high", vitest: "high" })
      const { code, text } = yield* audit(url)
      assert.strictEqual(code, 1, text)
      assert.include(text, "undici: high")
      assert.notInclude(text, "vitest")
      assert.isTrue(asked.has("effect"))
    }).pipe(Effect.scoped)
  )

  it.live("passes with a moderate one, and with one in a development package", () =>
    Effect.gen(function* () {
      const { url } = yield* registry({ undici: "moderate", vitest: "high" })
      assert.deepInclude(yield* audit(url), { code: 0 })
    }).pipe(Effect.scoped)
  )

  it.live("passes and says SKIPPED when the registry does not answer", () =>
    Effect.gen(function* () {
      const { url } = yield* registry(undefined)
      for (const origin of [url, "http://127.0.0.1:9/"]) {
        const { code, text } = yield* audit(origin)
        assert.strictEqual(code, 0, text)
        assert.include(text, "SKIPPED")
      }
    }).pipe(Effect.scoped)
  )
})
