/** Callers that chat at nodes, and what each saw of its answers. */
import { Effect, Fiber } from "effect"
import { type Agent, request as open } from "node:http"
import { nanoFromUsd } from "../../src/domain/Money.ts"

/** A chat that a caller asks for. */
export interface Chat {
  readonly key: string
  readonly idempotencyKey?: string
  readonly stream?: boolean
  /** Steers the sandbox. */
  readonly sandbox?: string
  readonly maxTokens?: number
  readonly model?: string
  readonly prompt?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Keeps connections; one for each request when absent. */
  readonly agent?: Agent
  /** After so long a caller gives up. */
  readonly patienceMs?: number
}

/** How one request ended for its caller. `performance.now()` of both ends. */
export interface Seen {
  /** 0 without a head: the connection was refused or broke, or nothing came in time. */
  readonly status: number
  readonly code: string | undefined
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly idempotencyKey: string | undefined
  /** The whole answer came, and it is one. */
  readonly isWhole: boolean
  /** Of the answer itself: for a replay, those of the first. */
  readonly requestId: string | undefined
  readonly cost: bigint | undefined
  readonly startedAt: number
  readonly endedAt: number
  /** Why no answer came. */
  readonly trouble: string | undefined
}

interface Bill {
  readonly request_id?: string
  readonly cost_usd?: number
  readonly error?: { readonly code?: string }
}

const billsIn = (text: string): ReadonlyArray<Bill> =>
  text.startsWith("{")
    ? [JSON.parse(text) as Bill]
    : text
        .split("\n")
        .filter((line) => line.startsWith("data: {"))
        .map((line) => JSON.parse(line.slice(6)) as Bill)

/** Asks once, and never repeats. */
export const chat = (origin: string, asked: Chat): Effect.Effect<Seen> =>
  Effect.callback((resume) => {
    const startedAt = performance.now()
    const { hostname, port } = new URL(origin)
    const body = JSON.stringify({
      model: asked.model ?? "gpt-4o-mini",
      max_tokens: asked.maxTokens ?? 20,
      stream: asked.stream === true,
      messages: [{ role: "user", content: asked.prompt ?? "hello" }]
    })
    let head: Pick<Seen, "headers" | "status"> = { status: 0, headers: {} }
    let [text, isOver] = ["", false]
    const end = (trouble?: string) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      const isComplete = trouble === undefined && (asked.stream !== true || text.includes("data: [DONE]"))
      const bills = isComplete || head.status >= 400 ? billsIn(text) : []
      const code = bills.find(({ error }) => error !== undefined)?.error?.code
      const bill = bills.findLast(({ cost_usd }) => cost_usd !== undefined)
      const seen: Seen = {
        ...head,
        code,
        idempotencyKey: asked.idempotencyKey,
        isWhole: head.status === 200 && isComplete && code === undefined,
        requestId: bill?.request_id,
        cost: bill?.cost_usd === undefined ? undefined : nanoFromUsd(bill.cost_usd),
        startedAt,
        endedAt: performance.now(),
        trouble
      }
      resume(Effect.succeed(seen))
    }
    const request = open({
      hostname,
      port,
      method: "POST",
      path: "/api/v1/chat/completions",
      agent: asked.agent ?? false,
      headers: {
        authorization: `Bearer ${asked.key}`,
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
        ...(asked.idempotencyKey === undefined ? {} : { "idempotency-key": asked.idempotencyKey }),
        ...(asked.sandbox === undefined ? {} : { "x-svc-sandbox": asked.sandbox }),
        ...asked.headers
      }
    })
    const timer = setTimeout(() => {
      end("nothing came in time")
      request.destroy()
    }, asked.patienceMs ?? 60_000)
    request.on("error", (error) => end(String(error)))
    request.on("response", (response) => {
      head = { status: response.statusCode ?? 0, headers: response.headers as Seen["headers"] }
      response.setEncoding("utf8").on("data", (piece: string) => (text += piece))
      response.on("error", (error) => end(String(error)))
      response.on("end", () => end(response.complete ? undefined : "the connection broke"))
      response.on("close", () => end("the connection broke"))
    })
    request.end(body)
    return Effect.sync(() => request.destroy())
  })

/** What several callers saw, in the order in which it ended. */
export interface Load {
  readonly seen: ReadonlyArray<Seen>
  /** Lets every caller end its last request, and returns when all have. */
  readonly end: Effect.Effect<void>
}

/** Lets so many callers ask again and again, each by what `next` says for its number and its count. */
export const load = Effect.fnUntraced(function* (
  callers: number,
  next: (caller: number, count: number) => Effect.Effect<Seen>,
  pause: `${number} millis` = "1 millis"
) {
  const seen: Array<Seen> = []
  const run = { isOver: false }
  const caller = Effect.fnUntraced(function* (number: number) {
    for (let count = 0; !run.isOver; count++) {
      seen.push(yield* next(number, count))
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
  return { seen, end } satisfies Load
})

/** How often each kind of answer came: its status with its code, or its trouble. */
export const tally = (seen: ReadonlyArray<Seen>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { code, isWhole, status, trouble } of seen) {
    const name = isWhole ? "served" : status === 0 ? (trouble ?? "") : [status, code ?? trouble ?? "broken"].join(" ")
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
