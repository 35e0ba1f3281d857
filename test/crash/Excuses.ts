/** Which failures the faults of a run excuse. Pure functions over values. */
import {
  type Attempt,
  type Behaviour,
  type Evidence,
  type GatewayOutages,
  HOLD_TTL_MS,
  NO_OUTAGES,
  type Operation,
  type Outage,
  type Receipt,
  type ReceiptsRead,
  SHUTDOWN_DELAY_MS,
  SWEEP_MS
} from "./Evidence.ts"
import type { EvidenceIndex } from "./EvidenceIndex.ts"
import { extend, intersection, quietSince, union } from "./Intervals.ts"

/** After an outage of the database, gateways reconnect and finish their backlog within this time. */
const RECOVERY_MS = 10_000

/** A gateway settles an interrupted request within this time, unless the gateway or the database is away. */
const SETTLED_MS = 5_000

/** A gateway renews a hold in the first third of its life, so an outage shorter than the other two thirds expires no hold. */
const OUTLIVED_MS = (HOLD_TTL_MS * 2) / 3

/** After an outage, a gateway renews every live hold within this time. */
const RENEWED_MS = 2_000

/** A gateway checks for expired holds twelve times in the life of one; a busy machine delays the check. */
const NOTICED_MS = 1_500

/** A gateway stands still when it answers none of this many open requests for this long. */
const STANDSTILL_MS = 2_000
const STANDSTILL_REQUESTS = 4

/** A sweep ends an expired hold within this time, with jitter and the delay of a busy machine. */
const SWEPT_MS = 2 * SWEEP_MS + 2_000

/** A gateway records an accepted webhook as delivered within this time. */
const RECORDED_MS = 2_000

type Span = Pick<Attempt, "endedAt" | "startedAt">

const overlaps = ({ endedAt, startedAt }: Span, outages: ReadonlyArray<Outage>, recoveryMs = 0) =>
  outages.some(({ from, to }) => startedAt <= to + recoveryMs && endedAt >= from)

const outagesOf = ({ gateways }: Evidence, { gateway }: Pick<Attempt, "gateway">): GatewayOutages =>
  gateways[gateway] ?? NO_OUTAGES

/** When the database committed nothing, or slowly. */
const databaseAway = ({ outages, slows }: Evidence): ReadonlyArray<Outage> => [...outages, ...slows]

/** When the gateway of an attempt could not reach the database. */
const withoutDatabase = (evidence: Evidence, attempt: Pick<Attempt, "gateway">): ReadonlyArray<Outage> => {
  const { partitions, pauses } = outagesOf(evidence, attempt)
  return [...databaseAway(evidence), ...partitions, ...pauses]
}

/** When a gateway answered none of its open requests, because a busy machine did not run it. */
export const standstills = (evidence: Evidence, gateway: number): ReadonlyArray<Outage> => {
  const known = standstillsOf.get(evidence) ?? evidence.gateways.map((_, one) => findStandstills(evidence, one))
  standstillsOf.set(evidence, known)
  return known[gateway] ?? []
}

/** A cache, because most rules need the standstills and finding them reads every attempt. */
const standstillsOf = new WeakMap<Evidence, ReadonlyArray<ReadonlyArray<Outage>>>()

const findStandstills = ({ attempts }: Evidence, gateway: number): ReadonlyArray<Outage> => {
  const mine = attempts.filter((attempt) => attempt.gateway === gateway && attempt.outcome._tag !== "Refused")
  const ends = mine.map(({ endedAt }) => endedAt).toSorted((a, b) => a - b)
  const gaps = ends.flatMap((to, index) => {
    const from = ends[index - 1] ?? Number.POSITIVE_INFINITY
    return to - from >= STANDSTILL_MS ? [{ from, to }] : []
  })
  return gaps.filter(
    ({ from, to }) =>
      mine.filter(({ endedAt, startedAt }) => startedAt <= from && endedAt >= to).length >= STANDSTILL_REQUESTS
  )
}

