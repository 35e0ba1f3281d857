/** The chat tool, and what every paid tool has in common: holds, idempotency keys, budgets, progress and cancellation. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { nano } from "../support/Amounts.ts"
import { callOf, modernClient, openSession, rpcHeaders, sessionClient } from "../support/Mcp.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"
import { eventually } from "../support/Eventually.ts"

const open = (usd = 10, headers: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const service = yield* startService()
    const { account, inferenceKey } = yield* service.account(usd)
    const client = yield* sessionClient(service.origin, inferenceKey, headers)
    const call = (args: object, name = "chat") =>
      // oxlint-disable-next-line typescript/no-explicit-any
      Effect.promise((): Promise<any> => client.callTool({ name, arguments: { ...args } }))
    return { account, call, client, inferenceKey, service }
  })

const spent = (service: Service, accountId: string, usd = 10) =>
  Effect.map(service.balance(accountId), ({ held, posted }) => {
    assert.strictEqual(held, 0n)
    return BigInt(usd) * 1_000_000_000n - posted
  })

const receipts = (service: Service, key: string) =>
  Effect.map(Effect.flatMap(get(`${service.api}/requests`, key), json), ({ data }) => data)

const hello = { model: "gpt-4o-mini", prompt: "Hello!" }

/** Returns headers for a simulated answer of ten words, one every `ms` milliseconds. */
const slowly = (ms: number) => ({
  "x-svc-sandbox": `chunk_ms=${ms},text=one%20two%20three%20four%20five%20six%20seven%20eight%20nine%20ten`
})

