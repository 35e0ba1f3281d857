/** What the faults of a run excuse, and what they do not. Pure functions over values. */
import type { Case } from "./Case.ts"
import {
  type Ask,
  type Behaviour,
  type Evidence,
  HOLD_TTL_MS,
  NO_TROUBLES,
  type Outage,
  type Reading,
  type Receipt,
  SHUTDOWN_DELAY_MS,
  SWEEP_MS,
  type Troubles,
  type Try
} from "./Notes.ts"
import { common, extended, setOf, undisturbed } from "./Times.ts"

/** Connections are made anew, and what gathered is worked off, within this time of the database's return. */
const RECOVERY_MS = 10_000

/** By when a request whose answer has broken off is settled, unless its gateway or the database is away. */
const SETTLED_MS = 5_000

/** A gateway renews a hold before a third of its life is over, so two thirds are left of it when something begins. */
const OUTLIVED_MS = (HOLD_TTL_MS * 2) / 3

/** So long after the database's return, or its own, a gateway has renewed every hold that still lives. */
const RENEWED_MS = 2_000

/** A gateway looks for holds that have ended twelve times in the life of one; a busy machine takes longer. */
const NOTICED_MS = 1_500

/** A gateway that answers none of so many requests under way for so long stands still. */
const STANDSTILL_MS = 2_000
const MANY = 4

/** A sweep comes by within this time, jitter included, and ends what is overdue; a busy machine takes longer. */
const SWEPT_MS = 2 * SWEEP_MS + 2_000

/** A message that was accepted is noted as delivered within this time. */
const NOTED_MS = 2_000

type Span = Pick<Try, "endedAt" | "startedAt">

const overlaps = ({ endedAt, startedAt }: Span, outages: ReadonlyArray<Outage>, recoveryMs = 0) =>
  outages.some(({ from, to }) => startedAt <= to + recoveryMs && endedAt >= from)

const troublesOf = ({ gateways }: Evidence, { gateway }: Pick<Try, "gateway">): Troubles =>
  gateways[gateway] ?? NO_TROUBLES

/** When the database did not commit, or slowly. */
const databaseAway = ({ outages, slows }: Evidence): ReadonlyArray<Outage> => [...outages, ...slows]

/** When the gateway of a try could not speak to the database. */
const withoutDatabase = (evidence: Evidence, one: Pick<Try, "gateway">): ReadonlyArray<Outage> => {
  const { partitions, pauses } = troublesOf(evidence, one)
  return [...databaseAway(evidence), ...partitions, ...pauses]
}

/**
 * When a gateway answered nothing at all although it was asked: a machine with too much to do gave it no time. A fault that concerns
 * only some requests is no standstill.
 */
export const standstills = (evidence: Evidence, gateway: number): ReadonlyArray<Outage> => {
  const known = standstillsOf.get(evidence) ?? evidence.gateways.map((_, one) => findStandstills(evidence, one))
  standstillsOf.set(evidence, known)
  return known[gateway] ?? []
}

/** Nearly every rule asks for them, and to find them takes a look at every try. */
const standstillsOf = new WeakMap<Evidence, ReadonlyArray<ReadonlyArray<Outage>>>()

const findStandstills = ({ tries }: Evidence, gateway: number): ReadonlyArray<Outage> => {
  const mine = tries.filter((one) => one.gateway === gateway && one.ending._tag !== "Refused")
  const ends = mine.map(({ endedAt }) => endedAt).toSorted((a, b) => a - b)
  const gaps = ends.flatMap((to, index) => {
    const from = ends[index - 1] ?? Number.POSITIVE_INFINITY
    return to - from >= STANDSTILL_MS ? [{ from, to }] : []
  })
  return gaps.filter(({ from, to }) => mine.filter((one) => one.startedAt <= from && one.endedAt >= to).length >= MANY)
}

/** When the gateway of a try could not renew its holds for so long that they ended: one interruption, or several in a row. */
const withoutRenewal = (evidence: Evidence, one: Try): ReadonlyArray<Outage> =>
  extended([...withoutDatabase(evidence, one), ...standstills(evidence, one.gateway)], RENEWED_MS).filter(
    ({ from, to }) => to - from > OUTLIVED_MS
  )

/** The decided exception: a hold that ran out because its gateway could not renew it. The house pays. */
export const expiredUnrenewed = (evidence: Evidence, one: Try, receipt: Receipt): boolean =>
  receipt.errorCode === "request_expired" && receipt.absorbed > 0n && overlaps(one, withoutRenewal(evidence, one))

/**
 * Whether a try was left to its hold's expiry: its process died in its midst or before it was settled, or could not renew it. What it
 * had recorded is paid.
 */
export const isLeftBehind = (evidence: Evidence, one: Try, { errorCode }: Receipt): boolean => {
  const until = { ...one, endedAt: one.endedAt + SETTLED_MS }
  const away = [...troublesOf(evidence, one).deaths, ...withoutRenewal(evidence, one)]
  return errorCode === "request_expired" && overlaps(until, away)
}

/**
 * Whether a try may have lost its gateway: the process was killed meanwhile, or the try was begun when the process that was told to
 * stop served no longer, and heard nothing. What was begun before must come to its end.
 */
export const mayBreakOff = (evidence: Evidence, one: Try): boolean => {
  const { deaths, deploys } = troublesOf(evidence, one)
  const unheard = one.ending._tag === "Refused" || (one.ending._tag === "Lost" && one.ending.seen === undefined)
  const late = deploys.some(({ from, to }) => one.startedAt >= from + SHUTDOWN_DELAY_MS && one.startedAt <= to)
  return overlaps(one, deaths) || (unheard && late)
}

