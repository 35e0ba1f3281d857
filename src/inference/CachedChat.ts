import { Context, Deferred, Effect, Layer, Result } from "effect"
import type { Principal } from "../../schemas/Access.ts"
import { goesAlike } from "../auth/Routing.ts"
import { ChatCache } from "../cache/ChatCache.ts"
import { type CacheKey, keyOf } from "../cache/CacheKey.ts"
import type { Failure } from "../domain/Failure.ts"
import type { Plan } from "../domain/Plan.ts"
import { noTokens } from "../domain/Usage.ts"
import { isAuto } from "../router/AutoRouter.ts"
import { Requests } from "../usage/Requests.ts"
import type { Answer } from "./Answer.ts"
import { type ChatResult, Inference } from "./Inference.ts"
import { storeUnavailable } from "./Holding.ts"
import type { ChatRequest } from "./Request.ts"

/** Answers on their way to the cache at a time, of a megabyte each at most; further ones are not kept. */
const MAX_KEEPING = 64

/** How long the same question waits for an answer that is on its way there. */
const KEEPING_WAIT = "250 millis"

/** What a caller wants of the cache. */
export interface CacheWish {
  /** False neither reads nor writes. */
  readonly use: boolean
  /** How long the answer is kept, if this request makes one. */
  readonly lifeSeconds: number
}

/** Whether an answer came from the cache, could have, or was not looked for. */
export type CacheStatus = "HIT" | "MISS" | "BYPASS"

export interface CachedResult extends ChatResult {
  readonly status: CacheStatus
}

/** What of an answer is kept: the answer itself and who gave it, nothing of the request that paid for it. */
interface Kept extends Pick<Answer, "resolvedModel" | "provider" | "output"> {
  readonly routing: Omit<Answer["routing"], "provider_attempts" | "router" | "source">
}

/**
 * The key of a request, or undefined where nothing may be read or kept: under `zero_retention`, and with tools, whose calls have
 * effects. It has all that can change an answer and what is said of its routing, save what a hit says of its own: neither the
 * caller's clocks nor the budget, which decide no more than the model, nor the hint to a provider's cache.
 */
const keyFor = (request: ChatRequest, { candidates, policy }: Plan): CacheKey | undefined => {
  const { auto, chain, conversation, principal, steering } = request
  if (policy.dataPolicy === "zero_retention" || conversation.tools.length > 0) return undefined
  const { source: _, timeouts: __, ...routing } = policy
  const { cacheKey: ___, ...asked } = conversation
  return keyOf({
    accountId: principal.accountId,
    projectId: principal.projectId,
    model: candidates[0].model.id,
    request: {
      chain,
      conversation: asked,
      router: isAuto(chain) ? auto?.options : undefined,
      routing,
      steering
    }
  })
}

/** Whether an answer is what the same question would be answered with again: whole, and from the model its key names. */
const isKeepable = ({ answer, replayed }: ChatResult, request: ChatRequest, plan: Plan): boolean => {
  if (replayed || answer.resolvedModel !== plan.candidates[0].model.id) return false
  const { finish, toolCalls } = answer.output
  // Without a cap of the caller's, how much of an answer there is may have been a matter of the balance.
  const capped = finish === "length" && request.conversation.maxOutputTokens !== undefined
  return toolCalls.length === 0 && (finish === "stop" || capped)
}

const textOf = ({ output, provider, resolvedModel, routing }: Answer): string => {
  const { provider_attempts: _, router: __, source: ___, ...summary } = routing
  return JSON.stringify({ resolvedModel, provider, output, routing: summary } satisfies Kept)
}

const keptOf = (text: string): Kept | undefined => {
  try {
    return JSON.parse(text) as Kept
  } catch {
    return undefined
  }
}

/** A kept answer as that of another request, chosen by its own plan: nobody was asked, and nothing used or charged. */
const again = (kept: Kept, { model, preset, requestId }: ChatRequest, { decision, policy }: Plan): CachedResult => ({
  answer: {
    ...kept,
    routing: { ...kept.routing, source: policy.source, ...(decision === undefined ? {} : { router: decision }) },
    requestId,
    created: Math.floor(Date.now() / 1000),
    model,
    preset,
    usage: noTokens,
    cost: 0n,
    balanceWarning: undefined
  },
  replayed: false,
  status: "HIT"
})