/** When one or several interruptions kept the gateway of an attempt from renewing its holds until they expired. */
const withoutRenewal = (evidence: Evidence, attempt: Attempt): ReadonlyArray<Outage> =>
  extend([...withoutDatabase(evidence, attempt), ...standstills(evidence, attempt.gateway)], RENEWED_MS).filter(
    ({ from, to }) => to - from > OUTLIVED_MS
  )

/** Whether a hold expired because its gateway could not renew it. Then the gateway absorbs the cost of the answer. */
export const expiredUnrenewed = (evidence: Evidence, attempt: Attempt, receipt: Receipt): boolean =>
  receipt.errorCode === "request_expired" &&
  receipt.absorbed > 0n &&
  overlaps(attempt, withoutRenewal(evidence, attempt))

/**
 * Whether the hold of an attempt expired because its gateway was killed before it settled the request, or could not renew the hold. Then
 * the caller pays the recorded progress.
 */
export const wasLeftToExpire = (evidence: Evidence, attempt: Attempt, { errorCode }: Receipt): boolean => {
  const until = { ...attempt, endedAt: attempt.endedAt + SETTLED_MS }
  const away = [...outagesOf(evidence, attempt).kills, ...withoutRenewal(evidence, attempt)]
  return errorCode === "request_expired" && overlaps(until, away)
}

/** A busy process may not yet have accepted a connection of this age. When it stops listening, the system resets the connection. */
const UNACCEPTED_MS = 100

/**
 * Whether an attempt may have lost its gateway: the process was killed, or the attempt connected when the shutdown delay of a deploy
 * ended, or later, and received nothing. A gateway finishes the requests that it received earlier.
 */
export const mayBreakOff = (evidence: Evidence, attempt: Attempt): boolean => {
  const { outcome, startedAt } = attempt
  const { deploys, kills } = outagesOf(evidence, attempt)
  const unanswered = outcome._tag === "Refused" || (outcome._tag === "Lost" && outcome.answer === undefined)
  const late = deploys.some(({ from, to }) => startedAt >= from + SHUTDOWN_DELAY_MS - UNACCEPTED_MS && startedAt <= to)
  return overlaps(attempt, kills) || (unanswered && late)
}

/** The latest moment for content of an attempt whose hold expired; undefined when nothing kept the gateway from renewing the hold. */
export const latestContentAt = (evidence: Evidence, attempt: Attempt, { expiresAt }: Receipt): number | undefined => {
  const { outcome, startedAt } = attempt
  const { kills, partitions, pauses } = outagesOf(evidence, attempt)
  const during = (times: ReadonlyArray<Outage>) => times.filter((time) => overlaps(attempt, [time]))
  const renewed = (from: number) => Math.max(from, startedAt) + HOLD_TTL_MS
  const complete = "answer" in outcome && outcome.answer?.complete === true
  const silent = during([...evidence.outages.filter(({ commits }) => commits !== true), ...partitions])
  const ends = [
    ...silent.map(({ from }) => renewed(from)),
    // Some transactions commit during these, so a renewal may succeed until their end.
    ...during([...evidence.outages.filter(({ commits }) => commits === true), ...evidence.slows]).map(({ to }) =>
      renewed(to)
    ),
    // The gateway sends the rest of a finished answer after the settle, which waits for the database. A settle after expiry charges nothing.
    ...(complete ? silent.map(({ to }) => to + RENEWED_MS) : []),
    // The gateway renewed the hold after the interruption, and was killed later.
    ...(expiresAt === undefined ? [] : during(kills).map(() => expiresAt)),
    // A suspended process notices nothing and sends nothing.
    ...during(pauses).map(({ to }) => to)
  ]
  return ends.length === 0 ? undefined : Math.max(...ends) + NOTICED_MS
}

/** When no gateway could sweep. */
const unswept = (evidence: Evidence): ReadonlyArray<Outage> => {
  const [first = [], ...more] = evidence.gateways.map(({ deploys, kills, partitions, pauses }) =>
    extend([...kills, ...deploys, ...partitions, ...pauses], RENEWED_MS)
  )
  return union([...extend(databaseAway(evidence), RENEWED_MS), ...more.reduce(intersection, first)])
}