describe("chat", () => {
  it.live("is charged exactly like POST /chat/completions, under its own operation", () =>
    Effect.gen(function* () {
      const { account, call, inferenceKey, service } = yield* open()
      const rest = yield* Effect.flatMap(
        post(`${service.api}/chat/completions`, inferenceKey, {
          model: "gpt-4o-mini",
          messages: [{ role: "user", content: "Hello!" }]
        }),
        json
      )
      const { _meta, content, structuredContent } = yield* call(hello)
      assert.strictEqual(structuredContent.text, rest.choices[0].message.content)
      assert.deepStrictEqual(content, [{ type: "text", text: structuredContent.text }])
      assert.strictEqual(structuredContent.cost_usd, rest.cost_usd)
      assert.deepStrictEqual(structuredContent.usage, rest.usage)
      assert.deepStrictEqual(_meta, { cost_usd: rest.cost_usd, request_id: structuredContent.request_id })
      const cost = nano(rest.cost_usd)
      assert.isAbove(Number(cost), 0)
      assert.strictEqual(yield* spent(service, account.id), 2n * cost)
      const [mine, theirs] = [
        yield* receiptOf(service, inferenceKey, structuredContent.request_id),
        yield* receiptOf(service, inferenceKey, rest.request_id)
      ]
      assert.deepInclude(mine, { operation: "mcp.chat", status: "succeeded", streamed: false })
      for (const member of ["cost_usd", "held_usd", "settled_usd", "usage", "usage_basis", "price", "routing"]) {
        assert.deepStrictEqual(mine[member], theirs[member], member)
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("charges once for one idempotency key, and repeats the answer", () =>
    Effect.gen(function* () {
      const { account, call, service } = yield* open()
      const once = { ...hello, idempotency_key: "one" }
      const first = yield* call(once)
      const again = yield* call(once)
      assert.deepStrictEqual(again.structuredContent, first.structuredContent)
      assert.isUndefined(first._meta.idempotency_replayed)
      assert.isTrue(again._meta.idempotency_replayed)
      const cost = nano(first.structuredContent.cost_usd)
      assert.strictEqual(yield* spent(service, account.id), cost)
      const other = yield* call({ ...once, prompt: "Goodbye!" })
      assert.isTrue(other.isError)
      assert.deepInclude(other._meta.error, { code: "idempotency_key_reused", param: "idempotency_key" })
      assert.strictEqual(yield* spent(service, account.id), cost)
    }).pipe(Effect.scoped)
  )

  it.live("charges once for concurrent calls with one idempotency key", () =>
    Effect.gen(function* () {
      const { account, call, service } = yield* open(10, { "x-svc-sandbox": "latency_ms=200" })
      const once = { ...hello, idempotency_key: "one" }
      const answers = yield* Effect.all([call(once), call(once), call(once)], { concurrency: 3 })
      const paid = answers.filter(({ isError }) => isError !== true)
      for (const { _meta, isError } of answers) {
        if (isError !== true) continue
        assert.strictEqual(_meta.error.code, "idempotency_request_in_progress")
        assert.isTrue(_meta.retry)
      }
      assert.isNotEmpty(paid)
      const cost = nano(paid[0].structuredContent.cost_usd)
      assert.strictEqual(yield* spent(service, account.id), cost)
    }).pipe(Effect.scoped)
  )

  it.live("fails without a hold when it may cost more than `max_cost_usd`, and otherwise holds at most that", () =>
    Effect.gen(function* () {
      const { account, call, inferenceKey, service } = yield* open()
      const low = yield* call({ ...hello, max_cost_usd: 0.000001 })
      assert.isTrue(low.isError)
      assert.deepInclude(low._meta.error, { code: "no_model_in_budget", param: "max_cost_usd" })
      assert.isFalse(low._meta.retry)
      assert.match(low.content[0].text, /^no_model_in_budget: .*\$0\.00\d+ at the least/)
      assert.strictEqual(yield* spent(service, account.id), 0n)
      assert.lengthOf(yield* receipts(service, inferenceKey), 0)
      const enough = yield* call({ ...hello, max_cost_usd: 0.001 })
      const { held_usd } = yield* receiptOf(service, inferenceKey, enough.structuredContent.request_id)
      assert.isAtMost(held_usd, 0.001)
    }).pipe(Effect.scoped)
  )

  it.live("fails with the API's code when the balance is too low", () =>
    Effect.gen(function* () {
      const { call, inferenceKey, service } = yield* open(0)
      const { _meta, isError } = yield* call(hello)
      assert.isTrue(isError)
      assert.deepInclude(_meta, { limit_source: "balance", retry: false })
      assert.deepInclude(_meta.error, { code: "insufficient_credits", type: "insufficient_quota" })
      assert.lengthOf(yield* receipts(service, inferenceKey), 0)
    }).pipe(Effect.scoped)
  )

  it.live("rejects invalid arguments by name", () =>
    Effect.gen(function* () {
      const { call } = yield* open()
      const neither = yield* call({ model: "gpt-4o-mini" })
      assert.deepInclude(neither._meta.error, { code: "validation_error", param: "prompt" })
      const hot = yield* call({ ...hello, temperature: 9 })
      assert.deepInclude(hot._meta.error, { code: "validation_error", param: "temperature" })
      const free = yield* call({ ...hello, max_cost_usd: -1 })
      assert.deepInclude(free._meta.error, { code: "validation_error", param: "max_cost_usd" })
      const unknown = yield* call({ ...hello, model: "gpt-4o-mimi" })
      assert.deepInclude(unknown._meta.error, { code: "unknown_model", param: "model" })
      assert.include(unknown._meta.error.message, "`list_models` lists all models")
    }).pipe(Effect.scoped)
  )

  it.live("accepts a conversation with instructions, and a preset", () =>
    Effect.gen(function* () {
      const { account, call, service } = yield* open()
      const messages = [
        { role: "user", content: "One" },
        { role: "assistant", content: "Two" },
        { role: "user", content: "Three" }
      ]
      const talked = yield* call({ model: "gpt-4o-mini", system: "Be brief.", messages })
      assert.match(talked.structuredContent.text, /Three/)
      yield* service.preset(account.id, "brief", { model: "gpt-4o-mini", max_tokens: 3 })
      const preset = yield* call({ model: "@brief", prompt: "Hello, what is new?" })
      assert.strictEqual(preset.structuredContent.finish_reason, "length")
    }).pipe(Effect.scoped)
  )

  it.live("reports progress of a long answer to a client that asks for it", () =>
    Effect.gen(function* () {
      const { account, client, service } = yield* open(10, slowly(150))
      const seen: Array<number> = []
      // oxlint-disable-next-line typescript/no-explicit-any
      const answer: any = yield* Effect.promise(() =>
        client.callTool({ name: "chat", arguments: { ...hello } }, undefined, {
          onprogress: ({ progress }) => void seen.push(progress)
        })
      )
      assert.strictEqual(answer.structuredContent.text, "one two three four five six seven eight nine ten")
      assert.isAtLeast(seen.length, 2)
      assert.deepStrictEqual(
        seen,
        seen.toSorted((a, b) => a - b)
      )
      const cost = nano(answer.structuredContent.cost_usd)
      assert.strictEqual(yield* spent(service, account.id), cost)
    }).pipe(Effect.scoped)
  )

  it.live("stops when the client cancels it, and charges the output until then", () =>
    Effect.gen(function* () {
      const { account, client, inferenceKey, service } = yield* open(10, slowly(200))
      const cancel = new AbortController()
      const failed = yield* Effect.promise(() =>
        client
          .callTool({ name: "chat", arguments: { ...hello, idempotency_key: "cut" } }, undefined, {
            signal: cancel.signal,
            onprogress: ({ progress }) => {
              if (progress > 0) cancel.abort("enough")
            }
          })
          .then(
            () => undefined,
            (error: Error) => error.message
          )
      )
      assert.match(failed ?? "", /enough/)
      const [receipt] = yield* eventually(receipts(service, inferenceKey), ([one]) => one?.status !== "open")
      assert.deepInclude(receipt, { operation: "mcp.chat", status: "cancelled", streamed: true })
      assert.isAbove(receipt.usage.output_tokens, 0)
      assert.isBelow(receipt.usage.output_tokens, 10)
      assert.strictEqual(yield* spent(service, account.id), nano(receipt.cost_usd))
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("stops when a client without a session cancels it, and charges the output until then", () =>
    Effect.gen(function* () {
      const { account, inferenceKey, service } = yield* open()
      const client = yield* modernClient(service.origin, inferenceKey, slowly(200))
      const cancel = new AbortController()
      const onprogress = ({ progress }: { readonly progress: number }) => {
        if (progress > 0) cancel.abort("enough")
      }
      const failed = yield* Effect.promise(() =>
        client.callTool({ name: "chat", arguments: { ...hello } }, { signal: cancel.signal, onprogress }).then(
          () => undefined,
          (error: Error) => error.message
        )
      )
      assert.isDefined(failed)
      const [receipt] = yield* eventually(receipts(service, inferenceKey), ([one]) => one?.status !== "open")
      assert.deepInclude(receipt, { operation: "mcp.chat", status: "cancelled", streamed: true })
      assert.isAbove(receipt.usage.output_tokens, 0)
      assert.strictEqual(yield* spent(service, account.id), nano(receipt.cost_usd))
    }).pipe(Effect.scoped)
  )

  it.live("stops when its client disconnects", () =>
    Effect.gen(function* () {
      const { account, inferenceKey, service } = yield* open(10)
      const session = yield* openSession(service.origin, inferenceKey)
      const leave = new AbortController()
      const headers = {
        ...rpcHeaders,
        ...slowly(300),
        authorization: `Bearer ${inferenceKey}`,
        "mcp-session-id": session
      }
      const body = JSON.stringify(callOf("chat", hello))
      const asked = fetch(`${service.origin}/mcp`, { method: "POST", headers, body, signal: leave.signal })
      yield* eventually(receipts(service, inferenceKey), ([one]) => one?.status === "open")
      leave.abort()
      yield* Effect.promise(() => asked.catch(() => undefined))
      const [receipt] = yield* eventually(receipts(service, inferenceKey), ([one]) => one?.status !== "open")
      assert.strictEqual(receipt.status, "cancelled")
      assert.strictEqual(yield* spent(service, account.id), nano(receipt.cost_usd))
    }).pipe(Effect.scoped)
  )

  it.live("returns the partial output of an answer that breaks, and charges for it", () =>
    Effect.gen(function* () {
      const { account, client, inferenceKey, service } = yield* open(10, { "x-svc-sandbox": "fault=break,after=3" })
      // oxlint-disable-next-line typescript/no-explicit-any
      const broken: any = yield* Effect.promise(() =>
        client.callTool({ name: "chat", arguments: { ...hello } }, undefined, { onprogress: () => undefined })
      )
      assert.isTrue(broken.isError)
      assert.strictEqual(broken._meta.error.code, "upstream_error")
      assert.match(broken.content[1].text, /^What had come: \S+/)
      const receipt = yield* receiptOf(service, inferenceKey, broken._meta.request_id)
      assert.isAbove(receipt.cost_usd, 0)
      assert.strictEqual(yield* spent(service, account.id), nano(receipt.cost_usd))
    }).pipe(Effect.scoped)
  )
})
