/** One line of a batch that runs in the background: an ordinary paid request under a claim of its own. */
import { Cause, Effect } from "effect"
import type { Budgets } from "../account/Budgets.ts"
import { type Failure, failure, invalid, type Reason } from "../domain/Failure.ts"
import type { InputLine } from "../inference/BatchInput.ts"
import type { AcceptedBody, Circumstances, Surface } from "../inference/Surface.ts"
import type { Ledger } from "../ledger/Ledger.ts"
import { newRequestId } from "../platform/Ids.ts"
import type { Unavailable } from "../platform/Sql.ts"
import type { Requests } from "../usage/Requests.ts"
import type { Claimed } from "../usage/RequestsSql.ts"

/** How a line ended: a line of the output, or of the errors. */
export interface EndedLine {
  readonly ok: boolean
  readonly line: string
  readonly customId: string | null
}

/** A line to be served. */
export interface DueLine {
  readonly batchId: string
  readonly index: number
  readonly principal: Circumstances["principal"]
  readonly input: InputLine
  readonly surface: Surface
  /** Asked before each try, last of all; absent where the line was paid for before. */
  readonly mayBegin?: MayBegin
}

/**
 * Whether a try may begin, of whose answer it is known how many bytes it has at the most or not: `full` where there is no room
 * for it, `over` where its batch begins no more tries.
 */
export type MayBegin = (mostBytes: number | undefined) => Effect.Effect<"go" | "full" | "over", Unavailable>

/** What each try at a line needs of others. */
export interface LineDesk {
  readonly budgets: Pick<Budgets["Service"], "fitsWhenFree">
  readonly ledger: Pick<Ledger["Service"], "freeLapsed">
  readonly requests: Pick<Requests["Service"], "claims">
}

/** Tries at a line that fails in a way that seldom lasts, and the pauses between them. */
const PAUSES = ["1 second", "4 seconds"] as const

/** Failures that say nothing of the line: it waits until they have passed, for as long as its batch may take. */
const passes = (reason: Reason): boolean => {
  switch (reason._tag) {
    case "StoreUnavailable":
    case "Overloaded":
    case "RateLimitExceeded":
    case "UpstreamRateLimited":
    case "IdempotencyInProgress":
      return true
    case "NoProviderAvailable":
      return reason.retryAfterSeconds !== undefined
    case "InsufficientCredits":
      return reason.limitSource === "in_flight"
    default:
      return false
  }
}

/**
 * Whether a budget stands in the way for no more than what running requests hold of it, those of the same batch above all: of all
 * that lines may cost, which is far more than they do.
 */
const awaitsBudget = (
  { budgets }: LineDesk,
  { principal }: DueLine,
  reason: Reason
): Effect.Effect<boolean, Unavailable> =>
  reason._tag === "InsufficientCredits" &&
  (reason.limitSource === "key_budget" || reason.limitSource === "project_budget")
    ? budgets.fitsWhenFree(principal.keyId, reason.needed)
    : Effect.succeed(false)

const seldomLasts = new Set<Reason["_tag"]>(["UpstreamError", "UpstreamTimeout", "EmptyCompletion"])

/** The claim of a line: whoever serves it, and however often, it is paid for once. */
export const claimOf = (batchId: string, index: number): string => `batch:${batchId}:${index}`

const idOf = (batchId: string, index: number): string => `${batchId}-${index}`

const keepsContent = failure({
  _tag: "UnsupportedParameter",
  param: "routing.data_policy",
  detail: "A batch keeps its answers in files, so it cannot be under zero_retention"
})

/** There was no room for an answer, of which nothing was begun. */
export const noRoomError = {
  code: "output_too_large",
  message: "The answers of this batch are as large as a file may be; put the rest into another"
}

/** The line of one that was not served for a reason that is none of a request's. */
export const unservedLine = (
  batchId: string,
  index: number,
  customId: string | null,
  error: { readonly code: string; readonly message: string }
): EndedLine => ({
  ok: false,
  line: JSON.stringify({ id: idOf(batchId, index), custom_id: customId, response: null, error }),
  customId
})

const refusedLine = ({ batchId, index, input, surface }: DueLine, failed: Failure, requestId: string): EndedLine => {
  const { body, statusCode } = surface.refused(failed, requestId)
  const response = { status_code: statusCode, request_id: requestId, body }
  const line = { id: idOf(batchId, index), custom_id: input.customId, response, error: null }
  return { ok: false, line: JSON.stringify(line), customId: input.customId }
}

const servedLine = ({ batchId, index, input }: DueLine, requestId: string, body: string): EndedLine => {
  const head = JSON.stringify({ id: idOf(batchId, index), custom_id: input.customId }).slice(0, -1)
  // What passes through from a provider may be spread over lines; outside of its texts a break is a space like any.
  const answer = body.replace(/[\r\n]+/g, " ")
  const response = `{"status_code":200,"request_id":${JSON.stringify(requestId)},"body":${answer}}`
  return { ok: true, line: `${head},"response":${response},"error":null}`, customId: input.customId }
}

const unavailable = (error: Unavailable): Failure => failure({ _tag: "StoreUnavailable" }, error)

/** Whether a line was paid for by what stands under its claim. */
export const isPaid = (row: Claimed | undefined): row is Claimed => row !== undefined && !row.lapsed && row.cost > 0n

