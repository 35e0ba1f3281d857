/** What the faults of a run excuse, and what they do not. Pure functions over values. */
import {
  type Ask,
  type Behaviour,
  type Deploy,
  type Evidence,
  HOLD_TTL_MS,
  NO_TROUBLES,
  type Outage,
  type Receipt,
  type Try
} from "./Notes.ts"

/** Connections are made anew, and what gathered is worked off, within this time of the database's return. */
const RECOVERY_MS = 10_000

/** By when a request whose answer has broken off is settled, unless its gateway or the database is away. */
const SETTLED_MS = 5_000

/** A gateway renews a hold before a third of its life is over, so a hold outlives every interruption that is shorter than this. */
const OUTLIVED_MS = HOLD_TTL_MS / 2

/** A gateway looks for holds that have ended a few times a second; a busy machine takes longer. */
const NOTICED_MS = 3_000

const overlaps = (
  { endedAt, startedAt }: Pick<Try, "endedAt" | "startedAt">,
  outages: ReadonlyArray<Outage>,
  recoveryMs = 0
) => outages.some(({ from, to }) => startedAt <= to + recoveryMs && endedAt >= from)

const troublesOf = ({ gateways }: Evidence, { gateway }: Try) => gateways[gateway] ?? NO_TROUBLES

const isLong = ({ from, to }: Outage): boolean => to - from > OUTLIVED_MS

/** When the database did not commit, or so late that a busy machine takes it for the same. */
const databaseAway = ({ outages, slows }: Evidence): ReadonlyArray<Outage> => [...outages, ...slows]

/** When the gateway of a try could not speak to the database. */
const withoutDatabase = (evidence: Evidence, one: Try): ReadonlyArray<Outage> => {
  const { partitions, pauses } = troublesOf(evidence, one)
  return [...databaseAway(evidence), ...partitions, ...pauses]
}

/** When the gateway of a try could not renew its holds for so long that they ended. */
const withoutRenewal = (evidence: Evidence, one: Try): ReadonlyArray<Outage> => {
  const { partitions, pauses } = troublesOf(evidence, one)
  return [...databaseAway(evidence), ...[...partitions, ...pauses].filter(isLong)]
}

/** The decided exception: a hold that ran out because its gateway could not renew it. The house pays. */
export const expiredUnrenewed = (evidence: Evidence, one: Try, receipt: Receipt): boolean =>
  receipt.errorCode === "request_expired" && receipt.absorbed > 0n && overlaps(one, withoutRenewal(evidence, one))

/** Whether a try was left to its hold's expiry by who was to settle it, in its midst or after it: what it had recorded is paid. */
export const isLeftBehind = (evidence: Evidence, one: Try, { errorCode }: Receipt): boolean => {
  const until = { ...one, endedAt: one.endedAt + SETTLED_MS }
  const away = [...troublesOf(evidence, one).deaths, ...withoutRenewal(evidence, one)]
  return errorCode === "request_expired" && overlaps(until, away, RECOVERY_MS)
}

const isOver = (deploys: ReadonlyArray<Deploy>, { startedAt }: Try): ReadonlyArray<Deploy> =>
  deploys.filter(({ from, to }) => startedAt >= from && startedAt <= to)

/**
 * Whether a try may have lost its gateway: the process was killed meanwhile, or the try was begun after it was told to stop and heard
 * nothing. What was begun before a deploy must come to its end.
 */
export const mayBreakOff = (evidence: Evidence, one: Try): boolean => {
  const { deaths, deploys } = troublesOf(evidence, one)
  const unheard = one.ending._tag === "Refused" || (one.ending._tag === "Lost" && one.ending.seen === undefined)
  return overlaps(one, deaths) || (unheard && isOver(deploys, one).length > 0)
}

/** After this moment a try whose hold has ended must give nothing more; undefined when nothing kept its gateway from renewing. */
export const lastGift = (evidence: Evidence, one: Try): number | undefined => {
  const { partitions, pauses } = troublesOf(evidence, one)
  const met = (times: ReadonlyArray<Outage>) => times.filter((time) => overlaps(one, [time]))
  const ends = [
    // Part of it may still commit, as one with a full disk or a slow one does.
    ...met(databaseAway(evidence)).map(({ to }) => to + HOLD_TTL_MS),
    ...met(partitions).map(({ from }) => Math.max(from, one.startedAt) + HOLD_TTL_MS),
    // The rest of an answer that its provider has finished waits for the settle: one after the hold's end charges nothing.
    ...("seen" in one.ending && one.ending.seen?.whole === true ? met(partitions).map(({ to }) => to) : []),
    // A process that does not run notices nothing, and gives nothing.
    ...met(pauses).map(({ to }) => to)
  ]
  return ends.length === 0 ? undefined : Math.max(...ends) + NOTICED_MS
}

const fails = ({ _tag }: Behaviour): boolean => _tag !== "Answer"

/** Whether what the upstream does to this ask can end in a failure of its own: a host fails, and the other may be resting. */
const mayFail = (ask: Ask): boolean => Object.values(ask.behaviour).some(fails)

/** Whether a host limits the rate of this ask: when all hosts that are asked do, the answer is 429. */
const mayBeLimited = (ask: Ask): boolean =>
  Object.values(ask.behaviour).some((one) => one._tag === "Status" && one.status === 429)

/** Why a failure with this code is in order; undefined when it is not. */
export const excuse = (evidence: Evidence, one: Try, code: string | undefined, ask: Ask): string | undefined => {
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
      return overlaps(one, withoutDatabase(evidence, one), RECOVERY_MS) ? "the database" : undefined
    case "request_expired":
      return overlaps(one, withoutRenewal(evidence, one), RECOVERY_MS) ? "its hold ended" : undefined
    case "idempotency_request_in_progress":
    case "idempotency_result_unavailable":
      return ask.idempotencyKey === undefined ? undefined : "its key"
    default:
      return undefined
  }
}
