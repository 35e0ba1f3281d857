/** A conversation with a model, streamed. */
import { useRef, useState } from "react"
import { TollgateError, TollgateStreamError } from "../../../client/Package.ts"
import { clientWithKey, wordsOf } from "../../data/Client.ts"

export interface Parameters {
  readonly max_tokens?: number
  readonly temperature?: number
  readonly top_p?: number
  readonly reasoning_effort?: "low" | "medium" | "high"
}

export interface Turn {
  readonly role: "user" | "assistant"
  readonly content: string
  readonly reasoning?: string
  readonly model?: string
  readonly costUsd?: number
  readonly tokens?: number
  readonly requestId?: string
  readonly firstTokenMs?: number
  readonly totalMs?: number
  readonly error?: string
}

export interface Asked {
  readonly key: string
  readonly model: string
  readonly instructions: string
  readonly parameters: Parameters
}

/** What is sent: the instructions, and the turns that have words. */
export const messagesOf = (instructions: string, turns: ReadonlyArray<Turn>) => [
  ...(instructions.trim() === "" ? [] : [{ role: "system" as const, content: instructions }]),
  ...turns.filter(({ content }) => content !== "").map(({ content, role }) => ({ role, content }))
]

async function* turnsOf(asked: Asked, turns: ReadonlyArray<Turn>, signal: AbortSignal): AsyncGenerator<Turn> {
  const began = performance.now()
  let turn: Turn = { role: "assistant", content: "", model: asked.model }
  const { model, parameters } = asked
  const messages = messagesOf(asked.instructions, turns)
  for await (const chunk of clientWithKey(asked.key).stream("chat.completions", {
    body: { model, messages, ...parameters, stream_options: { include_usage: true } },
    signal
  })) {
    const delta = chunk.choices[0]?.delta
    const content = turn.content + (delta?.content ?? "")
    const reasoning = (turn.reasoning ?? "") + (delta?.reasoning ?? "")
    if (turn.firstTokenMs === undefined && content + reasoning !== "") {
      turn = { ...turn, firstTokenMs: performance.now() - began }
    }
    turn = {
      ...{ ...turn, content, reasoning },
      ...(chunk.resolved_model === undefined ? {} : { model: chunk.resolved_model }),
      ...(chunk.cost_usd === undefined ? {} : { costUsd: chunk.cost_usd }),
      ...(chunk.request_id === undefined ? {} : { requestId: chunk.request_id }),
      ...(chunk.usage === undefined ? {} : { tokens: chunk.usage.total_tokens })
    }
    yield turn
  }
  yield { ...turn, totalMs: performance.now() - began }
}

const failureOf = (error: unknown): Pick<Turn, "error" | "requestId"> => {
  if (error instanceof TollgateStreamError) return { error: error.error?.message ?? error.message }
  const { message, requestId } = wordsOf(error)
  return {
    error: error instanceof TollgateError ? `${message} (${error.code})` : message,
    ...(requestId === undefined ? {} : { requestId })
  }
}

/** The turns so far, and ways to go on, to stop and to begin again. */
export const useConversation = (onEnd: () => void) => {
  const [turns, setTurns] = useState<ReadonlyArray<Turn>>([])
  const [running, setRunning] = useState<AbortController>()
  const latest = useRef(turns)
  const keep = (next: ReadonlyArray<Turn>) => {
    latest.current = next
    setTurns(next)
  }
  const send = async (asked: Asked, content: string) => {
    const before = [...latest.current, { role: "user" as const, content }]
    const controller = new AbortController()
    let turn: Turn = { role: "assistant", content: "", model: asked.model }
    keep([...before, turn])
    setRunning(controller)
    try {
      for await (const next of turnsOf(asked, before, controller.signal)) {
        turn = next
        keep([...before, turn])
      }
    } catch (error) {
      keep([...before, { ...turn, ...(controller.signal.aborted ? { error: "Stopped." } : failureOf(error)) }])
    } finally {
      setRunning(undefined)
      onEnd()
    }
  }
  return {
    turns,
    running: running !== undefined,
    send,
    stop: () => running?.abort(),
    clear: () => keep([])
  }
}
