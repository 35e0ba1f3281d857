/** Receivers of webhooks: servers on loopback that note what they are sent, and answer as they are told. */
import { Deferred, Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A message as it arrived. */
export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

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

/** Takes a message, and never says anything. */
export const silence: Answer = () => undefined

/** A receiver on loopback, until the scope closes. */
export const receiver = (answer: Answer = status(200)) =>
  Effect.gen(function* () {
    const received: Array<Received> = []
    const waiting: Array<{ readonly count: number; readonly there: Deferred.Deferred<void> }> = []
    const told = { answer }
    const server = createServer((request, response) => {
      read(request, (body) => {
        const message = { path: request.url ?? "", headers: request.headers as Record<string, string>, body }
        received.push(message)
        told.answer(message, response)
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
      /** Answers otherwise from now on. */
      answerWith: (next: Answer) => void (told.answer = next),
      /** Waits until so many messages have come and been answered. */
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
