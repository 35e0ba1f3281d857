/** The operations of clients, as a function of a seed. */
import type { Random } from "../ledger/Random.ts"
import { QUESTION } from "./Dialects.ts"
import { type Behaviour, dialects, MAX_TOKENS_A_WORD, type Operation, type Usage } from "./Evidence.ts"
import { promptOf } from "./Upstream.ts"

/**
 * The models of the scripted hosts. A circuit breaker covers one model at one host. With few models, these failure rates would keep most
 * breakers open, and gateways would refuse most requests without a call.
 */
export const models = [
  ...["gpt-4o-mini", "gpt-4.1-nano", "gpt-4.1-mini", "gpt-4o", "gpt-4.1"],
  ...["mistral-large-2512", "mistral-small-3.2", "ministral-8b-2512", "codestral-2508", "mistral-nemo"],
  ...["nova-micro", "nova-lite", "nova-pro", "command-a"],
  ...["meta-llama/llama-3.3-70b-instruct", "meta-llama/llama-3.1-8b-instruct", "qwen/qwen3-coder"]
] as const

/** The accounts of a run with their credits and shares of the load. The last one soon runs out of credit. */
export const accountSpecs: ReadonlyArray<{ readonly name: string; readonly credit: bigint; readonly weight: number }> =
  [
    { name: "hot", credit: 100_000_000_000n, weight: 6 },
    { name: "warm", credit: 100_000_000_000n, weight: 2 },
    { name: "poor", credit: 20_000_000n, weight: 1 },
    { name: "spent", credit: 100_000n, weight: 1 }
  ]

export const WORDS = ["sea ", "ship ", "salt ", "wind ", "wave ", "gull ", "rope ", "tide "]

const answers: Behaviour = { _tag: "Answer" }

/**
 * Most answers are complete. A fallback can replace a host that fails before any content. With more failures, at hundreds of requests a
 * second, most circuit breakers would be open at any moment.
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
      // A stall is rare because it lasts until a timeout of the gateway.
      return random.chance(0.01) ? { _tag: "Stall", after: random.below(chunks) } : answers
  }
}

const pickAccount = (random: Random): string => {
  let left = random.below(accountSpecs.reduce((sum, { weight }) => sum + weight, 0))
  return (accountSpecs.find(({ weight }) => (left -= weight) < 0) ?? accountSpecs[0])?.name ?? ""
}

/** The prompt tokens that the upstream reports: its bytes and a few more, between a tokenizer's count and the hold's bound. */
export const promptUsage = (id: string, tools: boolean): number =>
  Buffer.byteLength(`${promptOf(id)}${QUESTION}`) + (tools ? 100 : 16)

/** The share of streams that need renewals of their hold. */
const LASTING = 0.01

/** Draws the next operation of a client. `id` must be unique in the run. */
export const nextOperation = (random: Random, id: string): Operation => {
  const account = pickAccount(random)
  const stream = random.chance(0.65)
  const tools = random.chance(0.15)
  const lasting = stream && random.chance(LASTING)
  const count = lasting ? 35 + random.below(15) : 1 + random.below(10)
  const long = lasting || random.chance(0.1)
  const chunks = Array.from({ length: count }, () => random.pick(WORDS))
  const keyed = random.chance(0.5)
  const repeat = random.pick(["at once", "afterwards", undefined, undefined, undefined] as const)
  const usage: Usage = { prompt: promptUsage(id, tools), completion: MAX_TOKENS_A_WORD * count + 10 }
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

/** A plain operation that a provider answers at once, with a test's changes. */
export const plainOperation = (id: string, account: string, more: Partial<Operation> = {}): Operation => {
  const chunks = more.chunks ?? ["sea ", "ship ", "salt "]
  const usage = { prompt: promptUsage(id, more.tools ?? false), completion: MAX_TOKENS_A_WORD * chunks.length + 10 }
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
