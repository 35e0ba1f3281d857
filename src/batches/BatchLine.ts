/** Serves one line of a batch in the background: an ordinary paid request under its own idempotency claim. */
import { Cause, Effect } from "effect"
import type { Budgets } from "../account/Budgets.ts"
import { type Failure, failure, invalid, type Reason, storeFailure } from "../domain/Failure.ts"
import { UNKNOWN } from "../domain/SchemaProblems.ts"
import type { InputLine } from "./BatchInput.ts"
import type { AcceptedBody, BatchOperation } from "../inference/BatchOperation.ts"
import type { RequestContext } from "../inference/Request.ts"
import type { Ledger } from "../ledger/Ledger.ts"
import { newRequestId } from "../platform/Ids.ts"
import type { Unavailable } from "../platform/database/Sql.ts"
import type { Requests } from "../usage/Requests.ts"
import type { ClaimedRequest } from "../usage/RequestsSql.ts"

/** The end of a line: a line of the output file or of the error file. */
export interface EndedLine {
  readonly ok: boolean
  readonly line: string
  readonly customId: string | null
}

/** A line to serve. */
export interface DueLine {
  readonly batchId: string
  readonly index: number
  readonly principal: RequestContext["principal"]
  readonly input: InputLine
  readonly batchOperation: BatchOperation
  /** Called last before each attempt; absent when the line was paid for before. */
  readonly mayBegin?: AttemptGate
}

/**
 * Decides whether an attempt may begin, given the largest size of its response if that is known. `full` means that the output has
 * no room for it, `over` that the batch starts no more attempts.
 */
export type AttemptGate = (mostBytes: number | undefined) => Effect.Effect<"go" | "full" | "over", Unavailable>

/** The services that each attempt at a line needs. */
export interface LineDeps {
  readonly budgets: Pick<Budgets["Service"], "fitsWhenFree">
  readonly ledger: Pick<Ledger["Service"], "freeLapsed">
  readonly requests: Pick<Requests["Service"], "claims">
}

/** The pauses before retrying a line after a failure that is usually temporary. */
const PAUSES = ["1 second", "4 seconds"] as const

