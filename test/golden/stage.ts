/** A gateway with the recorded hosts, and functions that send it a case. */
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { get, json, type Service, startService } from "../support/Service.ts"
import type { Adapter } from "./adapters.ts"
import { type CaseName, isOf, questionOf } from "./cases.ts"
import { type Dialect, eventsOf, type Json, type WireEvent } from "./dialect.ts"
import { startHost } from "./host.ts"

/** One answer without the values that differ in each run. */
interface Answered {
  readonly request: Json
  /** The request that the adapter sent. */
  readonly upstream: Json
  readonly status: number
  /** The fields of the receipt that do not depend on the time. */
  readonly receipt: Json
  /** The charge to the balance, in nano-USD. */
  readonly paid: bigint
}

export interface Whole extends Answered {
  readonly answer: Json
}

export interface Streamed extends Answered {
  /** Empty if the answer is an error. */
  readonly events: ReadonlyArray<WireEvent>
  readonly error: Json
}

/** The answers to a case in one dialect from one adapter. */
export interface Played {
  readonly whole: Whole
  /** Undefined if the dialect has no streams. */
  readonly streamed: Streamed | undefined
}

/** Fields that contain a time. */
const times = new Set(["created", "created_at", "completed_at"])

/** Fields that contain sealed reasoning. */
const seals = new Set(["signature", "encrypted_content"])

const isSealed = (key: string, value: Json): boolean => typeof value === "string" && value !== "" && seals.has(key)

/** Replaces the values that differ in each run: times, seals, and the estimated prompt tokens at the start of a message. */
const withoutVolatile = (key: string, value: Json): Json => {
  if (isSealed(key, value)) return "<seal>"
  if (value?.type === "reasoning.encrypted" || value?.type === "redacted_thinking") return { ...value, data: "<seal>" }
  if (times.has(key) && typeof value === "number") return 0
  if (key !== "message" || value?.stop_reason !== null) return value
  assert.isAbove(value.usage.input_tokens, 0)
  return { ...value, usage: { ...value.usage, input_tokens: 0 } }
}

/** Parses an answer without the values that differ in each run, such as the request's id and ids derived from it. */
const settled = (text: string, requestId: string): Json => {
  const id = requestId.slice("req_".length)
  assert.strictEqual(id.length, 26, requestId)
  return JSON.parse(text.replaceAll(id, "<id>").replaceAll(id.slice(-24), "<id>"), withoutVolatile)
}

/** Returns the fields of a receipt that depend on the answer only. */
const receiptOf = ({ absorbed_usd, cost_usd, error, finish_reason, price, status, usage, usage_basis }: Json) => ({
  status,
  finish_reason,
  usage,
  usage_basis,
  price,
  cost_usd,
  absorbed_usd,
  error
})

const send = (
  { key, service }: Stage,
  dialect: Dialect,
  body: object,
  headers: Readonly<Record<string, string>> = {}
) =>
  Effect.promise(async () => {
    const response = await fetch(`${service.api}${dialect.path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...dialect.headers(key), ...headers },
      body: JSON.stringify(body)
    })
    return { response, requestId: response.headers.get("x-request-id") ?? "", text: await response.text() }
  })

const balanceOf = ({ owner, service }: Stage) => Effect.orDie(service.balance(owner))

const ask = Effect.fnUntraced(function* (stage: Stage, dialect: Dialect, body: object) {
  const before = yield* balanceOf(stage)
  const { requestId, response, text } = yield* send(stage, dialect, body)
  const after = yield* balanceOf(stage)
  assert.strictEqual(after.held, 0n, "no hold may be left after the last byte")
  const receipt = yield* Effect.flatMap(get(`${stage.service.api}/requests/${requestId}`, stage.key), json)
  return {
    requestId,
    text,
    type: response.headers.get("content-type") ?? "",
    request: body,
    upstream: stage.host.takeAsked(),
    status: response.status,
    receipt: receiptOf(receipt),
    paid: before.posted - after.posted
  }
})

export const askWhole = Effect.fnUntraced(function* (stage: Stage, dialect: Dialect, body: object) {
  const { requestId, text, type, ...answered } = yield* ask(stage, dialect, body)
  assert.include(type, "application/json")
  return { ...answered, answer: settled(text, requestId) } satisfies Whole
})

export const askStreamed = Effect.fnUntraced(function* (stage: Stage, dialect: Dialect, body: object) {
  const { requestId, text, type, ...answered } = yield* ask(stage, dialect, body)
  if (!type.includes("event-stream")) return { ...answered, events: [], error: settled(text, requestId) }
  return { ...answered, events: settled(JSON.stringify(eventsOf(text)), requestId), error: undefined }
})

/** Sends a stream request under an idempotency key twice. The replay must be free and call no provider. */
export const askTwice = Effect.fnUntraced(function* (stage: Stage, dialect: Dialect, body: object) {
  const headers = { "idempotency-key": randomUUID() }
  const first = yield* send(stage, dialect, body, headers)
  const before = yield* balanceOf(stage)
  stage.host.takeAsked()
  const second = yield* send(stage, dialect, body, headers)
  assert.strictEqual(second.response.headers.get("idempotency-replayed"), "true")
  assert.isUndefined(stage.host.takeAsked())
  assert.deepStrictEqual(yield* balanceOf(stage), before)
  return [first.text, second.text].map((text): ReadonlyArray<WireEvent> =>
    settled(JSON.stringify(eventsOf(text)), first.requestId)
  )
})

interface Stage {
  readonly service: Service
  readonly host: Effect.Success<typeof startHost>
  readonly key: string
  readonly owner: string
}

/** Each test file gets its own gateway and hosts. */
export class Golden extends Context.Service<
  Golden,
  Stage & {
    /** Sends a case plain and streamed, once. Returns undefined if the dialect cannot express it or the adapter does not have it. */
    readonly play: (dialect: Dialect, adapter: Adapter, name: CaseName) => Effect.Effect<Played | undefined>
  }
>()("tollgate/test/golden/Golden") {
  static readonly layer = Layer.effect(
    Golden,
    Effect.gen(function* () {
      const host = yield* startHost
      const service = yield* startService(host.env)
      const { account, inferenceKey } = yield* service.account(100)
      const stage: Stage = { service, host, key: inferenceKey, owner: account.id }
      const known = new Map<string, Played>()
      const play = Effect.fnUntraced(function* (dialect: Dialect, adapter: Adapter, name: CaseName) {
        const place = `${dialect.name}/${adapter.name}/${name}`
        const before = known.get(place)
        if (before !== undefined) return before
        const question = questionOf(name)
        const body = isOf(name, adapter.name) ? dialect.ask(question, adapter.model, false) : undefined
        if (body === undefined) return undefined
        const whole = yield* askWhole(stage, dialect, body)
        const streaming = dialect.streams ? dialect.ask(question, adapter.model, true) : undefined
        const streamed = streaming === undefined ? undefined : yield* askStreamed(stage, dialect, streaming)
        const played: Played = { whole, streamed }
        known.set(place, played)
        return played
      })
      return { ...stage, play }
    })
  )
}
