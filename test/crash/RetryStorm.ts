/** Clients that send the same operation at once and retry until they have an answer, as SDKs do under an idempotency key. */
import { setTimeout as sleep } from "node:timers/promises"
import { Random } from "../ledger/Random.ts"
import { openRequest } from "./Client.ts"
import { bodyOf, dataOf, parsePart } from "./Dialects.ts"
import { dialects, MAX_TOKENS_A_WORD, type Operation } from "./Evidence.ts"
import { plainOperation, promptUsage, WORDS } from "./Workload.ts"

/** An answer after which no client retries. */
export interface FinalAnswer {
  readonly operation: string
  readonly status: number
  readonly replayed: boolean
  readonly text: string
}

/** A client gives up after this time, which is far longer than the life of a hold. */
const GIVE_UP_MS = 90_000

/** SDKs back off for longer; these clients must end within a test. */
const FIRST_BACKOFF_MS = 500
const LONGEST_BACKOFF_MS = 2_000

/** Operations with an idempotency key each. Half of them are streams, and a third take seconds, so that kills interrupt them. */
export const stormOperations = (seed: number, count: number, account: string): ReadonlyArray<Operation> => {
  const random = new Random(seed)
  return Array.from({ length: count }, (_, number) => {
    const id = `storm-${String(number).padStart(3, "0")}`
    const long = number % 3 === 0
    const chunks = Array.from({ length: long ? 7 : 2 + random.below(6) }, () => random.pick(WORDS))
    const usage = { prompt: promptUsage(id, false), completion: MAX_TOKENS_A_WORD * chunks.length + 10 }
    return plainOperation(id, account, {
      dialect: random.pick(dialects),
      idempotencyKey: `key-${id}`,
      stream: number % 2 === 1,
      chunks,
      pauseMs: long ? 100 + random.below(400) : random.below(40),
      reported: usage,
      atMost: usage
    })
  })
}

interface Response {
  readonly status: number
  readonly headers: NodeJS.Dict<string | ReadonlyArray<string>>
  readonly text: string
}

/** Sends an operation once; returns undefined when the connection was refused or broke. */
const sendOnce = (port: number, key: string, operation: Operation): Promise<Response | undefined> =>
  new Promise((resolve) => {
    const lost = () => resolve(undefined)
    const request = openRequest(port, key, operation)
    request.once("error", lost)
    request.once("response", (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("error", lost)
      response.on("data", (piece: string) => (text += piece))
      response.once("close", () =>
        resolve(response.complete ? { status: response.statusCode ?? 0, headers: response.headers, text } : undefined)
      )
    })
    request.end(bodyOf(operation))
  })

const framesOf = (text: string): ReadonlyArray<string> => text.split("\n\n").flatMap((frame) => dataOf(frame) ?? [])

/** Whether a client stops here: at a complete answer, or at a failure that a retry cannot change. */
const isFinal = ({ headers, status, text }: Response, operation: Operation): boolean => {
  if (status === 200)
    return (
      !operation.stream || (text.endsWith("\n\n") && parsePart(operation, framesOf(text).at(-1) ?? "")?.last === true)
    )
  const shouldRetry = headers["x-should-retry"]
  if (shouldRetry === "true" || shouldRetry === "false") return shouldRetry === "false"
  return ![408, 409, 429].includes(status) && status < 500
}

const backoffMs = (response: Response | undefined, attempts: number, random: Random): number => {
  const retryAfterMs = Number(response?.headers["retry-after"] ?? Number.NaN) * 1_000
  const exponential = Math.min(FIRST_BACKOFF_MS * 2 ** (attempts - 1), LONGEST_BACKOFF_MS)
  // With jitter, so that clients that began at once do not retry at once.
  return (retryAfterMs > 0 ? Math.min(retryAfterMs, LONGEST_BACKOFF_MS) : exponential) * (1 + random.next() / 2)
}

/** Sends an operation to one gateway after the other until it has a final answer; undefined when the client gives up. */
export const retryUntilFinal = async (
  { key, ports, seed }: { readonly key: string; readonly ports: ReadonlyArray<number>; readonly seed: number },
  operation: Operation
): Promise<FinalAnswer | undefined> => {
  const random = new Random(seed)
  const first = random.below(ports.length)
  const deadline = Date.now() + GIVE_UP_MS
  for (let attempts = 1; Date.now() < deadline; attempts++) {
    const response = await sendOnce(ports[(first + attempts) % ports.length] ?? 0, key, operation)
    if (response !== undefined && isFinal(response, operation)) {
      const replayed = response.headers["idempotency-replayed"] === "true"
      return { operation: operation.id, status: response.status, replayed, text: response.text }
    }
    await sleep(backoffMs(response, attempts, random))
  }
  return undefined
}

/** A keepalive event, which a replay may lack. */
const PING = '{"type":"ping"}'

/** Returns the contents of a stream, independent of how its frames split them. */
const streamContents = (operation: Operation, text: string): string => {
  const frames = framesOf(text).flatMap((data) => {
    const part = parsePart(operation, data)
    return part === undefined ? [] : [{ data, part }]
  })
  const contents = frames.filter(({ part }) => part.content !== "")
  const others = frames.filter(({ data, part }) => part.content === "" && data !== PING)
  return JSON.stringify({
    ids: [...new Set(contents.map(({ data }) => JSON.parse(data).id))],
    content: contents.map(({ part }) => part.content).join(""),
    others: others.map(({ data }) => data.replace(/"sequence_number":\d+,/, ""))
  })
}

/** Returns the text that all answers to an operation must share: the whole body, or the contents of a stream. */
export const comparableText = ({ status, text }: FinalAnswer, operation: Operation): string =>
  operation.stream && status === 200 ? streamContents(operation, text) : text
