import type { LimitSource } from "../../src/domain/Failure.ts"
import type {
  AdjustOperation,
  AnyResult,
  CloseOperation,
  ConcludeOperation,
  ConcludeResult,
  HoldOperation,
  Operation
} from "../../src/ledger/Operation.ts"

export interface ModelBalance {
  posted: bigint
  held: bigint
}

export interface ModelRequest {
  readonly accountId: string
  readonly budgets: ReadonlyArray<string>
  /** True where simulated money pays for it. */
  readonly play: true | null
  claim: string | null
  state: "open" | "settled" | "released"
  held: bigint
  progress: bigint
  settled: bigint
  absorbed: bigint
  refunded: bigint
  expired: boolean
  /** Charged up front, and not concluded. */
  standing: boolean
  /** Whether the database's clock is past its expiry. */
  overdue: boolean
}

export interface ModelBudget {
  readonly accountId: string
  readonly scope: "key" | "project"
  limit: bigint
}

/** A kind of money. */
type Kind = "real" | "play"

const takes = (op: Operation) => op._tag === "Hold" || op._tag === "Extend"

const least = (...values: ReadonlyArray<bigint>) => values.reduce((a, b) => (a < b ? a : b))
const most = (a: bigint, b: bigint) => (a > b ? a : b)

const nothing: Readonly<ModelBalance> = { posted: 0n, held: 0n }

/** The ledger's rules once more, as plainly as they can be said, without a database. */
export class Model {
  /** Real money. */
  readonly balances = new Map<string, ModelBalance>()
  /** Simulated money, of accounts that were given some. */
  readonly plays = new Map<string, ModelBalance>()
  readonly keys = new Map<string, { readonly accountId: string; active: boolean; epoch: number }>()
  readonly budgets = new Map<string, ModelBudget>()
  readonly periods = new Map<string, { spent: bigint; held: bigint }>()
  readonly requests = new Map<string, ModelRequest>()
  readonly references = new Set<string>()
  #claims = new Map<string, string>()

  /** A group as one statement does it: overdue holds first, then account by account, what gives back before what takes. */
  applyGroup(operations: ReadonlyArray<Operation>): Array<AnyResult> {
    this.#begin(operations)
    const results: Array<AnyResult> = []
    const order = operations
      .map((op, index) => ({ op, index }))
      .toSorted((a, b) => {
        if (a.op.accountId !== b.op.accountId) return a.op.accountId < b.op.accountId ? -1 : 1
        return Number(takes(a.op)) - Number(takes(b.op)) || a.index - b.index
      })
    for (const { op, index } of order) results[index] = this.#apply(op)
    return results
  }

