import { Effect, Exit } from "effect"
import type { Attributes, Span } from "../platform/telemetry/Tracing.ts"
import type { AnyResult, ConcludeOperation, ConcludeResult, Operation } from "./Operation.ts"

const nameOf = (operation: Operation | ConcludeOperation): string =>
  !("_tag" in operation)
    ? "ledger.conclude"
    : operation._tag === "Close"
      ? operation.settle === undefined
        ? "ledger.release"
        : "ledger.settle"
      : `ledger.${operation._tag.toLowerCase()}`

/** Amounts are in billionths of a USD. */
const operationAttributes = (operation: Operation | ConcludeOperation): Attributes => {
  if (!("_tag" in operation)) return { "svc.refund_nano_usd": operation.refund, "svc.status": operation.status }
  switch (operation._tag) {
    case "Hold":
      return { "svc.hold.at_least_nano_usd": operation.atLeast, "svc.hold.up_to_nano_usd": operation.upTo }
    case "Extend":
      return {
        "svc.hold.held_nano_usd": operation.held,
        "svc.hold.more_nano_usd": operation.more,
        "svc.hold.progress_nano_usd": operation.progress
      }
    case "Close":
      return { "svc.settle.cost_nano_usd": operation.settle?.cost ?? undefined, "svc.status": operation.status }
    default:
      return { "svc.amount_nano_usd": operation.amount }
  }
}

const resultAttributes = (result: AnyResult | ConcludeResult): Attributes => ({
  "svc.outcome": result._tag.toLowerCase(),
  "svc.hold.granted_nano_usd": "granted" in result ? result.granted : undefined,
  "svc.limit_source": "limitSource" in result ? result.limitSource : undefined,
  "svc.settle.settled_nano_usd": "settled" in result ? result.settled : undefined,
  "svc.settle.absorbed_nano_usd": "absorbed" in result ? result.absorbed : undefined,
  "svc.cost_nano_usd": "cost" in result ? result.cost : undefined
})

/** Records an operation of the ledger and its result as a span below the request's. */
export const recordSpan = <A extends AnyResult | ConcludeResult, E>(
  commit: Effect.Effect<A, E>,
  operation: Operation | ConcludeOperation,
  parent: Span
): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    const span = parent.child(nameOf(operation), "internal", operationAttributes(operation))
    return Effect.onExit(commit, (exit) =>
      Effect.sync(() => {
        if (Exit.isSuccess(exit)) span.set(resultAttributes(exit.value))
        else span.set({ "svc.outcome": "unavailable" }).fail("Unavailable")
        span.end()
      })
    )
  })
