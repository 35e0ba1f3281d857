/** Applies a preset to a chat request. The request's own fields override it. */
import { Result } from "effect"
import type { PresetConfig } from "../../../schemas/management/Presets.ts"
import type { Message } from "../../domain/Conversation.ts"
import type { Failure } from "../../domain/Failure.ts"
import { defaultPolicy, type RoutingPolicy } from "../../domain/Plan.ts"
import { presetNamed } from "../../domain/Chain.ts"
import { decodePolicy } from "../Routing.ts"

type Body = Readonly<Record<string, unknown>>

/** Fields that express the same as another one, or mean nothing beside it: such a field in a request overrides the preset's. */
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

/** A null counts as absent. An empty list of plugins counts as set. */
const isSet = (name: string, value: unknown): boolean =>
  value != null && !(name === "plugins" && Array.isArray(value) && value.length === 0)

/**
 * A request's body with absent fields filled in from a preset. A `model` that names the preset counts as absent. Routing and
 * instructions are merged later, when the rest is decoded.
 */
export const filledFrom = (preset: PresetConfig | undefined, body: Body): Body => {
  if (preset === undefined) return body
  const named = presetNamed(body["model"]) !== undefined
  const set = Object.entries(body).filter(([name, value]) => isSet(name, value) && !(named && name === "model"))
  const over = new Set(set.flatMap(([name]) => [name, ...(instead.get(name) ?? [])]))
  const supplied = Object.entries(preset).filter(
    ([name]) => name !== "routing" && name !== "instructions" && !over.has(name)
  )
  return Object.fromEntries([...supplied, ...set])
}

/** A preset's policy. The request has none of its fields, so errors name none. */
const ofPreset = (policy: RoutingPolicy): RoutingPolicy => {
  const { onlyField: _, ...own } = policy
  return own
}

/** The routing of a request without routing options: its preset's over its key's. */
export const presetPolicy = (
  preset: PresetConfig | undefined,
  base: RoutingPolicy = defaultPolicy
): Result.Result<RoutingPolicy, Failure> =>
  preset?.routing == null ? Result.succeed(base) : Result.map(decodePolicy({ routing: preset.routing }, base), ofPreset)

/** The messages of a request after the instructions of its preset. */
export const withInstructions = (
  messages: ReadonlyArray<Message>,
  preset: PresetConfig | undefined
): ReadonlyArray<Message> =>
  preset?.instructions == null
    ? messages
    : [{ role: "system", content: [{ type: "text", text: preset.instructions }] }, ...messages]
