/** The ledger of an account's month: its top-ups and credits, the cost of each day, and the balance after each line. */
import type { Transaction, UsageSeriesReport } from "../../client/Contract.ts"

const DAY = 86_400

/** A line of a ledger, in US dollars. */
export interface LedgerLine {
  readonly id: string
  /** Unix seconds; the start of the day for the requests of a day. */
  readonly at: number
  readonly kind: Transaction["type"] | "requests"
  /** The number of requests of a day; undefined for other lines. */
  readonly requests: number | undefined
  readonly reference: string | null
  readonly topUpId: string | null
  /** Negative when money left the account. */
  readonly amount: number
  readonly balance: number
}

export interface Ledger {
  readonly opening: number
  readonly closing: number
  readonly paidIn: number
  readonly spent: number
  /** Oldest first. */
  readonly lines: ReadonlyArray<LedgerLine>
}

export interface Month {
  readonly start: number
  readonly end: number
}

/** How many years back a statement may be. Its balance follows from everything since, so older ones take longer. */
const MAX_YEARS = 10

/** Whether a text is a month, as `YYYY-MM`, that has begun and is at most ten years old. */
export const isMonth = (text: string, now: number): boolean =>
  /^\d{4}-(0[1-9]|1[0-2])$/.test(text) && text <= monthAt(now) && text >= monthsBefore(monthAt(now), 12 * MAX_YEARS)

/** The maximum number of days of usage that one call returns. */
const MAX_DAYS = 366

/** Divides the time from a midnight to a moment into spans that one call each can read. */
export const spansFrom = (start: number, end: number): ReadonlyArray<Month> => {
  const spans: Array<Month> = []
  for (let from = start; from < end; from += MAX_DAYS * DAY)
    spans.push({ start: from, end: Math.min(end, from + MAX_DAYS * DAY) })
  return spans
}

/** The month of a moment in UTC, as `YYYY-MM`. */
export const monthAt = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 7)

/** The month that is this many months before another. */
export const monthsBefore = (month: string, count: number): string => {
  const [year = 0, number = 1] = month.split("-").map(Number)
  return new Date(Date.UTC(year, number - 1 - count)).toISOString().slice(0, 7)
}

/** The start and the end of a month in Unix seconds; the end is excluded. */
export const timesOfMonth = (month: string): Month => ({
  start: Date.parse(`${month}-01`) / 1_000,
  end: Date.parse(`${monthsBefore(month, -1)}-01`) / 1_000
})

const NANO = 1e9

/** An amount in whole nano-dollars, as the gateway has it, so that sums have no rounding errors. */
const nano = (usd: number): number => Math.round(usd * NANO)

interface Facts {
  /** The present balance. */
  readonly balance: number
  /** All transactions since the start of the month, in any order. They include no charges. */
  readonly transactions: ReadonlyArray<Transaction>
  /** The cost of requests on each day since the start of the month, in consecutive spans. */
  readonly usage: ReadonlyArray<Pick<UsageSeriesReport, "buckets" | "data">>
  readonly month: Month
}

/** A line for each day with requests. */
const daysOf = ({ buckets, data }: Pick<UsageSeriesReport, "buckets" | "data">) =>
  buckets.flatMap((start, at) => {
    const cost = data.reduce((sum, one) => sum + nano(one.values.cost_usd[at] ?? 0), 0)
    const requests = data.reduce((sum, one) => sum + (one.values.requests[at] ?? 0), 0)
    const line = { id: `day ${start}`, at: start, kind: "requests" as const, reference: null, topUpId: null }
    return requests === 0 && cost === 0 ? [] : [{ ...line, requests, amount: -cost }]
  })

/**
 * Computes the ledger of a month. The cost of a day is net of refunds, so refunds have no lines. The balance of each line is computed
 * backwards from the present one.
 */
export const ledgerOf = ({ balance, month, transactions, usage }: Facts): Ledger => {
  const days = usage.flatMap(daysOf)
  const movements = transactions
    .filter(({ type }) => type !== "refund")
    .map(({ amount_usd, created_at, id, reference, top_up_id, type }) => ({
      id,
      at: created_at,
      kind: type,
      requests: undefined,
      reference,
      topUpId: top_up_id,
      amount: nano(amount_usd)
    }))
  // The line of a day's requests comes at the end of the day.
  const order = (line: { readonly at: number; readonly kind: string }) => line.at + (line.kind === "requests" ? DAY : 0)
  const newestFirst = [...days, ...movements].toSorted((one, other) => order(other) - order(one))
  let after = nano(balance)
  const lines: Array<LedgerLine> = []
  let closing = after
  for (const line of newestFirst) {
    if (line.at < month.start) break
    if (line.at < month.end) lines.push({ ...line, amount: line.amount / NANO, balance: after / NANO })
    after -= line.amount
    if (line.at >= month.end) closing = after
  }
  const sum = (amounts: ReadonlyArray<number>) => amounts.reduce((total, amount) => total + nano(amount), 0) / NANO
  return {
    opening: after / NANO,
    closing: closing / NANO,
    paidIn: sum(lines.filter(({ kind }) => kind !== "requests").map(({ amount }) => amount)),
    spent: -sum(lines.filter(({ kind }) => kind === "requests").map(({ amount }) => amount)),
    lines: lines.toReversed()
  }
}
