/** A streamed conversation with a model. It continues while its column is not on the page. */
import { useSyncExternalStore } from "react"
import type { Input } from "../../../client/Package.ts"
import { TollgateError, TollgateStreamError } from "../../../client/Package.ts"
import { clientWithKey, wordsOf } from "../../data/Client.ts"
import { onForget } from "../../data/Memory.ts"
import { messagesOf, type ToolCall, type Turn, withDelta } from "./Messages.ts"

/** The fields of a chat request other than its model and its messages. */
export type Parameters = Readonly<Record<string, unknown>>

export interface ConversationRequest {
  readonly key: string
  readonly model: string
  readonly instructions: string
  readonly parameters: Parameters
}

export interface ConversationState {
  readonly turns: ReadonlyArray<Turn>
  readonly running: boolean
}

/** Streams the answer: yields the turn again with each chunk. */
async function* turnsOf(
  request: ConversationRequest,
  turns: ReadonlyArray<Turn>,
  signal: AbortSignal
): AsyncGenerator<Turn> {
  const began = performance.now()
  const { instructions, key, model, parameters } = request
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

/** A conversation. The owner's sign-out ends it and forgets it. */
export const makeConversation = () => {
  let state: ConversationState = { turns: [], running: false }
  let controller = new AbortController()
  const listeners = new Set<() => void>()
  const keep = (change: Partial<ConversationState>) => {
    state = { ...state, ...change }
    for (const listener of listeners) listener()
  }
  const answer = async (request: ConversationRequest, before: ReadonlyArray<Turn>, onEnd: () => void) => {
    const own = new AbortController()
    controller = own
    let turn: Turn = { role: "assistant", content: "", model: request.model }
    const show = (turn: Turn) => {
      if (controller === own) keep({ turns: [...before, turn] })
    }
    keep({ turns: [...before, turn], running: true })
    try {
      for await (const next of turnsOf(request, before, own.signal)) show((turn = next))
    } catch (error) {
      show({ ...turn, ...(own.signal.aborted ? { error: "Stopped." } : failureOf(error)) })
    } finally {
      if (controller === own) keep({ running: false })
      onEnd()
    }
  }
  const clear = () => {
    controller.abort()
    controller = new AbortController()
    keep({ turns: [], running: false })
  }
  onForget(clear)
  return {
    get: () => state,
    listen: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** Sends a message or the results of tools. `onEnd` runs after the answer. */
    send: (request: ConversationRequest, turns: ReadonlyArray<Turn>, onEnd: () => void) =>
      answer(request, [...state.turns, ...turns], onEnd),
    /** Keeps the result of a tool until each call has one. */
    add: (turn: Turn) => keep({ turns: [...state.turns, turn] }),
    stop: () => controller.abort(),
    clear,
    /** Shows former turns again, unless the conversation has begun anew. */
    restore: (turns: ReadonlyArray<Turn>) => {
      if (state.turns.length === 0) keep({ turns })
    }
  }
}

export type Conversation = ReturnType<typeof makeConversation>

/** The state of a conversation. The component renders again when it changes. */
export const useConversation = (conversation: Conversation): ConversationState =>
  useSyncExternalStore(conversation.listen, conversation.get)
