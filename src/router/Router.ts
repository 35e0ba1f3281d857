import { Clock, Context, Effect, Layer, Random, Result } from "effect"
import { Catalogue } from "../catalogue/Catalogue.ts"
import { LiveFigures } from "../catalogue/LiveFigures.ts"
import type { Snapshot } from "../catalogue/Snapshot.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import { gifProblem, takesGif } from "../domain/ImageType.ts"
import { type Model, offerReadsPdf, readsPdf } from "../domain/Model.ts"
import type { Candidate, Plan, RoutingPolicy } from "../domain/Plan.ts"
import { longCachePrice, type Price } from "../domain/Pricing.ts"
import { likelyTokens } from "../domain/TokenBound.ts"
import { type AutoRequest, isAuto, planAuto } from "./AutoRouter.ts"
import { lowerCased, noneLeft, type Restriction, restrictionsOf } from "./Restrictions.ts"
import { type MeasuredCandidate, likelyPriceUsd, atAccountPrices, MeasuredCandidates } from "./MeasuredCandidates.ts"
import { arrange, explore, type WeighedProvider } from "./Strategy.ts"
import { planWork, type WorkPlanRequest } from "./WorkPlan.ts"
import { unknownModel } from "./UnknownModel.ts"

/** The requirements of a request. */
export interface PlanRequest {
  /** The fallback chain, first choice first. */
  readonly models: ReadonlyArray<string>
  readonly policy: RoutingPolicy
  readonly needs: {
    readonly vision: boolean
    readonly tools: boolean
    /** The number of tools, if there are any. */
    readonly toolCount?: number
    /** The field of the first GIF image, if there is one. */
    readonly gif?: string | undefined
    /** The field of the first PDF file, if there is one. */
    readonly pdf?: string | undefined
    /** Whether the request asks for a one-hour prompt cache. */
    readonly longCache?: boolean
    /** Names of the optional parameters that the request sets. */
    readonly parameters: ReadonlyArray<string>
  }
  /** Whether the response is streamed, so that the time to the first token matters. */
  readonly stream: boolean
  /** An upper bound on the prompt's tokens. It decides which price tiers the request can reach. */
  readonly promptBound: number
  /** The client's bound on the output tokens. */
  readonly maxTokens?: number | undefined
  /** Reports whether the prompt fits a context window of this many tokens. */
  readonly fits: (contextWindow: number) => boolean
  /** Returns the estimated tokens of the prompt, for the error message when it fits no window. */
  readonly promptTokens: () => number
  /** Whether the request may go to a provider with few samples, so that the gateway learns about it. */
  readonly explores?: boolean
  /** Present for requests to `svc/auto`. */
  readonly auto?: AutoRequest | undefined
}

export interface RouterOptions {
  /** Whether plans of the `latency` strategy include the delay after which a second attempt may start beside the first. */
  readonly latencyHedge: boolean
}

/** The output tokens assumed for price comparisons, unless the client's bound is lower. */
const LIKELY_OUTPUT_TOKENS = 256

/** The reasons why a model or provider cannot serve a request regardless of the client's restrictions, most useful first. */
type Inability = "vision" | "pdf" | "gif" | "tools" | "toolCount" | "context" | "unserved"

/** The most tools per request for OpenAI's own models. All their hosts pass requests on to OpenAI. Its open models have no limit. */
const OPENAI_MOST_TOOLS = 128

const isBounded = ({ id, vendor }: Model): boolean => vendor === "openai" && !id.includes("gpt-oss")

const inabilityOfModel = (catalogue: Snapshot, model: Model, { needs }: PlanRequest): Inability | undefined => {
  if (needs.vision && !model.capabilities.includes("vision")) return "vision"
  if (needs.pdf !== undefined && !readsPdf(model)) return "pdf"
  if (needs.gif !== undefined && !takesGif(model)) return "gif"
  if (needs.tools && !model.capabilities.includes("tools")) return "tools"
  return catalogue.isServable(model) ? undefined : "unserved"
}

