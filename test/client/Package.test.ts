/** Tests the client's package as its users have it: packed, installed into an empty project, run, type-checked and bundled. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { startService } from "../support/Service.ts"
import { root } from "../support/Sources.ts"

const run = promisify(execFile)

/** The largest browser bundle of a program that only chats, in bytes after gzip. */
const MAX_BYTES = 35_000

const program = `
import { createClient, TollgateError } from "tollgate/client"

const [baseUrl, apiKey] = process.argv.slice(2)
const client = createClient({ baseUrl, apiKey })
let text = ""
const body = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] }
for await (const chunk of client.stream("chat.completions", { body })) text += chunk.choices[0]?.delta.content ?? ""
const error = await client.call("requests.get", { path: { request_id: "none" } }).catch((error) => error)
console.log(JSON.stringify({ text, refused: error instanceof TollgateError && error.param }))
`

const typed = `
import { type ChatCompletion, createClient, type Item, TollgateError } from "tollgate/client"

const client = createClient({ baseUrl: "http://127.0.0.1:8787" })
const answer: ChatCompletion = await client.call("chat.completions", {
  body: { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] }
})
const cost: number | undefined = answer.cost_usd
// @ts-expect-error: a request needs messages
await client.call("chat.completions", { body: { model: "gpt-4o-mini" } })
// @ts-expect-error: a call returns a whole answer
await client.call("chat.completions", { body: { model: "gpt-4o-mini", messages: [], stream: true } })
// @ts-expect-error: there is no such operation
await client.call("chat.complete", { body: {} })
const items: Array<Item<"requests.list">> = []
for await (const item of client.list("requests.list", { query: { limit: 10 } })) items.push(item)
export { cost, items, TollgateError }
`

const options = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    target: "ES2022",
    module: "NodeNext",
    lib: ["ES2022", "DOM", "DOM.AsyncIterable"],
    types: [],
    skipLibCheck: false
  },
  include: ["*.ts"]
}

const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-client-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Creates an empty project with the packed client. */
const project = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  const files = {
    "package.json": JSON.stringify({ name: "project", private: true, type: "module" }),
    "tsconfig.json": JSON.stringify(options),
    "program.mjs": program,
    "typed.ts": typed
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  yield* Effect.promise(async () => {
    const packed = await run("npm", ["pack", "./src/client", "--silent", "--pack-destination", directory], {
      cwd: root
    })
    const words = ["install", "--offline", "--no-audit", "--no-fund", `./${packed.stdout.trim().split("\n").at(-1)}`]
    await run("npm", words, { cwd: directory })
  })
  return directory
})

describe("the package of the client", () => {
  it.live("installs into an empty project, runs, type-checks under strict, and makes a small browser bundle", () =>
    Effect.gen(function* () {
      const directory = yield* project
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const { stdout } = yield* Effect.promise(() =>
        run(process.execPath, ["program.mjs", service.origin, inferenceKey], { cwd: directory })
      )
      const { refused, text } = JSON.parse(stdout)
      assert.include(text, "Hello!")
      assert.strictEqual(refused, "request_id")
      yield* Effect.promise(() => run(join(root, "node_modules/.bin/tsc"), ["--project", directory]))
      const bytes = yield* Effect.promise(async () => {
        const bundle = await rolldown({ input: join(directory, "program.mjs"), platform: "browser" })
        const { output } = await bundle.generate({ format: "esm", minify: true })
        await bundle.close()
        return gzipSync(output[0].code).length
      })
      assert.isAtMost(bytes, MAX_BYTES)
    }).pipe(Effect.scoped)
  )
})
