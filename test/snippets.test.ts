/** Runs every request and program in README and docs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { blocksIn, pagesOfDocs } from "./support/Documents.ts"
import { post, startService } from "./support/Service.ts"
import { root, textOf } from "./support/Sources.ts"

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const run = (program: string, args: ReadonlyArray<string>, env: Record<string, string> = {}): Effect.Effect<Ended> =>
  Effect.callback((resume) => {
    const options = { cwd: root, env: { ...process.env, ...env } }
    execFile(program, args, options, (error, stdout, stderr) =>
      resume(Effect.succeed({ code: typeof error?.code === "number" ? error.code : error ? 1 : 0, stdout, stderr }))
    )
  })

const has = (program: string, ...args: ReadonlyArray<string>) => spawnSync(program, args).status === 0

const curl = has("curl", "--version")
if (!curl) console.log("SKIPPED: the documents' requests: curl is not installed")
const python = has("python3", "-c", "import openai")
if (!python) console.log("SKIPPED: the documents' Python: python3 with the package openai is not installed")

const pages = ["README.md", ...pagesOfDocs]

const snippets = (language: string) =>
  pages.flatMap((page) => blocksIn(textOf(page), language).map((text) => ({ page, text })))

/** A folder in the project, so that Node finds the clients' packages. */
const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(root, ".snippets-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** The expected output, by a part of the request. The first match counts. */
const shownBy = [
  ["/management/audit", /^\{"object":"list","data":\[/],
  ["/management/usage", /^\{.*"buckets":|^\{.*"data":/],
  ["/management/presets", /"slug":"(short|fast)"/],
  ["/management/", /"data":\{"id":"[0-9a-f]{24}"/],
  ["/operator/accounts", /^\{"object":"list","data":\[/],
  ["/operator/requests", /"object":"refund"/],
  ["/operator/plans", /"name":"gold"/],
  ["/console/", /"status":"code_sent"/],
  ["/readyz", /^ready$/m],
  ["/audio/speech", /^$/],
  ["fault=break", /"finish_reason":"error"/]
] as const

const requestsIn = (text: string): ReadonlyArray<string> =>
  text
    .replace(/\\\n\s*/g, " ")
    .replace(/,\n\s+/g, ",")
    .split("\n")
    .filter((line) => line.startsWith("curl "))

describe("every example in the documents", () => {
  it.live.skipIf(!curl)("that is a curl request succeeds", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey, managementKey } = yield* service.account(20)
      const directory = yield* folder
      const listed = yield* Effect.promise(() =>
        fetch(`${service.api}/management/keys`, { headers: { authorization: `Bearer ${managementKey}` } }).then(
          (answer) => answer.json()
        )
      )
      const hello = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] }
      const charged = yield* post(`${service.api}/chat/completions`, inferenceKey, hello)
      const keys = {
        KEY: inferenceKey,
        MANAGEMENT_KEY: managementKey,
        KEY_ID: listed.data[0].id,
        OPERATOR_KEY: yield* service.operatorKey,
        REQUEST: charged.headers.get("x-request-id") ?? ""
      }
      const shown = snippets("sh").flatMap(({ page, text }) => requestsIn(text).map((request) => ({ page, request })))
      // Management requests come first, because another page uses a preset that one of them creates.
      const ordered = shown.toSorted(
        (a, b) => Number(b.request.includes("/management/")) - Number(a.request.includes("/management/"))
      )
      assert.isAbove(ordered.length, 25)
      for (const { page, request } of ordered) {
        const command = request
          .replace("http://127.0.0.1:8787", service.origin)
          .replace("http://127.0.0.1:9464", service.ops)
          .replace("-o hello.mp3", `-o ${join(directory, "hello.mp3")}`)
          .replace("curl ", "curl -fsS ")
        const { code, stderr, stdout } = yield* run("sh", ["-c", command], keys)
        assert.strictEqual(code, 0, `${page}: ${request}\n${stderr}`)
        const expected = shownBy.find(([part]) => request.includes(part))?.[1] ?? /"(cost|hold)_usd":/
        assert.match(stdout, expected, `${page}: ${request}`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("that is JavaScript runs", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const directory = yield* folder
      const examples = snippets("js")
      assert.isAbove(examples.length, 2)
      for (const [index, { page, text }] of examples.entries()) {
        const file = join(directory, `example-${index}.mjs`)
        writeFileSync(file, text.replace("http://127.0.0.1:8787", service.origin))
        const { code, stderr, stdout } = yield* run(process.execPath, [file], { KEY: inferenceKey })
        assert.strictEqual(code, 0, `${page}: ${stderr}`)
        assert.match(stdout, /0\.\d+ req_[0-9A-Z]{26}\n$/, page)
      }
    }).pipe(Effect.scoped)
  )

  it.live("that is TypeScript compiles under strict, and runs", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const directory = yield* folder
      const files = snippets("ts").map(({ page, text }, index) => {
        const file = join(directory, `example-${index}.mts`)
        writeFileSync(file, text.replace("http://127.0.0.1:8787", service.origin))
        return { page, file }
      })
      assert.isNotEmpty(files)
      const flags = [
        "--ignoreConfig",
        "--noEmit",
        "--strict",
        "--skipLibCheck",
        "--allowImportingTsExtensions",
        "--module",
        "nodenext",
        "--target",
        "es2024"
      ]
      const compiled = yield* run(join(root, "node_modules/.bin/tsc"), [
        ...flags,
        "--types",
        "node",
        ...files.map(({ file }) => file)
      ])
      assert.strictEqual(compiled.code, 0, compiled.stdout)
      for (const { file, page } of files) {
        const settings = { KEY: inferenceKey, TOLLGATE_API_KEY: inferenceKey, TOLLGATE_BASE_URL: service.origin }
        const { code, stderr, stdout } = yield* run(process.execPath, [file], settings)
        assert.strictEqual(code, 0, `${page}: ${stderr}`)
        // The typed client's page prints the sum of all receipts, and has a server that prints nothing.
        const shown =
          page === "docs/guide/client.md" ? /^$|\b\d+n\n$|req_[0-9A-Z]{26}\n$/ : /0\.\d+ req_[0-9A-Z]{26}\n$/
        assert.match(stdout, shown, page)
      }
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!python)("that is Python runs", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      for (const { page, text } of snippets("python")) {
        const program = text.replace("http://127.0.0.1:8787", service.origin)
        const { code, stderr, stdout } = yield* run("python3", ["-c", program], { KEY: inferenceKey })
        assert.strictEqual(code, 0, `${page}: ${stderr}`)
        assert.match(stdout, /0\.\d+ req_[0-9A-Z]{26}\n$/, page)
      }
    }).pipe(Effect.scoped)
  )

  it.live("that is JSON on the auto router's page is accepted by the API", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const bodies = blocksIn(textOf("docs/guide/auto-router.md"), "json")
      assert.isNotEmpty(bodies)
      for (const text of bodies) {
        const response = yield* post(`${service.api}/chat/completions`, inferenceKey, JSON.parse(text))
        assert.strictEqual(response.status, 200, yield* Effect.promise(() => response.text()))
      }
    }).pipe(Effect.scoped)
  )
})
