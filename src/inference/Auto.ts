/** What a request to `svc/auto` passes before it is planned: what it is about, and which model its session is pinned to. */
import { Effect, type Result } from "effect"
import type { Auth } from "../auth/Auth.ts"
import { goesAlike } from "../auth/Routing.ts"
import type { Conversation } from "../domain/Conversation.ts"
import { availableTo, playPays } from "../domain/Balance.ts"
import type { Failure } from "../domain/Failure.ts"
import { isSimulated, type Plan } from "../domain/Plan.ts"
import type { Ledger } from "../ledger/Ledger.ts"
import type { Unavailable } from "../platform/Sql.ts"
import { type AutoRequest, defaultAutoOptions } from "../router/AutoRouter.ts"
import type { Requests } from "../usage/Requests.ts"
import { byRules, type Classified, type makeClassify } from "./Classify.ts"
import type { Preparation, Prepared } from "./Inference.ts"
import { Remembered } from "../platform/Remembered.ts"
import type { AutoWish, ChatRequest } from "./Request.ts"

/** Sessions of this process whose model is remembered; a few hundred bytes each. */
const MAX_PINS = 20_000

/** A session that has been silent for so long begins anew. */
const PIN_LIFE_MS = 24 * 3_600_000

/** Whose session it is. */
interface Session {
  readonly accountId?: string | undefined
  readonly auto?: AutoWish | undefined
}

/** The key of a session that is to be pinned. A change of its cost tier is a wish for another model. */
const keyOf = ({ accountId, auto }: Session): string | undefined => {
  if (accountId === undefined || auto?.options.pinModel !== true || auto.sessionId === undefined) return undefined
  return JSON.stringify([accountId, auto.sessionId, auto.options.costTier])
}

/** Which model sessions go to, by account and session, in this process alone. */
export class Pins {
  readonly #models = new Remembered<string>({ capacity: MAX_PINS, lifeMs: PIN_LIFE_MS })

  of(session: Session): string | undefined {
    const key = keyOf(session)
    return key === undefined ? undefined : this.#models.get(key, Date.now())
  }

  /**
   * Remembers what a plan of `svc/auto` chose for a session. One that has a model stays with it though a request, with an image for
   * one, had to go elsewhere, for as long as anybody serves that model; its life begins anew.
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

/** What the router is told of a request to `svc/auto`. */
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

/** What it takes to prepare a request to `svc/auto`, with the help of a model where there is one. */
export interface WithModel {
  readonly auth: Pick<Auth["Service"], "again">
  readonly classify: ReturnType<typeof makeClassify> | undefined
  readonly ledger: Pick<Ledger["Service"], "balance">
  readonly pins: Pins
  readonly prepare: (request: Preparation) => Result.Result<Prepared, Failure>
  readonly requests: Pick<Requests["Service"], "claimedBy">
}

/**
 * How a request may be admitted, as far as reading tells: its idempotency key is free, its API key active, and the account has
 * what it needs. Budgets and requests on their way at the same time are the hold's to see. `unpaid` is one that play money would
 * pay for: the house asks no real provider on its behalf.
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
    // Whoever may see the words is said by the key's routing and its project's, as they are and not as they were remembered.
    if (!goesAlike(yield* auth.again(keyId), principal)) return "none"
    return simulated && playPays(balance, estimate) ? "unpaid" : "paid"
  })

/**
 * Prepares a request to `svc/auto`. A model is asked only where the rules are not sure, the session has no model yet, and nothing
 * is seen that would keep the request out: the house pays for no answers to who cannot be served.
 */
export const prepareAuto = (services: WithModel, request: ChatRequest): Effect.Effect<Prepared, Failure> =>
  Effect.gen(function* () {
    const { classify, pins, prepare } = services
    const { accountId } = request.principal
    const rules = byRules(request.conversation)
    const prepared = yield* Effect.fromResult(prepare({ ...request, accountId, classified: rules }))
    if (classify === undefined || rules.classification.confident) return prepared
    if (pins.of({ accountId, auto: request.auto }) === prepared.plan.candidates[0].model.id) return prepared
    // What cannot be read is for the hold to say.
    const admission = yield* Effect.orElseSucceed(admissionOf(services, request, prepared), () => "none" as const)
    if (admission === "none") return prepared
    const onlyDoubles = admission === "unpaid"
    const classified = yield* Effect.interruptible(classify(request, rules.classification, onlyDoubles))
    if (classified.by === "regex") return prepared
    return yield* Effect.fromResult(prepare({ ...request, accountId, classified }))
  })