/** After this moment a try whose hold has ended must give nothing more; undefined when nothing kept its gateway from renewing. */
export const lastGift = (evidence: Evidence, one: Try, { expiresAt }: Receipt): number | undefined => {
  const { deaths, partitions, pauses } = troublesOf(evidence, one)
  const met = (times: ReadonlyArray<Outage>) => times.filter((time) => overlaps(one, [time]))
  const renewed = (from: number) => Math.max(from, one.startedAt) + HOLD_TTL_MS
  const whole = "seen" in one.ending && one.ending.seen?.whole === true
  const silent = met([...evidence.outages.filter(({ commits }) => commits !== true), ...partitions])
  const ends = [
    ...silent.map(({ from }) => renewed(from)),
    // Part of it still commits.
    ...met([...evidence.outages.filter(({ commits }) => commits === true), ...evidence.slows]).map(({ to }) =>
      renewed(to)
    ),
    // The rest of an answer that its provider has finished waits for the settle: one after the hold's end charges nothing.
    ...(whole ? silent.map(({ to }) => to + RENEWED_MS) : []),
    // What kept the gateway from renewing ended in time, and the process that renewed the hold was killed.
    ...(expiresAt === undefined ? [] : met(deaths).map(() => expiresAt)),
    // A process that does not run notices nothing, and gives nothing.
    ...met(pauses).map(({ to }) => to)
  ]
  return ends.length === 0 ? undefined : Math.max(...ends) + NOTICED_MS
}

/** When no gateway could sweep. */
const unswept = (evidence: Evidence): ReadonlyArray<Outage> => {
  const [first = [], ...more] = evidence.gateways.map(({ deaths, deploys, partitions, pauses }) =>
    extended([...deaths, ...deploys, ...partitions, ...pauses], RENEWED_MS)
  )
  return setOf([...extended(databaseAway(evidence), RENEWED_MS), ...more.reduce(common, first)])
}

/** By when a hold that is overdue at a moment has ended. */
export const sweptBy = (evidence: Evidence): ((expiresAt: number) => number) => {
  const away = unswept(evidence)
  return (expiresAt) => undisturbed(away, expiresAt, SWEPT_MS)
}

/** Whether anything was away when a message that was accepted at this moment was to be noted so. */
export const wasDisturbed = (evidence: Evidence, acceptedAt: number): boolean => {
  const { gateways } = evidence
  const away = gateways.flatMap(({ deaths, deploys, partitions, pauses }) => [
    ...deaths,
    ...deploys,
    ...partitions,
    ...pauses
  ])
  const noting = { startedAt: acceptedAt - NOTED_MS, endedAt: acceptedAt + NOTED_MS }
  return overlaps(noting, [...databaseAway(evidence), ...away])
}

/** Whether nothing that its gateway needs was away for a try, nor shortly before. */
export const isCalm = (evidence: Evidence, one: Try): boolean => {
  const { deaths, deploys } = troublesOf(evidence, one)
  return !overlaps(one, [...withoutDatabase(evidence, one), ...deaths, ...deploys], RECOVERY_MS)
}

const fails = ({ _tag }: Behaviour): boolean => _tag !== "Answer"

/** Whether what the upstream does to this ask can end in a failure of its own: a host fails, and the other may be resting. */
const mayFail = (ask: Ask): boolean => Object.values(ask.behaviour).some(fails)

/** Whether a host limits the rate of this ask: when all hosts that are asked do, the answer is 429. */
const mayBeLimited = (ask: Ask): boolean =>
  Object.values(ask.behaviour).some((one) => one._tag === "Status" && one.status === 429)

/** Whether another try may have the key: one that is under way, or whose hold has been left behind and not ended yet. */
const isClaimed = ({ evidence, triesByAsk }: Case, one: Try): boolean => {
  const swept = sweptBy(evidence)
  return (triesByAsk.get(one.ask) ?? []).some(
    (other) =>
      other !== one &&
      other.startedAt <= one.endedAt &&
      one.startedAt <= swept(other.endedAt + HOLD_TTL_MS) + RECOVERY_MS
  )
}

/** Whether a request under the key has ended without an answer that could be kept. */
const hasNoAnswer = ({ receiptsByKey }: Case, key: string): boolean =>
  (receiptsByKey.get(key) ?? []).some(({ status }) => status !== "succeeded")

/** Whether the database was away for a try or a reader. */
export const mayBeUnavailable = (evidence: Evidence, one: Try | Reading): boolean =>
  overlaps(one, withoutDatabase(evidence, one), RECOVERY_MS)

/** Why a failure with this code is in order; undefined when it is not. */
export const excuse = (it: Case, one: Try, code: string | undefined, ask: Ask): string | undefined => {
  const { evidence } = it
  const key = ask.idempotencyKey
  switch (code) {
    case "insufficient_credits":
      return ask.account === "poor" || ask.account === "spent" ? "no money" : undefined
    case "upstream_error":
    case "upstream_timeout":
    case "empty_completion":
      // The clocks of a process run while it does not.
      return mayFail(ask) || overlaps(one, troublesOf(evidence, one).pauses) ? "scripted, or late" : undefined
    case "rate_limit_exceeded":
      return mayBeLimited(ask) ? "scripted" : undefined
    case "no_provider_available":
      return "both hosts are resting, whatever they would have done to this ask"
    case "store_unavailable":
      return mayBeUnavailable(evidence, one) ? "the database" : undefined
    case "request_expired":
      return overlaps(one, withoutRenewal(evidence, one)) ? "its hold ended" : undefined
    case "idempotency_request_in_progress":
      return key !== undefined && isClaimed(it, one) ? "its key" : undefined
    case "idempotency_result_unavailable":
      return key !== undefined && hasNoAnswer(it, key) ? "its key" : undefined
    default:
      return undefined
  }
}
