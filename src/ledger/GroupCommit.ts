import { Cause, Effect, Exit, Queue, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { type ActiveEntry, ActiveSet } from "../platform/ActiveSet.ts"
import { storeErrors, Unavailable } from "../platform/database/Sql.ts"
import type { Statements } from "../platform/database/Statements.ts"
import { within } from "../platform/database/StatementTimeout.ts"
import { commitGroup } from "./LedgerSql.ts"
import type { AnyResult, Operation } from "./Operation.ts"

/** The maximum number of operations in one statement. Beyond a few dozen the gain per operation is small, and all of them wait longer. */
const MAX_GROUP = 128

/** This many entries always go together, because a second statement for them would cost more than it gains. */
const FEW = 16

/**
 * The maximum length of all stored answers in one statement, in characters, unless the first answer alone is longer. Writing them together
 * saves no database time, and the whole group waits for it. A group of the longest answers would exceed the time limit of a statement.
 */
const MAX_GROUP_ANSWERS = 1_048_576

/** The maximum number of waiting operations. Beyond it the database cannot keep up, so further operations fail at once. */
const MAX_WAITING = 20_000

const RETRY_PAUSE = "100 millis"

/** How long the ledger waits for an unavailable database. */
export interface LedgerTimeouts {
  /** The limit for a hold, whose caller waits and has received nothing yet. */
  readonly holdMs: number
  /** The limit for any other operation: its work has been done, and the outcome must not be lost. */
  readonly closeMs: number
  /** After this long without an answer, the ledger gives up the connection and retries the statement on another one. */
  readonly statementMs: number
}

interface Entry {
  readonly operation: Operation
  readonly since: number
  readonly resume: (exit: Exit.Exit<AnyResult, Unavailable>) => void
  /** Whether a statement with it had an unknown outcome. It may be committed although its caller learns that the store failed. */
  unsure: boolean
  /** Its entry in the set of unanswered operations. */
  active: ActiveEntry<Entry> | undefined
}

/** The subjects of an operation besides its request. Two operations of one group must not share a subject. */
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

/** The approximate length of the answer that an operation stores, in characters. */
const answerLength = (operation: Operation): number => {
  if (operation._tag !== "Close" || operation.answer === null) return 0
  let length = 0
  for (const value of Object.values(operation.answer)) if (typeof value === "string") length += value.length
  return length
}

const isIn = (subjects: ReadonlySet<string>, subject: string | undefined): boolean =>
  subject !== undefined && subjects.has(subject)

/**
 * How many of the `waiting` entries go together after a group of `before`. Callers that are answered together come back together, so
 * without this a large and a small group would alternate for good, and the process would be idle while the database has the large one.
 */
const groupSize = (waiting: number, before: number): number =>
  waiting <= FEW ? waiting : Math.min(Math.ceil((waiting + before) / 2), MAX_GROUP)

/** Takes at most this many entries. Leaves behind an entry with a subject that is already taken, or without room left. */
const gather = (waiting: ReadonlyArray<Entry>, most: number): { group: Array<Entry>; left: Array<Entry> } => {
  const group: Array<Entry> = []
  const left: Array<Entry> = []
  const subjects = new Set<string>()
  let [index, stored] = [0, 0]
  for (; index < waiting.length && group.length < most; index++) {
    const entry = waiting[index]!
    const { operation } = entry
    const request = "requestId" in operation ? operation.requestId : undefined
    const subject = subjectOf(operation)
    const length = answerLength(operation)
    const full = length > 0 && stored > 0 && stored + length > MAX_GROUP_ANSWERS
    const waits = full || isIn(subjects, request) || isIn(subjects, subject)
    // A later entry never overtakes one that was left behind.
    if (request !== undefined) subjects.add(request)
    if (subject !== undefined) subjects.add(subject)
    if (waits) {
      left.push(entry)
      continue
    }
    stored += length
    group.push(entry)
  }
  return { group, left: left.concat(waiting.slice(index)) }
}

/** Commits the operations that arrived while the last commit was under way, in even groups. */
class Committer {
  readonly #sql: Statements
  readonly #timeouts: LedgerTimeouts
  readonly #arrived: Queue.Queue<Entry>
  readonly #observer: GroupObserver
  readonly #unanswered = new ActiveSet<Entry>()
  /** The results that are committed and not yet answered. */
  #due: ReadonlyArray<readonly [Entry, AnyResult]> = []
  #closed = false

  constructor(sql: Statements, timeouts: LedgerTimeouts, arrived: Queue.Queue<Entry>, observer: GroupObserver) {
    this.#sql = sql
    this.#observer = observer
    this.#timeouts = timeouts
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
   * Commits group after group. It answers a committed group when the next one is on its way to the database. What the callers do with
   * the answers, which is most of a request, then runs while the database works, instead of the two waiting for each other.
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
        const { group, left } = gather(waiting, groupSize(waiting.length, before))
        before = group.length
        const again = yield* this.#commit(group)
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
   * Commits a group and makes its results due. Returns the entries to retry. Meanwhile it answers the results that were due before.
   */
  #commit(group: ReadonlyArray<Entry>): Effect.Effect<Array<Entry>> {
    const sentAt = performance.now()
    const operations = group.map((entry) => entry.operation)
    const statement = commitGroup(this.#sql, operations)
    return Effect.matchCauseEffect(
      within(statement, {
        ms: this.#timeouts.statementMs,
        silence: this.#sql.silence,
        meanwhile: () => this.#answerDue()
      }),
      {
        onSuccess: (results) => {
          this.#observer.committed(group.length, performance.now() - sentAt)
          this.#due = this.#due.concat(group.map((entry, index) => [entry, results[index]!] as const))
          return Effect.succeed([])
        },
        onFailure: (cause) => this.#commitFailed(group, cause)
      }
    )
  }

  #commitFailed(group: ReadonlyArray<Entry>, cause: Cause.Cause<SqlError.SqlError>): Effect.Effect<Array<Entry>> {
    const unsure = Effect.sync(() => {
      for (const entry of group) entry.unsure = true
    })
    return Effect.failCause(cause).pipe(
      Effect.catchIf(
        // Another node used the reference in the same instant. The retry sees that and answers accordingly.
        (error) => error.reason._tag === "UniqueViolation" && group.length === 1,
        () =>
          Effect.fail(
            new Unavailable({ store: "database", cause: "another node used the reference in the same instant" })
          )
      ),
      // Without a connection, nothing was sent.
      Effect.tapError((error) => (isConnecting(error) ? Effect.void : unsure)),
      storeErrors,
      Effect.catch((error) => Effect.sync(() => this.#withinPatience(group, error))),
      Effect.catchDefect((defect) => this.#eachAlone(group, defect))
    )
  }

  /** Commits each entry of a group that failed by a defect alone, so that one operation's defect does not fail the others. */
  #eachAlone(group: ReadonlyArray<Entry>, defect: unknown): Effect.Effect<Array<Entry>> {
    const [only] = group
    if (group.length > 1 || only === undefined) {
      return Effect.map(
        Effect.forEach(group, (entry) =>
          Effect.map(this.#commit([entry]), (again) => {
            // The next entries may take long.
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

  /** Returns the entries that are still within their time limit, and fails the others. */
  #withinPatience(group: ReadonlyArray<Entry>, error: Unavailable): Array<Entry> {
    const now = performance.now()
    return group.filter((entry) => {
      const limitMs = entry.operation._tag === "Hold" ? this.#timeouts.holdMs : this.#timeouts.closeMs
      if (now - entry.since < limitMs) return true
      this.#answer(entry, Exit.fail(error))
      if (entry.unsure) this.#observer.unsure(entry.operation)
      return false
    })
  }
}

const isConnecting = (error: SqlError.SqlError | Unavailable): boolean =>
  error._tag === "SqlError" && error.reason.operation === "connect"

/** Callbacks about groups and operations, for the metrics and for holds without an owner. */
export interface GroupObserver {
  /** Called for every committed group with the number of its operations and the duration of its statement. */
  readonly committed: (operations: number, durationMs: number) => void
  /** Called for an operation that was given up and may be committed all the same. */
  readonly unsure: (operation: Operation) => void
}

export interface GroupCommit {
  /** Joins the next group with room for it, and returns when that group is committed. */
  readonly commit: (operation: Operation) => Effect.Effect<AnyResult, Unavailable>
}

/** Starts committing. When the scope closes, it answers every caller that still waits. */
export const makeGroupCommit = (
  sql: Statements,
  timeouts: LedgerTimeouts,
  observer: GroupObserver
): Effect.Effect<GroupCommit, never, Scope.Scope> =>
  Effect.gen(function* () {
    const committer = new Committer(sql, timeouts, yield* Queue.unbounded<Entry>(), observer)
    yield* Effect.addFinalizer(() => Effect.sync(() => committer.close()))
    yield* Effect.forkScoped(committer.run)
    return { commit: (operation) => committer.commit(operation) }
  })
