/** Callers that send chats to nodes, and the outcome of each request. */
import { Effect, Fiber } from "effect"
import { type Agent, request as open } from "node:http"
import { nanoFromUsd } from "../../src/domain/Money.ts"
import type { Topology } from "../support/Topology.ts"

export interface ChatOptions {
  readonly key: string
  readonly idempotencyKey?: string
  readonly stream?: boolean
  /** The value of `X-Svc-Sandbox`, which controls the simulated provider. */
  readonly sandbox?: string
  readonly maxTokens?: number
  readonly model?: string
  readonly prompt?: string
  readonly headers?: Readonly<Record<string, string>>
  /** An agent with persistent connections. By default each request opens its own. */
  readonly agent?: Agent
  readonly timeoutMs?: number
}

/** How one request ended for its caller, with times of `performance.now()`. */
export interface Outcome {
  /** 0 without a response head: the connection was refused or broke, or the caller timed out. */
  readonly status: number
  readonly code: string | undefined
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly idempotencyKey: string | undefined
  /** The answer is complete and no error. */
  readonly isComplete: boolean
  /** `request_id` and cost in the answer. A replay has those of the first request. */
  readonly requestId: string | undefined
  readonly cost: bigint | undefined
  readonly startedAt: number
  readonly endedAt: number
  /** Why no answer arrived. */
  readonly failure: string | undefined
}

interface CostFields {
  readonly request_id?: string
  readonly cost_usd?: number
  readonly error?: { readonly code?: string }
}

const costFieldsIn = (text: string): ReadonlyArray<CostFields> =>
  text.startsWith("{")
    ? [JSON.parse(text) as CostFields]
    : text
        .split("\n")
        .filter((line) => line.startsWith("data: {"))
        .map((line) => JSON.parse(line.slice(6)) as CostFields)

/** Sends one chat, without a retry. */
export const chat = (origin: string, options: ChatOptions): Effect.Effect<Outcome> =>
  Effect.callback((resume) => {
    const startedAt = performance.now()
    const { hostname, port } = new URL(origin)
    const body = JSON.stringify({
      model: options.model ?? "gpt-4o-mini",
      max_tokens: options.maxTokens ?? 20,
      stream: options.stream === true,
      messages: [{ role: "user", content: options.prompt ?? "hello" }]
    })
    let head: Pick<Outcome, "headers" | "status"> = { status: 0, headers: {} }
    let [text, isOver] = ["", false]
    const end = (failure?: string) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      const hasArrived = failure === undefined && (options.stream !== true || text.includes("data: [DONE]"))
      const fields = hasArrived || head.status >= 400 ? costFieldsIn(text) : []
      const code = fields.find(({ error }) => error !== undefined)?.error?.code
      const bill = fields.findLast(({ cost_usd }) => cost_usd !== undefined)
      const outcome: Outcome = {
        ...head,
        code,
        idempotencyKey: options.idempotencyKey,
        isComplete: head.status === 200 && hasArrived && code === undefined,
        requestId: bill?.request_id,
        cost: bill?.cost_usd === undefined ? undefined : nanoFromUsd(bill.cost_usd),
        startedAt,
        endedAt: performance.now(),
        failure
      }
      resume(Effect.succeed(outcome))
    }
    const request = open({
      hostname,
      port,
      method: "POST",
      path: "/api/v1/chat/completions",
      agent: options.agent ?? false,
      headers: {
        authorization: `Bearer ${options.key}`,
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
        ...(options.idempotencyKey === undefined ? {} : { "idempotency-key": options.idempotencyKey }),
        ...(options.sandbox === undefined ? {} : { "x-svc-sandbox": options.sandbox }),
        ...options.headers
      }
    })
    const timer = setTimeout(() => {
      end("the caller timed out")
      request.destroy()
    }, options.timeoutMs ?? 60_000)
    request.on("error", (error) => end(String(error)))
    request.on("response", (response) => {
      head = { status: response.statusCode ?? 0, headers: response.headers as Outcome["headers"] }
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece))
      response.on("error", (error) => end(String(error)))
      response.on("end", () => end(response.complete ? undefined : "the connection broke"))
      response.on("close", () => end("the connection broke"))
    })
    request.end(body)
    return Effect.sync(() => request.destroy())
  })

/** Sends one chat to each node at once. */
export const chatAtEach = ({ nodes }: Pick<Topology, "nodes">, options: ChatOptions) =>
  Effect.forEach(nodes, ({ origin }) => chat(origin, options), { concurrency: "unbounded" })

/** Callers at work. */
export interface Load {
  /** In the order in which the requests ended. */
  readonly outcomes: ReadonlyArray<Outcome>
  /** Stops the callers; returns when each has ended its last request. */
  readonly end: Effect.Effect<void>
}

/** Starts callers that send one request after the other. `next` gets the caller's number and the count of its requests. */
export const load = Effect.fnUntraced(function* (
  callers: number,
  next: (caller: number, count: number) => Effect.Effect<Outcome>,
  pause: `${number} millis` = "1 millis"
) {
  const outcomes: Array<Outcome> = []
  const run = { isOver: false }
  const caller = Effect.fnUntraced(function* (number: number) {
    for (let count = 0; !run.isOver; count++) {
      outcomes.push(yield* next(number, count))
      yield* Effect.sleep(pause)
    }
  })
  const running = yield* Effect.forkChild(
    Effect.all(
      Array.from({ length: callers }, (_, number) => caller(number)),
      { concurrency: "unbounded", discard: true }
    )
  )
  const end = Effect.suspend(() => {
    run.isOver = true
    return Fiber.join(running)
  })
  return { outcomes, end } satisfies Load
})

/** The number of the caller in an idempotency key such as `3-17`. */
export const callerOf = ({ idempotencyKey }: Outcome) => Number(idempotencyKey!.split("-")[0])

/** Counts the outcomes of each kind: `served`, a status with its code, or a failure. */
export const tally = (outcomes: ReadonlyArray<Outcome>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { code, failure, isComplete, status } of outcomes) {
    const name = isComplete
      ? "served"
      : status === 0
        ? (failure ?? "")
        : [status, code ?? failure ?? "broken"].join(" ")
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
