/** What a preset supplies of a chat request. What the request says itself goes before it. */
import { Result } from "effect"
import type { PresetConfig } from "../../../schemas/management/Presets.ts"
import type { Message } from "../../domain/Conversation.ts"
import type { Failure } from "../../domain/Failure.ts"
import { defaultPolicy, type RoutingPolicy } from "../../domain/Plan.ts"
import { presetNamed } from "../../router/Chain.ts"
import { decodePolicy } from "../Routing.ts"

type Body = Readonly<Record<string, unknown>>

/** Members that say the same as another one, or mean nothing beside another's: one of a request stands in for a preset's. */
const instead: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["model", ["models"]],
  ["models", ["model"]],
  ["max_tokens", ["max_completion_tokens"]],
  ["max_completion_tokens", ["max_tokens"]],
  ["reasoning", ["reasoning_effort"]],
  ["reasoning_effort", ["reasoning"]],
  ["tools", ["tool_choice"]],
  ["plugins", ["router"]]
])

/** A null says nothing, an empty list of plugins asks for none. */
const isSaid = (name: string, value: unknown): boolean =>
  value != null && !(name === "plugins" && Array.isArray(value) && value.length === 0)

/**
 * A request's body with the members it does not say from a preset; `model` says nothing where it names the preset. Routing and instructions are not among them; they are put together when the rest is decoded.
 */
export const filledFrom = (preset: PresetConfig | undefined, body: Body): Body => {
  if (preset === undefined) return body
  const named = presetNamed(body["model"]) !== undefined
  const said = Object.entries(body).filter(([name, value]) => isSaid(name, value) && !(named && name === "model"))
  const over = new Set(said.flatMap(([name]) => [name, ...(instead.get(name) ?? [])]))
  const supplied = Object.entries(preset).filter(
    ([name]) => name !== "routing" && name !== "instructions" && !over.has(name)
  )
  return Object.fromEntries([...supplied, ...said])
}

/** The routing of a request that says nothing of it: its preset's, over that of its key. */
export const presetPolicy = (
  preset: PresetConfig | undefined,
  base: RoutingPolicy = defaultPolicy
): Result.Result<RoutingPolicy, Failure> =>
  preset?.routing == null ? Result.succeed(base) : decodePolicy({ routing: preset.routing }, base)

/** The messages of a request behind the instructions of its preset. */
export const instructed = (
  messages: ReadonlyArray<Message>,
  preset: PresetConfig | undefined
): ReadonlyArray<Message> =>
  preset?.instructions == null
    ? messages
    : [{ role: "system", content: [{ type: "text", text: preset.instructions }] }, ...messages]
