/** The mixed traffic of the section `soak`. */
import { setTimeout as sleep } from "node:timers/promises"
import { Random } from "../ledger/Random.ts"
import { type Answer, Connection, ConnectionPool } from "./Connection.ts"
import { type Dialect, dialects } from "./Dialects.ts"
import { bytesWith, countOf, type Endpoint, failureOf, requestBytes } from "./Traffic.ts"
import { SHORT_INPUTS, shortRequest } from "./Vectors.ts"

/** Content chunks of a slow stream, and the time between two of them. */
export const SLOW_CHUNKS = 50
export const SLOW_EVERY_MS = 20

/** The id of the provider of slow streams. */
export const SLOW = "slow"

/** When a client disconnects from its slow stream. */
const DISCONNECTS_AFTER_MS = 200

/** The most requests in flight. The load skips requests beyond them, so that a stalled machine does not run out of memory. */
const MAX_IN_FLIGHT = 512

/** How long an open loop waits for its last answers. */
const LAST_ANSWERS_MS = 60_000

const BUCKET_MS = 600_000

interface Kind {
  readonly name: string
  /** Percent of all requests. */
  readonly weight: number
  readonly dialect?: Dialect
  readonly streamed?: boolean
  /** By default, one request with one answer. */
  readonly how?: "embeddings" | "repeat" | "slow" | "disconnect"
}

const kinds: ReadonlyArray<Kind> = [
  { name: "chat", weight: 38, dialect: "chat" },
  { name: "chat stream", weight: 18, dialect: "chat", streamed: true },
  { name: "messages", weight: 9, dialect: "messages" },
  { name: "messages stream", weight: 5, dialect: "messages", streamed: true },
  { name: "responses", weight: 8, dialect: "responses" },
  { name: "responses stream", weight: 4, dialect: "responses", streamed: true },
  { name: "embeddings", weight: 8, how: "embeddings" },
  { name: "repeat", weight: 5, dialect: "chat", how: "repeat" },
  { name: "slow stream", weight: 3, dialect: "chat", streamed: true, how: "slow" },
  { name: "disconnect", weight: 2, dialect: "chat", streamed: true, how: "disconnect" }
]

/** The shares of the traffic, in words. */
export const mix = kinds.map(({ name, weight }) => `${weight} % ${name}`).join(", ")

/** Latencies within ten minutes, in milliseconds since each request was due. */
export interface Bucket {
  /** Complete chat answers. */
  readonly whole: Array<number>
  /** Time to first token of fast streams. */
  readonly firstToken: Array<number>
}

/** The result of a load. */
export class Tally {
  readonly began = performance.now()
  sent = 0
  answered = 0
  /** Requests that repeat an earlier one under its idempotency key. */
  repeats = 0
  disconnected = 0
  /** Skipped requests. */
  unsent = 0
  /** Failures by reason, with one example each. */
  readonly errors = new Map<string, { readonly count: number; readonly example: string }>()
  readonly buckets: Array<Bucket> = []

  fail(reason: string, example = reason): void {
    const known = this.errors.get(reason)
    this.errors.set(reason, { count: (known?.count ?? 0) + 1, example: known?.example ?? example })
  }

  /** The number of failures. */
  get failed(): number {
    return [...this.errors.values()].reduce((sum, { count }) => sum + count, 0)
  }

  bucket(): Bucket {
    const index = Math.floor((performance.now() - this.began) / BUCKET_MS)
    return (this.buckets[index] ??= { whole: [], firstToken: [] })
  }
}

/** The error code of an answer, or the reason why it is incomplete. */
const reasonOf = ({ body, status }: Answer, failure: string): string => {
  if (status === 200) return failure.split(":", 1)[0]!
  return `${status} ${/"code": ?"([^"]+)"/.exec(body)?.[1] ?? "without a code"}`
}

