/** The requests of every load, and what makes an answer to one whole. */

/** Content chunks of a streamed answer. */
export const CHUNKS = 50

/** Stands once in the text of a whole answer, once in every content chunk of a streamed one, and nowhere else. */
export const MARK = "pianoforte"

/** Asked for by every request. */
export const MODEL = "gpt-4o-mini"

const SYSTEM =
  "You are the support assistant of a shop for musical instruments. Answer in the language of the customer, in at most " +
  "three sentences. When you do not know, say so and name the service line. Never promise a date of delivery."

const QUESTION =
  "Hello, I bought a digital piano from you three weeks ago and since yesterday two keys in the middle keep sounding after " +
  "I let go of them. I have already switched it off and on again and pulled the plug for an hour, without any change. Is " +
  "this a case for the warranty, and do I have to bring it to you or will somebody pick it up?"

/** A chat request as an application sends it. */
export const bodyOf = (streamed: boolean, routing?: object): string =>
  JSON.stringify({
    model: MODEL,
    messages: [
      { role: "system", content: SYSTEM },
      { role: "user", content: QUESTION }
    ],
    temperature: 0.2,
    max_tokens: 256,
    ...(routing === undefined ? {} : { routing }),
    ...(streamed ? { stream: true } : {})
  })

/** Whom a load is sent to. */
export interface Endpoint {
  readonly port: number
  /** Of chat completions. */
  readonly path: string
  readonly key: string
  /** What its requests ask of the router. */
  readonly routing?: object
}

/** The bytes of one request on a connection that is kept. */
export const requestBytes = ({ key, path, port, routing }: Endpoint, streamed: boolean): Buffer => {
  const body = bodyOf(streamed, routing)
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`
  ]
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`)
}

/** Why an answer is not what was asked for; undefined when it is whole. */
export const faultOf = (answer: { readonly status: number; readonly body: string }, streamed: boolean) => {
  const { body, status } = answer
  if (status !== 200) return `status ${status}: ${body.slice(0, 200)}`
  const marks = body.split(MARK).length - 1
  if (!streamed) return body.includes(`"finish_reason":"stop"`) && marks === 1 ? undefined : `not whole: ${body}`
  if (!body.endsWith("data: [DONE]\n\n")) return `a stream without its end: …${body.slice(-200)}`
  return marks === CHUNKS ? undefined : `a stream with ${marks} of ${CHUNKS} chunks`
}
