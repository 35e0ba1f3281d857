import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result, Schema } from "effect"
import { RouterDecisionSummary } from "../../schemas/Routing.ts"
import { Catalogue, type CatalogueOptions } from "../../src/catalogue/Catalogue.ts"
import { noChanges } from "../../src/catalogue/Changes.ts"
import { LiveFigures } from "../../src/catalogue/LiveFigures.ts"
import { type Failure, failure } from "../../src/domain/Failure.ts"
import { defaultPolicy, type Plan, type RoutingPolicy } from "../../src/domain/Plan.ts"
import { type AutoRequest, isAuto, LARGE_WINDOW, LONG_CONTEXT_TOKENS, plainAuto } from "../../src/router/AutoRouter.ts"
import { type AutoOptions, COST_TIERS, defaultAutoOptions } from "../../src/domain/Auto.ts"
import { type PlanRequest, Router } from "../../src/router/Router.ts"
import { strengthOf } from "../../src/router/Strengths.ts"
import { type Task, TASKS } from "../../src/router/Task.ts"

interface Asked {
  readonly task?: Task
  readonly multilingual?: boolean
  readonly options?: Partial<AutoOptions>
  readonly auto?: Partial<AutoRequest>
  readonly policy?: Partial<RoutingPolicy>
  readonly needs?: Partial<PlanRequest["needs"]>
  readonly more?: Partial<PlanRequest>
}

const requestOf = ({
  auto,
  more,
  multilingual = false,
  needs,
  options,
  policy,
  task = "code"
}: Asked): PlanRequest => ({
  models: ["svc/auto"],
  policy: { ...defaultPolicy, ...policy },
  needs: { vision: false, tools: false, parameters: [], ...needs },
  stream: true,
  promptBound: 1_000,
  fits: () => true,
  promptTokens: () => 250,
  auto: {
    ...plainAuto,
    classification: { task, confident: true, multilingual },
    promptTokens: 250,
    options: { ...defaultAutoOptions, ...options },
    ...auto
  },
  ...more
})

interface Settings extends Pick<CatalogueOptions, "changes" | "sandbox"> {
  readonly keyed?: ReadonlyArray<string>
}

const scene = ({ keyed, ...settings }: Settings = { sandbox: true }) =>
  Effect.gen(function* () {
    const listed = Catalogue.layerFrom({ ...settings, keyed: new Set(keyed), hosts: [] })
    const context = yield* Layer.build(
      Router.layer.pipe(Layer.provideMerge(Layer.mergeAll(listed, LiveFigures.layerMemory)))
    )
    const { catalogue, router } = yield* Effect.all({ router: Router, catalogue: Catalogue }).pipe(
      Effect.provide(context)
    )
    const plan = (asked: Asked): Plan => Result.getOrThrow(router.plan(requestOf(asked)))
    return {
      catalogue,
      plan,
      decision: (asked: Asked) => plan(asked).decision!,
      refusal: (asked: Asked): Failure["reason"] =>
        Result.getOrThrow(Result.flip(router.plan(requestOf(asked)))).reason,
      vendorOf: (id: string) => catalogue.find(id)!.vendor
    }
  })

const priceOf = ({ candidates }: Plan) =>
  Math.min(...candidates.map(({ price }) => Number(2n * price.tiers[0].rates.input + price.tiers[0].rates.output)))

const detailOf = (reason: Failure["reason"]) => (reason._tag === "NoProviderAvailable" ? reason.detail : reason._tag)

