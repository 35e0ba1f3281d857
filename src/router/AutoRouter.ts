/** Chooses a model for `svc/auto` among all models. The code is pure and passes over the catalogue once. */
import { Result } from "effect"
import type { Snapshot } from "../catalogue/Snapshot.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import { type Model, readsPdf } from "../domain/Model.ts"
import type { Plan, RouterDecision } from "../domain/Plan.ts"
import { minNano } from "../domain/Money.ts"
import { tokenCost } from "../domain/Pricing.ts"
import { noTokens } from "../domain/Usage.ts"
import type { Classification } from "./Classifier.ts"
import { matcherOf } from "./ModelPatterns.ts"
import { strengthOf } from "./Strengths.ts"
import { AUTO_MODEL, COST_TIERS, type AutoOptions, defaultAutoOptions } from "../domain/Auto.ts"

/** The facts about a request to `svc/auto` that decide its model. */
export interface AutoRequest {
  readonly classification: Classification
  readonly classifiedBy: RouterDecision["classified_by"]
  readonly options: AutoOptions
  /** The estimated tokens of the prompt. */
  readonly promptTokens: number
  /** The model that the session is pinned to. */
  readonly pinned: string | undefined
  /** Returns a failure when a valid plan is unacceptable, for instance because of its cost. */
  readonly objection: (plan: Plan) => Failure | undefined
}

/** The defaults for a request without any facts. */
export const plainAuto: AutoRequest = {
  classification: { task: "general", confident: false, multilingual: false },
  classifiedBy: "regex",
  options: defaultAutoOptions,
  promptTokens: 0,
  pinned: undefined,
  objection: () => undefined
}

/** The fields that planning needs. `Router` passes a superset. */
interface Request {
  readonly models: ReadonlyArray<string>
  readonly policy: { readonly allowFallbacks: boolean }
  readonly needs: {
    readonly vision: boolean
    readonly pdf?: string | undefined
    readonly tools: boolean
    readonly parameters: ReadonlyArray<string>
  }
  readonly explores?: boolean | undefined
  readonly auto?: AutoRequest | undefined
}

/** A prompt with more estimated tokens than this goes to a model with a large context window. */
export const LONG_CONTEXT_TOKENS = 50_000

/** A context window that holds a long prompt and a long conversation after it. */
export const LARGE_WINDOW = 400_000

/** The chosen model and its fallbacks. Each of them can raise the amount to hold. */
const MAX_MODELS = 3

/** How many models a decision lists, and how many of them at most were equally eligible. */
const MAX_CONSIDERED = 12
const MAX_RUNNERS_UP = 4

/** Without a cost tier, the router chooses from the three cheapest bands. */
const DEFAULT_BANDS = 3

interface EligibleModel {
  readonly model: Model
  readonly price: bigint
  readonly fit: number
}

/** Reports whether a request is for `svc/auto`, which must be the only model. */
export const isAuto = (models: ReadonlyArray<string>): boolean => models.length === 1 && models[0] === AUTO_MODEL

/**
 * Plans a request to `svc/auto` as an ordinary chain of the chosen models. `plan` is the ordinary planner. Fails with
 * `NoProviderAvailable` and the option that left no model, or with the obstacle that all models share.
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
  const filter = new ModelFilter(auto)
  const offered = filter.catalogue(catalogue)
  const named = filter.options(offered)
  const able = filter.needs(named, request.needs)
  const { allowFallbacks } = request.policy
  const all = { policy: { ...request.policy, allowFallbacks: true }, explores: false }
  const planned = filter.plans(able, allowFallbacks, (model) => plan({ ...request, ...all, models: [model.id] }))
  if (planned.length === 0) return Result.fail(filter.failure({ offered, named, able }))
  const suited = filter.suited(planned, request.needs.parameters)
  const { banded, range, spare } = filter.band(suited)
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
    considered: filter.considered(chosen, ranked, pinned !== undefined)
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
  regex: "The rules classify this as",
  llm: "A language model classifies this as",
  "llm-cached": "A language model classified the same text as"
} as const satisfies Record<RouterDecision["classified_by"], string>

const reasoningOf = (
  auto: AutoRequest,
  model: string,
  choice: { readonly among: number; readonly range: string; readonly pinned: boolean }
): string => {
  const task = words(auto.classification.task)
  const language = auto.classification.multilingual ? " in a language other than English" : ""
  const size = auto.promptTokens > LONG_CONTEXT_TOKENS ? " with a long prompt" : ""
  const article = /^[aeiou]/.test(task) ? "an" : "a"
  const request = `${judges[auto.classifiedBy]} ${article} ${task} request${language}${size}`
  if (choice.pinned) return `${request}; ${model} serves it because its session is pinned to that model.`
  if (choice.among === 1) return `${request}; ${model} is the only model that can serve it ${choice.range}.`
  const among = `of the ${choice.among} models that can serve it ${choice.range}`
  return `${request}; ${among}, ${model} has the best rating, and the lowest price at that rating.`
}

/**
 * Returns the cost of a typical request at the cheapest provider that may serve it, so that fixed prices count too. It ignores the
 * plan's order, which changes by the minute, and the fallback setting, because an estimate and its request must choose the same
 * model.
 */
