import { Cause, type Context, Effect, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { Budgets } from "../account/Budgets.ts"
import { faultsOf, type InputLine, type InputLines, linesOf, readLine, operationUrlOf } from "./BatchInput.ts"
import {
  abandonBatch,
  batchById,
  type BatchRow,
  endBatch,
  endedAfter,
  endedLines,
  endLine,
  failBatch,
  finalizeBatch,
  startBatch
} from "./BatchesSql.ts"
import { BatchOperations } from "./Batches.ts"
import type { BatchOperation } from "../inference/BatchOperation.ts"
import type { RequestContext } from "../inference/Request.ts"
import { Jobs, type Outcome } from "../jobs/Jobs.ts"
import { type AccountSlots, makeAccountSlots } from "../platform/AccountSlots.ts"
import { makeKeyedSemaphores } from "../platform/KeyedSemaphores.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { Media, type MediaError } from "../platform/files/Media.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { Requests } from "../usage/Requests.ts"
import {
  claimOf,
  type DueLine,
  type EndedLine,
  isPaid,
  type LineDeps,
  noRoomError,
  serveLine,
  unservedLine
} from "./BatchLine.ts"
import { makeBatchRoom, type LineReservation, reserveLine } from "./BatchRoom.ts"
import { later, withLease } from "./BatchLease.ts"

/** Limits of one node: concurrent batches, batches of one account, lines of one batch, and lines of one account. */
const BATCHES = 4
const BATCHES_PER_ACCOUNT = 2
const LINES_PER_BATCH = 8
const LINES_PER_ACCOUNT = 16

/** How long a batch starts lines before it goes back into its queue, so that all batches make progress. */
const SLICE_MS = 20_000

/** How many lines may be found waiting before the batch starts no more for a while. The obstacle probably affects all lines. */
const MAX_WAITING = 32

/** How long a batch pauses when its lines have to wait. */
const PAUSE = "5 seconds"

/**
 * The maximum size of finished lines, in bytes. Beyond it, every other line becomes a short error. A stored file may have 256 MiB. The
 * input has at most 32 MiB and 50,000 lines, so the IDs of all lines and these errors fit into the rest.
 */
const MAX_OUTPUT_BYTES = 208 * 1_048_576

/** How long the gateway keeps a batch's files by default. */
const RETENTION_MS = 30 * 24 * 3_600_000

/** How many rows, and how many bytes of them, one query reads. */
const PAGE = 500
const PAGE_BYTES = 16 * 1_048_576

const expiredError = {
  code: "batch_expired",
  message: "The gateway could not serve this request before the batch expired."
}
/** The line was served and charged. */
const tooLargeError = {
  code: "output_too_large",
  message: "The gateway served and charged this request, but its response would make the batch's files too large."
}
const abandonedError = {
  code: "output_unavailable",
  message: "The gateway could not write the results of this batch to files."
}
const goneError = {
  code: "input_file_deleted",
  message: "The input file of this batch was deleted before the gateway had served all of it."
}
/** The process died before it recorded the line, and without the request the gateway cannot rebuild the response. */
const lostError = {
  code: "input_file_deleted",
  message:
    "The gateway served and charged this request, but the input file was deleted before it recorded the response."
}

interface Deps extends LineDeps {
  readonly sql: SqlClient.SqlClient
  readonly media: Media["Service"]
  readonly operations: Context.Service.Shape<typeof BatchOperations>
  /** Limits the concurrent lines of an account on this node. */
  readonly linesOfAccount: ReturnType<typeof makeKeyedSemaphores>
  /** Limits the concurrent batches of an account on this node, so that one account cannot occupy it alone. */
  readonly slots: AccountSlots
  /** The lines of each batch that had to wait when this node last tried them. */
  readonly late: Map<string, Set<number>>
  /** Lets one batch at a time write its files, which are built in memory. */
  readonly writing: Semaphore.Semaphore
}

const urlOf = ({ endpoint }: BatchRow) => operationUrlOf(endpoint) ?? "/chat/completions"

const inputOf = ({ media }: Deps, { input_file_id }: BatchRow): Effect.Effect<InputLines | undefined, MediaError> =>
  Effect.flatMap(media.read(input_file_id), (found) => (found === undefined ? Effect.undefined : linesOf(found.bytes)))

const validate = (deps: Deps, batch: BatchRow) =>
  Effect.gen(function* () {
    const found = yield* deps.media.read(batch.input_file_id)
    if (found === undefined) {
      const faults = [{ ...goneError, param: "input_file_id", line: null }]
      return yield* storeErrors(failBatch(deps.sql, batch.id, JSON.stringify(faults)))
    }
    const lines = yield* linesOf(found.bytes)
    const faults = yield* faultsOf(lines, urlOf(batch))
    yield* storeErrors(
      faults.length > 0
        ? failBatch(deps.sql, batch.id, JSON.stringify(faults))
        : startBatch(deps.sql, batch.id, lines!.count)
    )
  })

/** Returns the indexes of the lines that have not ended, in order. */
const pendingOf = ({ sql }: Deps, { id, total }: BatchRow) =>
  Effect.map(storeErrors(endedLines(sql, id)), (ended) => {
    const done = new Set(ended)
    return Array.from({ length: total }, (_, index) => index).filter((index) => !done.has(index))
  })

const recordLine = ({ sql }: Deps, id: string, index: number, { customId, line, ok }: EndedLine) => {
  const instead = unservedLine(id, index, customId, ok ? tooLargeError : noRoomError).line
  return storeErrors(endLine(sql, { id, index, ok, line, instead, mostBytes: MAX_OUTPUT_BYTES }))
}

const dueOf = (deps: Deps, batch: BatchRow, lines: InputLines, index: number): DueLine => {
  const url = urlOf(batch)
  const batchOperation: BatchOperation = deps.operations[url]
  // The batch was validated before it started.
  const input = readLine(lines.lineAt(index).text, url) as InputLine
  return { batchId: batch.id, index, principal: batch.principal as RequestContext["principal"], input, batchOperation }
}

/**
 * Returns the end of a line when the batch's input no longer exists; undefined while a process is still serving the line. A line
 * that was paid for says so.
 */
const goneLine = ({ requests }: Deps, { account_id, id }: BatchRow, index: number) =>
  Effect.map(requests.claims(account_id, [claimOf(id, index)]), ([row]) => {
    if (row?.running === true) return undefined
    return unservedLine(id, index, null, isPaid(row) ? lostError : goneError)
  })

/** How many batches a node remembers waiting lines for. It does not learn of batches that end on other nodes. */
const MAX_REMEMBERED = 64

const remember = ({ late: remembered }: Deps, id: string, late: Set<number>): void => {
  remembered.delete(id)
  if (late.size === 0) return
  const [oldest] = remembered.keys()
  if (oldest !== undefined && remembered.size >= MAX_REMEMBERED) remembered.delete(oldest)
  remembered.set(id, late)
}

/** Serves lines for one time slice. Returns true when only waiting lines are left, or too many lines have to wait. */
const serveSome = (deps: Deps, batch: BatchRow, lines: InputLines | undefined, pending: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const until = performance.now() + SLICE_MS
    const linesOfAccount = yield* deps.linesOfAccount(batch.account_id)
    const late = deps.late.get(batch.id) ?? new Set()
    const room = makeBatchRoom(MAX_OUTPUT_BYTES, Number(batch.output_bytes))
    let [stopped, waiting, ended] = [false, 0, 0]
    const stop = () => (stopped = true)
    const endOf = (index: number, reservation: LineReservation): Effect.Effect<EndedLine | undefined, Unavailable> => {
      if (lines === undefined) return goneLine(deps, batch, index)
      return serveLine(deps, { ...dueOf(deps, batch, lines, index), mayBegin: reservation.mayBegin })
    }
    const serveOne = (index: number) =>
      Effect.gen(function* () {
        if (stopped || performance.now() > until) return
        const reservation = yield* Effect.acquireRelease(
          Effect.sync(() => reserveLine(deps.sql, batch, room, stop)),
          ({ release }) => Effect.sync(release)
        )
        const end = yield* endOf(index, reservation)
        if (end === undefined) {
          if (stopped) return
          late.add(index)
          if (++waiting >= MAX_WAITING) stopped = true
          return
        }
        late.delete(index)
        ended++
        const stands = yield* recordLine(deps, batch.id, index, end)
        room.written(Number(stands?.output_bytes ?? 0n))
        if (stands?.status !== "in_progress") stopped = true
      }).pipe(Effect.scoped, linesOfAccount.withPermits(1))
    // Waiting lines come last, so that they do not delay the others.
    const order = [...pending.filter((index) => !late.has(index)), ...pending.filter((index) => late.has(index))]
    yield* Effect.forEach(order, serveOne, { concurrency: LINES_PER_BATCH, discard: true })
    remember(deps, batch.id, late)
    return waiting >= MAX_WAITING || (waiting > 0 && ended === 0)
  }).pipe(Effect.scoped)

