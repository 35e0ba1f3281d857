/** The requests of every load, and the check of their answers. */
import { type Dialect, dialects } from "./Dialects.ts"

/** Content chunks of a streamed answer. */
export const CHUNKS = 50

/** Text that a complete answer contains once, each content chunk of a stream once, and nothing else. */
export const MARK = "pianoforte"

/** The model of a request that names no other. */
export const MODEL = "gpt-4o-mini"

const MAX_TOKENS = 256

/** Where a load sends its requests, and what they ask for. */
export interface Endpoint {
  readonly port: number
  readonly path: string
  readonly key: string
  /** Keys that the requests use in turn, instead of `key`. */
  readonly keys?: ReadonlyArray<string>
  /** `chat` by default. */
  readonly dialect?: Dialect
  readonly model?: string
  /** Output tokens. */
  readonly maxTokens?: number
  /** Content chunks of a streamed answer, where it differs from the default. */
  readonly chunks?: number
  /** The `routing` field of the requests. */
  readonly routing?: object
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The body of a typical request. */
export const bodyOf = (endpoint: Endpoint, streamed: boolean): string => {
  const { dialect = "chat", maxTokens = MAX_TOKENS, model = MODEL, routing } = endpoint
  return JSON.stringify({
    model,
    ...dialects[dialect].fields(maxTokens),
    temperature: 0.2,
    ...(routing === undefined ? {} : { routing }),
    ...(streamed ? { stream: true } : {})
  })
}

/** The bytes of one request on a persistent connection. */
export const requestBytes = (endpoint: Endpoint, streamed: boolean): Buffer =>
  bytesWith(endpoint, bodyOf(endpoint, streamed))

/** The bytes of a request with another body. */
export const bytesWith = ({ headers = {}, key, path, port }: Endpoint, body: string): Buffer => {
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`
  ]
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`)
}

/** A request for each of the endpoint's keys. */
export const requestsOf = (endpoint: Endpoint, streamed: boolean): ReadonlyArray<Buffer> =>
  (endpoint.keys ?? [endpoint.key]).map((key) => requestBytes({ ...endpoint, key }, streamed))

/** How often a text contains a part. */
export const countOf = (text: string, part: string) => text.split(part).length - 1

/** The reason why an answer is wrong; undefined for a complete one. */
export const failureOf = (
  answer: { readonly status: number; readonly body: string },
  { chunks = CHUNKS, dialect = "chat" }: Endpoint,
  streamed: boolean
) => {
  const { body, status } = answer
  const { completeMark, contentMark, lastEvent, texts = 1 } = dialects[dialect]
  if (status !== 200) return `status ${status}: ${body.slice(0, 200)}`
  if (!streamed) return body.includes(completeMark) && countOf(body, MARK) === texts ? undefined : `incomplete: ${body}`
  const last = body.slice(body.lastIndexOf("\n\n", body.length - 3) + 2)
  if (!last.startsWith(lastEvent) || !last.endsWith("\n\n"))
    return `a stream without its last event: …${body.slice(-200)}`
  const received = countOf(body, contentMark ?? MARK)
  return received === chunks ? undefined : `a stream with ${received} of ${chunks} chunks`
}
