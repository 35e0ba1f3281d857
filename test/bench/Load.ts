/** The bench's own load: as fast as answers come, or at a fixed rate whatever the answers do. */
import { type Answer, Connection } from "./Connection.ts"
import { type Endpoint, faultOf, requestsOf } from "./Traffic.ts"

/** What came of a load. Times are milliseconds; those of a fixed rate count from the moment a request was due. */
export interface Outcome {
  readonly completed: number
  readonly seconds: number
  readonly latencies: ReadonlyArray<number>
  readonly firstTokens: ReadonlyArray<number>
  readonly failed: number
  /** What was wrong with one of those that failed. */
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
    const fault = faultOf(answer, endpoint, streamed)
    if (fault !== undefined) return this.fail(fault)
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

/**
 * So many callers, each of whom asks again when it is answered, for so long, or so many requests in all; what is under way then is
 * waited for.
 */
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

/** So many requests a second, sent when they are due even while earlier ones are unanswered. */
export const fixedRate = async (
  endpoint: Endpoint,
  options: { readonly perSecond: number; readonly seconds: number; readonly streamed: boolean }
): Promise<Outcome> => {
  const requests = requestsOf(endpoint, options.streamed)
  const tally = new Tally()
  const idle: Array<Connection> = []
  const send = async (due: number, request: Buffer) => {
    let connection = idle.pop()
    while (connection?.isFresh() === false) connection = idle.pop()
    connection ??= new Connection(endpoint.port)
    await connection.exchange(request).then(
      (answer) => tally.count(answer, due, endpoint, options.streamed),
      (error: unknown) => tally.fail(reasonOf(error))
    )
    idle.push(connection)
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
  for (const connection of idle) connection.close()
  return tally.outcome((performance.now() - began) / 1_000)
}
