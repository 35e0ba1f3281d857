/** How `svc/auto` chooses among all models: pure, and in one pass over the catalogue. */
import { Result } from "effect"
import type { Snapshot } from "../catalogue/Snapshot.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import type { Model } from "../domain/Model.ts"
import type { Plan, RouterDecision } from "../domain/Plan.ts"
import { minNano } from "../domain/Money.ts"
import { tokenCost } from "../domain/Pricing.ts"
import { noTokens } from "../domain/Usage.ts"
import type { Classification } from "./Classifier.ts"
import { matcherOf } from "./ModelPatterns.ts"
import { strengthOf } from "./Strengths.ts"

/** The id that stands for a choice among all others. */
export const AUTO_MODEL = "svc/auto"

/** Bands of price, each a fifth of the models that can serve a request, cheapest first. */
export const COST_TIERS = ["low", "medium", "high", "xhigh", "max"] as const
export type CostTier = (typeof COST_TIERS)[number]

/** What the caller wants of the choice. */
export interface AutoOptions {
  /** Only these, as ids or patterns; undefined: any. */
  readonly allowedModels: ReadonlyArray<string> | undefined
  readonly excludedModels: ReadonlyArray<string>
  readonly costTier: CostTier | undefined
  /** Whether a session stays with the model it began with. */
  readonly pinModel: boolean
}

export const defaultAutoOptions: AutoOptions = {
  allowedModels: undefined,
  excludedModels: [],
  costTier: undefined,
  pinModel: false
}

/** What is known of a request to `svc/auto` before its model is chosen. */
export interface AutoRequest {
  readonly classification: Classification
  readonly classifiedBy: RouterDecision["classified_by"]
  readonly options: AutoOptions
  /** The prompt's likely tokens. */
  readonly promptTokens: number
  /** The model its session is pinned to. */
  readonly pinned: string | undefined
  /** Why a model's plan cannot be taken although it can be made, such as for its cost. */
  readonly objection: (plan: Plan) => Failure | undefined
}

/** The same, of a request about which nothing is known. */
export const plainAuto: AutoRequest = {
  classification: { task: "general", confident: false, multilingual: false },
  classifiedBy: "regex",
  options: defaultAutoOptions,
  promptTokens: 0,
  pinned: undefined,
  objection: () => undefined
}

/** What planning a request takes; `Router` has the same and more. */
interface Request {
  readonly models: ReadonlyArray<string>
  readonly policy: { readonly allowFallbacks: boolean }
  readonly needs: { readonly vision: boolean; readonly tools: boolean; readonly parameters: ReadonlyArray<string> }
  readonly explores?: boolean | undefined
  readonly auto?: AutoRequest | undefined
}

/** A prompt of more likely tokens than this goes to a model with a large window. */
export const LONG_CONTEXT_TOKENS = 50_000

/** A window that a long prompt and a long conversation after it fit in. */
export const LARGE_WINDOW = 400_000

/** The chosen model and those to fall back on; every one of them can raise what is held. */
const MAX_MODELS = 3

/** So many models a decision speaks of, and so many of them at most that could have been chosen as well. */
const MAX_CONSIDERED = 12
const MAX_RUNNERS_UP = 4

/** Without a cost tier the lower three bands are open. */
const DEFAULT_BANDS = 3

interface Eligible {
  readonly model: Model
  readonly price: bigint
  readonly fit: number
}

/** Whether a request is one to `svc/auto`, which stands alone. */
export const isAuto = (models: ReadonlyArray<string>): boolean => models.length === 1 && models[0] === AUTO_MODEL

/**
 * Plans a request to `svc/auto` as an ordinary chain of the models it chooses; `plan` is the ordinary planning. Fails with
 * `NoProviderAvailable` and the name of the option that left nothing, or with what stands in the way of every model.
 */