/**
 * Records lines that were served and paid for by a process that died before recording them. Returns false while some are still
 * being served.
 */
const collect = (deps: Deps, batch: BatchRow, lines: InputLines | undefined, pending: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    for (let at = 0; at < pending.length; at += PAGE) {
      const indexes = new Map(pending.slice(at, at + PAGE).map((index) => [claimOf(batch.id, index), index]))
      const rows = yield* deps.requests.claims(batch.account_id, [...indexes.keys()])
      if (rows.some(({ running }) => running)) return false
      for (const { claim } of rows.filter(({ lapsed }) => !lapsed)) {
        const index = indexes.get(claim)!
        const ended =
          lines === undefined
            ? yield* goneLine(deps, batch, index)
            : yield* serveLine(deps, dueOf(deps, batch, lines, index))
        if (ended === undefined) return false
        yield* recordLine(deps, batch.id, index, ended)
      }
    }
    return true
  })

/** Stores the successful or the failed lines in a file and returns its ID; null when there are none. */
const writeFile = (deps: Deps, batch: BatchRow, ok: boolean, more: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const parts: Array<Uint8Array> = []
    const lineEnd = Buffer.from("\n")
    for (let after = -1; ;) {
      const rows = yield* storeErrors(endedAfter(deps.sql, batch.id, { ok, after, limit: PAGE, bytes: PAGE_BYTES }))
      const last = rows.at(-1)
      if (last === undefined) break
      for (const [at, { index, piece }] of rows.entries()) {
        parts.push(piece)
        if (rows[at + 1]?.index !== index) parts.push(lineEnd)
      }
      after = last.index
    }
    for (const line of more) parts.push(Buffer.from(`${line}\n`))
    if (parts.length === 0) return null
    const { id } = yield* deps.media.store({
      bytes: Buffer.concat(parts),
      contentType: "application/jsonl",
      accountId: batch.account_id,
      purpose: "batch_output",
      name: `batch_${batch.id}_${ok ? "output" : "error"}.jsonl`,
      expiresAt: new Date(
        Date.now() + (batch.output_ttl_seconds === null ? RETENTION_MS : batch.output_ttl_seconds * 1_000)
      )
    })
    return id
  })

