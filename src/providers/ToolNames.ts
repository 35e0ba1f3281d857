/** Names of tools that a host would refuse: shortened on the way there, and put back in what comes from it. */
import { Effect } from "effect"
import { hash } from "node:crypto"
import type { Conversation } from "../domain/Conversation.ts"
import type { Output, OutputEvent } from "../domain/Output.ts"
import { eachOf, type Provider, type TakeEvents } from "./Provider.ts"

/** What a host takes as the name of a tool. */
export interface ToolNameBounds {
  /** Characters that the host refuses; global. */
  readonly refused: RegExp
  /** What a name must begin with, where not every character will do. */
  readonly begins?: RegExp
  readonly mostCharacters: number
}

/** A conversation in names that the host takes, and the caller's name of each that was changed. */
export interface Renamed {
  readonly conversation: Conversation
  readonly callers: ReadonlyMap<string, string>
}

const HASH_DIGITS = 8

/** The name as the host takes it. The same name always becomes the same one, and a hash keeps apart those that begin alike. */
export const fittingName = (name: string, { begins, mostCharacters, refused }: ToolNameBounds): string => {
  const plain = name.replaceAll(refused, "_")
  const begun = begins === undefined || begins.test(plain) ? plain : `_${plain}`
  if (begun === name && name.length <= mostCharacters) return name
  return `${begun.slice(0, mostCharacters - HASH_DIGITS - 1)}_${hash("sha256", name, "hex").slice(0, HASH_DIGITS)}`
}

/** The conversation with the names of tools that its host refuses replaced wherever they stand; undefined where it takes all. */
export const renamed = (conversation: Conversation, bounds: ToolNameBounds): Renamed | undefined => {
  const callers = new Map<string, string>()
  const fit = (name: string): string => {
    const fitting = fittingName(name, bounds)
    if (fitting !== name) callers.set(fitting, name)
    return fitting
  }
  const { messages, toolChoice, tools } = conversation
  const fitTools = tools.map((tool) => ({ ...tool, name: fit(tool.name) }))
  const fitMessages = messages.map((message) =>
    message.role === "assistant" && message.toolCalls.length > 0
      ? { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, name: fit(call.name) })) }
      : message
  )
  if (callers.size === 0) return undefined
  const fitChoice = toolChoice.type === "tool" ? { ...toolChoice, name: fit(toolChoice.name) } : toolChoice
  return { conversation: { ...conversation, messages: fitMessages, tools: fitTools, toolChoice: fitChoice }, callers }
}

/** An answer in the caller's names. */
export const namedBack = (output: Output, { callers }: Renamed): Output => ({
  ...output,
  toolCalls: output.toolCalls.map((call) => ({ ...call, name: callers.get(call.name) ?? call.name }))
})

/** Events in the caller's names. */
export const eventsBack = (events: ReadonlyArray<OutputEvent>, { callers }: Renamed): ReadonlyArray<OutputEvent> =>
  events.map((event) =>
    event._tag === "ToolStart" ? { ...event, name: callers.get(event.name) ?? event.name } : event
  )

/** The provider with tools in names that its host takes, unnoticed by its caller. */
export const withToolNames = (provider: Provider, bounds: ToolNameBounds): Provider => ({
  ...provider,
  chat: (call) => {
    const names = renamed(call.conversation, bounds)
    if (names === undefined) return provider.chat(call)
    return Effect.map(provider.chat({ ...call, conversation: names.conversation }), (output) =>
      namedBack(output, names)
    )
  },
  chatStream: (call) => {
    const names = renamed(call.conversation, bounds)
    if (names === undefined) return provider.chatStream(call)
    return Effect.map(provider.chatStream({ ...call, conversation: names.conversation }), (source) => ({
      ...source,
      next: Effect.map(source.next, (events) => events && eventsBack(events, names)),
      each: (take: TakeEvents) => eachOf(source, (events) => take(eventsBack(events, names)))
    }))
  }
})

/** OpenAI's, and those of hosts that speak its wire. */
export const OPENAI_NAMES: ToolNameBounds = { refused: /[^a-zA-Z0-9_-]/g, mostCharacters: 64 }

export const ANTHROPIC_NAMES: ToolNameBounds = { refused: /[^a-zA-Z0-9_-]/g, mostCharacters: 128 }

export const GEMINI_NAMES: ToolNameBounds = { refused: /[^a-zA-Z0-9_.:-]/g, begins: /^[a-zA-Z_]/, mostCharacters: 64 }
