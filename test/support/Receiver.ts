/** Receivers of webhooks: servers on loopback that keep the messages and answer as a test decides. */
import { Deferred, Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A received message. */
export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Answers a message. */
export type Answer = (message: Received, response: ServerResponse) => void

const read = (request: IncomingMessage, done: (body: string) => void): void => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => void chunks.push(chunk))
  request.on("end", () => done(Buffer.concat(chunks).toString("utf8")))
}

/** Answers with this status and these headers. */
export const status =
  (code: number, headers: Record<string, string> = {}, body = ""): Answer =>
  (_, response) =>
    void response.writeHead(code, headers).end(body)

/** Answers nothing. */
export const silence: Answer = () => undefined

/** Starts a receiver, which ends when the scope closes. */
export const receiver = (answer: Answer = status(200)) =>
  Effect.gen(function* () {
    const received: Array<Received> = []
    const waiting: Array<{ readonly count: number; readonly there: Deferred.Deferred<void> }> = []
    const state = { answer }
    const server = createServer((request, response) => {
      read(request, (body) => {
        const message = { path: request.url ?? "", headers: request.headers as Record<string, string>, body }
        received.push(message)
        state.answer(message, response)
        for (const { count, there } of waiting) if (received.length >= count) Deferred.doneUnsafe(there, Effect.void)
      })
    })
    server.on("clientError", () => undefined)
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    )
    const { port } = server.address() as AddressInfo
    return {
      url: `http://127.0.0.1:${port}/hook`,
      port,
      received,
      /** Replaces the answer to later messages. */
      answerWith: (next: Answer) => void (state.answer = next),
      /** Waits until `count` messages have been received and answered. */
      have: (count: number) =>
        Effect.gen(function* () {
          if (received.length >= count) return
          const there = yield* Deferred.make<void>()
          waiting.push({ count, there })
          yield* Deferred.await(there)
        })
    }
  })

export type Receiver = Effect.Success<ReturnType<typeof receiver>>
