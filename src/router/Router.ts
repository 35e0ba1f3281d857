import { Clock, Context, Effect, Layer, Random, Result } from "effect"
import { Catalogue } from "../catalogue/Catalogue.ts"
import { LiveFigures } from "../catalogue/LiveFigures.ts"
import type { Snapshot } from "../catalogue/Snapshot.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import type { Model } from "../domain/Model.ts"
import type { Candidate, Plan, RoutingPolicy } from "../domain/Plan.ts"
import { keptForAnHour, type Price } from "../domain/Pricing.ts"
import { likelyTokens } from "../domain/TokenBound.ts"
import { type AutoRequest, isAuto, planAuto } from "./AutoRouter.ts"
import { explain, lowerCased, type Restriction, restrictionsOf } from "./Restrictions.ts"
import { type Contender, likelyPriceUsd, Standings } from "./Standings.ts"
import { arrange, explore, type Standing } from "./Strategy.ts"
import { planWork, type WorkPlanRequest } from "./WorkPlan.ts"
import { unknownModel } from "./UnknownModel.ts"

/** What a request asks of whoever serves it. */
export interface PlanRequest {
  /** The fallback chain, first choice first. */
  readonly models: ReadonlyArray<string>
  readonly policy: RoutingPolicy
  readonly needs: {
    readonly vision: boolean
    readonly tools: boolean
    /** How many tools there are, where any. */
    readonly toolCount?: number
    /** Whether any of the prompt is to be kept for an hour. */
    readonly longCache?: boolean
    /** Names of the optional parameters the request sets. */
    readonly parameters: ReadonlyArray<string>
  }
  /** Whether the answer is streamed, so that its first token is what its caller waits for. */
  readonly stream: boolean
  /** No more prompt tokens than this; they decide which tier of a price can be reached. */
  readonly promptBound: number
  /** What the caller bounds the output to. */
  readonly maxTokens?: number | undefined
  /** Whether the prompt fits a context window of so many tokens. */
  readonly fits: (contextWindow: number) => boolean
  /** The prompt's likely tokens, for the message when it fits nowhere. */
  readonly promptTokens: () => number
  /** Whether the request may go to somebody of whom little is known, so that something comes to be known. */
  readonly explores?: boolean
  /** Of a request to `svc/auto`. */
  readonly auto?: AutoRequest | undefined
}

export interface RouterOptions {
  /** Whether plans of the strategy `latency` say after what delay a second attempt may be started beside the first. */
  readonly latencyHedge: boolean
}

/** Output tokens that prices are compared for, unless the caller's bound is less. */
const LIKELY_OUTPUT_TOKENS = 256

/** Why a model or a provider cannot serve the request, whatever the caller's restrictions; most telling first. */
type Inability = "vision" | "tools" | "toolCount" | "context" | "unserved"

/** The most tools that OpenAI's own models take in one request. Every host of them is OpenAI in the end; its open models are not. */
const OPENAI_MOST_TOOLS = 128

const isBounded = ({ id, vendor }: Model): boolean => vendor === "openai" && !id.includes("gpt-oss")

const inabilityOfModel = (catalogue: Snapshot, model: Model, { needs }: PlanRequest): Inability | undefined => {
  if (needs.vision && !model.capabilities.includes("vision")) return "vision"
  if (needs.tools && !model.capabilities.includes("tools")) return "tools"
  return catalogue.isServable(model) ? undefined : "unserved"
}

const inabilityOf = (
  { candidate: { model, offer } }: Contender,
  { fits, needs }: PlanRequest
): Inability | undefined => {
  if (needs.vision && offer.unsupported.includes("vision")) return "vision"
  if (needs.tools && offer.unsupported.includes("tools")) return "tools"
  if ((needs.toolCount ?? 0) > OPENAI_MOST_TOOLS && isBounded(model)) return "toolCount"
  return fits(offer.contextWindow) ? undefined : "context"
}

/** Nobody is able to serve the request: the reason that is closest to what the caller can change. */
const unable = (catalogue: Snapshot, request: PlanRequest, because: ReadonlySet<Inability>): Failure => {
  const model = request.models[0] ?? ""
  if (because.has("vision")) return failure({ _tag: "NotVisionCapable", model })
  if (because.has("tools")) return failure({ _tag: "NotToolCapable", model })
  if (because.has("toolCount")) {
    const got = request.needs.toolCount ?? 0
    return invalid("tools", `must contain at most ${OPENAI_MOST_TOOLS} tools for ${model}; got ${got}.`)
  }
  if (because.has("context")) {
    const windows = request.models.map((id) => catalogue.find(id)?.contextWindow ?? 0)
    return failure({ _tag: "ContextLengthExceeded", tokens: request.promptTokens(), window: Math.max(...windows) })
  }
  return failure({ _tag: "NoProviderAvailable", detail: `No provider serves ${model} at present` })
}

/** A contender and where it stands for one request. */
interface Ranked extends Standing {
  readonly contender: Contender
}

