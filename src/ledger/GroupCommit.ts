import { Cause, Effect, Exit, Queue, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { type ActiveEntry, ActiveSet } from "../platform/ActiveSet.ts"
import { storeErrors, Unavailable } from "../platform/database/Sql.ts"
import type { Statements } from "../platform/database/Statements.ts"
import { within } from "../platform/database/StatementTimeout.ts"
import { commitGroup } from "./LedgerSql.ts"
import type { AnyResult, Operation } from "./Operation.ts"

/** Operations in one statement. Past a few dozen the gain per operation is small and the latency of all grows. */
const MAX_GROUP = 128

/** Up to this many entries go together, because a second statement for them costs more than it gains. */
const FEW = 16

/**
 * Characters of kept answers in one statement, unless the first answer alone has more. Writing them together saves no database time,
 * and the whole group waits for it: a group of the longest answers would exceed the time limit of a statement.
 */
const MAX_GROUP_KEPT = 1_048_576

/** Operations waiting at once; more than this means the database cannot follow, and the caller should hear it now. */
const MAX_WAITING = 20_000

const RETRY_PAUSE = "100 millis"

/** How long is waited for a database that cannot be used. */
export interface Patience {
  /** A hold's caller is waiting and has been given nothing. */
  readonly holdMs: number
  /** For whatever ends or renews a hold, or moves money: the work has been done and its outcome must not be lost. */
  readonly closeMs: number
  /** After so long a connection that says nothing is given up, and the statement tried again on another. */
  readonly statementMs: number
}

interface Entry {
  readonly operation: Operation
  readonly since: number
  readonly resume: (exit: Exit.Exit<AnyResult, Unavailable>) => void
  /** The outcome of a statement that contains it is unknown: it may be committed although its caller hears that it is not. */
  unsure: boolean
  /** Its entry in the set of unanswered operations. */
  active: ActiveEntry<Entry> | undefined
}

/** What several operations of one group must not share, beside their request. */
const subjectOf = (operation: Operation): string | undefined => {
  switch (operation._tag) {
    case "Hold":
      return operation.claim && `claim ${operation.accountId} ${operation.claim.claim}`
    case "Credit":
      return operation.reference === null ? undefined : `credit ${operation.reference}`
    case "Adjust":
      return operation.reference === null ? undefined : `adjust ${operation.reference}`
    case "Refund":
      return `refund ${operation.reference}`
    case "Extend":
    case "Close":
      return undefined
  }
}

/** About how much is to be kept with an operation, in characters. */
const keptOf = (operation: Operation): number => {
  if (operation._tag !== "Close" || operation.answer === null) return 0
  let kept = 0
  for (const value of Object.values(operation.answer)) if (typeof value === "string") kept += value.length
  return kept
}

const isIn = (taken: ReadonlySet<string>, subject: string | undefined): boolean =>
  subject !== undefined && taken.has(subject)

/**
 * How many of the `waiting` entries go together after a group of `before`. Callers that are answered together return together, so
 * without this a large and a small group would alternate for good, and the process would idle while the database has the large one.
 */
const evened = (waiting: number, before: number): number =>
  waiting <= FEW ? waiting : Math.min(Math.ceil((waiting + before) / 2), MAX_GROUP)

/** Takes at most this many entries. Leaves behind an entry with a subject that is already taken, or without room left. */
const gather = (waiting: ReadonlyArray<Entry>, most: number): { group: Array<Entry>; left: Array<Entry> } => {
  const group: Array<Entry> = []
  const left: Array<Entry> = []
  const taken = new Set<string>()
  let [index, kept] = [0, 0]
  for (; index < waiting.length && group.length < most; index++) {
    const entry = waiting[index]!
    const { operation } = entry
    const request = "requestId" in operation ? operation.requestId : undefined
    const subject = subjectOf(operation)
    const more = keptOf(operation)
    const full = more > 0 && kept > 0 && kept + more > MAX_GROUP_KEPT
    const waits = full || isIn(taken, request) || isIn(taken, subject)
    // A later entry never overtakes one that was left behind.
    if (request !== undefined) taken.add(request)
    if (subject !== undefined) taken.add(subject)
    if (waits) {
      left.push(entry)
      continue
    }
    kept += more
    group.push(entry)
  }
  return { group, left: left.concat(waiting.slice(index)) }
}

/** Commits what has gathered while the last commit was under way, in even groups, for as long as its fiber runs. */
class Lane {
  readonly #sql: Statements
  readonly #patience: Patience
  readonly #arrived: Queue.Queue<Entry>
  readonly #observer: GroupObserver
  readonly #unanswered = new ActiveSet<Entry>()
  /** What is committed and not answered yet. */
  #due: ReadonlyArray<readonly [Entry, AnyResult]> = []
  #closed = false

  constructor(sql: Statements, patience: Patience, arrived: Queue.Queue<Entry>, observer: GroupObserver) {
    this.#sql = sql
    this.#observer = observer
    this.#patience = patience
    this.#arrived = arrived
  }

  commit(operation: Operation): Effect.Effect<AnyResult, Unavailable> {
    return Effect.callback((resume) => {
      if (this.#closed || this.#unanswered.size >= MAX_WAITING) {
        const cause = this.#closed ? "the ledger is closed" : "too many operations are waiting"
        return resume(Effect.fail(new Unavailable({ store: "database", cause })))
      }
      const entry: Entry = { operation, since: performance.now(), resume, unsure: false, active: undefined }
      entry.active = this.#unanswered.add(entry)
      Queue.offerUnsafe(this.#arrived, entry)
    })
  }

  /**
   * A committed group is answered when the next one is on its way: what follows from the answers, the better part of a request,
   * is then done while the database works, instead of the two waiting for each other.
   */
  get run(): Effect.Effect<never> {
    return Effect.gen({ self: this }, function* () {
      let waiting: Array<Entry> = []
      let before = 0
      while (true) {
        waiting = waiting.concat(yield* Queue.clear(this.#arrived))
        if (waiting.length === 0) {
          this.#answerDue()
          waiting = yield* Queue.takeAll(this.#arrived)
        }
        const { group, left } = gather(waiting, evened(waiting.length, before))
        before = group.length
        const again = yield* this.#carryOut(group)
        waiting = again.concat(left)
        if (again.length === 0) continue
        this.#answerDue()
        yield* Effect.sleep(RETRY_PAUSE)
      }
    })
  }

  #answerDue() {
    const due = this.#due
    this.#due = []
    for (const [entry, result] of due) this.#answer(entry, Exit.succeed(result))
  }

  /** Answers every waiting caller when no result will come. */
  close() {
    this.#closed = true
    this.#answerDue()
    const exit = Exit.fail(new Unavailable({ store: "database", cause: "the ledger is closed" }))
    for (const entry of this.#unanswered.members) this.#answer(entry, exit)
  }

  #answer(entry: Entry, exit: Exit.Exit<AnyResult, Unavailable>) {
    if (entry.active !== undefined) this.#unanswered.remove(entry.active)
    entry.resume(exit)
  }

  /**
   * Carries out a group, so that it is due to be answered; gives back those that are to be tried again. What was due is answered
   * meanwhile.
   */
  #carryOut(group: ReadonlyArray<Entry>): Effect.Effect<Array<Entry>> {
    const sentAt = performance.now()
    const operations = group.map((entry) => entry.operation)
    const statement = commitGroup(this.#sql, operations)
    return Effect.matchCauseEffect(
      within(statement, {
        ms: this.#patience.statementMs,
        silence: this.#sql.silence,
        meanwhile: () => this.#answerDue()
      }),
      {
        onSuccess: (results) => {
          this.#observer.committed(group.length, performance.now() - sentAt)
          this.#due = this.#due.concat(group.map((entry, index) => [entry, results[index]!] as const))
          return Effect.succeed([])
        },
        onFailure: (cause) => this.#notCarriedOut(group, cause)
      }
    )
  }

  #notCarriedOut(group: ReadonlyArray<Entry>, cause: Cause.Cause<SqlError.SqlError>): Effect.Effect<Array<Entry>> {
    const unsure = Effect.sync(() => {
      for (const entry of group) entry.unsure = true
    })
    return Effect.failCause(cause).pipe(
      Effect.catchIf(
        // Another node took the reference in the same instant: the next time that is seen, and answered.
        (error) => error.reason._tag === "UniqueViolation" && group.length === 1,
        () => Effect.fail(new Unavailable({ store: "database", cause: "a reference was taken in the same instant" }))
      ),
      // Without a connection nothing was sent.
      Effect.tapError((error) => (isConnecting(error) ? Effect.void : unsure)),
      storeErrors,
      Effect.catch((error) => Effect.sync(() => this.#patient(group, error))),
      Effect.catchDefect((defect) => this.#eachAlone(group, defect))
    )
  }

  /** What one operation is refused for must not touch the others of its group. */
  #eachAlone(group: ReadonlyArray<Entry>, defect: unknown): Effect.Effect<Array<Entry>> {
    const [only] = group
    if (group.length > 1 || only === undefined) {
      return Effect.map(
        Effect.forEach(group, (entry) =>
          Effect.map(this.#carryOut([entry]), (again) => {
            // The others may take long.
            this.#answerDue()
            return again
          })
        ),
        (again) => again.flat()
      )
    }
    return Effect.sync(() => {
      this.#answer(only, Exit.failCause(Cause.die(defect)))
      return []
    })
  }

  /** Returns the entries still within their time limit; the others hear that the store is unavailable. */
  #patient(group: ReadonlyArray<Entry>, error: Unavailable): Array<Entry> {
    const now = performance.now()
    return group.filter((entry) => {
      const patience = entry.operation._tag === "Hold" ? this.#patience.holdMs : this.#patience.closeMs
      if (now - entry.since < patience) return true
      this.#answer(entry, Exit.fail(error))
      if (entry.unsure) this.#observer.unsure(entry.operation)
      return false
    })
  }
}

const isConnecting = (error: SqlError.SqlError | Unavailable): boolean =>
  error._tag === "SqlError" && error.reason.operation === "connect"

/** Receives the results of operations. */
export interface GroupObserver {
  /** Of every group that is committed: how many operations it had, and how long its statement took. */
  readonly committed: (operations: number, durationMs: number) => void
  /** Of an operation that was given up and may have been carried out all the same. */
  readonly unsure: (operation: Operation) => void
}

export interface GroupCommit {
  /** Joins the next group that has room; answers when that group is committed. */
  readonly commit: (operation: Operation) => Effect.Effect<AnyResult, Unavailable>
}

/** Starts committing; ends with the scope, which leaves no caller without an answer. */
export const makeGroupCommit = (
  sql: Statements,
  patience: Patience,
  observer: GroupObserver
): Effect.Effect<GroupCommit, never, Scope.Scope> =>
  Effect.gen(function* () {
    const lane = new Lane(sql, patience, yield* Queue.unbounded<Entry>(), observer)
    yield* Effect.addFinalizer(() => Effect.sync(() => lane.close()))
    yield* Effect.forkScoped(lane.run)
    return { commit: (operation) => lane.commit(operation) }
  })