const inabilityOf = (
  { candidate: { model, offer } }: MeasuredCandidate,
  { fits, needs }: PlanRequest
): Inability | undefined => {
  if (needs.vision && offer.unsupported.includes("vision")) return "vision"
  if (needs.pdf !== undefined && !offerReadsPdf(model, offer)) return "pdf"
  if (needs.tools && offer.unsupported.includes("tools")) return "tools"
  if ((needs.toolCount ?? 0) > OPENAI_MOST_TOOLS && isBounded(model)) return "toolCount"
  return fits(offer.contextWindow) ? undefined : "context"
}

/** Returns the failure when no provider can serve the request: the reason that the client can most easily act on. */
const unable = (catalogue: Snapshot, request: PlanRequest, because: ReadonlySet<Inability>): Failure => {
  const model = request.models[0] ?? ""
  if (because.has("vision")) return failure({ _tag: "NotVisionCapable", model })
  const { gif, pdf } = request.needs
  if (pdf !== undefined && because.has("pdf")) {
    const detail = `No provider of ${model} reads PDF files; models with vision of Anthropic, Google and OpenAI do`
    return failure({ _tag: "UnsupportedParameter", param: pdf, detail })
  }
  if (gif !== undefined && because.has("gif")) return invalid(gif, gifProblem(model))
  if (because.has("tools")) return failure({ _tag: "NotToolCapable", model })
  if (because.has("toolCount")) {
    const got = request.needs.toolCount ?? 0
    return invalid("tools", `must contain at most ${OPENAI_MOST_TOOLS} tools for ${model}; got ${got}`)
  }
  if (because.has("context")) {
    const windows = request.models.map((id) => catalogue.find(id)?.contextWindow ?? 0)
    return failure({ _tag: "ContextLengthExceeded", tokens: request.promptTokens(), window: Math.max(...windows) })
  }
  return failure({ _tag: "NoProviderAvailable", detail: `No provider serves ${model} at present` })
}

/** A candidate with what the strategies weigh for one request. */
interface RankedCandidate extends WeighedProvider {
  readonly measured: MeasuredCandidate
}

/** Returns the providers of one model that may serve the request, in the order to try them. */
const rank = (
  permitted: ReadonlyArray<MeasuredCandidate>,
  request: PlanRequest,
  ordering: Pick<RoutingPolicy, "strategy" | "order">,
  draw: number | undefined
): ReadonlyArray<MeasuredCandidate> => {
  if (permitted.length < 2) return permitted
  const outputTokens = Math.min(request.maxTokens ?? LIKELY_OUTPUT_TOKENS, LIKELY_OUTPUT_TOKENS)
  const size = { promptTokens: likelyTokens(request.promptBound), outputTokens }
  const arranged = arrange(
    permitted.map((measured): RankedCandidate => {
      const { expected, preferred, provider, thin } = measured
      return { measured, provider: provider.id, priceUsd: likelyPriceUsd(measured, size), preferred, thin, expected }
    }),
    ordering
  )
  const ranked = draw === undefined ? arranged : explore(arranged, ordering, draw)
  return ranked.map(({ measured }) => measured)
}

/** Returns the models of the chain, or fails with `UnknownModel`. */
export const modelsOf = (
  catalogue: Snapshot,
  ids: ReadonlyArray<string>
): Result.Result<ReadonlyArray<Model>, Failure> => {
  const models: Array<Model> = []
  for (const id of ids) {
    const model = catalogue.find(id)
    if (model === undefined) return Result.fail(unknownModel(catalogue, id, "text"))
    if (model.modality !== "text") {
      return Result.fail(failure({ _tag: "UnknownModel", model: id, detail: `${id} is not a chat model` }))
    }
    // Two names may mean one model.
    if (!models.includes(model)) models.push(model)
  }
  return Result.succeed(models)
}

/** The inputs of a plan besides the request. */
interface PlanDeps extends RouterOptions {
  readonly catalogue: Snapshot
  readonly candidatesOf: (model: Model) => ReadonlyArray<MeasuredCandidate>
  /** A number from 0 (inclusive) to 1 (exclusive), when the request may explore. */
  readonly draw: number | undefined
}

const hedgeOf = (
  { latencyHedge }: PlanDeps,
  { policy, stream }: PlanRequest,
  chosen: ReadonlyArray<MeasuredCandidate>
) => {
  const [first] = chosen
  if (!latencyHedge || !policy.allowFallbacks || policy.strategy !== "latency" || chosen.length < 2) return undefined
  if (first === undefined || first.thin) return undefined
  return (stream ? first.slow.firstTokenMs : first.slow.wholeMs) ?? undefined
}

