/** The steps of a request for its timeline. */
import type { RequestReceipt } from "../../../client/Contract.ts"
import { duration } from "../../format/Figures.ts"
import { money } from "../../format/Money.ts"

export interface Step {
  readonly name: string
  readonly kind: "hold" | "wait" | "failed" | "run" | "settle"
  readonly from: number
  readonly to: number
  readonly note: string
  /** When the first output arrived, for the attempt that served a stream. */
  readonly first?: number
}

interface TimedAttempt {
  readonly provider: string
  readonly served: boolean
  readonly isLast: boolean
  readonly from: number
  readonly to: number
}

/** The attempts in the order of their starts. Receipts of earlier versions have no times of attempts, so the serving attempt gets all the time. */
const timedAttempts = ({ routing, timings }: RequestReceipt, held: number, end: number): ReadonlyArray<TimedAttempt> =>
  (routing?.provider_attempts ?? [])
    .map(({ attempt_index: at, outcome, provider }) => {
      const timed = timings.attempts.find(({ attempt_index }) => attempt_index === at)
      const served = outcome === "served"
      const from = timed?.start_ms ?? held
      const to =
        timed === undefined ? (served ? end : held) : timed.duration_ms === null ? end : from + timed.duration_ms
      return { provider, served, isLast: outcome === "failed", from, to }
    })
    .toSorted((one, other) => one.from - other.from)

const noteOf = (ran: TimedAttempt, all: ReadonlyArray<TimedAttempt>, first: number | null): string => {
  const took = duration(ran.to - ran.from)
  if (ran.served)
    return `answered in ${took}${first === null ? "" : `, first token after ${duration(first - ran.from)}`}`
  const winner = all.find(({ served }) => served)
  if (winner !== undefined && winner.from < ran.to) return `${took} beside ${winner.provider}, which answered first`
  const known = ran.to > ran.from ? ` after ${took}` : ""
  return ran.isLast ? `failed${known}` : `failed${known}, the next one took over`
}

/** Says how the hold ended. */
const settledNote = ({ held_usd, refunded_usd, settled_usd }: RequestReceipt, took: string): string => {
  if (settled_usd === 0) return `nothing charged, the hold returned in ${took}`
  const charged = `${money(settled_usd)} charged in ${took}`
  if (refunded_usd >= settled_usd) return `${charged}, all of it refunded`
  return settled_usd >= held_usd ? charged : `${charged}, the rest returned`
}

/** The steps of a request, in milliseconds from its arrival. */
export const stepsOf = (receipt: RequestReceipt): ReadonlyArray<Step> => {
  const { first_token_ms: first, hold_ms: hold, queue_ms: queue, settle_ms: settle, total_ms: total } = receipt.timings
  const read = queue ?? 0
  const held = read + (hold ?? 0)
  const end = Math.max(total ?? held, held)
  const steps: Array<Step> = []
  if (queue !== null) steps.push({ name: "Received", kind: "wait", from: 0, to: queue, note: duration(queue) })
  if (hold !== null) {
    const note = `${money(receipt.held_usd)} reserved in ${duration(hold)}`
    steps.push({ name: "Hold", kind: "hold", from: read, to: held, note })
  }
  const attempts = timedAttempts(receipt, held, end)
  for (const ran of attempts) {
    const { from, provider: name, served, to } = ran
    // A provider accepts a video at once, and the video may fail later.
    const isFailedLater = served && receipt.status === "failed"
    const note = isFailedLater ? `failed after ${duration(to - from)}` : noteOf(ran, attempts, first)
    steps.push({
      name,
      kind: served && !isFailedLater ? "run" : "failed",
      from,
      to,
      note,
      ...(served && first !== null ? { first } : {})
    })
  }
  if (settle !== null) {
    const note = settledNote(receipt, duration(settle))
    steps.push({ name: "Settle", kind: "settle", from: end, to: end + settle, note })
  }
  return steps
}