/** The providers of one model that may serve the request, in the order to try them. */
const rank = (
  permitted: ReadonlyArray<Contender>,
  request: PlanRequest,
  wishes: Pick<RoutingPolicy, "strategy" | "order">,
  draw: number | undefined
): ReadonlyArray<Contender> => {
  if (permitted.length < 2) return permitted
  const outputTokens = Math.min(request.maxTokens ?? LIKELY_OUTPUT_TOKENS, LIKELY_OUTPUT_TOKENS)
  const size = { promptTokens: likelyTokens(request.promptBound), outputTokens }
  const arranged = arrange(
    permitted.map((contender): Ranked => {
      const { expected, preferred, provider, thin } = contender
      return { contender, provider: provider.id, priceUsd: likelyPriceUsd(contender, size), preferred, thin, expected }
    }),
    wishes
  )
  const ranked = draw === undefined ? arranged : explore(arranged, wishes, draw)
  return ranked.map(({ contender }) => contender)
}

/** The models of the chain, or why one of them cannot be asked for: `UnknownModel`. */
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

/** What a plan is made from, besides the request. */
interface World extends RouterOptions {
  readonly catalogue: Snapshot
  readonly contendersOf: (model: Model) => ReadonlyArray<Contender>
  /** From 0 up to 1, where the request may explore. */
  readonly draw: number | undefined
}

const hedgeOf = ({ latencyHedge }: World, { policy, stream }: PlanRequest, chosen: ReadonlyArray<Contender>) => {
  const [first] = chosen
  if (!latencyHedge || !policy.allowFallbacks || policy.strategy !== "latency" || chosen.length < 2) return undefined
  if (first === undefined || first.thin) return undefined
  return (stream ? first.slow.firstTokenMs : first.slow.wholeMs) ?? undefined
}

/** Whether nobody of the restrictions is against it. */
const permits = (restrictions: ReadonlyArray<Restriction>, contender: Contender): boolean => {
  for (const { excludes } of restrictions) if (excludes(contender)) return false
  return true
}

const planOf = (world: World, request: PlanRequest): Result.Result<Plan, Failure> => {
  const { catalogue } = world
  const { models: ids, needs, policy, promptBound } = request
  const models = modelsOf(catalogue, ids)
  if (Result.isFailure(models)) return Result.fail(models.failure)
  const restrictions = restrictionsOf({ policy, parameters: needs.parameters, promptBound })
  const wishes = { strategy: policy.strategy, order: lowerCased(policy.order) }
  const because = new Set<Inability>()
  const able: Array<Contender> = []
  const chosen: Array<Contender> = []
  const draw = policy.allowFallbacks ? world.draw : undefined
  for (const model of models.success) {
    const inability = inabilityOfModel(catalogue, model, request)
    if (inability !== undefined) {
      because.add(inability)
      continue
    }
    const permitted: Array<Contender> = []
    for (const contender of world.contendersOf(model)) {
      const cannot = inabilityOf(contender, request)
      if (cannot !== undefined) {
        because.add(cannot)
        continue
      }
      able.push(contender)
      if (permits(restrictions, contender)) permitted.push(contender)
    }
    // Only the first candidate of all is what exploring is about.
    chosen.push(...rank(permitted, request, wishes, chosen.length === 0 ? draw : undefined))
  }
  const [first, ...others] = chosen
  if (first === undefined) {
    if (able.length === 0) return Result.fail(unable(catalogue, request, because))
    return Result.fail(failure({ _tag: "NoProviderAvailable", detail: explain(able, restrictions) }))
  }
  const hedgeAfterMs = hedgeOf(world, request, chosen)
  const priced = ({ candidate }: Contender): Candidate =>
    needs.longCache === true ? { ...candidate, price: keptForAnHour(candidate.price) } : candidate
  return Result.succeed({
    requestedModels: ids,
    policy,
    candidates: [priced(first), ...(policy.allowFallbacks ? others.map(priced) : [])],
    ...(hedgeAfterMs === undefined ? {} : { hedgeAfterMs })
  })
}

/**
 * Decides whom to try for a request, in which order. It sees the catalogue and live figures as values and calls nobody.
 * A request that nobody is able to serve fails with the reason that is closest to what the caller can change; one whose
 * restrictions leave out everybody who is able fails with `NoProviderAvailable`, which says what each of them left out.
 */
export class Router extends Context.Service<
  Router,
  {
    readonly plan: (request: PlanRequest) => Result.Result<Plan, Failure>
    /** The same for work other than chat, whose model is never chosen for the caller. */
    readonly planWork: (request: WorkPlanRequest) => Result.Result<Plan<Price>, Failure>
  }
>()("tollgate/router/Router") {
  static readonly layerFrom = (options: RouterOptions) =>
    Layer.effect(
      Router,
      Effect.gen(function* () {
        const shelf = yield* Catalogue
        const live = yield* LiveFigures
        const clock = yield* Clock.Clock
        const random = yield* Random.Random
        const standings = new Standings(live.performance)
        const ordinary = (request: PlanRequest) => {
          const catalogue = shelf.current()
          const nowMs = clock.currentTimeMillisUnsafe()
          const world: World = {
            ...options,
            catalogue,
            contendersOf: (model) => standings.of(catalogue, model, nowMs),
            draw: request.explores === true ? random.nextDoubleUnsafe() : undefined
          }
          return planOf(world, request)
        }
        return Router.of({
          plan: (request) =>
            isAuto(request.models) ? planAuto(shelf.current(), request, ordinary) : ordinary(request),
          planWork: (request) => planWork(shelf.current(), request)
        })
      })
    )

  /** With the settings as they are unless told. */
  static readonly layer = Router.layerFrom({ latencyHedge: false })
}
