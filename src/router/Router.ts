import { Context, Effect, Layer, Result } from "effect"
import { Catalogue } from "../catalogue/Catalogue.ts"
import { LiveFigures } from "../catalogue/LiveFigures.ts"
import type { Snapshot } from "../catalogue/Snapshot.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import type { Capability, Model, Offer } from "../domain/Model.ts"
import { type Pico, usdFromPico } from "../domain/Money.ts"
import type { Candidate, Plan, RoutingPolicy } from "../domain/Plan.ts"
import { reachable } from "../domain/Pricing.ts"
import { type AutoRequest, isAuto, planAuto } from "./AutoRouter.ts"
import { arrange } from "./Strategy.ts"

/** What a request asks of whoever serves it. */
export interface PlanRequest {
  /** The fallback chain, first choice first. */
  readonly models: ReadonlyArray<string>
  readonly policy: RoutingPolicy
  readonly needs: {
    readonly vision: boolean
    readonly tools: boolean
    /** Names of the optional parameters the request sets. */
    readonly parameters: ReadonlyArray<string>
  }
  /** No more prompt tokens than this; they decide which tier of a price can be reached. */
  readonly promptBound: number
  /** Whether the prompt fits a context window of so many tokens. */
  readonly fits: (contextWindow: number) => boolean
  /** The prompt's likely tokens, for the message when it fits nowhere. */
  readonly promptTokens: () => number
  /** Of a request to `svc/auto`. */
  readonly auto?: AutoRequest | undefined
}

/** Why a model or an offer was left out, most telling first: when all are, the first of these that occurred is the answer. */
type Rejection = "vision" | "tools" | "context" | "restricted" | "unserved"

const PER_MILLION = 1_000_000

const withinPrice = (candidate: Candidate, { policy: { maxPrice }, promptBound }: PlanRequest): boolean => {
  const { completion, prompt, request } = maxPrice
  if (completion === undefined && prompt === undefined && request === undefined) return true
  const over = (pico: Pico, limit: number | undefined, units = PER_MILLION) =>
    limit !== undefined && usdFromPico(pico) * units > limit
  if (over(candidate.price.perRequest, request, 1)) return false
  return reachable(candidate.price, promptBound).every(
    ({ rates }) => !over(rates.input, prompt) && !over(rates.output, completion)
  )
}

const rejectOffer = (catalogue: Snapshot, model: Model, offer: Offer, request: PlanRequest): Rejection | undefined => {
  const { policy, needs } = request
  const provider = catalogue.provider(offer.provider)
  if (provider === undefined || provider.serving === "none") return "unserved"
  if (policy.only !== undefined && !policy.only.includes(offer.provider)) return "restricted"
  if (policy.ignore.includes(offer.provider)) return "restricted"
  if (policy.dataPolicy !== "default" && provider.trainsOnData) return "restricted"
  if (policy.dataPolicy === "zero_retention" && !provider.zeroRetention) return "restricted"
  const lacks = (capability: Capability) => offer.unsupported.includes(capability)
  if (needs.vision && lacks("vision")) return "vision"
  if (needs.tools && lacks("tools")) return "tools"
  if (!request.fits(offer.contextWindow)) return "context"
  if (policy.requireParameters && needs.parameters.some((name) => !model.supportedParameters.includes(name))) {
    return "restricted"
  }
  return undefined
}

const rejectModel = (catalogue: Snapshot, model: Model, { needs }: PlanRequest): Rejection | undefined => {
  if (needs.vision && !model.capabilities.includes("vision")) return "vision"
  if (needs.tools && !model.capabilities.includes("tools")) return "tools"
  return catalogue.isServable(model) ? undefined : "unserved"
}

const failureOf = (catalogue: Snapshot, request: PlanRequest, rejections: ReadonlySet<Rejection>): Failure => {
  const model = request.models[0] ?? ""
  if (rejections.has("vision")) return failure({ _tag: "NotVisionCapable", model })
  if (rejections.has("tools")) return failure({ _tag: "NotToolCapable", model })
  if (rejections.has("context")) {
    const windows = request.models.map((id) => catalogue.find(id)?.contextWindow ?? 0)
    const window = Math.max(...windows)
    return failure({ _tag: "ContextLengthExceeded", tokens: request.promptTokens(), window })
  }
  const detail = rejections.has("restricted")
    ? "No provider meets the routing restrictions of this request"
    : `No provider serves ${model} at present`
  return failure({ _tag: "NoProviderAvailable", detail })
}

/**
 * Decides whom to try for a request, in which order. It sees the catalogue and live figures as values and calls nobody.
 * A request that nothing can serve fails with the reason that is closest to what the caller can change.
 */
export class Router extends Context.Service<
  Router,
  { readonly plan: (request: PlanRequest) => Result.Result<Plan, Failure> }
>()("tollgate/router/Router") {
  static readonly layer = Layer.effect(
    Router,
    Effect.gen(function* () {
      const shelf = yield* Catalogue
      const live = yield* LiveFigures

      const ordinary = Router.of({
        plan: (request) => {
          const catalogue = shelf.current()
          const rejections = new Set<Rejection>()
          const candidates: Array<Candidate> = []
          for (const id of request.models) {
            const model = catalogue.find(id)
            if (model === undefined) return Result.fail(failure({ _tag: "UnknownModel", model: id }))
            if (model.modality !== "text") {
              return Result.fail(failure({ _tag: "UnknownModel", model: id, detail: `${id} is not a chat model` }))
            }
            const rejection = rejectModel(catalogue, model, request)
            if (rejection !== undefined) {
              rejections.add(rejection)
              continue
            }
            const offered: Array<Candidate> = []
            for (const offer of model.offers) {
              if (offer.price?.unit !== "token") continue
              const candidate: Candidate = { model, offer, price: offer.price }
              const reason =
                rejectOffer(catalogue, model, offer, request) ??
                (withinPrice(candidate, request) ? undefined : "restricted")
              if (reason === undefined) offered.push(candidate)
              else rejections.add(reason)
            }
            candidates.push(
              ...arrange(offered, request.policy, ({ offer }) => live.performance(model.id, offer.provider))
            )
          }
          const [first, ...others] = candidates
          if (first === undefined) return Result.fail(failureOf(catalogue, request, rejections))
          return Result.succeed({
            requestedModels: request.models,
            policy: request.policy,
            candidates: request.policy.allowFallbacks ? [first, ...others] : [first]
          })
        }
      })
      return Router.of({
        plan: (request) =>
          isAuto(request.models) ? planAuto(shelf.current(), request, ordinary.plan) : ordinary.plan(request)
      })
    })
  )
}
