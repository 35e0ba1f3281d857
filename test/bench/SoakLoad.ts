/** The mixed traffic of the section `soak`. */
import { Random } from "../ledger/Random.ts"
import { type Answer, Connection } from "./Connection.ts"
import { dialects, type Dialect } from "./Dialects.ts"
import { bytesWith, countOf, type Endpoint, faultOf, requestBytes } from "./Traffic.ts"
import { SHORT_INPUTS, shortRequest } from "./Vectors.ts"

/** Content chunks of a slow stream, and the time between two of them. */
export const SLOW_CHUNKS = 50
export const SLOW_EVERY_MS = 20

/** The provider of slow streams. */
export const SLOW = "slow"

/** A client that hangs up does so while a slow stream is under way. */
const HANGS_UP_AFTER_MS = 200

/** Requests under way at once, at most. What is due beyond them is not sent, so that a machine that stalls does not fill up. */
const MOST_IN_FLIGHT = 512

/** An open load waits this long for what is under way at its end. */
const PATIENCE_MS = 60_000

const BUCKET_MS = 600_000

interface Kind {
  readonly name: string
  /** Of a hundred requests. */
  readonly weight: number
  readonly dialect?: Dialect
  readonly streamed?: boolean
  /** Answered once by default. */
  readonly how?: "embeddings" | "repeated" | "slow" | "hung up"
}

const kinds: ReadonlyArray<Kind> = [
  { name: "chat", weight: 38, dialect: "chat" },
  { name: "chat stream", weight: 18, dialect: "chat", streamed: true },
  { name: "messages", weight: 9, dialect: "messages" },
  { name: "messages stream", weight: 5, dialect: "messages", streamed: true },
  { name: "responses", weight: 8, dialect: "responses" },
  { name: "responses stream", weight: 4, dialect: "responses", streamed: true },
  { name: "embeddings", weight: 8, how: "embeddings" },
  { name: "repeat", weight: 5, dialect: "chat", how: "repeated" },
  { name: "slow stream", weight: 3, dialect: "chat", streamed: true, how: "slow" },
  { name: "hang-up", weight: 2, dialect: "chat", streamed: true, how: "hung up" }
]

/** What is sent, as a share of all, in words. */
export const mix = kinds.map(({ name, weight }) => `${weight} % ${name}`).join(", ")

/** Times of ten minutes, in milliseconds since each request was due. */
export interface Bucket {
  /** Of whole chat answers. */
  readonly whole: Array<number>
  /** Of the first token of fast streams. */
  readonly firstToken: Array<number>
}

/** What came of a load. */
export class Tally {
  readonly began = performance.now()
  sent = 0
  answered = 0
  /** Requests that repeat an earlier one under its idempotency key. */
  repeats = 0
  hungUp = 0
  /** Due while too many were under way. */
  unsent = 0
  /** How many answers were wrong by their code, with one of them. */
  readonly errors = new Map<string, { readonly count: number; readonly example: string }>()
  readonly buckets: Array<Bucket> = []

  fail(reason: string, example = reason): void {
    const known = this.errors.get(reason)
    this.errors.set(reason, { count: (known?.count ?? 0) + 1, example: known?.example ?? example })
  }

  /** All that were wrong. */
  get failed(): number {
    return [...this.errors.values()].reduce((sum, { count }) => sum + count, 0)
  }

  bucket(): Bucket {
    const index = Math.floor((performance.now() - this.began) / BUCKET_MS)
    return (this.buckets[index] ??= { whole: [], firstToken: [] })
  }
}

