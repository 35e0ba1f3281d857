/** The requests of every load, and what makes an answer to one whole. */
import { type Dialect, dialects } from "./Dialects.ts"

/** Content chunks of a streamed answer. */
export const CHUNKS = 50

/** Stands once in the text of a whole answer, once in every content chunk of a streamed one, and nowhere else. */
export const MARK = "pianoforte"

/** Asked for by every request that asks for no other. */
export const MODEL = "gpt-4o-mini"

const MAX_TOKENS = 256

/** Whom a load is sent to, and what it asks for. */
export interface Endpoint {
  readonly port: number
  readonly path: string
  readonly key: string
  /** Keys that its requests use in turn in the place of `key`. */
  readonly keys?: ReadonlyArray<string>
  /** That its requests are written in; chat where absent. */
  readonly dialect?: Dialect
  readonly model?: string
  /** Of output, at most. */
  readonly maxTokens?: number
  /** Content chunks of its streamed answers, where they are not as many as usual. */
  readonly chunks?: number
  /** What its requests ask of the router. */
  readonly routing?: object
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A request as an application sends it. */
export const bodyOf = (endpoint: Endpoint, streamed: boolean): string => {
  const { dialect = "chat", maxTokens = MAX_TOKENS, model = MODEL, routing } = endpoint
  return JSON.stringify({
    model,
    ...dialects[dialect].ask(maxTokens),
    temperature: 0.2,
    ...(routing === undefined ? {} : { routing }),
    ...(streamed ? { stream: true } : {})
  })
}

/** The bytes of one request on a connection that is kept. */
export const requestBytes = (endpoint: Endpoint, streamed: boolean): Buffer =>
  bytesWith(endpoint, bodyOf(endpoint, streamed))

/** The same with a body of one's own. */
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

/** How often a part stands in a text. */
export const countOf = (text: string, part: string) => text.split(part).length - 1

/** Why an answer is not what was asked for; undefined when it is whole. */
export const faultOf = (
  answer: { readonly status: number; readonly body: string },
  { chunks = CHUNKS, dialect = "chat" }: Endpoint,
  streamed: boolean
) => {
  const { body, status } = answer
  const { end, piece, stopped, texts = 1 } = dialects[dialect]
  if (status !== 200) return `status ${status}: ${body.slice(0, 200)}`
  if (!streamed) return body.includes(stopped) && countOf(body, MARK) === texts ? undefined : `not whole: ${body}`
  const last = body.slice(body.lastIndexOf("\n\n", body.length - 3) + 2)
  if (!last.startsWith(end) || !last.endsWith("\n\n")) return `a stream without its end: …${body.slice(-200)}`
  const pieces = countOf(body, piece ?? MARK)
  return pieces === chunks ? undefined : `a stream with ${pieces} of ${chunks} chunks`
}
