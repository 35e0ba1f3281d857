/** The bench's own load generator: a closed loop, or an open loop at a fixed rate. */
import { type Answer, Connection, ConnectionPool } from "./Connection.ts"
import { type Endpoint, failureOf, requestsOf } from "./Traffic.ts"

/** The result of a load, with times in milliseconds. At a fixed rate they count from when the request was due. */
export interface Outcome {
  readonly completed: number
  readonly seconds: number
  readonly latencies: ReadonlyArray<number>
  readonly firstTokens: ReadonlyArray<number>
  readonly failed: number
  /** The reason of one failure. */
  readonly example: string | undefined
}

class Tally {
  completed = 0
  failed = 0
  example: string | undefined
  readonly latencies: Array<number> = []
  readonly firstTokens: Array<number> = []

  fail(reason: string): void {
    this.failed += 1
    this.example ??= reason
  }

  count(answer: Answer, since: number, endpoint: Endpoint, streamed: boolean): void {
    const failure = failureOf(answer, endpoint, streamed)
    if (failure !== undefined) return this.fail(failure)
    this.completed += 1
    this.latencies.push(answer.endedAt - since)
    this.firstTokens.push(answer.firstTokenAt - since)
  }

  outcome(seconds: number): Outcome {
    const { completed, example, failed, firstTokens, latencies } = this
    return { completed, seconds, latencies, firstTokens, failed, example }
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Runs callers that each send one request after the other, for a time or up to a number of requests. Waits for the last answers. */
export const closedLoop = async (
  endpoint: Endpoint,
  options: {
    readonly concurrency: number
    readonly seconds: number
    readonly requests?: number
    readonly streamed: boolean
  }
): Promise<Outcome> => {
  const requests = requestsOf(endpoint, options.streamed)
  const tally = new Tally()
  const began = performance.now()
  const until = began + options.seconds * 1_000
  let left = options.requests ?? Infinity
  let sent = 0
  const caller = async () => {
    let connection = new Connection(endpoint.port)
    while (performance.now() < until && left-- > 0) {
      if (!connection.isFresh()) connection = new Connection(endpoint.port)
      const since = performance.now()
      await connection.exchange(requests[sent++ % requests.length]!).then(
        (answer) => tally.count(answer, since, endpoint, options.streamed),
        (error: unknown) => tally.fail(reasonOf(error))
      )
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: options.concurrency }, caller))
  return tally.outcome((performance.now() - began) / 1_000)
}

/** Sends requests at a fixed rate, even while earlier ones have no answer. */
export const fixedRate = async (
  endpoint: Endpoint,
  options: { readonly perSecond: number; readonly seconds: number; readonly streamed: boolean }
): Promise<Outcome> => {
  const requests = requestsOf(endpoint, options.streamed)
  const tally = new Tally()
  const pool = new ConnectionPool(endpoint.port)
  const send = async (due: number, request: Buffer) => {
    const connection = pool.take()
    await connection.exchange(request).then(
      (answer) => tally.count(answer, due, endpoint, options.streamed),
      (error: unknown) => tally.fail(reasonOf(error))
    )
    pool.give(connection)
  }
  const began = performance.now()
  const total = Math.round(options.perSecond * options.seconds)
  const sent: Array<Promise<void>> = []
  await new Promise<void>((resolve) => {
    const next = () => {
      while (sent.length < total) {
        const due = began + (sent.length * 1_000) / options.perSecond
        const wait = due - performance.now()
        if (wait > 0) return void setTimeout(next, wait)
        sent.push(send(due, requests[sent.length % requests.length]!))
      }
      resolve()
    }
    next()
  })
  await Promise.all(sent)
  pool.close()
  return tally.outcome((performance.now() - began) / 1_000)
}
