import { Effect, Exit, Queue, type Scope } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { Unavailable } from "../platform/Sql.ts"
import { commitGroup, overdueRequests, type Overdue } from "./LedgerSql.ts"
import type { AnyResult, BudgetPeriod, CloseOperation, Operation } from "./Operation.ts"

/** Operations in one statement. Past a few dozen the gain per operation is small and the latency of all grows. */
const MAX_GROUP = 128

/** Operations waiting at once; more than this means the database cannot follow, and the caller should hear it now. */
const MAX_WAITING = 20_000

/** How long a hold is tried against a database that does not answer: its caller is waiting and has been given nothing. */
const HOLD_PATIENCE_MS = 3_000

/** How long anything that ends or renews a hold is tried: the work has been done and its outcome must not be lost. */
const CLOSE_PATIENCE_MS = 30_000

const RETRY_PAUSE = "100 millis"

interface Entry {
  readonly operation: Operation
  readonly since: number
  readonly resume: (exit: Exit.Exit<AnyResult, Unavailable>) => void
}

/** What several operations of one group must not share: a request, or an idempotency claim of an account. */
const subjectsOf = (operation: Operation): ReadonlyArray<string> => {
  if (operation._tag === "Credit") return []
  if (operation._tag === "Hold" && operation.claim !== undefined) {
    return [operation.requestId, `${operation.accountId} ${operation.claim.claim}`]
  }
  return [operation.requestId]
}

/** Takes entries up to the group's size, leaving those behind whose subject is already in it. */
const gather = (waiting: Array<Entry>): { group: Array<Entry>; left: Array<Entry> } => {
  const group: Array<Entry> = []
  const left: Array<Entry> = []
  const taken = new Set<string>()
  for (const entry of waiting) {
    const subjects = subjectsOf(entry.operation)
    if (group.length >= MAX_GROUP || subjects.some((subject) => taken.has(subject))) {
      left.push(entry)
      continue
    }
    for (const subject of subjects) taken.add(subject)
    group.push(entry)
  }
  return { group, left }
}

type Refusal = Extract<AnyResult, { readonly _tag: "Refused" }>

const isRefusal = (result: AnyResult): result is Refusal => result._tag === "Refused"

/** The budgets of a request row, as they stand in it. */
export const parseBudgets = (budgets: ReadonlyArray<string>): ReadonlyArray<BudgetPeriod> =>
  budgets.map((text) => {
    const [budgetId = "", periodStart = ""] = text.split(":")
    return { budgetId, periodStart }
  })

/** The operation that ends an overdue request: its progress is settled, the rest released. */
export const expiryOf = (row: Overdue): CloseOperation => ({
  _tag: "Close",
  requestId: row.id,
  accountId: row.account_id,
  budgets: parseBudgets(row.budgets),
  settle: { cost: null },
  onlyIfExpired: true,
  status: "failed",
  keepClaim: true,
  resolvedModel: null,
  provider: null,
  closed: { error: { _tag: "HoldExpired" } },
  answer: null
})

/**
 * Two lanes over one database. The first commits whatever has gathered while its last commit was under way. Holds and extensions
 * whose account's gate was closed go to the second, which tries them one per account and round, in order of arrival, after
 * expiring what is overdue there: so an account without money never slows the others, and what fits is admitted though its
 * group did not.
 */
class Lanes {
  readonly #sql: SqlClient.SqlClient
  readonly #main: Queue.Queue<Entry>
  readonly #again: Queue.Queue<Entry>
  #waiting = 0

  constructor(sql: SqlClient.SqlClient, main: Queue.Queue<Entry>, again: Queue.Queue<Entry>) {
    this.#sql = sql
    this.#main = main
    this.#again = again
  }

