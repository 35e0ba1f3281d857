/** Two hosts that speak OpenAI's wire over real sockets and answer each ask as it is scripted, noting what they sent. */
import { Effect, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo } from "node:net"
import type { Ask, Behaviour, Call, Host, Usage } from "./Notes.ts"

/** One call under way, or over. */
export interface RunningCall {
  readonly note: () => Call
  /** Holds when nothing more is sent or taken: the answer is over, or its reader hung up. */
  readonly over: Promise<void>
}

export interface Upstream {
  readonly addressOf: (host: Host) => string
  /** What is sent when this is asked. Must be told before the ask is sent. */
  readonly script: (ask: Ask) => void
  readonly calls: () => ReadonlyArray<Call>
  /** The first call of an ask, as soon as it has arrived. */
  readonly arrival: (ask: string) => Promise<RunningCall>
}

/** What a prompt begins with, so that the upstream knows which ask it is. */
export const promptOf = (ask: string): string => `ask ${ask}: `

const askOf = (body: string): string => /"content":"ask ([^:"]+): /.exec(body)?.[1] ?? ""

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let body = ""
  for await (const chunk of request.setEncoding("utf8")) body += chunk
  return body
}

const usageOf = ({ completion, prompt }: Usage) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion
})

const toolCall = (text: string, first: boolean) => ({
  tool_calls: [
    first
      ? { index: 0, id: "call_1", type: "function", function: { name: "look_up", arguments: text } }
      : { index: 0, function: { arguments: text } }
  ]
})

const wholeAnswer = ({ chunks, reported, tools }: Ask, host: Host) => ({
  id: "chatcmpl-upstream",
  object: "chat.completion",
  model: host,
  choices: [
    {
      index: 0,
      finish_reason: tools ? "tool_calls" : "stop",
      message: tools
        ? { role: "assistant", content: null, ...toolCall(chunks.join(""), true) }
        : { role: "assistant", content: chunks.join("") }
    }
  ],
  ...(reported === undefined ? {} : { usage: usageOf(reported) })
})

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`

const contentEvent = (ask: Ask, index: number) => {
  const text = ask.chunks[index] ?? ""
  const delta = ask.tools ? toolCall(text, index === 0) : { content: text }
  return event({ choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }] })
}

const lastEvents = ({ reported, tools }: Ask) =>
  [
    event({ choices: [{ index: 0, delta: {}, finish_reason: tools ? "tool_calls" : "stop" }] }),
    ...(reported === undefined ? [] : [event({ choices: [], usage: usageOf(reported) })]),
    "data: [DONE]\n\n"
  ].join("")

/** One answer in the making. */
class Answering {
  readonly #ask: Ask
  readonly #host: Host
  readonly #response: ServerResponse
  readonly over: Promise<void>
  #gone = false
  #sent = 0
  #whole = false

  constructor(ask: Ask, host: Host, response: ServerResponse) {
    this.#ask = ask
    this.#host = host
    this.#response = response
    this.over = new Promise((resolve) => {
      response.once("close", () => {
        this.#gone = true
        resolve()
      })
    })
    response.on("error", () => {})
  }

  note(): Call {
    return { ask: this.#ask.id, host: this.#host, sent: this.#sent, whole: this.#whole }
  }

  async run(behaviour: Behaviour): Promise<void> {
    const response = this.#response
    if (behaviour._tag === "Status") {
      const retry = behaviour.status === 429 ? { "retry-after": "1" } : {}
      response.writeHead(behaviour.status, { "content-type": "application/json", ...retry })
      response.end(JSON.stringify({ error: { message: "scripted", type: "scripted", code: null } }))
      return
    }
    if (behaviour._tag === "Malformed") {
      response.writeHead(200, { "content-type": this.#ask.stream ? "text/event-stream" : "application/json" })
      response.end(this.#ask.stream ? "data: {oops\n\n" : "{oops")
      return
    }
    const after = behaviour._tag === "Answer" ? undefined : behaviour.after
    await (this.#ask.stream ? this.#stream(after) : this.#answerWhole(after))
    if (behaviour._tag === "Break") response.destroy()
    if (behaviour._tag === "Stall") await this.over
  }

  async #pause(): Promise<void> {
    if (this.#ask.pauseMs === 0 || this.#gone) return
    await new Promise((resolve) => setTimeout(resolve, this.#ask.pauseMs))
  }

  async #stream(after: number | undefined): Promise<void> {
    if (after === 0) return
    this.#response.writeHead(200, { "content-type": "text/event-stream" })
    for (let index = 0; index < Math.min(this.#ask.chunks.length, after ?? Infinity); index++) {
      await this.#pause()
      if (this.#gone) return
      this.#response.write(contentEvent(this.#ask, index))
      this.#sent++
    }
    if (after !== undefined) return
    await this.#pause()
    if (this.#gone) return
    this.#whole = true
    this.#response.end(lastEvents(this.#ask))
  }

  async #answerWhole(after: number | undefined): Promise<void> {
    for (let count = 0; count < Math.min(this.#ask.chunks.length, after ?? Infinity); count++) await this.#pause()
    if (this.#gone || after !== undefined) return
    // Noted before it is written: what has been written may have been read.
    this.#sent = this.#ask.chunks.length
    this.#whole = true
    this.#response.writeHead(200, { "content-type": "application/json" })
    this.#response.end(JSON.stringify(wholeAnswer(this.#ask, this.#host)))
  }
}

class Playing implements Upstream {
  readonly #scripts = new Map<string, Ask>()
  readonly #calls: Array<Answering> = []
  readonly #arrivals = new Map<string, PromiseWithResolvers<RunningCall>>()
  port = 0

  addressOf = (host: Host) => `http://127.0.0.1:${this.port}/${host}/v1`

  script = (ask: Ask) => void this.#scripts.set(ask.id, ask)

  calls = () => this.#calls.map((call) => call.note())

  arrival = (ask: string) => this.#arrivalOf(ask).promise

  #arrivalOf(ask: string): PromiseWithResolvers<RunningCall> {
    const found = this.#arrivals.get(ask) ?? Promise.withResolvers<RunningCall>()
    this.#arrivals.set(ask, found)
    return found
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const host: Host = request.url?.startsWith("/alpha/") === true ? "alpha" : "beta"
    const ask = this.#scripts.get(askOf(await bodyOf(request)))
    if (ask === undefined) {
      response.writeHead(400, { "content-type": "application/json" })
      return void response.end(JSON.stringify({ error: { message: "an ask that nobody scripted" } }))
    }
    const call = new Answering(ask, host, response)
    this.#calls.push(call)
    this.#arrivalOf(ask.id).resolve({ note: () => call.note(), over: call.over })
    await call.run(ask.behaviour[host])
  }
}

/** Starts both hosts; they end with the scope. */
export const startUpstream: Effect.Effect<Upstream, never, Scope.Scope> = Effect.gen(function* () {
  const playing = new Playing()
  // A caller that was killed breaks its request off: there is nobody to answer.
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    playing.answer(request, response).catch(() => response.destroy())
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        playing.port = (server.address() as AddressInfo).port
        resume(Effect.void)
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  return playing
})
