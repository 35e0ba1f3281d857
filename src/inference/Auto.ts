/** Prepares a request to `svc/auto` before it is planned: determines its task, and the model to which its session is pinned. */
import { Effect, type Result } from "effect"
import type { Auth } from "../auth/Auth.ts"
import { goesAlike } from "../auth/Routing.ts"
import type { Conversation } from "../domain/Conversation.ts"
import { availableTo, playPays } from "../domain/Balance.ts"
import type { Failure } from "../domain/Failure.ts"
import { isSimulated, type Plan } from "../domain/Plan.ts"
import type { Ledger } from "../ledger/Ledger.ts"
import type { Unavailable } from "../platform/database/Sql.ts"
import { type AutoRequest, defaultAutoOptions } from "../router/AutoRouter.ts"
import type { Requests } from "../usage/Requests.ts"
import { byRules, type Classified, type makeClassify } from "./Classify.ts"
import type { Preparation, Prepared } from "./Inference.ts"
import { Remembered } from "../platform/Remembered.ts"
import type { AutoWish, ChatRequest } from "./Request.ts"

/** The maximum number of pinned sessions in this process, a few hundred bytes each. */
const MAX_PINS = 20_000

/** A session without requests for this long loses its pin. */
const PIN_LIFE_MS = 24 * 3_600_000

/** The account and the routing wishes of a session. */
interface Session {
  readonly accountId?: string | undefined
  readonly auto?: AutoWish | undefined
}

/** The key of a session that can be pinned. A request with another cost tier asks for another model, so the tier is part of the key. */
const keyOf = ({ accountId, auto }: Session): string | undefined => {
  if (accountId === undefined || auto?.options.pinModel !== true || auto.sessionId === undefined) return undefined
  return JSON.stringify([accountId, auto.sessionId, auto.options.costTier])
}

/** The model of each session, by account and session id, in this process only. */
export class Pins {
  readonly #models = new Remembered<string>({ capacity: MAX_PINS, lifeMs: PIN_LIFE_MS })

  of(session: Session): string | undefined {
    const key = keyOf(session)
    return key === undefined ? undefined : this.#models.get(key, Date.now())
  }

  /**
   * Pins a session to the model that a plan of `svc/auto` chose. A pinned session keeps its model even if one request, such as one with
   * an image, had to use another, as long as a provider serves the pinned model. Each call restarts the pin's lifetime.
   */
  pin(session: Session, { candidates, decision }: Plan, isServable: (model: string) => boolean): void {
    const key = decision === undefined ? undefined : keyOf(session)
    if (key === undefined) return
    const now = Date.now()
    const chosen = candidates[0].model.id
    const pinned = this.#models.get(key, now) ?? chosen
    this.#models.set(key, pinned === chosen || isServable(pinned) ? pinned : chosen, now)
  }
}

/** The router's input for a request to `svc/auto`. */
export const autoRequest = (
  pins: Pins,
  request: Session & { readonly conversation: Conversation; readonly classified?: Classified | undefined },
  promptTokens: number,
  objection: (plan: Plan) => Failure | undefined
): AutoRequest => {
  const { by, classification } = request.classified ?? byRules(request.conversation)
  return {
    classification,
    classifiedBy: by,
    options: request.auto?.options ?? defaultAutoOptions,
    promptTokens,
    pinned: pins.of(request),
    objection
  }
}

/** The services that prepare a request to `svc/auto`, with a classifier model if there is one. */
export interface WithModel {
  readonly auth: Pick<Auth["Service"], "again">
  readonly classify: ReturnType<typeof makeClassify> | undefined
  readonly ledger: Pick<Ledger["Service"], "balance">
  readonly pins: Pins
  readonly prepare: (request: Preparation) => Result.Result<Prepared, Failure>
  readonly requests: Pick<Requests["Service"], "claimedBy">
}

/**
 * Whether a request would be admitted, as far as reading can tell: its idempotency key is free, its API key is active, and the account
 * has enough money. Only the hold checks budgets and concurrent requests. `unpaid` means that play money would pay, so the house calls
 * no real provider for it.
 */
const admissionOf = (
  { auth, ledger, requests }: WithModel,
  { claim, principal }: ChatRequest,
  { estimate, plan }: Prepared
): Effect.Effect<"none" | "unpaid" | "paid", Failure | Unavailable> =>
  Effect.gen(function* () {
    const { accountId, keyId } = principal
    if (claim !== undefined && (yield* requests.claimedBy(accountId, claim.claim)) !== undefined) return "none"
    const balance = yield* ledger.balance(accountId)
    const simulated = isSimulated(plan)
    if (balance === undefined || availableTo(balance, simulated) < estimate.atLeast) return "none"
    // The current routing of the key and its project decides which providers may see the prompt, not the cached one.
    if (!goesAlike(yield* auth.again(keyId), principal)) return "none"
    return simulated && playPays(balance, estimate) ? "unpaid" : "paid"
  })

/**
 * Prepares a request to `svc/auto`. It calls the classifier only when the rules are unsure, the session has no pinned model, and
 * nothing would keep the request from being admitted. The house pays for no classification of a request that cannot be served.
 */
export const prepareAuto = (services: WithModel, request: ChatRequest): Effect.Effect<Prepared, Failure> =>
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