/** Reports whether no restriction excludes the candidate. */
const permits = (restrictions: ReadonlyArray<Restriction>, measured: MeasuredCandidate): boolean => {
  for (const { excludes } of restrictions) if (excludes(measured)) return false
  return true
}

const planOf = (deps: PlanDeps, request: PlanRequest): Result.Result<Plan, Failure> => {
  const { catalogue } = deps
  const { models: ids, needs, policy, promptBound } = request
  const models = modelsOf(catalogue, ids)
  if (Result.isFailure(models)) return Result.fail(models.failure)
  const restrictions = restrictionsOf({ policy, parameters: needs.parameters, promptBound })
  const ordering = { strategy: policy.strategy, order: lowerCased(policy.order) }
  const because = new Set<Inability>()
  const able: Array<MeasuredCandidate> = []
  const chosen: Array<MeasuredCandidate> = []
  const draw = policy.allowFallbacks ? deps.draw : undefined
  for (const model of models.success) {
    const inability = inabilityOfModel(catalogue, model, request)
    if (inability !== undefined) {
      because.add(inability)
      continue
    }
    const permitted: Array<MeasuredCandidate> = []
    for (const measured of deps.candidatesOf(model)) {
      const cannot = inabilityOf(measured, request)
      if (cannot !== undefined) {
        because.add(cannot)
        continue
      }
      able.push(measured)
      if (permits(restrictions, measured)) permitted.push(measured)
    }
    // Exploring changes only the first candidate of the whole plan.
    chosen.push(...rank(permitted, request, ordering, chosen.length === 0 ? draw : undefined))
  }
  const [first, ...others] = chosen
  if (first === undefined) {
    if (able.length === 0) return Result.fail(unable(catalogue, request, because))
    return Result.fail(noneLeft(able, restrictions, policy, (id) => catalogue.provider(id) !== undefined))
  }
  const hedgeAfterMs = hedgeOf(deps, request, chosen)
  const priced = ({ candidate }: MeasuredCandidate): Candidate =>
    needs.longCache === true ? { ...candidate, price: longCachePrice(candidate.price) } : candidate
  return Result.succeed({
    requestedModels: ids,
    policy,
    candidates: [priced(first), ...(policy.allowFallbacks ? others.map(priced) : [])],
    ...(hedgeAfterMs === undefined ? {} : { hedgeAfterMs })
  })
}

/**
 * Decides which providers to try for a request, and in which order. It reads the catalogue and live figures as values and makes no
 * calls. A request that no provider can serve fails with the reason that the client can most easily act on. When restrictions
 * exclude every able provider, it fails with `NoProviderAvailable` and says what each restriction excludes.
 */
export class Router extends Context.Service<
  Router,
  {
    readonly plan: (request: PlanRequest) => Result.Result<Plan, Failure>
    /** Plans operations other than chat. The router never chooses their model for the client. */
    readonly planWork: (request: WorkPlanRequest) => Result.Result<Plan<Price>, Failure>
  }
>()("tollgate/router/Router") {
  static readonly layerFrom = (options: RouterOptions) =>
    Layer.effect(
      Router,
      Effect.gen(function* () {
        const catalogues = yield* Catalogue
        const live = yield* LiveFigures
        const clock = yield* Clock.Clock
        const random = yield* Random.Random
        const measured = new MeasuredCandidates(live.performance)
        const ordinary = (request: PlanRequest) => {
          const catalogue = catalogues.current()
          const nowMs = clock.currentTimeMillisUnsafe()
          const deps: PlanDeps = {
            ...options,
            catalogue,
            candidatesOf: (model) => atAccountPrices(measured.of(catalogue, model, nowMs), request.policy),
            draw: request.explores === true ? random.nextDoubleUnsafe() : undefined
          }
          return planOf(deps, request)
        }
        return Router.of({
          plan: (request) =>
            isAuto(request.models) ? planAuto(catalogues.current(), request, ordinary) : ordinary(request),
          planWork: (request) => planWork(catalogues.current(), request)
        })
      })
    )

  /** With default options. */
  static readonly layer = Router.layerFrom({ latencyHedge: false })
}
