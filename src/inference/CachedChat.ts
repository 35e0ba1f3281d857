import { Context, Deferred, Effect, Layer, Result } from "effect"
import type { Principal } from "../../schemas/Access.ts"
import { hasSameRouting } from "../auth/Routing.ts"
import { ChatCache } from "../cache/ChatCache.ts"
import { type CacheKey, keyOf } from "../cache/CacheKey.ts"
import type { Failure } from "../domain/Failure.ts"
import { storeFailure } from "../domain/Failure.ts"
import type { Plan } from "../domain/Plan.ts"
import { noTokens } from "../domain/Usage.ts"
import { isAuto } from "../router/AutoRouter.ts"
import { Requests } from "../usage/Requests.ts"
import type { Answer } from "../domain/Answer.ts"
import { type ChatResult, Inference } from "./Inference.ts"
import type { ChatRequest } from "./Request.ts"

/** The maximum number of answers that are being written to the cache, each at most a megabyte. Further ones are not cached. */
const MAX_KEEPING = 64

/** How long an identical request waits for an answer that is being written to the cache. */
const KEEPING_WAIT = "250 millis"

/** The cache settings of a request. */
export interface CacheOptions {
  /** False: neither read nor write. */
  readonly use: boolean
  /** How long the answer is cached if this request produces one. */
  readonly lifeSeconds: number
}

/** Whether the answer came from the cache, was looked up and missing, or was not looked up. */
export type CacheStatus = "HIT" | "MISS" | "BYPASS"

export interface CachedResult extends ChatResult {
  readonly status: CacheStatus
}

/** The cached part of an answer: its content and its provider, nothing of the request that paid for it. */
interface CachedAnswer extends Pick<Answer, "resolvedModel" | "provider" | "output"> {
  readonly routing: Omit<Answer["routing"], "provider_attempts" | "router" | "source">
}

/**
 * The cache key of a request. Undefined when nothing may be read or cached: with `zero_retention`, and with tools, because their calls
 * have effects. The key contains everything that can change the answer or its routing facts, except what a hit states itself. It omits
 * the caller's time limits and budget, which affect only the choice of the model, and the hint for a provider's cache.
 */
const keyFor = (request: ChatRequest, { candidates, policy }: Plan): CacheKey | undefined => {
  const { auto, chain, conversation, principal, steering } = request
  if (policy.dataPolicy === "zero_retention" || conversation.tools.length > 0) return undefined
  const { onlyField: _, source: __, timeouts: ___, ...routing } = policy
  const { cacheKey: ____, ...asked } = conversation
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

/** Whether the same request would get the same answer again: it is complete, and from the model in the key. */
const isKeepable = ({ answer, replayed }: ChatResult, request: ChatRequest, plan: Plan): boolean => {
  if (replayed || answer.resolvedModel !== plan.candidates[0].model.id) return false
  const { finish, toolCalls } = answer.output
  // Without a cap from the caller, the length of the answer may have depended on the balance.
  const capped = finish === "length" && request.conversation.maxOutputTokens !== undefined
  return toolCalls.length === 0 && (finish === "stop" || capped)
}

const textOf = ({ output, provider, resolvedModel, routing }: Answer): string => {
  const { provider_attempts: _, router: __, source: ___, ...summary } = routing
  return JSON.stringify({ resolvedModel, provider, output, routing: summary } satisfies CachedAnswer)
}

const parseCached = (text: string): CachedAnswer | undefined => {
  try {
    return JSON.parse(text) as CachedAnswer
  } catch {
    return undefined
  }
}

/**
 * A cached answer in the form of an answer to another request, chosen by that request's plan. No provider was called, and nothing was
 * used or charged.
 */
const again = (
  kept: CachedAnswer,
  { model, preset, requestId }: ChatRequest,
  { decision, policy }: Plan
): CachedResult => ({
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
 * Paid chat behind the cache. A hit is free and has neither a hold nor a receipt, so no hold checks the API key. `check` does that, and
 * its failure is the answer. An answer stored under the request's idempotency key comes before the cache; a hit claims no idempotency
 * key.
 */
export class CachedChat extends Context.Service<
  CachedChat,
  {
    readonly chat: (
      request: ChatRequest,
      options: CacheOptions,
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
       * Runs in the background, so that a slow store does not delay the answer. The key contains the project as it was cached for the
       * API key. So the answer is cached only if the hold counted towards the same project.
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

      /** The cached answer of a key. It waits for one that is being written, so that an immediate repeat is a hit. */
      const keptAt = (key: CacheKey) =>
        Effect.suspend(() => {
          const underWay = keeping.get(key)
          const kept = cache.get(key)
          return underWay === undefined
            ? kept
            : Effect.andThen(Effect.timeoutOption(Deferred.await(underWay), KEEPING_WAIT), kept)
        })

      /** The earlier request with the same idempotency key, if there is one. */
      const claimedBy = ({ claim, principal }: ChatRequest): Effect.Effect<string | undefined, Failure> =>
        claim === undefined
          ? Effect.undefined
          : Effect.mapError(requests.claimedBy(principal.accountId, claim.claim), storeFailure)

      const find = (key: CacheKey, request: ChatRequest, plan: Plan, check: Effect.Effect<Principal, Failure>) =>
        Effect.gen(function* () {
          const text = yield* keptAt(key)
          const kept = text === undefined ? undefined : parseCached(text)
          if (kept === undefined) return undefined
          // The hit was found with the cached state of the API key. If that has changed, the request takes the normal path, where the
          // hold decides.
          if (!hasSameRouting(yield* check, request.principal)) return undefined
          return (yield* claimedBy(request)) === undefined ? again(kept, request, plan) : undefined
        })

      return CachedChat.of({
        chat: Effect.fnUntraced(function* (request, options, check) {
          const prepared = inference.prepare({ ...request, accountId: request.principal.accountId })
          // A request that cannot be planned may still have an answer under its idempotency key.
          if (Result.isFailure(prepared) && request.claim !== undefined) {
            return { ...(yield* inference.chat(request)), status: "BYPASS" }
          }
          const { plan } = yield* Effect.fromResult(prepared)
          const key = options.use ? keyFor(request, plan) : undefined
          if (key === undefined) return { ...(yield* inference.chat(request)), status: "BYPASS" }
          const found = yield* find(key, request, plan, check)
          if (found !== undefined) return found
          const result = yield* inference.chat(request)
          if (isKeepable(result, request, plan)) {
            const known = Effect.map(check, (now) => hasSameRouting(now, request.principal))
            yield* keep(
              key,
              result.answer,
              options.lifeSeconds,
              Effect.orElseSucceed(known, () => false)
            )
          }
          return { ...result, status: result.replayed ? "BYPASS" : "MISS" }
        })
      })
    })
  )
}
