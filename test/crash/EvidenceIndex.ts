/** Indexes over the evidence of a run, for the auditor's rules. */
import type { Attempt, Call, ClientAnswer, Evidence, Operation, Receipt } from "./Evidence.ts"

export interface EvidenceIndex {
  readonly evidence: Evidence
  readonly operations: ReadonlyMap<string, Operation>
  readonly receiptsById: ReadonlyMap<string, Receipt>
  readonly receiptsByTrace: ReadonlyMap<string, Receipt>
  readonly receiptsByKey: ReadonlyMap<string, ReadonlyArray<Receipt>>
  readonly attemptsByTrace: ReadonlyMap<string, Attempt>
  readonly attemptsByOperation: ReadonlyMap<string, ReadonlyArray<Attempt>>
  readonly callsByOperation: ReadonlyMap<string, ReadonlyArray<Call>>
}

/** Groups items by key, without the items that have none. */
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

export const indexEvidence = (evidence: Evidence): EvidenceIndex => ({
  evidence,
  operations: mapBy(evidence.operations, ({ id }) => id),
  receiptsById: mapBy(evidence.receipts, ({ id }) => id),
  receiptsByTrace: mapBy(evidence.receipts, ({ traceId }) => traceId),
  receiptsByKey: groupBy(evidence.receipts, ({ idempotencyKey }) => idempotencyKey),
  attemptsByTrace: mapBy(evidence.attempts, ({ traceId }) => traceId),
  attemptsByOperation: groupBy(evidence.attempts, ({ operation }) => operation),
  callsByOperation: groupBy(evidence.calls, ({ operation }) => operation)
})

/** The client's answer to an attempt, complete or partial. */
export const answerOf = ({ outcome }: Attempt): ClientAnswer | undefined =>
  "answer" in outcome ? outcome.answer : undefined

/** Every attempt with an answer, complete or partial. */
export const answersOf = ({
  evidence
}: EvidenceIndex): ReadonlyArray<{ readonly attempt: Attempt; readonly answer: ClientAnswer }> =>
  evidence.attempts.flatMap((attempt) => {
    const answer = answerOf(attempt)
    return answer === undefined ? [] : [{ attempt, answer }]
  })

/** The attempt that a receipt belongs to. */
export const attemptOf = (index: EvidenceIndex, { traceId }: Receipt): Attempt | undefined =>
  traceId === undefined ? undefined : index.attemptsByTrace.get(traceId)

/** The operation that a receipt belongs to. */
export const operationOf = (index: EvidenceIndex, receipt: Receipt): Operation | undefined => {
  const attempt = attemptOf(index, receipt)
  return attempt === undefined ? undefined : index.operations.get(attempt.operation)
}