export const planAuto = <R extends Request>(
  catalogue: Pick<Snapshot, "all" | "find" | "isServable">,
  request: R,
  plan: (request: R) => Result.Result<Plan, Failure>
): Result.Result<Plan, Failure> => {
  if (catalogue.find(AUTO_MODEL)?.status === "retired") {
    return Result.fail(failure({ _tag: "NoProviderAvailable", detail: `No provider serves ${AUTO_MODEL} at present` }))
  }
  const auto = request.auto ?? plainAuto
  const sieve = new Sieve(auto)
  const offered = sieve.catalogue(catalogue)
  const named = sieve.options(offered)
  const able = sieve.needs(named, request.needs)
  const { allowFallbacks } = request.policy
  const all = { policy: { ...request.policy, allowFallbacks: true }, explores: false }
  const planned = sieve.plans(able, allowFallbacks, (model) => plan({ ...request, ...all, models: [model.id] }))
  if (planned.length === 0) return Result.fail(sieve.failure({ offered, named, able }))
  const suited = sieve.suited(planned, request.needs.parameters)
  const { banded, range, spare } = sieve.band(suited)
  const pinned = planned.find(({ model }) => model.id === auto.pinned)
  const ranked = banded.toSorted((a, b) => b.fit - a.fit || Number(a.price - b.price))
  const unpinned = [...ranked, ...spare].filter(({ model }) => model !== pinned?.model)
  const order = pinned === undefined ? unpinned : [pinned, ...unpinned]
  const chosen = order.slice(0, allowFallbacks ? MAX_MODELS : 1)
  const decision: RouterDecision = {
    id: AUTO_MODEL,
    task: auto.classification.task,
    classified_by: auto.classifiedBy,
    override: overrideOf(auto),
    reasoning: reasoningOf(auto, chosen[0]!.model.id, { among: banded.length, range, pinned: pinned !== undefined }),
    candidates: chosen.map(({ model }) => model.id),
    considered: sieve.considered(chosen, ranked, pinned !== undefined)
  }
  return Result.map(plan({ ...request, models: decision.candidates }), (made) => ({
    ...made,
    requestedModels: request.models,
    decision
  }))
}

const overrideOf = ({ classification, promptTokens }: AutoRequest): RouterDecision["override"] =>
  promptTokens > LONG_CONTEXT_TOKENS ? "long_context" : classification.multilingual ? "multilingual" : null

const fitOf = (auto: AutoRequest, model: Model): number =>
  strengthOf(model.id, auto.classification.task) +
  (auto.classification.multilingual ? strengthOf(model.id, "multilingual") : 0)

const words = (name: string): string => name.replaceAll("_", " ")

const judges = {
  regex: "The rules take this for",
  llm: "A language model takes this for",
  "llm-cached": "A language model took the same text for"
} as const satisfies Record<RouterDecision["classified_by"], string>

const reasoningOf = (
  auto: AutoRequest,
  model: string,
  choice: { readonly among: number; readonly range: string; readonly pinned: boolean }
): string => {
  const task = words(auto.classification.task)
  const language = auto.classification.multilingual ? " in another language than English" : ""
  const size = auto.promptTokens > LONG_CONTEXT_TOKENS ? " with a long prompt" : ""
  const article = /^[aeiou]/.test(task) ? "an" : "a"
  const request = `${judges[auto.classifiedBy]} ${article} ${task} request${language}${size}`
  if (choice.pinned) return `${request}; ${model} serves it because its session is pinned to that model.`
  if (choice.among === 1) return `${request}; ${model} is the one model that can serve it ${choice.range}.`
  const among = `of the ${choice.among} models that can serve it ${choice.range}`
  return `${request}; ${among}, ${model} is rated best, and costs least of those rated alike.`
}

/**
 * What a request of ordinary size costs at the cheapest who may serve it, so that fixed prices count as well. The order of the
 * plan, which changes by the minute, has no part in it, with fallbacks or without: an estimate and its request are to choose alike.
 */
const typicalCost = ({ candidates }: Plan): bigint =>
  candidates.map(({ price }) => tokenCost(price, { ...noTokens, input: 1_000, output: 500 })).reduce(minNano)

/** Takes models out step by step and remembers why. */
class Sieve {
  readonly #auto: AutoRequest
  readonly #passed: Array<{ readonly model: Model; readonly reason: string }> = []
  readonly #refusals: Array<Failure> = []
  readonly #objections: Array<Failure> = []

  constructor(auto: AutoRequest) {
    this.#auto = auto
  }