describe("svc/auto", () => {
  it("must be the only model of a request", () => {
    assert.isTrue(isAuto(["svc/auto"]))
    for (const models of [[], ["gpt-4o"], ["svc/auto", "gpt-4o"]]) assert.isFalse(isAuto(models))
  })

  it.live("is not served once it is retired, whatever models it could choose", () =>
    Effect.gen(function* () {
      const retired = { ...noChanges, statuses: [{ model: "svc/auto", status: "retired" } as const] }
      const changes = { load: Effect.succeed(retired), version: Effect.succeed("") }
      const { refusal } = yield* scene({ sandbox: true, changes })
      assert.strictEqual(detailOf(refusal({})), "No provider serves svc/auto at present")
    }).pipe(Effect.scoped)
  )

  it.live("plans a chain of a few models and explains the choice, for every task", () =>
    Effect.gen(function* () {
      const { catalogue, plan } = yield* scene()
      for (const task of TASKS) {
        const needs = { vision: task === "vision", tools: task === "tool_use" }
        const made = plan({ task, needs })
        const decision = Schema.decodeUnknownSync(RouterDecisionSummary)(made.decision, { onExcessProperty: "error" })
        assert.deepStrictEqual(made.requestedModels, ["svc/auto"])
        assert.deepStrictEqual([decision.task, decision.classified_by, decision.override], [task, "regex", null])
        assert.lengthOf(decision.candidates, 3)
        assert.deepStrictEqual([...new Set(made.candidates.map(({ model }) => model.id))], decision.candidates)
        assert.deepStrictEqual(decision.considered[0], { model: decision.candidates[0], reason: "chosen" })
        assert.deepStrictEqual(decision.considered[1], { model: decision.candidates[1], reason: "fallback" })
        assert.isAtMost(decision.considered.length, 12)
        assert.match(
          decision.reasoning,
          new RegExp(`^The rules classify this as an? ${task.replace("_", " ")} request; .+\\.$`)
        )
        assert.include(decision.reasoning, decision.candidates[0]!)
        for (const id of decision.candidates) {
          assert.strictEqual(catalogue.find(id)!.status, "ga")
          if (needs.vision) assert.include(catalogue.find(id)!.capabilities, "vision")
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("chooses the best model in the price range, and the cheapest of equals", () =>
    Effect.gen(function* () {
      const { plan } = yield* scene()
      const prices = COST_TIERS.map((costTier) => priceOf(plan({ options: { costTier } })))
      assert.deepStrictEqual(
        prices,
        prices.toSorted((a, b) => a - b)
      )
      assert.isAbove(prices.at(-1)!, 20 * prices[0]!)
      const usual = plan({})
      assert.isAtMost(priceOf(usual), prices[3]!)
      const [first, second] = usual.decision!.candidates.map((id) => strengthOf(id, "code"))
      assert.isAtLeast(first!, second!)
      const passed = (costTier: AutoOptions["costTier"]) =>
        plan({ options: { costTier } }).decision!.considered.map(({ reason }) => reason)
      assert.include(passed("low"), "too expensive for cost_tier low")
      assert.include(passed(undefined), "too expensive for the usual price range")
      assert.include(passed("max"), "too cheap for cost_tier max")
    }).pipe(Effect.scoped)
  )

  it.live("obeys allowed and excluded models, and names the option that leaves none", () =>
    Effect.gen(function* () {
      const { decision, refusal, vendorOf } = yield* scene()
      const own = decision({ options: { allowedModels: ["anthropic/*"] } }).candidates
      assert.isTrue(own.every((id) => vendorOf(id) === "anthropic"))
      const some = decision({ options: { allowedModels: ["anthropic/*"], excludedModels: ["claude-opus-*", own[0]!] } })
      assert.isTrue(some.candidates.every((id) => !id.startsWith("claude-opus-") && id !== own[0]))
      assert.deepStrictEqual(decision({ options: { allowedModels: ["gpt-4o-mini"] } }).candidates, ["gpt-4o-mini"])
      assert.deepStrictEqual(decision({ options: { allowedModels: ["o3-mini"], costTier: "max" } }).candidates, [
        "o3-mini"
      ])
      const two = (costTier: AutoOptions["costTier"]) =>
        decision({ options: { allowedModels: ["gpt-4o-mini", "gpt-4o"], costTier } }).candidates
      assert.deepStrictEqual(two("low"), ["gpt-4o-mini"])
      assert.deepStrictEqual(two("max"), ["gpt-4o", "gpt-4o-mini"])
      assert.deepStrictEqual(two(undefined), ["gpt-4o-mini", "gpt-4o"])
      const why = (asked: Asked) => detailOf(refusal(asked))
      assert.include(why({ options: { allowedModels: [] } }), "router.allowed_models names no model")
      assert.include(why({ options: { allowedModels: ["nobody/*"] } }), "router.allowed_models names no model")
      assert.include(why({ options: { excludedModels: ["*"] } }), "router.excluded_models leaves no model")
      assert.include(why({ options: { allowedModels: ["gpt-4o"], excludedModels: ["openai/*"] } }), "excluded_models")
      assert.include(
        why({ options: { allowedModels: ["deepseek/*"] }, needs: { vision: true } }),
        "No model left by router.allowed_models reads images"
      )
      assert.include(why({ options: { allowedModels: ["sonar"] }, needs: { tools: true } }), "calls tools")
      assert.include(
        why({ options: { allowedModels: ["gpt-4o"] }, policy: { only: ["anthropic"] } }),
        "No model left by router.allowed_models has a provider that meets the routing restrictions"
      )
      const many = { tools: true, toolCount: 129 }
      const reasons = decision({ needs: many }).considered.map(({ reason }) => reason)
      assert.include(reasons, "does not take this request")
      const bounded = refusal({ options: { allowedModels: ["gpt-4o"] }, needs: many })
      const message = "must contain at most 128 tools for gpt-4o; got 129"
      assert.deepStrictEqual(bounded, { _tag: "ValidationError", problems: [{ field: "tools", message }] })
    }).pipe(Effect.scoped)
  )

  it.live("skips models that the policy, the context window or the budget excludes", () =>
    Effect.gen(function* () {
      const { catalogue, plan, refusal } = yield* scene()
      const zero = plan({ policy: { dataPolicy: "zero_retention" } })
      assert.isTrue(zero.candidates.every(({ offer }) => catalogue.provider(offer.provider)!.zeroRetention))
      assert.lengthOf(plan({ policy: { allowFallbacks: false } }).decision!.candidates, 1)
      assert.strictEqual(refusal({ more: { fits: () => false } })._tag, "ContextLengthExceeded")
      const wide = plan({ more: { fits: (window) => window >= 1_000_000 } })
      assert.isTrue(wide.candidates.every(({ offer }) => offer.contextWindow >= 1_000_000))
      const dear = (least: bigint) => failure({ _tag: "NoModelInBudget", budgetCents: 1, least })
      const objection = (made: Plan) =>
        made.candidates[0].model.vendor === "openai" ? undefined : dear(BigInt(made.candidates[0].model.created))
      assert.isTrue(plan({ auto: { objection } }).candidates.every(({ model }) => model.vendor === "openai"))
      const all = refusal({ auto: { objection: (made) => dear(BigInt(made.candidates.length)) } })
      assert.deepStrictEqual(all, { _tag: "NoModelInBudget", budgetCents: 1, least: 1n })
    }).pipe(Effect.scoped)
  )

  it.live("makes the same choice with and without fallbacks, whichever provider is first", () =>
    Effect.gen(function* () {
      const { catalogue, decision, plan, refusal } = yield* scene()
      for (const { id } of catalogue.providers) {
        for (const costTier of [undefined, ...COST_TIERS]) {
          const asked = { options: { costTier }, policy: { order: [id], allowFallbacks: false } }
          const chosen = decision({ options: { costTier } }).candidates.slice(0, 1)
          assert.deepStrictEqual(decision(asked).candidates, chosen, `${id} ${costTier}`)
        }
      }
      // Without fallbacks, only the first provider's obstacles count.
      const dear = failure({ _tag: "NoModelInBudget", budgetCents: 1, least: 1n })
      const objection = ({ candidates }: Plan) =>
        candidates.every(({ offer }) => offer.provider === "azure") ? dear : undefined
      const alone = {
        options: { allowedModels: ["gpt-4o"] },
        auto: { objection },
        policy: { order: ["azure"], allowFallbacks: false }
      }
      assert.strictEqual(refusal(alone)._tag, "NoModelInBudget")
      assert.isAbove(plan({ ...alone, policy: { order: ["azure"] } }).candidates.length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("sends a long prompt to a large window, and another language to a model that is good at it", () =>
    Effect.gen(function* () {
      const { catalogue, decision } = yield* scene()
      const long = decision({ auto: { promptTokens: LONG_CONTEXT_TOKENS + 1 }, multilingual: true })
      assert.strictEqual(long.override, "long_context")
      assert.isTrue(long.candidates.every((id) => catalogue.find(id)!.contextWindow >= LARGE_WINDOW))
      assert.isNull(decision({ auto: { promptTokens: LONG_CONTEXT_TOKENS } }).override)
      const only = { allowedModels: ["gpt-4o*"] }
      assert.isNotEmpty(decision({ auto: { promptTokens: LONG_CONTEXT_TOKENS + 1 }, options: only }).candidates)
      for (const task of ["writing", "translation", "general"] as const) {
        const foreign = decision({ task, multilingual: true, options: { costTier: "medium" } })
        const plain = decision({ task, options: { costTier: "medium" } })
        const skill = (id: string | undefined) => strengthOf(id!, "multilingual")
        assert.strictEqual(foreign.override, "multilingual")
        assert.include(foreign.reasoning, "a language other than English")
        assert.isAtLeast(skill(foreign.candidates[0]), skill(plain.candidates[0]))
      }
    }).pipe(Effect.scoped)
  )

  it.live("prefers models that support what the request asks for", () =>
    Effect.gen(function* () {
      const { catalogue, decision } = yield* scene()
      for (const name of ["structured_outputs", "reasoning", "logprobs"]) {
        const { candidates } = decision({ needs: { parameters: [name] } })
        assert.isTrue(candidates.every((id) => catalogue.find(id)!.supportedParameters.includes(name)))
      }
      const options = { allowedModels: ["mistral-nemo"] }
      assert.isNotEmpty(decision({ needs: { parameters: ["reasoning"] }, options }).candidates)
    }).pipe(Effect.scoped)
  )

  it.live("tries the model of a pinned session first while that model can serve", () =>
    Effect.gen(function* () {
      const { decision } = yield* scene()
      const pinned = decision({ auto: { pinned: "claude-opus-5" } })
      assert.strictEqual(pinned.candidates[0], "claude-opus-5")
      assert.lengthOf(new Set(pinned.candidates), 3)
      assert.deepStrictEqual(pinned.considered[0], { model: "claude-opus-5", reason: "pinned" })
      assert.include(pinned.reasoning, "its session is pinned")
      const gone = decision({ auto: { pinned: "claude-opus-5" }, policy: { only: ["openai"] } })
      assert.notInclude(gone.candidates, "claude-opus-5")
      assert.strictEqual(gone.considered[0]!["reason"], "chosen")
    }).pipe(Effect.scoped)
  )

  it.live("chooses among the available models", () =>
    Effect.gen(function* () {
      const one = yield* scene({ sandbox: false, keyed: ["openai"] })
      assert.isTrue(one.plan({}).candidates.every(({ offer }) => offer.provider === "openai"))
      const none = yield* scene({ sandbox: false })
      assert.strictEqual(detailOf(none.refusal({})), "No model can be served at present")
    }).pipe(Effect.scoped)
  )

  it.live("says which classifier determined the task", () =>
    Effect.gen(function* () {
      const { decision } = yield* scene()
      assert.match(
        decision({ auto: { classifiedBy: "llm" } }).reasoning,
        /^A language model classifies this as a code request/
      )
      assert.strictEqual(decision({ auto: { classifiedBy: "llm-cached" } }).classified_by, "llm-cached")
    }).pipe(Effect.scoped)
  )
})
