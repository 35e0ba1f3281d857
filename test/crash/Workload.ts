/** What clients ask for, as a function of a seed. */
import type { Random } from "../ledger/Random.ts"
import { QUESTION } from "./Dialects.ts"
import { type Ask, type Behaviour, dialects, MOST_TOKENS_A_WORD, type Usage } from "./Notes.ts"
import { promptOf } from "./Upstream.ts"
import { models } from "./World.ts"

/** The accounts of a run and what each can spend. The first is asked for most, the last is soon spent. */
export const purses: ReadonlyArray<{ readonly name: string; readonly credit: bigint; readonly weight: number }> = [
  { name: "hot", credit: 100_000_000_000n, weight: 6 },
  { name: "warm", credit: 100_000_000_000n, weight: 2 },
  { name: "poor", credit: 20_000_000n, weight: 1 },
  { name: "spent", credit: 100_000n, weight: 1 }
]

const WORDS = ["sea ", "ship ", "salt ", "wind ", "wave ", "gull ", "rope ", "tide "]

const answers: Behaviour = { _tag: "Answer" }

/**
 * Most answers are whole; the faults that come before any content are those a fallback can mend. With more faults, and hundreds of
 * requests a second, most breakers would be open at any moment.
 */
const behaviour = (random: Random, chunks: number): Behaviour => {
  switch (random.below(24)) {
    case 0:
      return { _tag: "Status", status: random.pick([500, 503, 429]) }
    case 1:
      return { _tag: "Malformed" }
    case 2:
      return { _tag: "Break", after: random.below(chunks) }
    default:
      // A stall takes as long as the clock that ends it.
      return random.chance(0.01) ? { _tag: "Stall", after: random.below(chunks) } : answers
  }
}

const picked = (random: Random): string => {
  let left = random.below(purses.reduce((sum, { weight }) => sum + weight, 0))
  return (purses.find(({ weight }) => (left -= weight) < 0) ?? purses[0])?.name ?? ""
}

/** Never more than the bound that the hold counts with, never less than a tokenizer finds: the prompt's bytes and a little. */
export const promptUsage = (id: string, tools: boolean): number =>
  Buffer.byteLength(`${promptOf(id)}${QUESTION}`) + (tools ? 100 : 16)

const LASTING = 0.01

/** The next thing a client wants. `id` is its own in the run. */
export const nextAsk = (random: Random, id: string): Ask => {
  const account = picked(random)
  const stream = random.chance(0.65)
  const tools = random.chance(0.15)
  // A few streams last longer than a hold does without renewals.
  const lasting = stream && random.chance(LASTING)
  const count = lasting ? 35 + random.below(15) : 1 + random.below(10)
  const long = lasting || random.chance(0.1)
  const chunks = Array.from({ length: count }, () => random.pick(WORDS))
  const keyed = random.chance(0.5)
  const repeat = random.pick(["at once", "afterwards", undefined, undefined, undefined] as const)
  const usage: Usage = { prompt: promptUsage(id, tools), completion: MOST_TOKENS_A_WORD * count + 10 }
  return {
    id,
    account,
    dialect: random.pick(dialects),
    model: random.pick(models),
    stream,
    tools,
    maxTokens: random.chance(0.6) ? 200 : undefined,
    idempotencyKey: keyed ? `key-${id}` : undefined,
    repeat: keyed ? repeat : undefined,
    cutAfter: stream && random.chance(0.15) ? random.below(count + 1) : undefined,
    behaviour: { alpha: behaviour(random, count), beta: behaviour(random, count) },
    chunks,
    pauseMs: lasting ? 300 : long ? 100 + random.below(200) : random.below(30),
    reported: random.chance(0.9) ? usage : undefined,
    atMost: usage
  }
}

/** An ask with nothing unusual about it, and what a test needs of it. */
export const plainAsk = (id: string, account: string, more: Partial<Ask> = {}): Ask => {
  const chunks = more.chunks ?? ["sea ", "ship ", "salt "]
  const usage = { prompt: promptUsage(id, more.tools ?? false), completion: MOST_TOKENS_A_WORD * chunks.length + 10 }
  return {
    id,
    account,
    dialect: "chat",
    model: models[0],
    stream: false,
    tools: false,
    maxTokens: 200,
    idempotencyKey: undefined,
    repeat: undefined,
    cutAfter: undefined,
    behaviour: { alpha: answers, beta: answers },
    chunks,
    pauseMs: 0,
    reported: usage,
    atMost: usage,
    ...more
  }
}
