/** The evidence of a run with what the auditor looks up in it all the time. */
import type { Ask, Call, Evidence, Receipt, Seen, Try } from "./Notes.ts"

export interface Case {
  readonly evidence: Evidence
  readonly asks: ReadonlyMap<string, Ask>
  readonly receiptsById: ReadonlyMap<string, Receipt>
  readonly receiptsByTrace: ReadonlyMap<string, Receipt>
  readonly receiptsByKey: ReadonlyMap<string, ReadonlyArray<Receipt>>
  readonly triesByTrace: ReadonlyMap<string, Try>
  readonly triesByAsk: ReadonlyMap<string, ReadonlyArray<Try>>
  readonly callsByAsk: ReadonlyMap<string, ReadonlyArray<Call>>
}

/** Groups what has a key by it. */
export const groupBy = <A>(all: ReadonlyArray<A>, keyOf: (one: A) => string | undefined): Map<string, Array<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const one of all) {
    const key = keyOf(one)
    const group = key === undefined ? undefined : groups.get(key)
    if (group !== undefined) group.push(one)
    else if (key !== undefined) groups.set(key, [one])
  }
  return groups
}

const mapBy = <A>(all: ReadonlyArray<A>, keyOf: (one: A) => string | undefined): Map<string, A> =>
  new Map(all.flatMap((one): Array<[string, A]> => ((key) => (key === undefined ? [] : [[key, one]]))(keyOf(one))))

export const caseOf = (evidence: Evidence): Case => ({
  evidence,
  asks: mapBy(evidence.asks, ({ id }) => id),
  receiptsById: mapBy(evidence.receipts, ({ id }) => id),
  receiptsByTrace: mapBy(evidence.receipts, ({ traceId }) => traceId),
  receiptsByKey: groupBy(evidence.receipts, ({ idempotencyKey }) => idempotencyKey),
  triesByTrace: mapBy(evidence.tries, ({ traceId }) => traceId),
  triesByAsk: groupBy(evidence.tries, ({ ask }) => ask),
  callsByAsk: groupBy(evidence.calls, ({ ask }) => ask)
})

/** What the client saw of a try, if anything. */
export const seenOf = ({ ending }: Try): Seen | undefined => ("seen" in ending ? ending.seen : undefined)

/** Every try that saw something, with what it saw. */
export const answersOf = (it: Case): ReadonlyArray<{ readonly one: Try; readonly seen: Seen }> =>
  it.evidence.tries.flatMap((one) => ((seen) => (seen === undefined ? [] : [{ one, seen }]))(seenOf(one)))

/** The try that carried a receipt's trace. */
export const tryOf = (it: Case, { traceId }: Receipt): Try | undefined =>
  traceId === undefined ? undefined : it.triesByTrace.get(traceId)

/** The ask behind a receipt. */
export const askOf = (it: Case, receipt: Receipt): Ask | undefined => {
  const one = tryOf(it, receipt)
  return one === undefined ? undefined : it.asks.get(one.ask)
}