/** Returns the function from a hold's expiry to the latest moment at which a sweep ends the hold. */
export const sweepDeadline = (evidence: Evidence): ((expiresAt: number) => number) => {
  const away = unswept(evidence)
  return (expiresAt) => quietSince(away, expiresAt, SWEPT_MS)
}

/** Whether an outage may have kept a gateway from recording a webhook that the endpoint accepted at this moment. */
export const wasDisturbed = (evidence: Evidence, acceptedAt: number): boolean => {
  const away = evidence.gateways.flatMap(({ deploys, kills, partitions, pauses }) => [
    ...kills,
    ...deploys,
    ...partitions,
    ...pauses
  ])
  const recording = { startedAt: acceptedAt - RECORDED_MS, endedAt: acceptedAt + RECORDED_MS }
  return overlaps(recording, [...databaseAway(evidence), ...away])
}

/** Whether neither the gateway nor the database was away during an attempt or shortly before it. */
export const isCalm = (evidence: Evidence, attempt: Attempt): boolean => {
  const { deploys, kills } = outagesOf(evidence, attempt)
  return !overlaps(attempt, [...withoutDatabase(evidence, attempt), ...kills, ...deploys], RECOVERY_MS)
}

const fails = ({ _tag }: Behaviour): boolean => _tag !== "Answer"

/** Whether a host fails this operation. One is enough, because the breaker of the other may be open. */
const mayFail = (operation: Operation): boolean => Object.values(operation.behaviour).some(fails)

/** Whether a host answers this operation with 429. The gateway answers 429 when every host that it calls does. */
const mayBeLimited = (operation: Operation): boolean =>
  Object.values(operation.behaviour).some((one) => one._tag === "Status" && one.status === 429)

/** Whether another attempt may hold the idempotency key: an open one, or one whose hold has not expired yet. */
const keyMayBeClaimed = ({ attemptsByOperation, evidence }: EvidenceIndex, attempt: Attempt): boolean => {
  const deadline = sweepDeadline(evidence)
  return (attemptsByOperation.get(attempt.operation) ?? []).some(
    (other) =>
      other !== attempt &&
      other.startedAt <= attempt.endedAt &&
      attempt.startedAt <= deadline(other.endedAt + HOLD_TTL_MS) + RECOVERY_MS
  )
}

/** Whether a request under the key closed without an answer that the gateway could store. */
const hasNoAnswer = ({ receiptsByKey }: EvidenceIndex, key: string): boolean =>
  (receiptsByKey.get(key) ?? []).some(({ status }) => status !== "succeeded")

/** Whether the database was away during an attempt or a read of receipts. */
export const mayBeUnavailable = (evidence: Evidence, attempt: Attempt | ReceiptsRead): boolean =>
  overlaps(attempt, withoutDatabase(evidence, attempt), RECOVERY_MS)

/** The permitted cause of a failure with this code; undefined without one. */
export const excuse = (
  index: EvidenceIndex,
  attempt: Attempt,
  code: string | undefined,
  operation: Operation
): string | undefined => {
  const { evidence } = index
  const key = operation.idempotencyKey
  switch (code) {
    case "insufficient_credits":
      return operation.account === "poor" || operation.account === "spent" ? "a low balance" : undefined
    case "upstream_error":
    case "upstream_timeout":
    case "empty_completion":
      // The timeouts of a suspended process run on.
      return mayFail(operation) || overlaps(attempt, outagesOf(evidence, attempt).pauses)
        ? "a scripted failure, or a pause"
        : undefined
    case "rate_limit_exceeded":
      return mayBeLimited(operation) ? "a scripted failure" : undefined
    case "no_provider_available":
      return "the breakers of both hosts are open, whatever the script of this operation"
    case "store_unavailable":
      return mayBeUnavailable(evidence, attempt) ? "an outage of the database" : undefined
    case "request_expired":
      return overlaps(attempt, withoutRenewal(evidence, attempt)) ? "an expired hold" : undefined
    case "idempotency_request_in_progress":
      return key !== undefined && keyMayBeClaimed(index, attempt) ? "another attempt" : undefined
    case "idempotency_result_unavailable":
      return key !== undefined && hasNoAnswer(index, key) ? "an earlier request without an answer" : undefined
    default:
      return undefined
  }
}
