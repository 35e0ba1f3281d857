import type { ProviderError } from "../../src/providers/ProviderError.ts"
import { Effect } from "effect"
import { asked } from "../support/Conversations.ts"
import type { Model } from "../../src/domain/Model.ts"
import type { OutputEvent } from "../../src/domain/Output.ts"
import type { Candidate } from "../../src/domain/Plan.ts"
import type { TokenPrice } from "../../src/domain/Pricing.ts"
import type { ChatCall, ChatSource } from "../../src/providers/Provider.ts"
import type { Clocks } from "../../src/providers/pool/AnswerClock.ts"

export const price: TokenPrice = {
  unit: "token",
  perRequest: 0n,
  tiers: [
    {
      abovePromptTokens: 0,
      rates: { input: 2_500_000n, cached: 250_000n, cacheWrite: 3_000_000n, output: 10_000_000n }
    }
  ]
}

export const candidate = (
  provider: string,
  options: { readonly model?: Partial<Model>; readonly price?: TokenPrice; readonly upstreamId?: string } = {}
): Candidate => {
  const offer = {
    provider,
    upstreamId: options.upstreamId ?? "up-1",
    price: options.price ?? price,
    contextWindow: 128_000,
    maxOutputTokens: 16_384,
    unsupported: []
  }
  const model: Model = {
    id: "model-1",
    name: "Model 1",
    vendor: "vendor",
    brand: "brand",
    description: "",
    modality: "text",
    status: "ga",
    created: 0,
    capabilities: ["streaming", "tools"],
    contextWindow: 128_000,
    maxOutputTokens: 16_384,
    hiddenReasoning: false,
    virtual: false,
    supportedParameters: [],
    pricingNote: "",
    offers: [offer],
    ...options.model
  }
  return { model, offer, price: options.price ?? price }
}

export const clocks: Clocks = { connectMs: 5_000, firstTokenMs: 30_000, idleMs: 20_000, totalMs: 60_000 }

export const chatCall = (more: Partial<ChatCall> = {}): ChatCall => ({
  requestId: "req_0123456789abcdef",
  candidate: candidate("up"),
  conversation: asked("hello"),
  maxOutputTokens: 1_000,
  promptBound: 100,
  held: 1_000_000n,
  clocks,
  steering: undefined,
  ...more
})

/** The next events of a source; undefined at its end. */
export const nextOf = (source: ChatSource): Effect.Effect<ReadonlyArray<OutputEvent> | undefined, ProviderError> =>
  Effect.suspend(() => {
    let next: ReadonlyArray<OutputEvent> | undefined
    const one = source.each((events) => {
      next = events
      return false
    })
    return Effect.map(one, () => next)
  })

/** Everything a source emits, batch by batch. */
export const drain = Effect.fnUntraced(function* (source: ChatSource) {
  const batches: Array<ReadonlyArray<OutputEvent>> = []
  yield* source.each((events) => batches.push(events) > 0)
  return batches
})

/** The texts of one kind of event, joined. */
export const joined = (events: ReadonlyArray<OutputEvent>, tag: "Text" | "Reasoning" | "Refusal"): string =>
  events.map((event) => (event._tag === tag ? event.text : "")).join("")