/** Sends the mixed traffic to a gateway over persistent connections. */
export class SoakLoad {
  readonly #endpoint: Endpoint
  readonly #pool: ConnectionPool
  /** A hundred kinds in random order. */
  readonly #order: ReadonlyArray<Kind>
  readonly #bytes = new Map<Kind, Buffer>()
  #next = 0
  #keys = 0

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint
    this.#pool = new ConnectionPool(endpoint.port)
    const random = new Random(1)
    const slots = kinds.flatMap((kind) => Array.from({ length: kind.weight }, () => ({ kind, at: random.next() })))
    this.#order = slots.toSorted((one, other) => one.at - other.at).map(({ kind }) => kind)
  }

  /** Runs callers that each send one request after the other. */
  async closed(concurrency: number, seconds: number): Promise<Tally> {
    const tally = new Tally()
    const until = tally.began + seconds * 1_000
    const caller = async () => {
      while (performance.now() < until) await this.#one(tally, performance.now())
    }
    await Promise.all(Array.from({ length: concurrency }, caller))
    return tally
  }

  /** Sends requests at a fixed rate. */
  async open(perSecond: number, seconds: number): Promise<Tally> {
    const tally = new Tally()
    const total = Math.round(perSecond * seconds)
    const inFlight = new Set<Promise<void>>()
    for (let due = 0; due < total; due++) {
      const at = tally.began + (due * 1_000) / perSecond
      const wait = at - performance.now()
      if (wait > 0) await sleep(wait)
      if (inFlight.size >= MAX_IN_FLIGHT) {
        tally.unsent += 1
        continue
      }
      const one = this.#one(tally, at)
      inFlight.add(one)
      void one.finally(() => inFlight.delete(one))
    }
    await Promise.race([Promise.all(inFlight), sleep(LAST_ANSWERS_MS)])
    for (const _ of inFlight) tally.fail("no answer")
    return tally
  }

  /** Closes idle connections. */
  close(): void {
    this.#pool.close()
  }

  async #one(tally: Tally, due: number): Promise<void> {
    const kind = this.#order[this.#next++ % this.#order.length]!
    if (kind.how === "disconnect") return this.#disconnect(kind, tally)
    if (kind.how === "repeat") return this.#repeat(kind, tally, due)
    const answer = await this.#exchange(kind, this.#request(kind), tally)
    if (answer === undefined) return
    if (kind.name === "chat") tally.bucket().whole.push(answer.endedAt - due)
    if (kind.name === "chat stream") tally.bucket().firstToken.push(answer.firstTokenAt - due)
  }

  async #disconnect(kind: Kind, tally: Tally): Promise<void> {
    const connection = new Connection(this.#endpoint.port)
    tally.sent += 1
    tally.disconnected += 1
    // Gets no answer, because its client closes the connection first.
    connection.exchange(this.#request(kind)).catch((error: unknown) => tally.fail(String(error)))
    await sleep(DISCONNECTS_AFTER_MS)
    connection.close()
  }

  async #repeat(kind: Kind, tally: Tally, due: number): Promise<void> {
    const headers = { "idempotency-key": `soak-${this.#keys++}` }
    const request = requestBytes({ ...this.#endpointOf(kind), headers }, false)
    const first = await this.#exchange(kind, request, tally)
    if (first === undefined) return
    tally.bucket().whole.push(first.endedAt - due)
    tally.repeats += 1
    const again = await this.#exchange(kind, request, tally)
    if (again !== undefined && again.body !== first.body) tally.fail("the answer to a repeat differs from the first")
  }

  /** Sends a request; returns undefined after a failure, which it counts. */
  async #exchange(kind: Kind, request: Buffer, tally: Tally): Promise<Answer | undefined> {
    const connection = this.#pool.take()
    tally.sent += 1
    try {
      const answer = await connection.exchange(request)
      this.#pool.give(connection)
      const failure = this.#failureOf(kind, answer)
      if (failure === undefined) {
        tally.answered += 1
        return answer
      }
      tally.fail(reasonOf(answer, failure), `${kind.name}: ${failure}`)
    } catch (error) {
      tally.fail(error instanceof Error ? error.message : String(error))
    }
    return undefined
  }

  #failureOf(kind: Kind, answer: Answer): string | undefined {
    if (kind.how !== "embeddings") return failureOf(answer, this.#endpointOf(kind), kind.streamed === true)
    const vectors = countOf(answer.body, '"object":"embedding"')
    return answer.status === 200 && vectors === SHORT_INPUTS ? undefined : `${vectors} vectors`
  }

  #endpointOf({ dialect = "chat", how }: Kind): Endpoint {
    const path = how === "embeddings" ? "/api/v1/embeddings" : dialects[dialect].path
    const slow = how === "slow" || how === "disconnect"
    return {
      ...this.#endpoint,
      dialect,
      path,
      routing: slow ? { providers: { only: [SLOW] } } : { providers: { ignore: [SLOW] } },
      ...(slow ? { chunks: SLOW_CHUNKS } : {})
    }
  }

  #request(kind: Kind): Buffer {
    let bytes = this.#bytes.get(kind)
    if (bytes === undefined) {
      const endpoint = this.#endpointOf(kind)
      bytes =
        kind.how === "embeddings" ? bytesWith(endpoint, shortRequest) : requestBytes(endpoint, kind.streamed === true)
      this.#bytes.set(kind, bytes)
    }
    return bytes
  }
}