  commit(operation: Operation): Effect.Effect<AnyResult, Unavailable> {
    return Effect.callback((resume) => {
      if (this.#waiting >= MAX_WAITING) {
        return resume(Effect.fail(new Unavailable({ store: "database", cause: "too many operations are waiting" })))
      }
      this.#waiting++
      Queue.offerUnsafe(this.#main, { operation, since: Date.now(), resume })
    })
  }

  get mainLane(): Effect.Effect<never> {
    return Effect.gen({ self: this }, function* () {
      let left: Array<Entry> = []
      while (true) {
        left = left.length === 0 ? yield* Queue.takeAll(this.#main) : left.concat(yield* Queue.clear(this.#main))
        const next = gather(left)
        left = next.left
        yield* this.#commitMain(next.group)
      }
    })
  }

  get againLane(): Effect.Effect<never> {
    return Effect.gen({ self: this }, function* () {
      const byAccount = new Map<string, Array<Entry>>()
      while (true) {
        const arrived = byAccount.size === 0 ? yield* Queue.takeAll(this.#again) : yield* Queue.clear(this.#again)
        for (const entry of arrived) {
          const line = byAccount.get(entry.operation.accountId)
          if (line === undefined) byAccount.set(entry.operation.accountId, [entry])
          else line.push(entry)
        }
        yield* this.#retryRound(byAccount)
      }
    })
  }

  #finish(entry: Entry, exit: Exit.Exit<AnyResult, Unavailable>) {
    this.#waiting--
    entry.resume(exit)
  }

  #answer(entry: Entry, result: AnyResult) {
    this.#finish(entry, Exit.succeed(result))
  }

  #commitMain(group: ReadonlyArray<Entry>): Effect.Effect<void> {
    return commitGroup(
      this.#sql,
      group.map((entry) => entry.operation)
    ).pipe(
      Effect.map((results) => {
        group.forEach((entry, index) => {
          const result = results[index]!
          if (isRefusal(result)) Queue.offerUnsafe(this.#again, entry)
          else this.#answer(entry, result)
        })
      }),
      this.#guard(group, this.#main)
    )
  }

  #retryRound(byAccount: Map<string, Array<Entry>>): Effect.Effect<void> {
    const lines = [...byAccount.values()].slice(0, MAX_GROUP)
    const heads = lines.map((line) => line[0]!)
    const accounts = heads.map((entry) => entry.operation.accountId)
    return Effect.gen({ self: this }, function* () {
      const overdue = yield* overdueRequests(this.#sql, MAX_GROUP, accounts)
      const operations = [...overdue.map(expiryOf), ...heads.map((entry) => entry.operation)]
      const results = yield* commitGroup(this.#sql, operations)
      heads.forEach((entry, index) => {
        const result = results[overdue.length + index]!
        this.#answer(entry, result)
        const line = lines[index]!.slice(1)
        const left = isRefusal(result) ? this.#withoutHopeless(line, entry.operation, result) : line
        if (left.length === 0) byAccount.delete(entry.operation.accountId)
        else byAccount.set(entry.operation.accountId, left)
      })
    }).pipe(
      Effect.tapCause(() => Effect.sync(() => accounts.forEach((account) => byAccount.delete(account)))),
      this.#guard(lines.flat(), this.#again)
    )
  }

  /** Whoever waited beside a refused hold and needs no less is refused by the same reading of the same balance. */
  #withoutHopeless(line: ReadonlyArray<Entry>, refused: Operation, result: Refusal): Array<Entry> {
    return line.filter((entry) => {
      const { operation } = entry
      if (operation._tag !== "Hold" || refused._tag !== "Hold" || operation.atLeast < refused.atLeast) return true
      if (!("limitSource" in result) || (result.limitSource !== "balance" && result.limitSource !== "in_flight"))
        return true
      const limitSource = result.posted >= operation.atLeast ? "in_flight" : "balance"
      this.#answer(entry, { ...result, limitSource })
      return false
    })
  }

  /** A group that failed as a whole: tried again when the fault passes by itself, else each operation for itself. */
  #guard(group: ReadonlyArray<Entry>, queue: Queue.Queue<Entry>) {
    return (commit: Effect.Effect<void, SqlError.SqlError>): Effect.Effect<void> =>
      commit.pipe(
        Effect.catch((error) =>
          error.reason.isRetryable
            ? Effect.andThen(this.#postpone(group, error, queue), Effect.sleep(RETRY_PAUSE))
            : Effect.forEach(group, (entry) => this.#alone(entry), { discard: true })
        ),
        Effect.catchDefect((defect) =>
          Effect.sync(() => group.forEach((entry) => this.#finish(entry, Exit.die(defect))))
        )
      )
  }

  #alone(entry: Entry): Effect.Effect<void> {
    return commitGroup(this.#sql, [entry.operation]).pipe(
      Effect.map(([result]) => {
        if (isRefusal(result!)) Queue.offerUnsafe(this.#again, entry)
        else this.#answer(entry, result!)
      }),
      Effect.catch((error) =>
        // A claim lost to another node in the same instant can be seen, and answered, the next time round.
        error.reason._tag === "UniqueViolation" || error.reason.isRetryable
          ? this.#postpone([entry], error, this.#again)
          : Effect.sync(() => this.#finish(entry, Exit.die(error)))
      )
    )
  }

  /** Puts entries back whose patience lasts; the others hear that the store is unavailable. */
  #postpone(entries: ReadonlyArray<Entry>, cause: unknown, queue: Queue.Queue<Entry>): Effect.Effect<void> {
    return Effect.sync(() => {
      const now = Date.now()
      for (const entry of entries) {
        const patience = entry.operation._tag === "Hold" ? HOLD_PATIENCE_MS : CLOSE_PATIENCE_MS
        if (now - entry.since < patience) Queue.offerUnsafe(queue, entry)
        else this.#finish(entry, Exit.fail(new Unavailable({ store: "database", cause })))
      }
    })
  }
}

export interface GroupCommit {
  /** Joins the next group; answers when that group is committed. */
  readonly commit: (operation: Operation) => Effect.Effect<AnyResult, Unavailable>
}

/** Starts the lanes; they end with the scope. */
export const makeGroupCommit = (sql: SqlClient.SqlClient): Effect.Effect<GroupCommit, never, Scope.Scope> =>
  Effect.gen(function* () {
    const lanes = new Lanes(sql, yield* Queue.unbounded<Entry>(), yield* Queue.unbounded<Entry>())
    yield* Effect.forkScoped(lanes.mainLane)
    yield* Effect.forkScoped(lanes.againLane)
    return { commit: (operation) => lanes.commit(operation) }
  })
