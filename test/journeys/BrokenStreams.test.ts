/** Hosts that send an error within a stream or end it without its last line: the fallback, the client's answer and the charge. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { upstream } from "../providers/upstream.ts"
import { dialects } from "../support/Dialects.ts"
import { endedReceiptOf } from "../support/ReadReceipts.ts"
import { post, startService } from "../support/Service.ts"

const MODEL = "meta-llama/llama-3.3-70b-instruct"
const TEXT = "It works."

const event = (data: object | string, name?: string) =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`

const head = event({ choices: [{ index: 0, delta: { content: TEXT }, finish_reason: null }] })
const finish = event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })
const usage = event({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 9 } })
const done = event("[DONE]")

/** The forms in which hosts send an error within a 200. */
const errors: ReadonlyArray<string> = [
  event({ error: { message: "planted", code: 503 } }, "error"),
  event({ object: "error", message: "planted", code: 503 }),
  event({ type: "error", message: "planted" }),
  event({ error: { message: "planted" } })
]

/** Two hosts of one model, `a` before `b`, each of which streams the text in `says`. */
const scene = Effect.gen(function* () {
  const says = { a: "", b: head + finish + usage + done }
  const asked: Array<string> = []
  const { origin } = yield* upstream((request, response) => {
    const host = request.url?.split("/")[1] === "a" ? "a" : "b"
    request.resume()
    request.on("end", () => {
      asked.push(host)
      response.writeHead(200, { "content-type": "text/event-stream" }).end(says[host])
    })
  })
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-broken-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const file = join(directory, "hosts.json")
  const hostOf = (id: string) => ({ id, base_url: `${origin}/${id}/v1`, models: { [MODEL]: "m" } })
  writeFileSync(file, JSON.stringify([hostOf("a"), hostOf("b")]))
  const service = yield* startService({ PROVIDERS_FILE: file, OUTBOUND_ALLOW_LOOPBACK: "1", SANDBOX: "off" })
  const { account, inferenceKey } = yield* service.account(10)
  return { account, asked, inferenceKey, says, service }
})

describe("a stream that contains an error", () => {
  for (const dialect of dialects) {
    // The legacy chat caches answers, so each question is new.
    let questions = 0
    const body = (stream: boolean) => {
      const more = { routing: { providers: { order: ["a", "b"] } } }
      return dialect.ask({ model: MODEL, text: `Are you there? ${questions++}`, maxTokens: 50, more }, stream)
    }
    it.live(
      `falls back to another host before output, and after output fails and is charged for it: ${dialect.name}`,
      () =>
        Effect.gen(function* () {
          const { account, asked, inferenceKey, says, service } = yield* scene
          const ask = Effect.fnUntraced(function* (stream: boolean) {
            asked.length = 0
            const response = yield* post(`${service.api}${dialect.path}`, inferenceKey, body(stream))
            const text = yield* Effect.promise(() => response.text())
            assert.strictEqual(response.status, 200, text)
            assert.notInclude(text, "planted")
            return { text, receipt: yield* endedReceiptOf(service, inferenceKey, response.headers.get("x-request-id")) }
          })
          const ways = body(true) === undefined ? [false] : [false, true]
          // Few enough failures that no breaker opens.
          const [early, flat, typed, late] = errors as [string, string, string, string]
          for (const [at, error] of [early + done, flat].entries()) {
            says.a = error
            const { receipt, text } = yield* ask(ways.at(-1 - at) ?? false)
            assert.deepStrictEqual(asked, ["a", "b"])
            assert.include(text, TEXT)
            assert.deepStrictEqual(
              [receipt.status, receipt.provider, receipt.usage.output_tokens],
              ["succeeded", "b", 9]
            )
          }
          for (const stream of ways) {
            says.a = head + (stream ? typed : late) + finish + usage + done
            const { receipt, text } = yield* ask(stream)
            assert.include(text, TEXT)
            if (!stream) {
              assert.deepStrictEqual([receipt.provider, asked.length], ["b", 2])
              continue
            }
            assert.match(text, /upstream_error/)
            assert.deepStrictEqual(asked, ["a"])
            assert.deepStrictEqual([receipt.status, receipt.usage_basis], ["failed", "counted"])
            assert.isAbove(receipt.cost_usd, 0)
          }
          says.a = (head + finish + usage).slice(0, -2)
          for (const stream of ways) {
            const { receipt } = yield* ask(stream)
            const counts = [receipt.status, receipt.provider, receipt.usage.output_tokens, receipt.usage_basis]
            assert.deepStrictEqual(counts, ["succeeded", "a", 9, "reported"])
          }
          assert.strictEqual((yield* service.balance(account.id)).held, 0n)
          assert.deepStrictEqual(yield* service.faults, [])
        }).pipe(Effect.scoped)
    )
  }
})
