/** A conversation with a model, streamed. It goes on while its column is not shown. */
import { useSyncExternalStore } from "react"
import type { Input } from "../../../client/Package.ts"
import { TollgateError, TollgateStreamError } from "../../../client/Package.ts"
import { clientWithKey, wordsOf } from "../../data/Client.ts"
import { messagesOf, type ToolCall, type Turn, withDelta } from "./Messages.ts"

/** Fields of a chat request beside its model and messages. */
export type Parameters = Readonly<Record<string, unknown>>

export interface TalkRequest {
  readonly key: string
  readonly model: string
  readonly instructions: string
  readonly parameters: Parameters
}

export interface TalkState {
  readonly turns: ReadonlyArray<Turn>
  readonly running: boolean
}

async function* turnsOf(asked: TalkRequest, turns: ReadonlyArray<Turn>, signal: AbortSignal): AsyncGenerator<Turn> {
  const began = performance.now()
  const { instructions, key, model, parameters } = asked
  let turn: Turn = { role: "assistant", content: "", model }
  let calls: ReadonlyArray<ToolCall> = []
  const body = {
    model,
    messages: messagesOf(instructions, turns),
    ...parameters,
    stream_options: { include_usage: true }
  } as Input<"chat.completions">["body"]
  for await (const chunk of clientWithKey(key).stream("chat.completions", { body, signal } as never)) {
    const delta = chunk.choices[0]?.delta
    const content = turn.content + (delta?.content ?? "")
    const reasoning = (turn.reasoning ?? "") + (delta?.reasoning ?? "")
    calls = withDelta(calls, (delta?.tool_calls ?? []) as never)
    if (turn.firstTokenMs === undefined && (content + reasoning !== "" || calls.length > 0)) {
      turn = { ...turn, firstTokenMs: performance.now() - began }
    }
    turn = {
      ...turn,
      content,
      reasoning,
      ...(calls.length === 0 ? {} : { calls }),
      ...(chunk.resolved_model === undefined ? {} : { model: chunk.resolved_model }),
      ...(chunk.cost_usd === undefined ? {} : { costUsd: chunk.cost_usd }),
      ...(chunk.request_id === undefined ? {} : { requestId: chunk.request_id }),
      ...(chunk.usage === undefined || chunk.usage === null ? {} : { tokens: chunk.usage.total_tokens })
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

/** A conversation of its own. `onEnd` runs after each answer. */
export const makeTalk = (onEnd: () => void) => {
  let state: TalkState = { turns: [], running: false }
  let controller = new AbortController()
  const listeners = new Set<() => void>()
  const keep = (change: Partial<TalkState>) => {
    state = { ...state, ...change }
    for (const listener of listeners) listener()
  }
  const answer = async (asked: TalkRequest, before: ReadonlyArray<Turn>) => {
    const own = new AbortController()
    controller = own
    let turn: Turn = { role: "assistant", content: "", model: asked.model }
    const show = (turn: Turn) => {
      if (controller === own) keep({ turns: [...before, turn] })
    }
    keep({ turns: [...before, turn], running: true })
    try {
      for await (const next of turnsOf(asked, before, own.signal)) show((turn = next))
    } catch (error) {
      show({ ...turn, ...(own.signal.aborted ? { error: "Stopped." } : failureOf(error)) })
    } finally {
      if (controller === own) keep({ running: false })
      onEnd()
    }
  }
  return {
    get: () => state,
    listen: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** Asks, or hands in the results of tools. */
    send: (asked: TalkRequest, turns: ReadonlyArray<Turn>) => answer(asked, [...state.turns, ...turns]),
    /** Keeps the result of a tool until all calls have one. */
    add: (turn: Turn) => keep({ turns: [...state.turns, turn] }),
    stop: () => controller.abort(),
    clear: () => {
      controller.abort()
      controller = new AbortController()
      keep({ turns: [], running: false })
    }
  }
}

export type Talk = ReturnType<typeof makeTalk>

export const useTalk = (talk: Talk): TalkState => useSyncExternalStore(talk.listen, talk.get)