/**
 * Paid chat behind the cache. A hit is free and leaves neither a hold nor a receipt, so nothing checks the key on its way:
 * `check` does, and its failure is the answer. What stands under the request's idempotency key goes before the cache; a hit
 * claims none.
 */
export class CachedChat extends Context.Service<
  CachedChat,
  {
    readonly chat: (
      request: ChatRequest,
      wish: CacheWish,
      check: Effect.Effect<Principal, Failure>
    ) => Effect.Effect<CachedResult, Failure>
  }
>()("tollgate/inference/CachedChat") {
  static readonly layer = Layer.effect(
    CachedChat,
    Effect.gen(function* () {
      const inference = yield* Inference
      const cache = yield* ChatCache
      const requests = yield* Requests
      const scope = yield* Effect.scope
      const keeping = new Map<CacheKey, Deferred.Deferred<void>>()

      /**
       * Nobody waits for it: an answer is not to be late for a store that stalls. It is of the project that its key was remembered in,
       * and kept only if that is where it was held.
       */
      const keep = (key: CacheKey, answer: Answer, lifeSeconds: number, isAsKnown: Effect.Effect<boolean>) =>
        Effect.suspend(() => {
          if (keeping.size >= MAX_KEEPING || keeping.has(key)) return Effect.void
          const kept = Deferred.makeUnsafe<void>()
          keeping.set(key, kept)
          const put = Effect.ensuring(
            Effect.flatMap(isAsKnown, (known) => (known ? cache.put(key, textOf(answer), lifeSeconds) : Effect.void)),
            Effect.suspend(() => {
              keeping.delete(key)
              return Deferred.succeed(kept, undefined)
            })
          )
          return Effect.asVoid(Effect.forkIn(put, scope, { startImmediately: true }))
        })

      /** What is kept under a key; what is on its way there is waited for, since whoever asks again at once is to find it. */
      const keptAt = (key: CacheKey) =>
        Effect.suspend(() => {
          const underWay = keeping.get(key)
          const kept = cache.get(key)
          return underWay === undefined
            ? kept
            : Effect.andThen(Effect.timeoutOption(Deferred.await(underWay), KEEPING_WAIT), kept)
        })

      /** The request that has this one's idempotency key, where it has one and another had it before. */
      const claimedBy = ({ claim, principal }: ChatRequest): Effect.Effect<string | undefined, Failure> =>
        claim === undefined
          ? Effect.undefined
          : Effect.mapError(requests.claimedBy(principal.accountId, claim.claim), storeUnavailable)

      const find = (key: CacheKey, request: ChatRequest, plan: Plan, check: Effect.Effect<Principal, Failure>) =>
        Effect.gen(function* () {
          const text = yield* keptAt(key)
          const kept = text === undefined ? undefined : keptOf(text)
          if (kept === undefined) return undefined
          // What was found is of what the key was remembered as; what follows of what it is by now, the hold says.
          if (!goesAlike(yield* check, request.principal)) return undefined
          return (yield* claimedBy(request)) === undefined ? again(kept, request, plan) : undefined
        })

      return CachedChat.of({
        chat: Effect.fnUntraced(function* (request, wish, check) {
          const prepared = inference.prepare({ ...request, accountId: request.principal.accountId })
          // One that cannot be planned may still have an answer, under its idempotency key.
          if (Result.isFailure(prepared) && request.claim !== undefined) {
            return { ...(yield* inference.chat(request)), status: "BYPASS" }
          }
          const { plan } = yield* Effect.fromResult(prepared)
          const key = wish.use ? keyFor(request, plan) : undefined
          if (key === undefined) return { ...(yield* inference.chat(request)), status: "BYPASS" }
          const found = yield* find(key, request, plan, check)
          if (found !== undefined) return found
          const result = yield* inference.chat(request)
          if (isKeepable(result, request, plan)) {
            const known = Effect.map(check, (now) => goesAlike(now, request.principal))
            yield* keep(
              key,
              result.answer,
              wish.lifeSeconds,
              Effect.orElseSucceed(known, () => false)
            )
          }
          return { ...result, status: result.replayed ? "BYPASS" : "MISS" }
        })
      })
    })
  )
}
