import { Effect, Queue, Stream } from "effect"
import type { AnswerStream } from "../../src/inference/StreamFlow.ts"
import type { StreamItem } from "../../src/domain/Answer.ts"

/** A decoded `data:` frame of a stream, untyped, for assertions; `[DONE]` is a string. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Frame = any

const framesOf = (text: string): Array<Frame> =>
  text
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: "))
    .map((frame) => (frame === "data: [DONE]" ? "[DONE]" : JSON.parse(frame.slice(6))))

/** All events of a stream with event names, with their data decoded. */
export const eventsOf = (response: Response): Effect.Effect<ReadonlyArray<{ readonly event: string; data: Frame }>> =>
  Effect.map(
    Effect.promise(() => response.text()),
    (text) =>
      [...text.matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)].map(([, event = "", data = ""]) => ({
        event,
        data: JSON.parse(data)
      }))
  )

/** The decoded data of all events of a stream, with or without event names. */
export const dataOf = (response: Response): Effect.Effect<ReadonlyArray<Frame>> =>
  Effect.map(
    Effect.promise(() => response.text()),
    (text) => framesOf(text.replaceAll(/^event: .*\n/gm, ""))
  )

/** The decoded frames of a stream without event names. */
export const frames = (response: Response): Effect.Effect<Array<Frame>> =>
  Effect.map(
    Effect.promise(() => response.text()),
    framesOf
  )

/** The text in the frames of a chat stream. */
export const textOf = (all: ReadonlyArray<Frame>): string =>
  all
    .filter((frame) => frame !== "[DONE]")
    .map((frame) => frame.choices[0]?.delta?.content ?? "")
    .join("")

/** The frame of a chat stream with the usage and the cost. */
export const lastFrame = (all: ReadonlyArray<Frame>): Frame =>
  all.find((frame) => frame !== "[DONE]" && frame.usage !== undefined)

/** Reads a chat stream until `count` frames have arrived, and then disconnects. */
export const hangUpAfter = (
  url: string,
  key: string,
  body: object,
  headers: Record<string, string>,
  count: number
): Effect.Effect<{ readonly requestId: string; readonly seen: string }> =>
  Effect.promise(async () => {
    const controller = new AbortController()
    const response = await fetch(url, {
      method: "POST",
      signal: controller.signal,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body)
    })
    const requestId = response.headers.get("x-request-id") ?? ""
    let text = ""
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk, { stream: true })
      if (framesOf(text.slice(0, text.lastIndexOf("\n\n") + 2)).length >= count) break
    }
    controller.abort()
    return { requestId, seen: textOf(framesOf(text.slice(0, text.lastIndexOf("\n\n") + 2))) }
  })

/** The items of an answer's stream as they arrive, for a consumer that accepts all of them. */
export const itemsOf = ({ read }: AnswerStream): Stream.Stream<StreamItem> =>
  Stream.callback((queue) =>
    Effect.andThen(
      read((items) => {
        Queue.offerAllUnsafe(queue, items)
        return true
      }),
      Queue.end(queue)
    )
  )
