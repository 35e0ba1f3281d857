/** Plans operations other than chat, such as embeddings, rerank, speech and search. */
import { Result } from "effect"
import type { Snapshot } from "../catalogue/Snapshot.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import type { Modality, Model } from "../domain/Model.ts"
import { usdFromPico } from "../domain/Money.ts"
import type { Candidate, Plan, RoutingPolicy } from "../domain/Plan.ts"
import { priceFor, ruleFor } from "../domain/PriceTerms.ts"
import type { Price } from "../domain/Pricing.ts"
import { lowerCased, noneLeft, type Restrictable, restrictionsOf } from "./Restrictions.ts"
import { ratesOf } from "./MeasuredCandidates.ts"
import { unknownModel } from "./UnknownModel.ts"

/** The requirements of an operation other than chat. */
export interface WorkPlanRequest {
  readonly models: ReadonlyArray<string>
  readonly modality: Modality
  readonly policy: RoutingPolicy
  /** An upper bound on the prompt's tokens. It decides which price tiers the request can reach. */
  readonly promptBound?: number | undefined
  /** Reports whether the input fits a context window of this many tokens; absent when no input can be too long. */
  readonly fits?: ((contextWindow: number) => boolean) | undefined
  /** The pixels of each image; absent when there are no images or the model chooses. */
  readonly pixels?: number | undefined
  /** Returns the estimated tokens of the input, for the error message when it fits no window. */
  readonly promptTokens?: (() => number) | undefined
  /** The request field that has to fit. */
  readonly param?: string | undefined
}

/** How messages describe a model of each modality. */
const kinds: Readonly<Record<Modality, string>> = {
  text: "a chat model",
  image: "an image model",
  image_edit: "a model that edits images",
  video: "a video model",
  audio: "a speech model",
  embedding: "an embedding model",
  rerank: "a rerank model",
  search: "a search model"
}

interface EligibleCandidate extends Restrictable {
  readonly candidate: Candidate<Price>
}

/** Returns the callable offers of a model that have a price, in the catalogue's order. */
const ableOf = (
  catalogue: Snapshot,
  model: Model,
  { terms }: Pick<RoutingPolicy, "terms">
): ReadonlyArray<EligibleCandidate> => {
  const found: Array<EligibleCandidate> = []
  if (!catalogue.isServable(model)) return found
  for (const offer of model.offers) {
    const provider = catalogue.provider(offer.provider)
    if (offer.price === undefined || provider === undefined || provider.serving === "none") continue
    const price = priceFor(terms, model.id, offer.price)
    const rule = ruleFor(terms, model.id, offer.price)
    const perRequest = price.unit === "token" ? price.perRequest : price.unit === "request" ? price.perUnit : 0n
    found.push({
      candidate: { model, offer, price, ...(rule === undefined ? {} : { rule }) },
      provider,
      rates: price.unit === "token" ? ratesOf(price) : [],
      perRequestUsd: usdFromPico(perRequest),
      perImageUsd: price.unit === "image" ? usdFromPico(price.perUnit) : undefined,
      parameters: new Set(model.supportedParameters)
    })
  }
  return found
}

/** Moves the providers that the client names to the front, in the client's order. */
const namedFirst = (
  permitted: ReadonlyArray<EligibleCandidate>,
  order: ReadonlyArray<string>
): ReadonlyArray<EligibleCandidate> => {
  if (order.length === 0) return permitted
  const names = lowerCased(order)
  const placeOf = ({ provider }: EligibleCandidate) => {
    const place = names.indexOf(provider.id)
    return place === -1 ? names.length : place
  }
  return permitted.toSorted((a, b) => placeOf(a) - placeOf(b))
}

const modelOf = (catalogue: Snapshot, id: string, modality: Modality): Result.Result<Model, Failure> => {
  const model = catalogue.find(id)
  if (model === undefined) return Result.fail(unknownModel(catalogue, id, modality))
  if (model.modality !== modality) {
    return Result.fail(failure({ _tag: "UnknownModel", model: id, detail: `${id} is not ${kinds[modality]}` }))
  }
  return Result.succeed(model)
}

/** The limits that the request exceeds. */
interface ExceededLimits {
  tooLong: boolean
  /** The most pixels that an able provider makes. */
  mostPixels: number | undefined
}

const within = (
  there: ReadonlyArray<EligibleCandidate>,
  request: WorkPlanRequest,
  excess: ExceededLimits
): ReadonlyArray<EligibleCandidate> => {
  const { fits = () => true, pixels = 0 } = request
  return there.filter(({ candidate: { offer } }) => {
    const { contextWindow, maxPixels = Infinity } = offer
    if (!fits(contextWindow)) excess.tooLong = true
    else if (pixels > maxPixels) excess.mostPixels = Math.max(maxPixels, excess.mostPixels ?? 0)
    else return true
    return false
  })
}

/**
 * Returns the failure when no provider can do the work: the input is too long or too large for all of them, or no provider is
 * available.
 */
const unable = (models: ReadonlyArray<Model>, request: WorkPlanRequest, excess: ExceededLimits): Failure => {
  const { mostPixels, tooLong } = excess
  if (mostPixels !== undefined) {
    return invalid("size", `must have at most ${mostPixels} pixels for ${request.models[0]}`)
  }
  if (!tooLong) {
    return failure({ _tag: "NoProviderAvailable", detail: `No provider serves ${request.models[0]} at present` })
  }
  return failure({
    _tag: "ContextLengthExceeded",
    tokens: request.promptTokens?.() ?? request.promptBound ?? 0,
    window: Math.max(...models.map(({ contextWindow }) => contextWindow)),
    ...(request.param === undefined ? {} : { param: request.param })
  })
}

/**
 * Decides which providers to try for an operation other than chat, and in which order: the catalogue's, unless the client names
 * one. Fails with `UnknownModel` for an ID that is not a model of the modality, with `ContextLengthExceeded` for input that fits no
 * context window, and with `ValidationError` of `size` for images larger than any provider makes at a known price.
 */
export const planWork = (catalogue: Snapshot, request: WorkPlanRequest): Result.Result<Plan<Price>, Failure> => {
  const { modality, policy, promptBound = 0 } = request
  const restrictions = restrictionsOf({ policy, parameters: [], promptBound })
  const models: Array<Model> = []
  const able: Array<EligibleCandidate> = []
  const chosen: Array<EligibleCandidate> = []
  const excess: ExceededLimits = { tooLong: false, mostPixels: undefined }
  for (const id of request.models) {
    const model = modelOf(catalogue, id, modality)
    if (Result.isFailure(model)) return Result.fail(model.failure)
    models.push(model.success)
    const fitting = within(ableOf(catalogue, model.success, policy), request, excess)
    able.push(...fitting)
    const permitted = fitting.filter((one) => !restrictions.some(({ excludes }) => excludes(one)))
    chosen.push(...namedFirst(permitted, policy.order))
  }
  const [first, ...others] = chosen
  if (first !== undefined) {
    const candidates: Plan<Price>["candidates"] = [first.candidate, ...others.map(({ candidate }) => candidate)]
    return Result.succeed({
      requestedModels: request.models,
      policy,
      candidates: policy.allowFallbacks ? candidates : [first.candidate]
    })
  }
  if (able.length === 0) return Result.fail(unable(models, request, excess))
  return Result.fail(noneLeft(able, restrictions, policy, (id) => catalogue.provider(id) !== undefined))
}
