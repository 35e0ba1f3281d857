import { Result, Effect } from "effect"
import type { Auth } from "../auth/Auth.ts"
import { hasSameRouting } from "../auth/Routing.ts"
import { availableTo, playPays } from "../domain/Balance.ts"
import { imagesIn, keepsForAnHour, pdfsIn } from "../domain/Conversation.ts"
import type { Failure } from "../domain/Failure.ts"
import { type Plan, isSimulated } from "../domain/Plan.ts"
import { boundOfLikely, fixedBound, likelyTokens, promptBound } from "../domain/TokenBound.ts"
import { countPrompt } from "../domain/Tokens.ts"
import type { Ledger } from "../ledger/Ledger.ts"
import type { Unavailable } from "../platform/database/Sql.ts"
import { enforcedSchema } from "../providers/structured/Structured.ts"
import { isAuto } from "../router/AutoRouter.ts"
import { withModelParam } from "../domain/Chain.ts"
import type { Router } from "../router/Router.ts"
import type { Requests } from "../usage/Requests.ts"
import { autoRequest, type Pins } from "./Auto.ts"
import { type TaskDecision, byRules, type makeClassify } from "./Classify.ts"
import { budgetOf, estimate, withinBudget, type PricedPlan } from "../domain/Estimate.ts"
import { gifFieldOf, type PromptImages } from "./PromptImages.ts"
import type { ChatRequest } from "./Request.ts"

/** The parts of a request that determine its plan and its estimate. */
export type Preparation = Pick<
  ChatRequest,
  "auto" | "chain" | "sent" | "policy" | "conversation" | "parameters" | "stream" | "budgetCents" | "unplannable"
> & {
  /** The account, when the session may be pinned to a model. */
  readonly accountId?: string
  /** The classification, if more than the rules was consulted. */
  readonly classified?: TaskDecision
  /** Replaces the conversation's size when only a number of prompt tokens is known. It is an estimate, not a bound. */
  readonly promptTokens?: number
}

export const makePrepare =
  (router: Router["Service"], pins: Pins, promptImages: PromptImages["Service"], explores: boolean) =>
  (request: Preparation): Result.Result<PricedPlan, Failure> => {
    const { budgetCents, chain, conversation, parameters, policy, promptTokens, stream, unplannable } = request
    if (unplannable !== undefined) return Result.fail(unplannable)
    const images = imagesIn(conversation)
    const pdfs = pdfsIn(conversation)
    const vision = images > 0
    const wrong = vision ? promptImages.check(conversation) : undefined
    if (wrong !== undefined) return Result.fail(wrong)
    const prompt = promptTokens === undefined ? promptBound(conversation) : fixedBound(boundOfLikely(promptTokens))
    const bound = prompt.most
    let counted: number | undefined
    const likely = () => (counted ??= promptTokens ?? countPrompt(conversation))
    const pages = pdfs.reduce((sum, pdf) => sum + pdf.pages, 0)
    const wanted = {
      prompt,
      images: images + pages,
      maxTokens: conversation.maxOutputTokens,
      budget: budgetOf(budgetCents)
    }
    const objection = (plan: Plan) => Result.getOrUndefined(Result.flip(withinBudget(plan, { ...wanted, budgetCents })))
    const planned = router.plan({
      models: chain,
      policy,
      needs: {
        vision,
        gif: vision ? gifFieldOf(conversation) : undefined,
        pdf: pdfs[0]?.field,
        tools: conversation.tools.length > 0,
        toolCount: conversation.tools.length,
        longCache: keepsForAnHour(conversation),
        parameters
      },
      stream,
      promptBound: bound,
      maxTokens: conversation.maxOutputTokens,
      explores,
      // Counting tokens is worthwhile only when the upper bound does not settle the question.
      fits: (window) => bound <= window || likely() <= window,
      promptTokens: likely,
      auto: isAuto(chain) ? autoRequest(pins, request, promptTokens ?? likelyTokens(bound), objection) : undefined
    })
    return Result.map(
      Result.flatMap(
        Result.mapError(planned, (failed) => withModelParam(failed, request.sent)),
        (plan) => withinBudget(plan, { ...wanted, budgetCents })
      ),
      (plan) => {
        // An answer that is checked before it is sent is generated completely, so the hold covers all of it.
        const whole = plan.candidates.some((one) => enforcedSchema(conversation, one) !== undefined)
        return { plan, estimate: estimate(plan, { ...wanted, stream: stream && !whole }) }
      }
    )
  }

/** The services that prepare a request to `svc/auto`, with a classifier model if there is one. */
export interface WithModel {
  readonly auth: Pick<Auth["Service"], "again">
  readonly classify: ReturnType<typeof makeClassify> | undefined
  readonly ledger: Pick<Ledger["Service"], "balance">
  readonly pins: Pins
  readonly prepare: (request: Preparation) => Result.Result<PricedPlan, Failure>
  readonly requests: Pick<Requests["Service"], "claimedBy">
}

/**
 * Whether a request would be admitted, as far as reading can tell: its idempotency key is free, its API key is active, and the account
 * has enough money. Only the hold checks budgets and concurrent requests. `unpaid` means that simulated money would pay, so the operator calls
 * no real provider for it.
 */
const admissionOf = (
  { auth, ledger, requests }: WithModel,
  { claim, principal }: ChatRequest,
  { estimate, plan }: PricedPlan
): Effect.Effect<"none" | "unpaid" | "paid", Failure | Unavailable> =>
  Effect.gen(function* () {
    const { accountId, keyId } = principal
    if (claim !== undefined && (yield* requests.claimedBy(accountId, claim.claim)) !== undefined) return "none"
    const balance = yield* ledger.balance(accountId)
    const simulated = isSimulated(plan)
    if (balance === undefined || availableTo(balance, simulated) < estimate.atLeast) return "none"
    // The current routing of the key and its project decides which providers may see the prompt, not the cached one.
    if (!hasSameRouting(yield* auth.again(keyId), principal)) return "none"
    return simulated && playPays(balance, estimate) ? "unpaid" : "paid"
  })

/**
 * Prepares a request to `svc/auto`. It calls the classifier only when the rules are unsure, the session has no pinned model, and
 * nothing would keep the request from being admitted. The operator pays for no classification of a request that cannot be served.
 */
export const prepareAuto = (services: WithModel, request: ChatRequest): Effect.Effect<PricedPlan, Failure> =>
  Effect.gen(function* () {
    const { classify, pins, prepare } = services
    const { accountId } = request.principal
    const rules = byRules(request.conversation)
    const prepared = yield* Effect.fromResult(prepare({ ...request, accountId, classified: rules }))
    if (classify === undefined || rules.classification.confident) return prepared
    if (pins.of({ accountId, auto: request.auto }) === prepared.plan.candidates[0].model.id) return prepared
    // If reading fails, the hold reports the problem.
    const admission = yield* Effect.orElseSucceed(admissionOf(services, request, prepared), () => "none" as const)
    if (admission === "none") return prepared
    const onlyDoubles = admission === "unpaid"
    const classified = yield* Effect.interruptible(classify(request, rules.classification, onlyDoubles))
    if (classified.by === "regex") return prepared
    return yield* Effect.fromResult(prepare({ ...request, accountId, classified }))
  })
