import type { Cacheable, Conversation } from "../../domain/Conversation.ts"
import { likelyTokens } from "../../domain/TokenBound.ts"
import type { ChatCall } from "../Provider.ts"

/** A block of the prompt on its way to the wire. */
export interface Block {
  /** Absent for one that the wire does not take, whose breakpoint is that of the block before it. */
  readonly body: object | undefined
  readonly breakpoint: CacheMark | false
}

/** How long, and how widely shared, a part of the prompt is kept. */
export interface CacheMark {
  readonly ttl?: "1h" | undefined
  readonly scope?: string | undefined
}

/** The breakpoint that ends at a part of the prompt. */
export const markOf = ({ cacheBreakpoint, cacheScope: scope, cacheTtl: ttl }: Cacheable): CacheMark | false =>
  cacheBreakpoint === true ? { ttl, scope } : false

/** A prompt on its way to the wire, in the order in which the host's cache reads it. */
export interface Prompt {
  readonly tools: ReadonlyArray<Block>
  readonly system: ReadonlyArray<Block>
  readonly turns: ReadonlyArray<{ readonly role: "user" | "assistant"; readonly blocks: ReadonlyArray<Block> }>
}

/** The host refuses a request with more (https://platform.claude.com/docs/en/build-with-claude/prompt-caching). */
const MAX_BREAKPOINTS = 4

/** No model caches less; those that begin later pass over the breakpoints of a shorter prompt, at no cost. */
const LEAST_TOKENS = 1_024

/** The members of the wire, each block that ends a part worth keeping marked so: of too many, the last ones. */
export const withBreakpoints = (call: ChatCall, prompt: Prompt) => {
  const blocks = [...prompt.tools, ...prompt.system, ...prompt.turns.flatMap((turn) => turn.blocks)]
  const marked = new Map([...markedIn(call, prompt, blocks)].slice(-MAX_BREAKPOINTS))
  const scoped = call.conversation.betas?.some((beta) => beta.startsWith("prompt-caching-scope-")) === true
  const controlOf = ({ scope, ttl }: CacheMark) => ({ type: "ephemeral", ttl, scope: scoped ? scope : undefined })
  const wireOf = (list: ReadonlyArray<Block>): ReadonlyArray<object> =>
    list.flatMap((block) => {
      if (block.body === undefined) return []
      const mark = marked.get(block)
      return [mark === undefined ? block.body : { ...block.body, cache_control: controlOf(mark) }]
    })
  return {
    tools: wireOf(prompt.tools),
    system: wireOf(prompt.system),
    turns: prompt.turns.map(({ blocks: list, role }) => ({ role, content: wireOf(list) }))
  }
}

/** The caller's own breakpoints where there are any, else those asked to be set, in the order of the prompt. */
const markedIn = (call: ChatCall, prompt: Prompt, blocks: ReadonlyArray<Block>): ReadonlyMap<Block, CacheMark> => {
  const { model, offer } = call.candidate
  // Without a price for what the cache gives and takes, nothing is to be written to it.
  if (!model.capabilities.includes("prompt_caching") || offer.unsupported.includes("prompt_caching")) return new Map()
  if (hasBreakpoint(call.conversation)) return ownOf(blocks)
  const worthIt = call.caching === "auto" && likelyTokens(call.promptBound) >= LEAST_TOKENS
  return worthIt ? automaticOf(prompt, { ttl: call.conversation.cacheTtl }) : new Map()
}

const hasBreakpoint = ({ messages, tools }: Conversation): boolean =>
  tools.some((tool) => tool.cacheBreakpoint) ||
  messages.some(
    (message) =>
      message.content.some((part) => part.cacheBreakpoint) ||
      (message.role === "tool" && message.cacheBreakpoint) ||
      (message.role === "assistant" && message.toolCalls.some((one) => one.cacheBreakpoint))
  )

const ownOf = (blocks: ReadonlyArray<Block>): ReadonlyMap<Block, CacheMark> => {
  const marked = new Map<Block, CacheMark>()
  let last: Block | undefined
  for (const block of blocks) {
    if (block.body !== undefined) last = block
    if (block.breakpoint !== false && last !== undefined) marked.set(last, block.breakpoint)
  }
  return marked
}

/** What stays the same from turn to turn, and both ends of what this turn adds: one is read from the cache, one is written. */
const automaticOf = ({ system, tools, turns }: Prompt, mark: CacheMark): ReadonlyMap<Block, CacheMark> => {
  const asked = turns.filter((turn) => turn.role === "user").slice(-2)
  const ends = [tools, system, ...asked.map((turn) => turn.blocks)].map((list) =>
    list.findLast((block) => block.body !== undefined)
  )
  return new Map(ends.flatMap((block) => (block === undefined ? [] : [[block, mark] as const])))
}
