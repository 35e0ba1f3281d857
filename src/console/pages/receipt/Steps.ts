/** The steps of a request, for its timeline. */
import type { RequestReceipt } from "../../../client/Contract.ts"
import { duration } from "../../format/Figures.ts"
import { money } from "../../format/Money.ts"

export interface Step {
  readonly name: string
  readonly kind: "hold" | "wait" | "run" | "settle"
  readonly from: number
  readonly to: number
  readonly note: string
}

/** The steps of a request in milliseconds from its arrival, as its timings tell them. */
export const stepsOf = (receipt: RequestReceipt): ReadonlyArray<Step> => {
  const { first_token_ms: first, hold_ms: hold, queue_ms: queue, settle_ms: settle, total_ms: total } = receipt.timings
  const held = hold ?? 0
  const end = Math.max(total ?? held, held)
  const attempts = receipt.routing?.provider_attempts ?? []
  const steps: Array<Step> = []
  if (queue !== null) steps.push({ name: "Read and checked", kind: "wait", from: 0, to: queue, note: duration(queue) })
  if (hold !== null) {
    const note = `${money(receipt.held_usd)} reserved in ${duration(hold - (queue ?? 0))}`
    steps.push({ name: "Hold", kind: "hold", from: queue ?? 0, to: hold, note })
  }
  for (const { outcome, provider } of attempts.filter(({ outcome }) => outcome !== "served")) {
    const note = outcome === "failed_over" ? "failed, the next provider took over" : "failed"
    steps.push({ name: provider, kind: "wait", from: held, to: held, note })
  }
  if (receipt.provider !== null && total !== null) {
    const wait = first === null ? "" : `, first token after ${duration(first)}`
    const note = `answered in ${duration(end - held)}${wait}`
    steps.push({ name: receipt.provider, kind: "run", from: held, to: end, note })
  }
  if (settle !== null) {
    const note = `${money(receipt.settled_usd)} charged in ${duration(settle)}, the rest returned`
    steps.push({ name: "Settle", kind: "settle", from: end, to: end + settle, note })
  }
  return steps
}
