/** Two provider hosts with OpenAI's API. They answer each operation by its script and record what they sent. */
import { Effect, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { bodyOf } from "../support/Bodies.ts"
import type { Behaviour, Call, Host, Operation, Usage } from "./Evidence.ts"

/** A call that a host has received. */
export interface ReceivedCall {
  readonly record: () => Call
  /** Resolves when the connection closes, by the host or by the gateway. */
  readonly closed: Promise<void>
}

export interface Upstream {
  readonly addressOf: (host: Host) => string
  /** Sets the script of an operation, before a client sends it. */
  readonly script: (operation: Operation) => void
  readonly calls: () => ReadonlyArray<Call>
  /** Resolves with the first call of an operation when it arrives. */
  readonly arrival: (operation: string) => Promise<ReceivedCall>
}

/** The start of a prompt, which tells the upstream the operation. */
export const promptOf = (operation: string): string => `ask ${operation}: `

const operationOf = (body: string): string => /"content":"ask ([^:"]+): /.exec(body)?.[1] ?? ""

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

const wholeAnswer = ({ chunks, reported, tools }: Operation, host: Host) => ({
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

const contentEvent = (operation: Operation, index: number) => {
  const text = operation.chunks[index] ?? ""
  const delta = operation.tools ? toolCall(text, index === 0) : { content: text }
  return event({ choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }] })
}

const lastEvents = ({ reported, tools }: Operation) =>
  [
    event({ choices: [{ index: 0, delta: {}, finish_reason: tools ? "tool_calls" : "stop" }] }),
    ...(reported === undefined ? [] : [event({ choices: [], usage: usageOf(reported) })]),
    "data: [DONE]\n\n"
  ].join("")

class ScriptedAnswer {
  readonly #operation: Operation
  readonly #host: Host
  readonly #response: ServerResponse
  readonly closed: Promise<void>
  #isClosed = false
  #sent = 0
  #complete = false

  constructor(operation: Operation, host: Host, response: ServerResponse) {
    this.#operation = operation
    this.#host = host
    this.#response = response
    this.closed = new Promise((resolve) => {
      response.once("close", () => {
        this.#isClosed = true
        resolve()
      })
    })
    response.on("error", () => {})
  }

  record(): Call {
    return { operation: this.#operation.id, host: this.#host, sent: this.#sent, complete: this.#complete }
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
      response.writeHead(200, { "content-type": this.#operation.stream ? "text/event-stream" : "application/json" })
      response.end(this.#operation.stream ? "data: {oops\n\n" : "{oops")
      return
    }
    const after = behaviour._tag === "Answer" ? undefined : behaviour.after
    await (this.#operation.stream ? this.#stream(after) : this.#answerWhole(after))
    if (behaviour._tag === "Break") response.destroy()
    if (behaviour._tag === "Stall") await this.closed
  }

  async #pause(): Promise<void> {
    if (this.#operation.pauseMs === 0 || this.#isClosed) return
    await new Promise((resolve) => setTimeout(resolve, this.#operation.pauseMs))
  }

  async #stream(after: number | undefined): Promise<void> {
    if (after === 0) return
    this.#response.writeHead(200, { "content-type": "text/event-stream" })
    for (let index = 0; index < Math.min(this.#operation.chunks.length, after ?? Infinity); index++) {
      await this.#pause()
      if (this.#isClosed) return
      this.#response.write(contentEvent(this.#operation, index))
      this.#sent++
    }
    if (after !== undefined) return
    await this.#pause()
    if (this.#isClosed) return
    this.#complete = true
    this.#response.end(lastEvents(this.#operation))
  }

  async #answerWhole(after: number | undefined): Promise<void> {
    for (let count = 0; count < Math.min(this.#operation.chunks.length, after ?? Infinity); count++) await this.#pause()
    if (this.#isClosed || after !== undefined) return
    // Recorded before the write, because the gateway may read the answer at once.
    this.#sent = this.#operation.chunks.length
    this.#complete = true
    this.#response.writeHead(200, { "content-type": "application/json" })
    this.#response.end(JSON.stringify(wholeAnswer(this.#operation, this.#host)))
  }
}

class ScriptedUpstream implements Upstream {
  readonly #scripts = new Map<string, Operation>()
  readonly #calls: Array<ScriptedAnswer> = []
  readonly #arrivals = new Map<string, PromiseWithResolvers<ReceivedCall>>()
  port = 0

  addressOf = (host: Host) => `http://127.0.0.1:${this.port}/${host}/v1`

  script = (operation: Operation) => void this.#scripts.set(operation.id, operation)

  calls = () => this.#calls.map((call) => call.record())

  arrival = (operation: string) => this.#arrivalOf(operation).promise

  #arrivalOf(operation: string): PromiseWithResolvers<ReceivedCall> {
    const found = this.#arrivals.get(operation) ?? Promise.withResolvers<ReceivedCall>()
    this.#arrivals.set(operation, found)
    return found
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const host: Host = request.url?.startsWith("/alpha/") === true ? "alpha" : "beta"
    const operation = this.#scripts.get(operationOf((await bodyOf(request)).toString()))
    if (operation === undefined) {
      response.writeHead(400, { "content-type": "application/json" })
      return void response.end(JSON.stringify({ error: { message: "This operation has no script." } }))
    }
    const call = new ScriptedAnswer(operation, host, response)
    this.#calls.push(call)
    this.#arrivalOf(operation.id).resolve({ record: () => call.record(), closed: call.closed })
    await call.run(operation.behaviour[host])
  }
}

/** Starts both hosts, which end with the scope. */
export const startUpstream: Effect.Effect<Upstream, never, Scope.Scope> = Effect.gen(function* () {
  const upstream = new ScriptedUpstream()
  // A killed gateway closes its connection in the middle of a request.
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    upstream.answer(request, response).catch(() => response.destroy())
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        upstream.port = (server.address() as AddressInfo).port
        resume(Effect.void)
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  return upstream
})
