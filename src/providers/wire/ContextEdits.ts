/** Applies context edits for providers that do not support them. */
import { Effect } from "effect"
import { editContext } from "../../domain/ContextEdits.ts"
import type { OutputEvent } from "../../domain/Output.ts"
import { type ChatCall, type ChatSource, type Provider } from "../Provider.ts"

const editedOf = (call: ChatCall) => {
  const { applied, conversation } = editContext(call.conversation)
  return { applied, call: { ...call, conversation } }
}

/** The stream with one event in front. */
const behind = (source: ChatSource, event: OutputEvent): ChatSource => {
  let reported = false
  const first = (events: ReadonlyArray<OutputEvent>): ReadonlyArray<OutputEvent> => {
    if (reported) return events
    reported = true
    return [event, ...events]
  }
  return {
    ...(source.collected === true ? { collected: true } : {}),
    each: (take) => source.each((events) => take(first(events)))
  }
}

/** Wraps a provider so that it receives prompts with the requested edits applied, and its answers report the edits. */
export const withContextEdits = (provider: Provider): Provider => {
  if (provider.editsContext === true) return provider
  return {
    ...provider,
    chat: (original) => {
      if (original.conversation.contextEdits === undefined) return provider.chat(original)
      const { applied, call } = editedOf(original)
      return Effect.map(provider.chat(call), (output) => ({ ...output, contextEdits: applied }))
    },
    chatStream: (original) => {
      if (original.conversation.contextEdits === undefined) return provider.chatStream(original)
      const { applied, call } = editedOf(original)
      return Effect.map(provider.chatStream(call), (source) => behind(source, { _tag: "ContextEdits", applied }))
    }
  }
}