  #keep(models: ReadonlyArray<Model>, reasonOf: (model: Model) => string | undefined): ReadonlyArray<Model> {
    return models.filter((model) => {
      const reason = reasonOf(model)
      if (reason !== undefined) this.#passed.push({ model, reason })
      return reason === undefined
    })
  }

  /** What may be chosen unasked: neither previews nor what is about to go, unless it is allowed by its own id. */
  catalogue({ all, isServable }: Pick<Snapshot, "all" | "isServable">): ReadonlyArray<Model> {
    const named = new Set(this.#auto.options.allowedModels)
    return all.filter(
      (model) =>
        model.modality === "text" &&
        !model.virtual &&
        (model.status === "ga" || named.has(model.id) || named.has(`${model.vendor}/${model.id}`)) &&
        isServable(model)
    )
  }

  options(models: ReadonlyArray<Model>): ReadonlyArray<Model> {
    const { allowedModels, excludedModels } = this.#auto.options
    const allowed = allowedModels === undefined ? () => true : matcherOf(allowedModels)
    const excluded = matcherOf(excludedModels)
    return this.#keep(models, (model) =>
      !allowed(model) ? "not in allowed_models" : excluded(model) ? "in excluded_models" : undefined
    )
  }

  needs(models: ReadonlyArray<Model>, needs: Request["needs"]): ReadonlyArray<Model> {
    return this.#keep(models, ({ capabilities }) =>
      needs.vision && !capabilities.includes("vision")
        ? "no vision"
        : needs.tools && !capabilities.includes("tools")
          ? "no tools"
          : undefined
    )
  }

  /** `plan` gives all who may serve a model; without fallbacks only the first of them is asked, and may be objected to. */
  plans(
    models: ReadonlyArray<Model>,
    allowFallbacks: boolean,
    plan: (model: Model) => Result.Result<Plan, Failure>
  ): ReadonlyArray<Eligible> {
    const eligible: Array<Eligible> = []
    this.#keep(models, (model) => {
      const made = plan(model)
      if (Result.isFailure(made)) {
        this.#refusals.push(made.failure)
        return made.failure.reason._tag === "ContextLengthExceeded"
          ? "context window too small"
          : "no provider meets the routing restrictions"
      }
      const { candidates } = made.success
      const objection = this.#auto.objection(
        allowFallbacks ? made.success : { ...made.success, candidates: [candidates[0]] }
      )
      if (objection !== undefined) {
        this.#objections.push(objection)
        return "could cost more than budget_cents"
      }
      eligible.push({ model, price: typicalCost(made.success), fit: fitOf(this.#auto, model) })
      return undefined
    })
    return eligible
  }

  /** Leaves out what lacks something that a request can do without, unless that is all there is. */
  #prefer(models: ReadonlyArray<Eligible>, reason: string, wanted: (model: Model) => boolean): ReadonlyArray<Eligible> {
    const kept = models.filter(({ model }) => wanted(model))
    if (kept.length === 0) return models
    for (const { model } of models) if (!wanted(model)) this.#passed.push({ model, reason })
    return kept
  }

  suited(models: ReadonlyArray<Eligible>, parameters: ReadonlyArray<string>): ReadonlyArray<Eligible> {
    const format = parameters.includes("structured_outputs") ? "structured_outputs" : "response_format"
    const asked = [format, "reasoning", "logprobs"].filter((name) => parameters.includes(name))
    const able = asked.reduce(
      (left, name) => this.#prefer(left, `no ${name}`, (model) => model.supportedParameters.includes(name)),
      models
    )
    if (this.#auto.promptTokens <= LONG_CONTEXT_TOKENS) return able
    return this.#prefer(able, "no large window for a long prompt", (model) => model.contextWindow >= LARGE_WINDOW)
  }

  /**
   * The models within the range of prices, by rank; of fewer than five, some tiers have none and take the nearest. `spare` are
   * those to fall back on where the range has few, nearest first: without a cost tier any, else the cheaper ones.
   */
  band(models: ReadonlyArray<Eligible>) {
    const { costTier } = this.#auto.options
    const tier = costTier === undefined ? undefined : COST_TIERS.indexOf(costTier)
    const range = costTier === undefined ? "the usual price range" : `cost_tier ${costTier}`
    const byPrice = models.toSorted((a, b) => Number(a.price - b.price))
    const placed = byPrice.map((eligible, index) => {
      const band = Math.floor(((index + 0.5) / byPrice.length) * COST_TIERS.length)
      const above = tier === undefined ? Math.max(0, band - (DEFAULT_BANDS - 1)) : band - tier
      return { eligible, above, distance: Math.abs(above) }
    })
    const nearest = Math.min(...placed.map(({ distance }) => distance))
    const outside = placed.filter(({ distance }) => distance > nearest).toSorted((a, b) => a.distance - b.distance)
    for (const { above, eligible } of outside) {
      this.#passed.push({ model: eligible.model, reason: `too ${above > 0 ? "dear" : "cheap"} for ${range}` })
    }
    return {
      banded: placed.filter(({ distance }) => distance === nearest).map(({ eligible }) => eligible),
      spare: outside.filter(({ above }) => tier === undefined || above < 0).map(({ eligible }) => eligible),
      range: `${costTier === undefined ? "in" : "within"} ${range}`
    }
  }

  /** What became of the models that matter most: the chosen one, those after it, and those that would have fitted best. */
  considered(
    chosen: ReadonlyArray<Eligible>,
    ranked: ReadonlyArray<Eligible>,
    pinned: boolean
  ): RouterDecision["considered"] {
    const taken = new Set(chosen.map(({ model }) => model))
    const best = chosen[0]!
    const task = words(this.#auto.classification.task)
    const runnersUp = ranked.filter(({ model }) => !taken.has(model)).slice(0, MAX_RUNNERS_UP)
    const passed = this.#passed
      .filter(({ model }) => !taken.has(model))
      .map(({ model, reason }) => ({ model, reason, fit: fitOf(this.#auto, model) }))
    return [
      ...chosen.map(({ model }, index) => ({
        model: model.id,
        reason: index > 0 ? "fallback" : pinned ? "pinned" : "chosen"
      })),
      ...runnersUp.map(({ fit, model }) => ({
        model: model.id,
        reason: fit < best.fit ? `rated lower for ${task}` : "rated alike, and dearer"
      })),
      ...passed.toSorted((a, b) => b.fit - a.fit).map(({ model, reason }) => ({ model: model.id, reason }))
    ].slice(0, MAX_CONSIDERED)
  }

  /** Why nothing is left, by the step that took the last. */
  failure(left: {
    readonly offered: ReadonlyArray<Model>
    readonly named: ReadonlyArray<Model>
    readonly able: ReadonlyArray<Model>
  }): Failure {
    const none = (detail: string) => failure({ _tag: "NoProviderAvailable", detail })
    if (left.offered.length === 0) return none("No model can be served at present")
    if (left.named.length === 0) {
      const allowed = this.#passed.every(({ reason }) => reason === "not in allowed_models")
      return none(
        allowed
          ? "router.allowed_models names no model that svc/auto can choose"
          : "router.excluded_models leaves no model that svc/auto can choose"
      )
    }
    const { allowedModels, excludedModels } = this.#auto.options
    const limits = [
      ...(allowedModels === undefined ? [] : ["router.allowed_models"]),
      ...(excludedModels.length === 0 ? [] : ["router.excluded_models"])
    ]
    const those = limits.length === 0 ? "No model" : `No model left by ${limits.join(" and ")}`
    if (left.able.length === 0) {
      const lacks = this.#passed.some(({ reason }) => reason === "no vision") ? "reads images" : "calls tools"
      return none(`${those} ${lacks}, as this request needs`)
    }
    const [cheapest] = this.#objections.toSorted((a, b) => leastOf(a) - leastOf(b))
    if (cheapest !== undefined) return cheapest
    const [widest] = this.#refusals.toSorted((a, b) => windowOf(b) - windowOf(a))
    if (widest !== undefined && windowOf(widest) > 0) return widest
    return none(`${those} has a provider that meets the routing restrictions of this request`)
  }
}

const leastOf = ({ reason }: Failure): number => (reason._tag === "NoModelInBudget" ? Number(reason.least) : 0)

const windowOf = ({ reason }: Failure): number => (reason._tag === "ContextLengthExceeded" ? reason.window : 0)
