/** The operator's changes to the catalogue, and those in effect at a given moment. */
import type { ModelStatus } from "../domain/Model.ts"
import type { Price, Promotion } from "../domain/Pricing.ts"
import { dayOf } from "../domain/Day.ts"
import { millisOf } from "./Moment.ts"
import { type OverlayPrice, overlayPrice } from "./Overlay.ts"

/** A model status set by the operator. */
export interface StatusChange {
  readonly model: string
  readonly status: ModelStatus
  /** A `Moment`. Absent: always in effect. */
  readonly startsAt?: string
}

/** A promotion and the offers that it covers. */
export interface PromotionChange {
  readonly model: string
  /** Absent: every provider of the model. */
  readonly provider?: string
  readonly label: string
  readonly discountPercent: number
  readonly startsAt: string
  readonly endsAt: string
}

/** An event in a model's history, from the operator. */
export interface HistoryChange {
  readonly model: string
  readonly event: string
  /** `YYYY-MM-DD`. */
  readonly date: string
  readonly provider?: string
  readonly detail?: string
}

/** The contents of the operator's file. */
export interface Changes {
  readonly prices: ReadonlyArray<OverlayPrice>
  /** What providers charge the operator, where that differs from their published prices. */
  readonly costs: ReadonlyArray<OverlayPrice>
  readonly statuses: ReadonlyArray<StatusChange>
  readonly promotions: ReadonlyArray<PromotionChange>
  readonly history: ReadonlyArray<HistoryChange>
}

export const noChanges: Changes = { prices: [], costs: [], statuses: [], promotions: [], history: [] }

/** Returns a key for a model and a provider. No ID contains a line break. */
export const pair = (model: string, provider: string) => `${model}\n${provider}`

const startOf = ({ startsAt }: { readonly startsAt?: string }): number =>
  startsAt === undefined ? Number.NEGATIVE_INFINITY : millisOf(startsAt)

/** Returns the changes that have begun, latest last. Equal ones keep their order. */
const changesBegunBy = <A extends { readonly startsAt?: string }>(
  all: ReadonlyArray<A>,
  now: number
): ReadonlyArray<A> =>
  all
    .filter((one) => startOf(one) <= now)
    .toSorted((a, b) => (startOf(a) < startOf(b) ? -1 : 1) * Number(startOf(a) !== startOf(b)))

/** Returns the prices in effect at `now`, by `pair`. The price that began last applies, and the operator's take precedence. */
export const pricesAt = (
  overlay: ReadonlyArray<OverlayPrice>,
  { prices }: Changes,
  now: number
): ReadonlyMap<string, Price> =>
  new Map(
    [...changesBegunBy(overlay, now), ...changesBegunBy(prices, now)].map((one) => [
      pair(one.model, one.provider),
      overlayPrice(one)
    ])
  )

/** Returns the costs that the overlay and the operator state at `now`, by `pair`. The operator's take precedence. */
export const costsAt = (
  overlay: ReadonlyArray<OverlayPrice>,
  { costs }: Changes,
  now: number
): ReadonlyMap<string, Price> =>
  new Map(
    [...changesBegunBy(overlay, now), ...changesBegunBy(costs, now)].map((one) => [
      pair(one.model, one.provider),
      overlayPrice(one)
    ])
  )

/** Returns the operator's statuses in effect at `now`, by model. */
export const statusesAt = ({ statuses }: Changes, now: number): ReadonlyMap<string, ModelStatus> =>
  new Map(changesBegunBy(statuses, now).map(({ model, status }) => [model, status]))

/** Returns the promotions in effect at `now`. */
export const promotionsAt = ({ promotions }: Changes, now: number): ReadonlyArray<PromotionChange> =>
  promotions.filter((one) => millisOf(one.startsAt) <= now && now < millisOf(one.endsAt))

/**
 * Returns the promotion with the largest discount on an offer, because promotions do not add up. Among equal ones, the first
 * applies.
 */
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

/** Returns the next moment, in Unix milliseconds, at which a change begins or ends; infinite when there is none. */
export const changesUntil = (overlay: ReadonlyArray<OverlayPrice>, changes: Changes, now: number): number => {
  const moments = [
    ...[...overlay, ...changes.prices, ...changes.costs, ...changes.statuses].map(startOf),
    ...changes.promotions.flatMap((one) => [millisOf(one.startsAt), millisOf(one.endsAt)]),
    ...changes.history.map(({ date }) => millisOf(date))
  ]
  return Math.min(...moments.filter((moment) => moment > now))
}

/** An event of a model, as the catalogue shows it. */
export interface Event {
  readonly event: string
  readonly date: string
  readonly provider?: string
  readonly detail?: string
  /** For price changes: the new price. */
  readonly price?: Price
}

/** Returns the model's events up to `now` according to the changes, including the beginning and end of promotions. */
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
  // A change that has always been in effect did not happen on any day.
  return dated
    .filter(({ at }) => at <= now && at > Number.NEGATIVE_INFINITY)
    .map(({ at, ...one }) => ({ ...one, date: dayOf(at) }))
}
