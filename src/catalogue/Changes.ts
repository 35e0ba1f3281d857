/** What the operator changes about the catalogue, and what of it holds at a moment. */
import type { ModelStatus } from "../domain/Model.ts"
import type { Price, Promotion } from "../domain/Pricing.ts"
import { dayOf, millisOf } from "./Moment.ts"
import { type OverlayPrice, overlayPrice } from "./Overlay.ts"

/** A model's status, set by hand. */
export interface StatusChange {
  readonly model: string
  readonly status: ModelStatus
  /** A `Moment`. Absent: always. */
  readonly startsAt?: string
}

/** A promotion and what it is for. */
export interface PromotionChange {
  readonly model: string
  /** Absent: every provider of the model. */
  readonly provider?: string
  readonly label: string
  readonly discountPercent: number
  readonly startsAt: string
  readonly endsAt: string
}

/** Something that happened to a model, as the operator tells it. */
export interface HistoryChange {
  readonly model: string
  readonly event: string
  /** `YYYY-MM-DD`. */
  readonly date: string
  readonly provider?: string
  readonly detail?: string
}

/** All that the operator's file says. */
export interface Changes {
  readonly prices: ReadonlyArray<OverlayPrice>
  readonly statuses: ReadonlyArray<StatusChange>
  readonly promotions: ReadonlyArray<PromotionChange>
  readonly history: ReadonlyArray<HistoryChange>
}

export const noChanges: Changes = { prices: [], statuses: [], promotions: [], history: [] }

/** The pair of a model and a provider as a key. A line break is in no id. */
export const pair = (model: string, provider: string) => `${model}\n${provider}`

const startOf = ({ startsAt }: { readonly startsAt?: string }): number =>
  startsAt === undefined ? Number.NEGATIVE_INFINITY : millisOf(startsAt)

/** Those that have begun, the latest last; of equal ones, the later in the list. */
const begun = <A extends { readonly startsAt?: string }>(all: ReadonlyArray<A>, now: number): ReadonlyArray<A> =>
  all
    .filter((one) => startOf(one) <= now)
    .toSorted((a, b) => (startOf(a) < startOf(b) ? -1 : 1) * Number(startOf(a) !== startOf(b)))

/** The prices that hold at `now`, by `pair`: of several for one pair, that which began last. The operator's stand above the others. */
export const pricesAt = (
  overlay: ReadonlyArray<OverlayPrice>,
  { prices }: Changes,
  now: number
): ReadonlyMap<string, Price> =>
  new Map(
    [...begun(overlay, now), ...begun(prices, now)].map((one) => [pair(one.model, one.provider), overlayPrice(one)])
  )

/** The statuses set by hand that hold at `now`, by model. */
export const statusesAt = ({ statuses }: Changes, now: number): ReadonlyMap<string, ModelStatus> =>
  new Map(begun(statuses, now).map(({ model, status }) => [model, status]))

/** The promotions that hold at `now`. */
export const promotionsAt = ({ promotions }: Changes, now: number): ReadonlyArray<PromotionChange> =>
  promotions.filter((one) => millisOf(one.startsAt) <= now && now < millisOf(one.endsAt))

/** Of the promotions, that which cuts an offer's price deepest: promotions do not add up. Of equal ones, the first. */
export const promotionOf = (
  promotions: ReadonlyArray<PromotionChange>,
  model: string,
  provider: string
): Promotion | undefined => {
  let found: PromotionChange | undefined
  for (const one of promotions) {
    if (one.model !== model || (one.provider ?? provider) !== provider) continue
    if (found === undefined || one.discountPercent > found.discountPercent) found = one
  }
  if (found === undefined) return undefined
  const { discountPercent, endsAt, label, startsAt } = found
  return { label, discountPercent, startsAt: millisOf(startsAt), endsAt: millisOf(endsAt) }
}

/** The next moment, in Unix milliseconds, at which something of the changes begins or ends; infinite when nothing does. */
export const changesUntil = (overlay: ReadonlyArray<OverlayPrice>, changes: Changes, now: number): number => {
  const moments = [
    ...[...overlay, ...changes.prices, ...changes.statuses].map(startOf),
    ...changes.promotions.flatMap((one) => [millisOf(one.startsAt), millisOf(one.endsAt)]),
    ...changes.history.map(({ date }) => millisOf(date))
  ]
  return Math.min(...moments.filter((moment) => moment > now))
}

/** Something that happened to a model, as the catalogue shows it. */
export interface Event {
  readonly event: string
  readonly date: string
  readonly provider?: string
  readonly detail?: string
  /** Of a price: what it was from then on. */
  readonly price?: Price
}

/** What the changes say has happened to a model until `now`, promotions begun and ended among it. */
export const eventsOf = (changes: Changes, model: string, now: number): ReadonlyArray<Event> => {
  const own = <A extends { readonly model: string }>(all: ReadonlyArray<A>) => all.filter((one) => one.model === model)
  const dated = [
    ...own(changes.prices).map((one) => ({
      at: startOf(one),
      event: "price_changed",
      provider: one.provider,
      price: overlayPrice(one)
    })),
    ...own(changes.statuses).map((one) => ({ at: startOf(one), event: one.status })),
    ...own(changes.promotions).flatMap(({ discountPercent, endsAt, label, provider, startsAt }) => {
      const about = { detail: `${label}: ${discountPercent} % off`, ...(provider === undefined ? {} : { provider }) }
      return [
        { at: millisOf(startsAt), event: "promotion_started", ...about },
        { at: millisOf(endsAt), event: "promotion_ended", ...about }
      ]
    }),
    ...own(changes.history).map(({ date, detail, event, provider }) => ({
      at: millisOf(date),
      event,
      ...(provider === undefined ? {} : { provider }),
      ...(detail === undefined ? {} : { detail })
    }))
  ]
  // What has always held did not happen on any day.
  return dated
    .filter(({ at }) => at <= now && at > Number.NEGATIVE_INFINITY)
    .map(({ at, ...one }) => ({ ...one, date: dayOf(at) }))
}