/** The code of an answer that is an error, or what else is wrong with it. */
const reasonOf = ({ body, status }: Answer, fault: string): string => {
  if (status === 200) return fault.split(":", 1)[0]!
  return `${status} ${/"code": ?"([^"]+)"/.exec(body)?.[1] ?? "without a code"}`
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Sends the mix to a gateway over connections that are kept. */
export class SoakLoad {
  readonly #endpoint: Endpoint
  readonly #idle: Array<Connection> = []
  /** Kinds of a hundred requests, in an order of their own. */
  readonly #order: ReadonlyArray<Kind>
  readonly #bytes = new Map<Kind, Buffer>()
  #next = 0
  #keys = 0

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint
    const random = new Random(1)
    const slots = kinds.flatMap((kind) => Array.from({ length: kind.weight }, () => ({ kind, at: random.next() })))
    this.#order = slots.toSorted((one, other) => one.at - other.at).map(({ kind }) => kind)
  }

  /** So many callers, each of whom asks again when it is answered. */
  async closed(concurrency: number, seconds: number): Promise<Tally> {
    const tally = new Tally()
    const until = tally.began + seconds * 1_000
    const caller = async () => {
      while (performance.now() < until) await this.#one(tally, performance.now())
    }
    await Promise.all(Array.from({ length: concurrency }, caller))
    return tally
  }

  /** So many requests a second, each sent when it is due. */
  async open(perSecond: number, seconds: number): Promise<Tally> {
    const tally = new Tally()
    const total = Math.round(perSecond * seconds)
    const underWay = new Set<Promise<void>>()
    for (let due = 0; due < total; due++) {
      const at = tally.began + (due * 1_000) / perSecond
      const wait = at - performance.now()
      if (wait > 0) await pause(wait)
      if (underWay.size >= MOST_IN_FLIGHT) {
        tally.unsent += 1
        continue
      }
      const one = this.#one(tally, at)
      underWay.add(one)
      void one.finally(() => underWay.delete(one))
    }
    await Promise.race([Promise.all(underWay), pause(PATIENCE_MS)])
    for (const _ of underWay) tally.fail("no answer")
    return tally
  }

  /** Closes connections that no request uses. */
  close(): void {
    for (const connection of this.#idle.splice(0)) connection.close()
  }

  async #one(tally: Tally, due: number): Promise<void> {
    const kind = this.#order[this.#next++ % this.#order.length]!
    if (kind.how === "hung up") return this.#hangUp(kind, tally)
    if (kind.how === "repeated") return this.#repeat(kind, tally, due)
    const answer = await this.#exchange(kind, this.#request(kind), tally)
    if (answer === undefined) return
    if (kind.name === "chat") tally.bucket().whole.push(answer.endedAt - due)
    if (kind.name === "chat stream") tally.bucket().firstToken.push(answer.firstTokenAt - due)
  }

  async #hangUp(kind: Kind, tally: Tally): Promise<void> {
    const connection = new Connection(this.#endpoint.port)
    tally.sent += 1
    tally.hungUp += 1
    // It is never answered, because its client closes the connection first.
    connection.exchange(this.#request(kind)).catch((error: unknown) => tally.fail(String(error)))
    await pause(HANGS_UP_AFTER_MS)
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
    if (again !== undefined && again.body !== first.body) tally.fail("a repeat was answered with something else")
  }

  /** Undefined when the answer was not whole, which is counted. */
  async #exchange(kind: Kind, request: Buffer, tally: Tally): Promise<Answer | undefined> {
    let connection = this.#idle.pop()
    while (connection?.isFresh() === false) connection = this.#idle.pop()
    connection ??= new Connection(this.#endpoint.port)
    tally.sent += 1
    try {
      const answer = await connection.exchange(request)
      this.#idle.push(connection)
      const fault = this.#faultOf(kind, answer)
      if (fault === undefined) {
        tally.answered += 1
        return answer
      }
      tally.fail(reasonOf(answer, fault), `${kind.name}: ${fault}`)
    } catch (error) {
      tally.fail(error instanceof Error ? error.message : String(error))
    }
    return undefined
  }

  #faultOf(kind: Kind, answer: Answer): string | undefined {
    if (kind.how !== "embeddings") return faultOf(answer, this.#endpointOf(kind), kind.streamed === true)
    const vectors = countOf(answer.body, '"object":"embedding"')
    return answer.status === 200 && vectors === SHORT_INPUTS ? undefined : `${vectors} vectors`
  }

  #endpointOf({ dialect = "chat", how }: Kind): Endpoint {
    const path = how === "embeddings" ? "/api/v1/embeddings" : dialects[dialect].path
    const slow = how === "slow" || how === "hung up"
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
