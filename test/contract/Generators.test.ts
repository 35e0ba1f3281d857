/**
 * The published document as the usual generators of typed clients read it: what they write compiles under `strict`, and the client that one
 * of them writes calls the service. `npm run test:full` runs this file, because the generators are installed first.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { operations } from "../support/Published.ts"
import { root } from "../support/Sources.ts"
import { startService } from "../support/Service.ts"

interface Ended {
  readonly code: number
  readonly output: string
}

const run = (cwd: string, program: string, ...args: ReadonlyArray<string>): Effect.Effect<Ended> =>
  Effect.callback((resume) => {
    execFile(program, args, { cwd, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resume(Effect.succeed({ code: error === null ? 0 : 1, output: `${stdout}${stderr}`.slice(0, 4_000) }))
    )
  })

const succeeds = (cwd: string, program: string, ...args: ReadonlyArray<string>) =>
  Effect.map(run(cwd, program, ...args), ({ code, output }) => assert.strictEqual(code, 0, `${args[0]}: ${output}`))

const workshop = Effect.acquireRelease(
  Effect.sync(() => {
    const directory = mkdtempSync(join(tmpdir(), "tollgate-generators-"))
    copyFileSync(join(root, "test/contract/generators/package.json"), join(directory, "package.json"))
    copyFileSync(join(root, "schemas/published/openapi.json"), join(directory, "openapi.json"))
    return directory
  }),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

/** A program that uses both kinds of types: the calls that they accept, and one that they reject. */
const program = `
import { client } from "./hey/client.gen"
import { chatCompletions, requestsGet } from "./hey/sdk.gen"
import type { paths } from "./types"

type Chat = paths["/api/v1/chat/completions"]["post"]
const parts = [{ type: "text", text: "Hello!" } as const, { type: "text", text: "Hello again!" } as const]
const weather = { name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } }
const body: Chat["requestBody"]["content"]["application/json"] = {
  model: "gpt-4o-mini",
  messages: [{ role: "user", content: parts }],
  tools: [{ type: "function", function: weather }]
}
// @ts-expect-error: a model's name is a text
export const wrong: typeof body = { ...body, model: 7 }

const [baseUrl, key] = process.argv.slice(2)
client.setConfig({ baseUrl, auth: key, throwOnError: true })
const { data: answer } = await chatCompletions({
  body: {
    model: "gpt-4o-mini",
    messages: [{ role: "user", content: parts }],
    tools: [{ type: "function", function: weather }]
  },
  throwOnError: true
})
export const cost: Chat["responses"]["200"]["content"]["application/json"]["cost_usd"] = answer.cost_usd
const { data: receipt } = await requestsGet({ path: { request_id: answer.request_id }, throwOnError: true })
console.log(JSON.stringify({ text: answer.choices[0]?.message.content, same: receipt.cost_usd === answer.cost_usd }))
`

const options = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: "es2022",
    module: "esnext",
    moduleResolution: "bundler",
    lib: ["es2022", "dom", "dom.iterable"],
    types: []
  },
  include: ["*.ts", "hey"]
}

describe("generators of typed clients", () => {
  it.live("write code that compiles under strict, and a client that calls the service", () =>
    Effect.gen(function* () {
      const directory = yield* workshop
      const bin = (name: string) => join(directory, "node_modules/.bin", name)
      yield* succeeds(directory, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
      yield* succeeds(directory, process.execPath, bin("openapi-typescript"), "openapi.json", "-o", "types.ts")
      yield* succeeds(
        directory,
        process.execPath,
        bin("openapi-ts"),
        "-i",
        "openapi.json",
        "-o",
        "hey",
        "--no-log-file"
      )
      writeFileSync(join(directory, "program.ts"), `declare const process: { argv: Array<string> }\n${program}`)
      writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(options))
      for (const compiler of [bin("tsc"), join(root, "node_modules/.bin/tsc")]) {
        yield* succeeds(directory, process.execPath, compiler, "-p", directory)
      }
      const written = readFileSync(join(directory, "types.ts"), "utf8")
      for (const { id } of operations) assert.include(written, `operations["${id}"]`, id)

      const service = yield* startService()
      const { inferenceKey } = yield* service.account(5)
      const bundled = join(directory, "program.mjs")
      yield* succeeds(
        directory,
        process.execPath,
        join(root, "node_modules/rolldown/bin/cli.mjs"),
        "program.ts",
        "-o",
        bundled
      )
      const { code, output } = yield* run(directory, process.execPath, bundled, service.origin, inferenceKey)
      assert.strictEqual(code, 0, output)
      assert.deepInclude(JSON.parse(output), { same: true })
    }).pipe(Effect.scoped)
  )
})
