import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Client, createClient, type OperationId } from "../../src/client/Client.ts"
import { TollgateConnectionError, TollgateError, TollgateStreamError } from "../../src/client/Errors.ts"
import { nanoFromUsd, usdFromNano } from "../../src/client/Money.ts"
import { operations } from "../../src/client/Operations.ts"
import { upstream } from "../providers/upstream.ts"
import { type Call, callsOf } from "../support/Calls.ts"
import { rejection } from "./rejection.ts"
import { type Service, startService } from "../support/Service.ts"
import { createResources } from "../support/Things.ts"

const hello = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] } as const

const caller = (service: Service) =>
  Effect.map(service.account(10), ({ account, inferenceKey }) => ({
    accountId: account.id,
    client: createClient({ baseUrl: service.origin, apiKey: inferenceKey })
  }))

const textOf = async (stream: AsyncIterable<{ readonly choices: ReadonlyArray<{ delta: { content?: unknown } }> }>) => {
  let said = ""
  for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? ""
  return said
}

/** Returns the client's input for a call. It splits the path by the template of the operation. */
const inputOf = (id: OperationId, { body, form, path }: Call) => {
  const [pathname = "", query = ""] = path.split("?")
  const [, template = ""] = operations[id].split(" ")
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name)
  const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, "([^?]+)")}$`)
  const values = pattern.exec(`/api/v1${pathname}`)?.slice(1) ?? []
  assert.lengthOf(values, names.length, `${id}: ${path} does not fit ${template}`)
  return {
    path: Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""])),
    query: Object.fromEntries(new URLSearchParams(query)),
    ...(form === undefined ? (body === undefined ? {} : { body }) : { body: form() })
  }
}

describe("the typed client", () => {
  it.live("returns the lines of a file unchanged, one or several", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { client } = yield* caller(service)
      for (const text of ['{"custom_id": "a"}', '{"custom_id": "a"}\n{"custom_id": "b"}\n']) {
        const form = new FormData()
        form.append("purpose", "batch")
        form.append("file", new Blob([text]), "input.jsonl")
        const { id } = yield* Effect.promise(() => client.call("files.create", { body: form as never }))
        const content = yield* Effect.promise(() => client.call("files.content", { path: { file_id: id } }))
        assert.strictEqual(yield* Effect.promise(() => content.text()), text)
      }
    }).pipe(Effect.scoped)
  )

  it.live("can call every operation of the contract", () =>
    Effect.gen(function* () {
      const receiver = yield* upstream((_, response) => response.writeHead(204).end())
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const mine = yield* service.account()
      const management = yield* service.keys.create({
        accountId: mine.account.id,
        kind: "management",
        name: "all",
        scopes: (yield* Effect.promise(() => import("../../src/auth/Scopes.ts"))).scopes,
        actor: { type: "operator", id: "test" }
      })
      const things = yield* createResources(service, mine, receiver.origin)
      const session = yield* service.signedIn(mine.account.id)
      const calls = callsOf(things)
      assert.sameMembers(Object.keys(operations), [...calls.keys()])
      for (const [name, call] of calls) {
        const id = name as OperationId
        const isManagement = id.startsWith("management.")
        const client = createClient({
          baseUrl: `${service.origin}/api/v1`,
          maxRetries: 0,
          apiKey: isManagement ? management.key : mine.inferenceKey
        })
        const input = { ...inputOf(id, call), headers: id.startsWith("console.") ? session : {} }
        const ask = client.call as (id: OperationId, input: object) => Promise<unknown>
        // An event of Stripe needs Stripe's signature.
        const wrong = id === "payments.stripe" ? ["unknown_route"] : ["unknown_route", "validation_error"]
        const outcome = yield* Effect.promise(() => ask(id, input).catch((error: unknown) => error))
        // The state of a resource may reject the call, but the gateway must understand the request itself.
        if (outcome instanceof TollgateError) assert.notInclude(wrong, outcome.code, id)
        else assert.notInstanceOf(outcome, Error, `${id}: ${String(outcome)}`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("streams typed events in every dialect, and converts money between numbers and nano-dollars", () =>
    Effect.gen(function* () {
      const { client } = yield* caller(yield* startService())
      const chat = yield* Effect.promise(() => textOf(client.stream("chat.completions", { body: hello })))
      assert.include(chat, "Hello!")
      const responses = yield* Effect.promise(async () => {
        let said = ""
        for await (const event of client.stream("responses", { body: { model: "gpt-4o-mini", input: "Hello!" } })) {
          if (event.type === "response.output_text.delta") said += event.delta
        }
        return said
      })
      assert.include(responses, "Hello!")
      const messages = yield* Effect.promise(async () => {
        let said = ""
        const body = { ...hello, model: "claude-sonnet-4-6", max_tokens: 50 }
        for await (const event of client.stream("messages", { body })) {
          if (event.type === "content_block_delta" && event.delta.type === "text_delta") said += event.delta.text
        }
        return said
      })
      assert.include(messages, "Hello!")
      const answer = yield* Effect.promise(() => client.call("chat.completions", { body: hello }))
      const cost = answer.cost_usd ?? assert.fail("the answer has no cost")
      assert.isAbove(cost, 0)
      assert.strictEqual(usdFromNano(nanoFromUsd(cost)), cost)
      const receipt = yield* Effect.promise(() =>
        client.call("requests.get", { path: { request_id: answer.request_id ?? "" } })
      )
      assert.strictEqual(nanoFromUsd(receipt.cost_usd), nanoFromUsd(cost))
    }).pipe(Effect.scoped)
  )

  it.live("has an error for an invalid field, a refused connection and a broken stream each", () =>
    Effect.gen(function* () {
      const { client } = yield* caller(yield* startService())
      const refused = yield* rejection(client.call("chat.completions", { body: { ...hello, temperature: 9 } }))
      assert.instanceOf(refused, TollgateError)
      assert.deepStrictEqual([refused.status, refused.param, refused.shouldRetry], [400, "temperature", false])
      assert.match(refused.requestId ?? "", /^req_/)
      const closed = createClient({ baseUrl: "http://127.0.0.1:9", maxRetries: 0 })
      assert.instanceOf(yield* rejection(closed.call("models.list")), TollgateConnectionError)
      const broken = client.stream("chat.completions", {
        body: hello,
        headers: { "x-svc-sandbox": "fault=break,after=3" }
      })
      assert.instanceOf(yield* rejection(textOf(broken)), TollgateStreamError)
    }).pipe(Effect.scoped)
  )

  it.live("rejects a path parameter that would lead to another operation", () =>
    Effect.gen(function* () {
      const client = createClient({ baseUrl: "http://127.0.0.1:9", maxRetries: 0 })
      for (const id of ["", ".", "..", "../key", "a/../../key", "a//b"]) {
        const error = yield* rejection(client.call("models.get", { path: { id } }))
        assert.instanceOf(error, TypeError, id)
        assert.include(String(error), "`path.id` must be an id")
      }
    })
  )

  it.live("rejects calls that only untyped programs can make, before any request", () =>
    Effect.gen(function* () {
      const sent: Array<unknown> = []
      const client = createClient({
        baseUrl: "http://127.0.0.1:9",
        fetch: (...args) => {
          sent.push(args)
          return Promise.reject(new Error("no request was expected"))
        }
      })
      const untyped = client as unknown as {
        readonly call: (id: string, input?: object) => Promise<unknown>
        readonly stream: (id: string, input?: object) => AsyncIterable<unknown>
        readonly list: (id: string, input?: object) => AsyncIterable<unknown>
      }
      const first = async (items: AsyncIterable<unknown>) => {
        for await (const item of items) return item
      }
      const body = { ...hello, stream: true } as const
      // @ts-expect-error: a call returns a whole answer
      const streamed = client.call("chat.completions", { body })
      for (const [promise, message] of [
        [streamed, "`body.stream` must not be true for `call`; use `stream`."],
        [untyped.call("chat.complete"), '`id` must be an operation, such as "chat.completions"; got "chat.complete".'],
        [untyped.call("toString"), '`id` must be an operation, such as "chat.completions"; got "toString".'],
        [first(untyped.stream("embeddings", {})), '`id` must be an operation that can stream; got "embeddings".'],
        [first(untyped.list("requests.get", {})), '`id` must be an operation that returns a list; got "requests.get".']
      ] as const) {
        const error = yield* rejection(promise)
        assert.instanceOf(error, TypeError)
        assert.strictEqual(error.message, message)
      }
      assert.lengthOf(sent, 0)
      assert.throws(
        () => createClient({ baseUrl: undefined as never }),
        TypeError,
        "`baseUrl` must be the address of the gateway, such as http://127.0.0.1:8787; got undefined."
      )
    })
  )

  it.live("reads a list to its end, page by page", () =>
    Effect.gen(function* () {
      const { client } = yield* caller(yield* startService())
      const ids: Array<string> = []
      for (let count = 0; count < 3; count++) {
        const body = { model: "text-embedding-3-small", input: "tea" }
        yield* Effect.promise(() => client.call("embeddings", { body }))
      }
      const all = async <T extends { readonly id: string }>(list: AsyncIterable<T>) => {
        ids.length = 0
        for await (const { id } of list) ids.push(id)
        return new Set(ids).size
      }
      assert.strictEqual(yield* Effect.promise(() => all(client.list("requests.list", { query: { limit: 1 } }))), 3)
      assert.lengthOf(ids, 3)
      const models = yield* Effect.promise(() => all(client.list("models.list", { query: { limit: 50 } })))
      assert.isAbove(models, 50)
      assert.lengthOf(ids, models)
    }).pipe(Effect.scoped)
  )

  it.live("cancels the request of a stream when the reader stops", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { client } = yield* caller(service)
      const leave = async (given: Client) => {
        const headers = { "x-svc-sandbox": "fault=stall,after=3" }
        for await (const chunk of given.stream("chat.completions", { body: hello, headers })) {
          if (chunk.choices[0]?.delta.content) return
        }
        assert.fail("the stream has no content")
      }
      yield* Effect.promise(() => leave(client))
      const newest = Effect.promise(() => client.call("requests.list").then(({ data }) => data[0]))
      const receipt = yield* Effect.repeat(newest, { until: (one) => one?.status !== "open" })
      assert.strictEqual(receipt?.status, "cancelled")
    }).pipe(Effect.scoped)
  )
})