/** The request that a line was paid for by before, if any. */
const paidBefore = ({ requests }: LineDesk, { batchId, index, principal }: DueLine) =>
  Effect.gen(function* () {
    const claims = requests.claims(principal.accountId, [claimOf(batchId, index)])
    const [row] = yield* Effect.mapError(claims, unavailable)
    if (row?.running === true) return yield* failure({ _tag: "IdempotencyInProgress" })
    return isPaid(row) ? row : undefined
  })

/** Why a line is refused. One that was paid for before, with what its preset said then, is told that. */
const refusal = (desk: LineDesk, due: DueLine, failed: Failure) =>
  Effect.flatMap(paidBefore(desk, due), (row) =>
    row === undefined
      ? Effect.fail(failed)
      : Effect.fail(failure({ _tag: "IdempotencyResultUnavailable", requestId: row.id }))
  )

const accepted = (desk: LineDesk, due: DueLine, circumstances: Circumstances) =>
  Effect.gen(function* () {
    const { input, surface } = due
    if (input.unknown !== undefined) return yield* invalid(input.unknown, "Unexpected key")
    const one = yield* surface.accept(input.body, circumstances)
    return one.dataPolicy === "zero_retention" ? yield* keepsContent : one
  }).pipe(Effect.catch((failed) => refusal(desk, due, failed)))

/** What was kept of a line that was paid for while its key was good; the ledger looks at the key before it looks at the claim. */
const kept = (desk: LineDesk, due: DueLine, { again }: AcceptedBody, failed: Failure) =>
  Effect.gen(function* () {
    const row = yield* paidBefore(desk, due)
    if (row === undefined) return yield* failed
    const { answer, cost, id: requestId } = row
    const body = answer === null ? undefined : again(answer, cost)
    if (body === undefined) return yield* failure({ _tag: "IdempotencyResultUnavailable", requestId })
    return { requestId, cost, body }
  })

const tryOnce = (desk: LineDesk, due: DueLine, requestId: string) => {
  const { batchId, index, input, principal, surface } = due
  const claim = claimOf(batchId, index)
  const circumstances: Circumstances = {
    ...{ requestId, operation: surface.operation, principal, steering: undefined, trace: undefined },
    claim: { idempotencyKey: claim, claim, fingerprint: input.fingerprint },
    arrivedAt: performance.now(),
    routedAsBegun: true
  }
  return Effect.gen(function* () {
    const one = yield* accepted(desk, due, circumstances)
    const verdict = due.mayBegin === undefined ? "go" : yield* Effect.mapError(due.mayBegin(one.mostBytes), unavailable)
    if (verdict !== "go") return verdict
    return yield* Effect.catch(one.serve(), (failed) =>
      failed.reason._tag === "InvalidApiKey" ? kept(desk, due, one, failed) : Effect.fail(failed)
    )
  }).pipe(
    Effect.catchDefect((defect) => Effect.fail(failure({ _tag: "InternalError" }, defect))),
    Effect.tapError(({ log }) =>
      log === undefined ? Effect.void : Effect.logWarning(`a try at line ${index} of batch ${batchId} failed`, log)
    )
  )
}

/** Frees the claim of a try whose process died, of which nobody knows what became; false where it was paid for. */
const freed = ({ ledger, requests }: LineDesk, { batchId, index, principal }: DueLine) =>
  Effect.gen(function* () {
    const { accountId } = principal
    const claims = [claimOf(batchId, index)]
    const [row] = yield* requests.claims(accountId, claims)
    if (row?.lapsed === true) yield* ledger.freeLapsed(accountId, claims)
    return row === undefined || row.lapsed
  })

/**
 * Serves a line, or answers what served it before. Undefined when it is to wait, or its batch begins no more. Under its claim it
 * is charged once, whatever happens: when a process dies between the settle and the writing down of the line, its answer is found
 * again, unless it was longer than 1 MiB and therefore not kept; then the line is an error that says so.
 */
export const serveLine = (desk: LineDesk, due: DueLine, tries = 0): Effect.Effect<EndedLine | undefined, Unavailable> =>
  Effect.gen(function* () {
    const requestId = newRequestId()
    const exit = yield* Effect.exit(tryOnce(desk, due, requestId))
    if (exit._tag === "Success") {
      if (exit.value === "over") return undefined
      if (exit.value === "full") return unservedLine(due.batchId, due.index, due.input.customId, noRoomError)
      return servedLine(due, exit.value.requestId, exit.value.body ?? "null")
    }
    const failed = exit.cause.reasons.find(Cause.isFailReason)?.error
    if (failed === undefined) return yield* Effect.interrupt
    const { reason } = failed
    if (passes(reason) || (yield* awaitsBudget(desk, due, reason))) return undefined
    if (reason._tag === "IdempotencyResultUnavailable" && (yield* freed(desk, due))) {
      return yield* serveLine(desk, due, tries)
    }
    const pause = seldomLasts.has(reason._tag) ? PAUSES[tries] : undefined
    if (pause === undefined) return refusedLine(due, failed, requestId)
    return yield* Effect.andThen(Effect.sleep(pause), serveLine(desk, due, tries + 1))
  })