/** Writes the files of a batch when all its lines have ended, and ends the batch. */
const finish = (deps: Deps, batch: BatchRow) =>
  Effect.gen(function* () {
    deps.late.delete(batch.id)
    const pending = yield* pendingOf(deps, batch)
    const expired = batch.status === "finalizing" && pending.length > 0
    const lines = expired ? yield* inputOf(deps, batch) : undefined
    const unserved = expired ? pending : []
    const late = yield* Effect.forEach(unserved, (index) => {
      const customId = lines === undefined ? null : dueOf(deps, batch, lines, index).input.customId
      return Effect.as(Effect.yieldNow, unservedLine(batch.id, index, customId, expiredError).line)
    })
    const outputFileId = yield* writeFile(deps, batch, true, [])
    const dropped = (id: string | null) => (id === null ? Effect.void : deps.media.remove(batch.account_id, id))
    // The next attempt writes both files again.
    const errorFileId = yield* Effect.onError(writeFile(deps, batch, false, late), () =>
      Effect.ignore(dropped(outputFileId))
    )
    const ended = yield* storeErrors(
      endBatch(deps.sql, {
        id: batch.id,
        status: batch.status === "cancelling" ? "cancelled" : expired ? "expired" : "completed",
        failed: batch.failed + late.length,
        outputFileId,
        errorFileId
      })
    )
    if (ended) return
    // Another process has ended the batch with its own files.
    for (const id of [outputFileId, errorFileId]) yield* dropped(id)
  }).pipe(deps.writing.withPermits(1))