  #begin(operations: ReadonlyArray<Operation>): void {
    const taking = new Set(operations.filter(takes).map((op) => op.accountId))
    const named = new Set(operations.map((op) => ("requestId" in op ? op.requestId : "")))
    for (const [id, request] of this.requests) {
      if (taking.has(request.accountId) && !named.has(id)) this.#expire(request)
    }
    // A key that this group frees is free for the next one.
    this.#claims = new Map()
    for (const [id, { accountId, claim }] of this.requests) {
      if (claim !== null) this.#claims.set(`${accountId} ${claim}`, id)
    }
  }

  /** Ends every overdue hold; how many there were. */
  expireOverdue(): number {
    return [...this.requests.values()].filter((request) => this.#expire(request)).length
  }

  /** A hold out of another one: what that gives is free for this one. If it is refused all the same, it is a hold like any. */
  carve(fromRequestId: string, op: HoldOperation): AnyResult {
    const parent = this.requests.get(fromRequestId)
    const usable = parent?.accountId === op.accountId && parent.state === "open" && !parent.overdue
    if (!usable || this.requests.has(op.requestId)) return this.applyGroup([op])[0]!
    if (parent.play === true && op.simulated !== true) return this.applyGroup([op])[0]!
    const room = parent.held - parent.progress
    const own = parent.budgets.map((budget) => budget.split(":")[0]!)
    const known = op.budgets.map(({ budgetId }) => budgetId)
    if (room < op.atLeast && own.toSorted().join() !== known.toSorted().join()) return this.applyGroup([op])[0]!
    const given = least(op.charge ? op.atLeast : most(op.atLeast, op.upTo), room)
    const balance = this.#purseOf(parent)
    const budgets = parent.budgets.map((budget) => {
      const [budgetId = "", periodStart = ""] = budget.split(":")
      return { budgetId, periodStart }
    })
    this.#count(balance, parent.budgets, 0n, -given)
    parent.held -= given
    const result = this.#expiringFor(op, () =>
      this.#hold({ ...op, budgets, upTo: most(op.atLeast, given) }, parent.play === true ? "play" : "real")
    )
    if (result._tag === "Granted") return result
    this.#count(balance, parent.budgets, 0n, given)
    parent.held += given
    return this.applyGroup([op])[0]!
  }

  /** Ends a charge, and gives back of it what is asked for, as far as it is there. */
  conclude(op: ConcludeOperation): ConcludeResult {
    const found = this.requests.get(op.requestId)
    const request = found?.accountId === op.accountId && found.state === "settled" ? found : undefined
    if (request === undefined) return { _tag: "Gone", cost: 0n }
    const left = request.settled - request.refunded
    if (!request.standing) {
      if (request.expired && request.absorbed === 0n && request.refunded > op.refund) {
        request.absorbed = request.refunded - op.refund
      }
      return { _tag: "Gone", cost: left }
    }
    const back = least(op.refund, left)
    this.#giveBack(request, back)
    if (!op.keepClaim) request.claim = null
    return { _tag: "Concluded", cost: left - back, posted: this.#standingOf(request).posted }
  }

  /** Gives back every overdue charge; how many there were. */
  refundOverdue(): number {
    const overdue = [...this.requests.values()].filter((request) => request.standing && request.overdue)
    for (const request of overdue) {
      this.#giveBack(request, request.settled - request.refunded)
      request.expired = true
    }
    return overdue.length
  }

  #giveBack(request: ModelRequest, back: bigint) {
    this.#count(this.#purseOf(request), request.budgets, -back, 0n)
    request.refunded += back
    request.standing = false
  }

  #apply(op: Operation): AnyResult {
    const balance = this.balances.get(op.accountId)
    if (op._tag === "Hold") return this.#hold(op, this.#kindFor(op))
    if (op._tag === "Credit") {
      if (balance === undefined || !this.#take(op.reference === null ? null : `credit ${op.reference}`))
        return { _tag: "Gone" }
      this.#count(this.#ofKind(op.accountId, op.source === "play" ? "play" : "real"), [], -op.amount, 0n)
      return { _tag: "Moved" }
    }
    if (op._tag === "Adjust") return this.#adjust(op)
    const request = this.requests.get(op.requestId)
    const own = request?.accountId === op.accountId ? request : undefined
    if (op._tag === "Close") return this.#close(op, own)
    if (own === undefined || balance === undefined) return { _tag: "Gone" }
    if (op._tag === "Extend") {
      if (own.state !== "open") return { _tag: "Gone" }
      const need = most(op.held + op.more - own.held, 0n)
      const purse = this.#purseOf(own)
      if (need > 0n && this.#room(purse, own.budgets) < need) return { _tag: "Refused" }
      this.#count(purse, own.budgets, 0n, need)
      own.held += need
      own.progress = least(most(own.progress, op.progress), own.held)
      own.overdue = op.ttlMs < 0
      return { _tag: "Extended" }
    }
    if (own.state !== "settled" || own.refunded + op.amount > own.settled || !this.#take(`refund ${op.reference}`)) {
      return { _tag: "Gone" }
    }
    this.#count(this.#purseOf(own), own.budgets, -op.amount, 0n)
    own.refunded += op.amount
    return { _tag: "Moved" }
  }

  #adjust({ accountId, amount, reference, source }: AdjustOperation): AnyResult {
    const kind: Kind = source === "play" ? "play" : "real"
    if (!this.balances.has(accountId) || (reference !== null && this.references.has(`adjust ${reference}`))) {
      return { _tag: "Gone" }
    }
    const { held, posted } = this.#ofKindOrNothing(accountId, kind)
    if (posted + amount < held) return { _tag: "Refused", available: posted - held }
    this.#take(reference === null ? null : `adjust ${reference}`)
    this.#ofKind(accountId, kind).posted += amount
    return { _tag: "Moved" }
  }

  #ofKind(accountId: string, kind: Kind): ModelBalance {
    const purse = (kind === "play" ? this.plays : this.balances).get(accountId)
    if (purse !== undefined) return purse
    const made = { ...nothing }
    this.plays.set(accountId, made)
    return made
  }

  #purseOf({ accountId, play }: Pick<ModelRequest, "accountId" | "play">): ModelBalance {
    return this.#ofKind(accountId, play === true ? "play" : "real")
  }

  /** Simulated money pays for what doubles serve where it covers all of it, or where real money covers not even the least. */
  #kindFor({ accountId, atLeast, charge, simulated, upTo }: HoldOperation): Kind {
    const play = this.plays.get(accountId) ?? nothing
    const real = this.balances.get(accountId) ?? nothing
    const room = play.posted - play.held
    if (simulated !== true || play.posted === 0n) return "real"
    const wanted = charge ? atLeast : most(atLeast, upTo)
    return room >= wanted || (room >= atLeast && real.posted - real.held < atLeast) ? "play" : "real"
  }

  /** What is reported of an account beside a request: real money, and for one that simulated money pays for both kinds. */
  #standingOf(request: ModelRequest): ModelBalance {
    const real = this.balances.get(request.accountId)!
    const play = request.play === true ? this.plays.get(request.accountId)! : nothing
    return { posted: real.posted + play.posted, held: real.held + play.held }
  }

  /** What is overdue ends before anything is taken. */
  #expiringFor(op: HoldOperation, take: () => AnyResult): AnyResult {
    this.#begin([op])
    return take()
  }

  #hold(op: HoldOperation, kind: Kind): AnyResult {
    const balance = this.balances.has(op.accountId) ? this.#ofKindOrNothing(op.accountId, kind) : undefined
    const budgets = op.budgets.map((budget) => `${budget.budgetId}:${budget.periodStart}`)
    const before = this.requests.get(op.requestId)
    if (before !== undefined) return { _tag: "Granted", granted: before.held }
    const key = this.keys.get(op.keyId)
    if (key?.active !== true || key.accountId !== op.accountId) return { _tag: "KeyInactive" }
    const holder = op.claim === undefined ? undefined : this.#claims.get(`${op.accountId} ${op.claim.claim}`)
    if (holder !== undefined) return { _tag: "Claimed", byRequestId: holder }
    if (key.epoch !== op.budgetsEpoch) return { _tag: "KeyChanged" }
    if (balance === undefined) return { _tag: "Refused", limitSource: "balance", available: 0n, posted: 0n }
    const room = this.#room(balance, budgets)
    if (op.atLeast > 0n && room < op.atLeast) return this.#refused(op, balance, budgets)
    const granted = op.charge ? op.atLeast : most(op.atLeast, least(op.upTo, room))
    this.#count(this.#ofKind(op.accountId, kind), budgets, op.charge ? granted : 0n, op.charge ? 0n : granted)
    this.requests.set(op.requestId, {
      accountId: op.accountId,
      budgets,
      play: kind === "play" ? true : null,
      claim: op.claim?.claim ?? null,
      state: op.charge ? "settled" : "open",
      held: granted,
      progress: 0n,
      settled: op.charge ? granted : 0n,
      absorbed: 0n,
      refunded: 0n,
      expired: false,
      standing: op.charge,
      overdue: op.ttlMs < 0
    })
    return { _tag: "Granted", granted }
  }

  #ofKindOrNothing(accountId: string, kind: Kind): ModelBalance {
    return (kind === "play" ? this.plays : this.balances).get(accountId) ?? { ...nothing }
  }

  /** One that real money alone may pay for is told how much simulated money there is; another one is refused by what has more of both. */
  #refused(op: HoldOperation, balance: ModelBalance, budgets: ReadonlyArray<string>): AnyResult {
    const play = this.plays.get(op.accountId) ?? nothing
    if (op.simulated !== true) {
      return {
        ...this.#refusal(op, balance, budgets),
        ...(play.posted === 0n ? {} : { play: play.posted })
      } as AnyResult
    }
    if (balance.posted - balance.held >= op.atLeast) return this.#refusal(op, balance, budgets)
    const posted = most(balance.posted, play.posted)
    return this.#refusal(
      op,
      { posted, held: posted - most(balance.posted - balance.held, play.posted - play.held) },
      budgets
    )
  }

  #refusal(op: HoldOperation, { held, posted }: ModelBalance, budgets: ReadonlyArray<string>): AnyResult {
    if (posted - held < op.atLeast) {
      return {
        _tag: "Refused",
        limitSource: posted >= op.atLeast ? "in_flight" : "balance",
        available: posted - held,
        posted
      }
    }
    const scopeOf = (budget: string) => this.budgets.get(budget.split(":")[0]!)!.scope
    const short = budgets.filter((budget) => this.#left(budget) < op.atLeast)
    const first = short.find((budget) => scopeOf(budget) === "key") ?? short[0]
    // A carve asks the purse of its parent alone. When the other purse has enough, it discards this refusal and holds anew.
    if (first === undefined) return { _tag: "Refused", limitSource: "balance", available: posted - held, posted }
    const limitSource: LimitSource = scopeOf(first) === "key" ? "key_budget" : "project_budget"
    return { _tag: "Refused", limitSource, available: most(this.#left(first), 0n), posted }
  }

  #close(op: CloseOperation, request: ModelRequest | undefined): AnyResult {
    if (request === undefined) return { _tag: "Gone", settled: 0n }
    if (request.state !== "open") {
      const late = op.settle?.cost ?? 0n
      if (request.expired && request.absorbed === 0n && late > request.settled)
        request.absorbed = late - request.settled
      return { _tag: "Gone", settled: request.settled }
    }
    if (op.onlyIfExpired && !request.overdue) return { _tag: "Gone", settled: 0n }
    const due = op.settle === undefined ? 0n : (op.settle.cost ?? request.progress)
    const balance = this.#purseOf(request)
    request.settled = least(due, request.held)
    request.absorbed = due - request.settled
    request.state = op.settle === undefined ? "released" : "settled"
    request.expired = op.onlyIfExpired
    if (!op.keepClaim) request.claim = null
    this.#count(balance, request.budgets, request.settled, -request.held)
    return { _tag: "Closed", settled: request.settled, absorbed: request.absorbed, ...this.#standingOf(request) }
  }

  #expire(request: ModelRequest): boolean {
    if (request.state !== "open" || !request.overdue) return false
    request.settled = request.progress
    request.state = "settled"
    request.expired = true
    this.#count(this.#purseOf(request), request.budgets, request.settled, -request.held)
    return true
  }

  #left(budget: string): bigint {
    const { spent, held } = this.periods.get(budget) ?? { spent: 0n, held: 0n }
    return this.budgets.get(budget.split(":")[0]!)!.limit - spent - held
  }

  #room({ held, posted }: ModelBalance, budgets: ReadonlyArray<string>): bigint {
    return least(posted - held, ...budgets.map((budget) => this.#left(budget)))
  }

  #count(balance: ModelBalance, budgets: ReadonlyArray<string>, spent: bigint, held: bigint) {
    balance.posted -= spent
    balance.held += held
    if (spent === 0n && held === 0n) return
    for (const budget of budgets) {
      const before = this.periods.get(budget) ?? { spent: 0n, held: 0n }
      this.periods.set(budget, { spent: before.spent + spent, held: before.held + held })
    }
  }

  #take(reference: string | null): boolean {
    if (reference === null) return true
    if (this.references.has(reference)) return false
    this.references.add(reference)
    return true
  }
}
