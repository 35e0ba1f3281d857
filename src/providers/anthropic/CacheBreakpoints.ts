import type { Cacheable, Conversation } from "../../domain/Conversation.ts"
import { likelyTokens } from "../../domain/TokenBound.ts"
import type { ChatCall } from "../Provider.ts"

/** A block of the encoded prompt. */
export interface Block {
  /** Undefined for a block that the wire format does not accept. Its breakpoint moves to the block before it. */
  readonly body: object | undefined
  readonly breakpoint: CacheMark | false
}

/** How long a cached part of the prompt is kept, and how widely it is shared. */
export interface CacheMark {
  readonly ttl?: "1h" | undefined
  readonly scope?: string | undefined
}

/** The breakpoint at the end of a part of the prompt. */
export const markOf = ({ cacheBreakpoint, cacheScope: scope, cacheTtl: ttl }: Cacheable): CacheMark | false =>
  cacheBreakpoint === true ? { ttl, scope } : false

/** The encoded prompt, in the order in which the host's cache reads it. */
export interface Prompt {
  readonly tools: ReadonlyArray<Block>
  readonly system: ReadonlyArray<Block>
  readonly turns: ReadonlyArray<{ readonly role: "user" | "assistant"; readonly blocks: ReadonlyArray<Block> }>
}

/** The host rejects a request with more (https://platform.claude.com/docs/en/build-with-claude/prompt-caching). */
const MAX_BREAKPOINTS = 4

/** The minimum that any model caches, in tokens. Models with a higher minimum ignore breakpoints of a shorter prompt at no cost. */
const MIN_TOKENS = 1_024

/** The request fields with a breakpoint on each block that ends a part worth caching. If there are too many, the last ones stay. */
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

/** The caller's own breakpoints if there are any, or else automatic ones if requested, in the order of the prompt. */
const markedIn = (call: ChatCall, prompt: Prompt, blocks: ReadonlyArray<Block>): ReadonlyMap<Block, CacheMark> => {
  const { model, offer } = call.candidate
  // Without prices for cache reads and writes, the request must not use the cache.
  if (!model.capabilities.includes("prompt_caching") || offer.unsupported.includes("prompt_caching")) return new Map()
  if (hasBreakpoint(call.conversation)) return ownOf(blocks)
  const worthIt = call.caching === "auto" && likelyTokens(call.promptBound) >= MIN_TOKENS
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

/**
 * Marks the part that stays the same from turn to turn, and the ends before and after this turn's messages: the first is read from the
 * cache, the second is written.
 */
const automaticOf = ({ system, tools, turns }: Prompt, mark: CacheMark): ReadonlyMap<Block, CacheMark> => {
  const userTurns = turns.filter((turn) => turn.role === "user").slice(-2)
  const ends = [tools, system, ...userTurns.map((turn) => turn.blocks)].map((list) =>
    list.findLast((block) => block.body !== undefined)
  )
  return new Map(ends.flatMap((block) => (block === undefined ? [] : [[block, mark] as const])))
}