/** Serves pending lines, or finalizes the batch when all are done or its time is over. */
const proceed = (deps: Deps, batch: BatchRow): Effect.Effect<Outcome, Unavailable> =>
  Effect.gen(function* () {
    const pending = yield* pendingOf(deps, batch)
    const over = batch.overdue || batch.status === "cancelling"
    const lines = pending.length === 0 ? undefined : yield* inputOf(deps, batch)
    if (over && !(yield* collect(deps, batch, lines, pending))) return { again: "1 second" }
    if (batch.status === "cancelling") {
      const collected = yield* storeErrors(batchById(deps.sql, batch.id))
      if (collected !== undefined) yield* finish(deps, collected)
      return "done"
    }
    if (!over && pending.length > 0) {
      const waits = yield* serveSome(deps, batch, lines, pending)
      return { again: waits ? PAUSE : 0 }
    }
    yield* storeErrors(finalizeBatch(deps.sql, batch.id))
    return { again: 0 }
  })

const abandon = (
  { sql }: Deps,
  { id }: BatchRow,
  status: "failed" | "expired",
  error: typeof expiredError
): Effect.Effect<Outcome, Unavailable> =>
  Effect.as(storeErrors(abandonBatch(sql, id, status, JSON.stringify([{ ...error, param: null, line: null }]))), "done")

/** Runs the next step of a batch according to its row. */
const step = (deps: Deps, batch: BatchRow): Effect.Effect<Outcome, Unavailable> => {
  switch (batch.status) {
    case "validating":
      return Effect.as(validate(deps, batch), { again: 0 })
    case "in_progress":
    case "cancelling":
      return proceed(deps, batch)
    case "finalizing":
      return Effect.as(finish(deps, batch), "done")
    default:
      return Effect.succeed("done")
  }
}

/**
 * Runs a step. Steps fail while a store is unavailable. A batch that still fails a day after its deadline would fail forever, so it
 * ends. So does a batch that expired before it was validated.
 */
const stepOrEnd = (deps: Deps, batch: BatchRow): Effect.Effect<Outcome, Unavailable> =>
  Effect.catchCause(step(deps, batch), (cause) => {
    const unread = batch.status === "validating" && batch.overdue
    if (Cause.hasInterrupts(cause) || !(unread || batch.forsaken)) return Effect.failCause(cause)
    const ended = unread
      ? abandon(deps, batch, "expired", expiredError)
      : abandon(deps, batch, "failed", abandonedError)
    return Effect.andThen(Effect.logError(`the gateway cannot continue batch ${batch.id}`, cause), ended)
  })

const ENDED: ReadonlySet<BatchRow["status"]> = new Set(["completed", "failed", "expired", "cancelled"])

const stepWith =
  (deps: Deps) =>
  (id: string): Effect.Effect<Outcome, Unavailable> =>
    Effect.flatMap(storeErrors(batchById(deps.sql, id)), (found) => {
      if (found === undefined || ENDED.has(found.status)) return Effect.succeed("done")
      const stepped = withLease(deps.sql, id, (batch) => stepOrEnd(deps, batch))
      return deps.slots.within(found.account_id, stepped, Effect.succeed(later))
    })

/**
 * Works on batches in the background. All progress is in the database, so when a process dies, others continue. No line is charged
 * twice. The files contain every charged line, with these exceptions, for which an error says so: a process died before it recorded the
 * line, and the response is over 1 MiB or the input was deleted; or the line would make the files too large.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const jobs = yield* Jobs
    const deps: Deps = {
      sql: yield* SqlClient.SqlClient,
      media: yield* Media,
      operations: yield* BatchOperations,
      budgets: yield* Budgets,
      ledger: yield* Ledger,
      requests: yield* Requests,
      linesOfAccount: makeKeyedSemaphores(LINES_PER_ACCOUNT),
      slots: makeAccountSlots({ slots: BATCHES, perAccount: BATCHES_PER_ACCOUNT }),
      late: new Map(),
      writing: yield* Semaphore.make(1)
    }
    yield* Effect.forkScoped(jobs.work("batches", BATCHES, stepWith(deps)))
  })
)
