/** Clients that ask the same thing at once, and again until they have an answer, as SDKs do under an idempotency key. */
import { Random } from "../ledger/Random.ts"
import { requestOf } from "./Client.ts"
import { bodyOf, dataOf, hear } from "./Dialects.ts"
import { type Ask, dialects, MOST_TOKENS_A_WORD } from "./Notes.ts"
import { plainAsk, promptUsage } from "./Workload.ts"

/** An answer that no client would try again after. */
export interface Final {
  readonly ask: string
  readonly status: number
  readonly replayed: boolean
  /** As it came. */
  readonly text: string
  /** How often it took. */
  readonly tries: number
}

/** So long a client tries; far beyond the end of any hold. */
const PATIENCE_MS = 90_000

/** SDKs wait half a second first, then longer and longer; here not as long, so that a run ends. */
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 2_000

const WORDS = ["sea ", "ship ", "salt ", "wind ", "wave ", "gull ", "rope ", "tide "]

/** So many asks, each under a key of its own; every other one is a stream, every third takes seconds, so that kills meet it. */
export const stormOf = (seed: number, count: number, account: string): ReadonlyArray<Ask> => {
  const random = new Random(seed)
  return Array.from({ length: count }, (_, number) => {
    const id = `storm-${String(number).padStart(3, "0")}`
    const long = number % 3 === 0
    const chunks = Array.from({ length: long ? 7 : 2 + random.below(6) }, () => random.pick(WORDS))
    const usage = { prompt: promptUsage(id, false), completion: MOST_TOKENS_A_WORD * chunks.length + 10 }
    return plainAsk(id, account, {
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

/** One try; undefined where the connection was refused or broke. */
const tryOnce = (port: number, key: string, ask: Ask): Promise<Response | undefined> =>
  new Promise((resolve) => {
    const lost = () => resolve(undefined)
    const request = requestOf(port, key, ask)
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
    request.end(bodyOf(ask))
  })

const framesOf = (text: string): ReadonlyArray<string> => text.split("\n\n").flatMap((frame) => dataOf(frame) ?? [])

/** Whether a client takes this for the end: an answer to its end, or a failure that says that trying again is in vain. */
const isFinal = ({ headers, status, text }: Response, ask: Ask): boolean => {
  if (status === 200)
    return !ask.stream || (text.endsWith("\n\n") && hear(ask, framesOf(text).at(-1) ?? "")?.last === true)
  const said = headers["x-should-retry"]
  if (said === "true" || said === "false") return said === "false"
  return ![408, 409, 429].includes(status) && status < 500
}

const waitMs = (response: Response | undefined, tries: number, random: Random): number => {
  const said = Number(response?.headers["retry-after"] ?? Number.NaN) * 1_000
  const grown = Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS)
  // Spread, so that those who began at once do not come back at once.
  return (said > 0 ? Math.min(said, LONGEST_WAIT_MS) : grown) * (1 + random.next() / 2)
}

/** Asks until there is an answer, at one gateway after the other. Undefined when there never was one. */
export const askUntilFinal = async (
  { key, ports, seed }: { readonly key: string; readonly ports: ReadonlyArray<number>; readonly seed: number },
  ask: Ask
): Promise<Final | undefined> => {
  const random = new Random(seed)
  const first = random.below(ports.length)
  const deadline = Date.now() + PATIENCE_MS
  for (let tries = 1; Date.now() < deadline; tries++) {
    const response = await tryOnce(ports[(first + tries) % ports.length] ?? 0, key, ask)
    if (response !== undefined && isFinal(response, ask)) {
      const replayed = response.headers["idempotency-replayed"] === "true"
      return { ask: ask.id, status: response.status, replayed, text: response.text, tries }
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs(response, tries, random)))
  }
  return undefined
}

/** Sent while nothing else is. */
const PING = '{"type":"ping"}'

/** What a stream says, however its content is cut into frames. */
const saidBy = (ask: Ask, text: string): string => {
  const frames = framesOf(text).flatMap((data) =>
    ((heard) => (heard === undefined ? [] : [{ data, heard }]))(hear(ask, data))
  )
  const contents = frames.filter(({ heard }) => heard.content !== "")
  const others = frames.filter(({ data, heard }) => heard.content === "" && data !== PING)
  return JSON.stringify({
    ids: [...new Set(contents.map(({ data }) => JSON.parse(data).id))],
    content: contents.map(({ heard }) => heard.content).join(""),
    others: others.map(({ data }) => data.replace(/"sequence_number":\d+,/, ""))
  })
}

/** What all answers to an ask must have in common: every byte, or for a stream all it says. */
export const essenceOf = ({ status, text }: Final, ask: Ask): string =>
  ask.stream && status === 200 ? saidBy(ask, text) : text
