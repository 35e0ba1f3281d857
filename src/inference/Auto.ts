import type { Conversation } from "../domain/Conversation.ts"
import type { Failure } from "../domain/Failure.ts"
import type { Plan } from "../domain/Plan.ts"
import { LruCache } from "../platform/LruCache.ts"
import type { AutoRequest } from "../router/AutoRouter.ts"
import { defaultAutoOptions, type AutoRequestOptions } from "../domain/Auto.ts"
import { byRules, type TaskDecision } from "./Classify.ts"

/** The maximum number of pinned sessions in this process, a few hundred bytes each. */
const MAX_PINS = 20_000

/** A session without requests for this long loses its pin. */
const PIN_LIFE_MS = 24 * 3_600_000

/** The account and the routing options of a session. */
interface Session {
  readonly accountId?: string | undefined
  readonly auto?: AutoRequestOptions | undefined
}

/** The key of a session that can be pinned. A request with another cost tier asks for another model, so the tier is part of the key. */
const keyOf = ({ accountId, auto }: Session): string | undefined => {
  if (accountId === undefined || auto?.options.pinModel !== true || auto.sessionId === undefined) return undefined
  return JSON.stringify([accountId, auto.sessionId, auto.options.costTier])
}

/** The model of each session, by account and session id, in this process only. */
export class Pins {
  readonly #models = new LruCache<string>({ capacity: MAX_PINS, lifeMs: PIN_LIFE_MS })

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
  request: Session & { readonly conversation: Conversation; readonly classified?: TaskDecision | undefined },
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
