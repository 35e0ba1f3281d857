/** Plans of work other than chat: embeddings, rerank, speech, search … */
import { Result } from "effect"
import type { Snapshot } from "../catalogue/Snapshot.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import type { Modality, Model } from "../domain/Model.ts"
import { usdFromPico } from "../domain/Money.ts"
import type { Candidate, Plan, RoutingPolicy } from "../domain/Plan.ts"
import type { Price } from "../domain/Pricing.ts"
import { explain, lowerCased, type Restrictable, restrictionsOf } from "./Restrictions.ts"
import { ratesOf } from "./Standings.ts"
import { unknownModel } from "./UnknownModel.ts"

/** What work other than chat asks of whoever does it. */
export interface WorkPlanRequest {
  readonly models: ReadonlyArray<string>
  readonly modality: Modality
  readonly policy: RoutingPolicy
  /** No more prompt tokens than this; they decide which tier of a price can be reached. */
  readonly promptBound?: number | undefined
  /** Whether what is asked fits a context window of so many tokens; absent where nothing can be too long. */
  readonly fits?: ((contextWindow: number) => boolean) | undefined
  /** Pixels of each image; absent where there are none, or it is left to the model. */
  readonly pixels?: number | undefined
  /** The likely tokens of what has to fit, for the message when it fits nowhere. */
  readonly promptTokens?: (() => number) | undefined
  /** The member of the request that has to fit. */
  readonly param?: string | undefined
}

/** What a model of each modality is called. */
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

interface Able extends Restrictable {
  readonly candidate: Candidate<Price>
}

/** Who is there and does it at a price, in the catalogue's order. */
const ableOf = (catalogue: Snapshot, model: Model): ReadonlyArray<Able> => {
  const found: Array<Able> = []
  if (!catalogue.isServable(model)) return found
  for (const offer of model.offers) {
    const provider = catalogue.provider(offer.provider)
    const { price } = offer
    if (price === undefined || provider === undefined || provider.serving === "none") continue
    const perRequest = price.unit === "token" ? price.perRequest : price.unit === "request" ? price.perUnit : 0n
    found.push({
      candidate: { model, offer, price },
      provider,
      rates: price.unit === "token" ? ratesOf(price) : [],
      perRequestUsd: usdFromPico(perRequest),
      perImageUsd: price.unit === "image" ? usdFromPico(price.perUnit) : undefined,
      parameters: new Set(model.supportedParameters)
    })
  }
  return found
}

/** Those the caller names stand first, in the order in which they are named. */
const ordered = (permitted: ReadonlyArray<Able>, order: ReadonlyArray<string>): ReadonlyArray<Able> => {
  if (order.length === 0) return permitted
  const names = lowerCased(order)
  const placeOf = ({ provider }: Able) => {
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

/** What is too much for those who are there. */
interface Excess {
  tooLong: boolean
  /** The most pixels that one of them makes. */
  mostPixels: number | undefined
}

const within = (there: ReadonlyArray<Able>, request: WorkPlanRequest, excess: Excess): ReadonlyArray<Able> => {
  const { fits = () => true, pixels = 0 } = request
  return there.filter(({ candidate: { offer } }) => {
    const { contextWindow, maxPixels = Infinity } = offer
    if (!fits(contextWindow)) excess.tooLong = true
    else if (pixels > maxPixels) excess.mostPixels = Math.max(maxPixels, excess.mostPixels ?? 0)
    else return true
    return false
  })
}

/** Nobody is able to do it: too long or too large for everybody, or nobody is there. */
const unable = (models: ReadonlyArray<Model>, request: WorkPlanRequest, excess: Excess): Failure => {
  const { mostPixels, tooLong } = excess
  if (mostPixels !== undefined) {
    return invalid("size", `is too large: images of ${request.models[0]} have at most ${mostPixels} pixels`)
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
 * Decides whom to try for work other than chat, in which order: the catalogue's, unless the caller names one. An id that is no
 * model of the modality fails with `UnknownModel`; what fits nobody's window with `ContextLengthExceeded`; images larger than anybody
 * makes at a price with `ValidationError` of `size`.
 */
export const planWork = (catalogue: Snapshot, request: WorkPlanRequest): Result.Result<Plan<Price>, Failure> => {
  const { modality, policy, promptBound = 0 } = request
  const restrictions = restrictionsOf({ policy, parameters: [], promptBound })
  const models: Array<Model> = []
  const able: Array<Able> = []
  const chosen: Array<Able> = []
  const excess: Excess = { tooLong: false, mostPixels: undefined }
  for (const id of request.models) {
    const model = modelOf(catalogue, id, modality)
    if (Result.isFailure(model)) return Result.fail(model.failure)
    models.push(model.success)
    const fitting = within(ableOf(catalogue, model.success), request, excess)
    able.push(...fitting)
    const permitted = fitting.filter((one) => !restrictions.some(({ excludes }) => excludes(one)))
    chosen.push(...ordered(permitted, policy.order))
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
  return Result.fail(failure({ _tag: "NoProviderAvailable", detail: explain(able, restrictions) }))
}