const typicalCost = ({ candidates }: Plan): bigint =>
  candidates.map(({ price }) => tokenCost(price, { ...noTokens, input: 1_000, output: 500 })).reduce(minNano)

/** Removes models step by step and records the reasons. */
class ModelFilter {
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

  /**
   * Returns the models that the router may choose. It skips previews and deprecated models unless `allowed_models` names their ID.
   */
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
    return this.#keep(models, (model) => {
      const { capabilities } = model
      if (needs.vision && !capabilities.includes("vision")) return "no vision"
      if (needs.pdf !== undefined && !readsPdf(model)) return "no PDF"
      return needs.tools && !capabilities.includes("tools") ? "no tools" : undefined
    })
  }

  /**
   * `plan` returns all providers that may serve a model. Without fallbacks the gateway calls only the first, so only the first can
   * raise an objection.
   */
  plans(
    models: ReadonlyArray<Model>,
    allowFallbacks: boolean,
    plan: (model: Model) => Result.Result<Plan, Failure>
  ): ReadonlyArray<EligibleModel> {
    const eligible: Array<EligibleModel> = []
    this.#keep(models, (model) => {
      const made = plan(model)
      if (Result.isFailure(made)) {
        this.#refusals.push(made.failure)
        return obstacleOf(made.failure)
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

  /** Drops models that lack a feature the request can do without, unless all of them lack it. */
  #prefer(
    models: ReadonlyArray<EligibleModel>,
    reason: string,
    wanted: (model: Model) => boolean
  ): ReadonlyArray<EligibleModel> {
    const matching = models.filter(({ model }) => wanted(model))
    if (matching.length === 0) return models
    for (const { model } of models) if (!wanted(model)) this.#passed.push({ model, reason })
    return matching
  }

  suited(models: ReadonlyArray<EligibleModel>, parameters: ReadonlyArray<string>): ReadonlyArray<EligibleModel> {
    const format = parameters.includes("structured_outputs") ? "structured_outputs" : "response_format"
    const required = [format, "reasoning", "logprobs"].filter((name) => parameters.includes(name))
    const able = required.reduce(
      (left, name) => this.#prefer(left, `no ${name}`, (model) => model.supportedParameters.includes(name)),
      models
    )
    if (this.#auto.promptTokens <= LONG_CONTEXT_TOKENS) return able
    return this.#prefer(able, "no large window for a long prompt", (model) => model.contextWindow >= LARGE_WINDOW)
  }

  /**
   * Returns the models within the price range. Each band holds about a fifth of the models, by their rank in price. With fewer than five
   * models, some tiers are empty and use the nearest band.
   * `spare` holds fallbacks from outside the range, nearest first: any models without a cost tier, otherwise the cheaper ones.
   */
  band(models: ReadonlyArray<EligibleModel>) {
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
      this.#passed.push({ model: eligible.model, reason: `too ${above > 0 ? "expensive" : "cheap"} for ${range}` })
    }
    return {
      banded: placed.filter(({ distance }) => distance === nearest).map(({ eligible }) => eligible),
      spare: outside.filter(({ above }) => tier === undefined || above < 0).map(({ eligible }) => eligible),
      range: `${costTier === undefined ? "in" : "within"} ${range}`
    }
  }

  /** Lists the most relevant models with the reason for each: the chosen one, its fallbacks, and the best fitting of the rest. */
  considered(
    chosen: ReadonlyArray<EligibleModel>,
    ranked: ReadonlyArray<EligibleModel>,
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
        reason: fit < best.fit ? `rated lower for ${task}` : "same rating, higher price"
      })),
      ...passed.toSorted((a, b) => b.fit - a.fit).map(({ model, reason }) => ({ model: model.id, reason }))
    ].slice(0, MAX_CONSIDERED)
  }

  /** Returns the failure of the step that removed the last model. */
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
      const because = (what: string) => this.#passed.some(({ reason }) => reason === what)
      const lacks = because("no vision") ? "reads images" : because("no PDF") ? "reads PDF files" : "calls tools"
      return none(`${those} ${lacks}, as this request needs`)
    }
    const [cheapest] = this.#objections.toSorted((a, b) => leastOf(a) - leastOf(b))
    if (cheapest !== undefined) return cheapest
    const [widest] = this.#refusals.toSorted((a, b) => windowOf(b) - windowOf(a))
    if (widest !== undefined && windowOf(widest) > 0) return widest
    const unable = this.#refusals.find(({ reason }) => reason._tag !== "NoProviderAvailable")
    if (unable !== undefined) return unable
    return none(`${those} has a provider that meets the routing restrictions of this request`)
  }
}

/** Why the ordinary planner has no provider of a model for the request, in the words of `considered`. */
const obstacleOf = ({ reason }: Failure): string => {
  if (reason._tag === "NoProviderAvailable") return "no provider meets the routing restrictions"
  return reason._tag === "ContextLengthExceeded" ? "context window too small" : "does not take this request"
}

const leastOf = ({ reason }: Failure): number => (reason._tag === "NoModelInBudget" ? Number(reason.least) : 0)

const windowOf = ({ reason }: Failure): number => (reason._tag === "ContextLengthExceeded" ? reason.window : 0)