/** Reports whether a failure says nothing about the line itself. The line then waits, as long as its batch may run. */
const isTransient = (reason: Reason): boolean => {
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
 * Reports whether a budget blocks the line only because of amounts that running requests hold, mainly those of the same batch.
 * Holds cover the highest possible cost, far above the real one.
 */
const awaitsBudget = (
  { budgets }: LineDeps,
  { principal }: DueLine,
  reason: Reason
): Effect.Effect<boolean, Unavailable> =>
  reason._tag === "InsufficientCredits" &&
  ["key_budget", "project_budget", "account_budget"].includes(reason.limitSource)
    ? budgets.fitsWhenFree(principal.keyId, reason.needed)
    : Effect.succeed(false)

const seldomLasts = new Set<Reason["_tag"]>(["UpstreamError", "UpstreamTimeout", "EmptyCompletion"])

/** Returns the idempotency claim of a line. However often and wherever the line is served, it is paid for once. */
export const claimOf = (batchId: string, index: number): string => `batch:${batchId}:${index}`

const idOf = (batchId: string, index: number): string => `${batchId}-${index}`

const keepsContent = failure({
  _tag: "UnsupportedParameter",
  param: "routing.data_policy",
  detail: "A batch stores its responses in files, so it must not use `zero_retention`."
})

/** The output has no room for the response, so the gateway did not send the request. */
export const noRoomError = {
  code: "output_too_large",
  message:
    "The responses of this batch have reached the size limit of a file. Put the remaining requests into another batch."
}

/** Returns the error line for a request that was not served, for a reason outside the request. */
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

const refusedLine = (
  { batchId, index, input, batchOperation }: DueLine,
  failed: Failure,
  requestId: string
): EndedLine => {
  const { body, statusCode } = batchOperation.refused(failed, requestId)
  const response = { status_code: statusCode, request_id: requestId, body }
  const line = { id: idOf(batchId, index), custom_id: input.customId, response, error: null }
  return { ok: false, line: JSON.stringify(line), customId: input.customId }
}

const servedLine = ({ batchId, index, input }: DueLine, requestId: string, body: string): EndedLine => {
  const head = JSON.stringify({ id: idOf(batchId, index), custom_id: input.customId }).slice(0, -1)
  // A provider's response may span several lines. Outside of strings, a line break is ordinary JSON whitespace.
  const answer = body.replace(/[\r\n]+/g, " ")
  const response = `{"status_code":200,"request_id":${JSON.stringify(requestId)},"body":${answer}}`
  return { ok: true, line: `${head},"response":${response},"error":null}`, customId: input.customId }
}

/** Reports whether the request under a line's claim paid for the line. */
export const isPaid = (row: ClaimedRequest | undefined): row is ClaimedRequest =>
  row !== undefined && !row.lapsed && row.cost > 0n

/** Returns the request that already paid for the line, if there is one. */
const paidBefore = ({ requests }: LineDeps, { batchId, index, principal }: DueLine) =>
  Effect.gen(function* () {
    const claims = requests.claims(principal.accountId, [claimOf(batchId, index)])
    const [row] = yield* Effect.mapError(claims, storeFailure)
    if (row?.running === true) return yield* failure({ _tag: "IdempotencyInProgress" })
    return isPaid(row) ? row : undefined
  })

/**
 * Returns the refusal of a line. If the line was paid for before, under an earlier version of its preset, the refusal says that
 * instead.
 */
const refusal = (deps: LineDeps, due: DueLine, failed: Failure) =>
  Effect.flatMap(paidBefore(deps, due), (row) =>
    row === undefined
      ? Effect.fail(failed)
      : Effect.fail(failure({ _tag: "IdempotencyResultUnavailable", requestId: row.id }))
  )

const acceptBody = (deps: LineDeps, due: DueLine, requestContext: RequestContext) =>
  Effect.gen(function* () {
    const { input, batchOperation } = due
    if (input.unknown !== undefined) return yield* invalid(input.unknown, UNKNOWN)
    const one = yield* batchOperation.accept(input.body, requestContext)
    return one.dataPolicy === "zero_retention" ? yield* keepsContent : one
  }).pipe(Effect.catch((failed) => refusal(deps, due, failed)))

/**
 * Returns the stored response of a line that was paid for while its key was active. The ledger checks the key before the claim, so
 * a repeated attempt fails on the key.
 */
const storedResponse = (deps: LineDeps, due: DueLine, { again }: AcceptedBody, failed: Failure) =>
  Effect.gen(function* () {
    const row = yield* paidBefore(deps, due)
    if (row === undefined) return yield* failed
    const { answer, cost, id: requestId } = row
    const body = answer === null ? undefined : again(answer, cost)
    if (body === undefined) return yield* failure({ _tag: "IdempotencyResultUnavailable", requestId })
    return { requestId, cost, body }
  })

/** The key or its account stopped. The line is not tried again. */
const stopsLine: ReadonlySet<Reason["_tag"]> = new Set(["InvalidApiKey", "AccountSuspended", "AccountClosed"])

const tryOnce = (deps: LineDeps, due: DueLine, requestId: string) => {
  const { batchId, index, input, principal, batchOperation } = due
  const claim = claimOf(batchId, index)
  const requestContext: RequestContext = {
    requestId,
    operation: batchOperation.operation,
    principal,
    steering: undefined,
    trace: undefined,
    claim: { idempotencyKey: claim, claim, fingerprint: input.fingerprint },
    arrivedAt: performance.now(),
    routedAsBegun: true
  }
  return Effect.gen(function* () {
    const one = yield* acceptBody(deps, due, requestContext)
    const verdict =
      due.mayBegin === undefined ? "go" : yield* Effect.mapError(due.mayBegin(one.mostBytes), storeFailure)
    if (verdict !== "go") return verdict
    return yield* Effect.catch(one.serve(), (failed) =>
      stopsLine.has(failed.reason._tag) ? storedResponse(deps, due, one, failed) : Effect.fail(failed)
    )
  }).pipe(
    Effect.catchDefect((defect) => Effect.fail(failure({ _tag: "InternalError" }, defect))),
    Effect.tapError(({ log }) =>
      log === undefined ? Effect.void : Effect.logWarning(`an attempt at line ${index} of batch ${batchId} failed`, log)
    )
  )
}

/** Frees the claim of an attempt that a dead process left with an unknown outcome. Returns false when the line was paid for. */
const freeClaim = ({ ledger, requests }: LineDeps, { batchId, index, principal }: DueLine) =>
  Effect.gen(function* () {
    const { accountId } = principal
    const claims = [claimOf(batchId, index)]
    const [row] = yield* requests.claims(accountId, claims)
    if (row?.lapsed === true) yield* ledger.freeLapsed(accountId, claims)
    return row === undefined || row.lapsed
  })

/**
 * Serves a line, or returns the result of serving it before. Returns undefined when the line must wait or its batch starts no more
 * attempts. The claim ensures that the line is charged once. When a process dies between settling and recording the line, the next
 * one finds the stored response. Responses over 1 MiB are not stored; the line then becomes an error that says so.
 */
export const serveLine = (deps: LineDeps, due: DueLine, tries = 0): Effect.Effect<EndedLine | undefined, Unavailable> =>
  Effect.gen(function* () {
    const requestId = newRequestId()
    const exit = yield* Effect.exit(tryOnce(deps, due, requestId))
    if (exit._tag === "Success") {
      if (exit.value === "over") return undefined
      if (exit.value === "full") return unservedLine(due.batchId, due.index, due.input.customId, noRoomError)
      return servedLine(due, exit.value.requestId, exit.value.body ?? "null")
    }
    const failed = exit.cause.reasons.find(Cause.isFailReason)?.error
    if (failed === undefined) return yield* Effect.interrupt
    const { reason } = failed
    if (isTransient(reason) || (yield* awaitsBudget(deps, due, reason))) return undefined
    if (reason._tag === "IdempotencyResultUnavailable" && (yield* freeClaim(deps, due))) {
      return yield* serveLine(deps, due, tries)
    }
    const pause = seldomLasts.has(reason._tag) ? PAUSES[tries] : undefined
    if (pause === undefined) return refusedLine(due, failed, requestId)
    return yield* Effect.andThen(Effect.sleep(pause), serveLine(deps, due, tries + 1))
  })
