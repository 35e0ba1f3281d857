import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Actor, Audit } from "../account/Audit.ts"
import { lockAccount } from "../account/KeysSql.ts"
import { conflict, type Failure, failure } from "../domain/Failure.ts"
import { NANO_PER_CENT, usdFromNano } from "../domain/Money.ts"
import { type CheckoutState, nextOf, type RecordedTopUp, type PaymentEvent } from "../domain/TopUp.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { PublicUrl } from "../platform/outbound/PublicUrl.ts"
import { type Page, readPage } from "../platform/database/Page.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { Payments } from "./Payments.ts"
import type { Processor } from "./Processor.ts"
import type { NotSigned } from "./StripeEvents.ts"
import {
  countOpen,
  type DueRow,
  expireUnopened,
  insertNotice,
  insertTopUp,
  lockTopUp,
  lockTopUpOfPayment,
  setAttention,
  setCheckout,
  setEnded,
  setPaid,
  setRefunded,
  setStopped,
  takeDue,
  topUpById,
  topUpBySession,
  type TopUpRow,
  topUpsOf
} from "./TopUpsSql.ts"

/** When the gateway first asks the processor about a top-up. A customer pays within minutes, and events arrive within seconds. */
const MIN_ASK_MS = 10 * 60_000

/** The longest interval between questions to the processor. Bank debits take days, and a lost event must not add another day. */
const MAX_ASK_MS = 6 * 3_600_000

/** How long a checkout can be paid; Stripe's own limit. */
const LIFE_MS = 24 * 3_600_000

/** The maximum number of open top-ups of an account: more than an owner pays at once, and few enough to query. */
const MAX_OPEN = 20

/** The time after which an unknown checkout counts as not opened. Stripe's client gives up earlier. */
const OPENING_MS = 60_000

const SWEEP_BATCH = 20
const SWEEP_CONCURRENCY = 4

/** Returns an amount in cents as nano-USD. */
export const nanoOfTopUp = (amountCents: number): bigint => BigInt(amountCents) * NANO_PER_CENT

/** A top-up to open. The caller creates the id. */
export interface NewTopUp {
  readonly id: string
  readonly accountId: string
  readonly amountCents: number
  readonly actor: Actor
}

/**
 * Money that customers pay in. A payment is credited once, in the transaction that makes its top-up `paid`, however often and in
 * whatever order it is reported.
 */
export class TopUps extends Context.Service<
  TopUps,
  {
    /**
     * Writes an open top-up in the caller's transaction. Its checkout is opened afterwards. Fails with `ServiceUnavailable`, and with
     * `Conflict` when the account already has 20 open ones. A top-up stops counting after a minute without a checkout, and when it
     * waits for an operator or was made with another processor.
     */
    readonly create: (request: NewTopUp) => Effect.Effect<TopUpRow, Failure | SqlError.SqlError>
    /** Returns the top-up with its checkout, which it opens if none is known. Fails with `NotFound` and `ServiceUnavailable`. */
    readonly checkout: (accountId: string, id: string) => Effect.Effect<TopUpRow, Failure | Unavailable>
    readonly get: (accountId: string, id: string) => Effect.Effect<TopUpRow, Failure | Unavailable>
    readonly list: (
      accountId: string,
      page: { readonly limit: number; readonly cursor: string | undefined }
    ) => Effect.Effect<Page<TopUpRow>, Unavailable>
    /**
     * Takes an event of the processor from its raw body. It accepts and logs events that it does not use or that name nothing it knows.
     * Fails with `NotSigned`, and with `Unavailable` when the processor should deliver the event again.
     */
    readonly receive: (
      raw: Uint8Array,
      signature: string | undefined
    ) => Effect.Effect<void, NotSigned | Failure | Unavailable>
    /** Pays an account's simulated top-up. Fails with `NotFound` if payments are not simulated, and with `Conflict` if it ended unpaid. */
    readonly simulate: (accountId: string, id: string) => Effect.Effect<TopUpRow, Failure | Unavailable>
    /** Pays a simulated top-up by the id of its checkout, which is as secret as a key. */
    readonly simulateCheckout: (sessionId: string) => Effect.Effect<TopUpRow, Failure | Unavailable>
    /** Asks the processor about some open top-ups, and ends those that are too old. Returns how many it asked about. A sweep runs it. */
    readonly sweep: Effect.Effect<number, Unavailable>
  }
>()("tollgate/billing/TopUps") {
  static readonly layer = Layer.effect(
    TopUps,
    Effect.gen(function* () {
      const deps: Deps = {
        sql: yield* SqlClient.SqlClient,
        audit: yield* Audit,
        ledger: yield* Ledger,
        processor: (yield* Payments).processor
      }
      const { processor, sql } = deps
      const publicUrl = yield* PublicUrl
      const get = (accountId: string, id: string) =>
        Effect.flatMap(storeErrors(topUpById(sql, accountId, id)), (row) => topUpOrNotFound(row, id))
      const checkout = (accountId: string, id: string) =>
        Effect.flatMap(get(accountId, id), (row) => withCheckout(deps, row))
      return TopUps.of({
        create: (request) => create(deps, request, publicUrl.base()),
        checkout,
        get,
        list: (accountId, { cursor, limit }) =>
          storeErrors(readPage({ limit, cursor: cursor ?? null }, (page) => topUpsOf(sql, accountId, page))),
        receive: (raw, signature) => receive(deps, raw, signature),
        simulate: (accountId, id) =>
          Effect.flatMap(processor?.pay === undefined ? get(accountId, id) : checkout(accountId, id), (row) =>
            simulate(deps, row, id)
          ),
        simulateCheckout: (sessionId) =>
          Effect.flatMap(storeErrors(topUpBySession(sql, sessionId)), (row) => simulate(deps, row, sessionId)),
        sweep: processor === undefined ? Effect.succeed(0) : Effect.suspend(() => sweep(deps, processor))
      })
    })
  )
}

interface Deps {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
  readonly ledger: Ledger["Service"]
  readonly processor: Processor | undefined
}

const notSetUp = failure({ _tag: "ServiceUnavailable", detail: "Payments are not set up on this gateway" })

const tooManyOpen = conflict(`An account has at most ${MAX_OPEN} open top-ups`)

const topUpOrNotFound = (row: TopUpRow | undefined, id: string): Effect.Effect<TopUpRow, Failure> =>
  row === undefined ? Effect.fail(failure({ _tag: "NotFound", what: "top-up", id })) : Effect.succeed(row)

const create = ({ audit, processor, sql }: Deps, request: NewTopUp, returnUrl: string) =>
  Effect.gen(function* () {
    if (processor === undefined) return yield* notSetUp
    const { accountId, actor, amountCents, id } = request
    yield* lockAccount(sql, accountId)
    const open = yield* countOpen(sql, { accountId, processor: processor.name, openingMs: OPENING_MS })
    if (open >= MAX_OPEN) return yield* tooManyOpen
    yield* audit.append({
      accountId,
      actor,
      type: "top_up.created",
      resource: { type: "top_up", id },
      changes: { amount_usd: usdFromNano(nanoOfTopUp(amountCents)) }
    })
    return yield* insertTopUp(sql, {
      id,
      accountId,
      amountCents,
      returnUrl,
      processor: processor.name,
      askMs: MIN_ASK_MS
    })
  })

/** No transaction is open while the gateway asks the processor. A process that dies here finds the same checkout again. */
const withCheckout = ({ processor, sql }: Deps, row: TopUpRow): Effect.Effect<TopUpRow, Failure | Unavailable> =>
  Effect.gen(function* () {
    if (row.session_id !== null || row.status !== "open") return row
    if (processor?.name !== row.processor) return yield* notSetUp
    const checkout = yield* processor.open(row)
    return yield* topUpOrNotFound(yield* storeErrors(setCheckout(sql, { id: row.id, ...checkout })), row.id)
  })

const receive = (deps: Deps, raw: Uint8Array, signature: string | undefined) =>
  Effect.gen(function* () {
    if (deps.processor === undefined) return yield* notSetUp
    yield* storeErrors(apply(deps, yield* deps.processor.read(raw, signature)))
  })

const apply = (deps: Deps, event: PaymentEvent): Effect.Effect<void, SqlError.SqlError> => {
  switch (event._tag) {
    case "Checkout":
      return settle(deps, event.state, event.topUpId)
    case "Notice":
      return notice(deps, event)
    case "Unreadable":
      return Effect.logError(`the gateway cannot read a payment event: ${event.type}`)
    case "Other":
      return Effect.logDebug(`the gateway ignores a payment event: ${event.type}`)
  }
}

const recordedOf = (row: TopUpRow): RecordedTopUp => ({
  status: row.status,
  amountCents: row.amount_cents,
  sessionId: row.session_id,
  refundedCents: Number(row.refunded_cents)
})

/** Applies a reported state of a checkout, in one transaction that locks its top-up. */
const settle = (deps: Deps, state: CheckoutState, topUpId: string | null): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    const { sql } = deps
    const row = yield* lockTopUp(sql, state.sessionId, topUpId)
    if (row === undefined) {
      return yield* Effect.logWarning(`no top-up matches a checkout: ${state._tag} ${state.sessionId}`)
    }
    const step = nextOf(recordedOf(row), state)
    switch (step._tag) {
      case "Credits":
        return yield* credit(deps, row, state)
      case "Ends":
        return yield* Effect.asVoid(setEnded(sql, row.id, step.status))
      case "Attends":
        if (!(yield* setStopped(sql, { id: row.id, ...step, sessionId: state.sessionId, paymentId: paymentOf(state) })))
          return
        return yield* Effect.logError(`top-up ${row.id} needs an operator: ${step.reason}`)
      case "Nothing":
        return
    }
  }).pipe(deps.sql.withTransaction)

const paymentOf = (state: CheckoutState): string | null => (state._tag === "Paid" ? state.paymentId : null)

const credit = ({ audit, ledger, sql }: Deps, row: TopUpRow, state: CheckoutState) =>
  Effect.gen(function* () {
    const { account_id: accountId, id, processor } = row
    const { sessionId } = state
    const amount = nanoOfTopUp(row.amount_cents)
    yield* setPaid(sql, { id, sessionId, paymentId: paymentOf(state) })
    yield* audit.append({
      accountId,
      type: "top_up.paid",
      actor: { type: "service", id: processor },
      resource: { type: "top_up", id },
      changes: { status: "paid", amount_usd: usdFromNano(amount), session_id: sessionId }
    })
    // Last, because it locks the balance that running requests wait for.
    const moved = yield* ledger.within(sql, {
      _tag: "Credit",
      accountId,
      amount,
      source: processor === "simulated" ? "play" : "funding",
      reference: `${processor}:${sessionId}`
    })
    if (moved._tag === "Gone") return yield* Effect.die(new Error(`top-up ${id} could not be credited`))
  })

/** An amount for the audit log. Other currencies than dollars appear in their smallest unit. */
const amountsOf = ({ amount, currency }: Extract<PaymentEvent, { readonly _tag: "Notice" }>) => {
  if (amount === null) return { amount_usd: null }
  return currency === "usd" ? { amount_usd: usdFromNano(nanoOfTopUp(amount)) } : { amount_usd: null, amount, currency }
}

/**
 * Handles a refund or dispute at the processor. After the credit, it marks the top-up for an operator and leaves the balance unchanged.
 * Before the credit, it reduces the later credit by the returned amount. In both cases the gateway can read the state of the checkout.
 */
const notice = (
  { audit, sql }: Deps,
  event: Extract<PaymentEvent, { readonly _tag: "Notice" }>
): Effect.Effect<void, SqlError.SqlError> =>
  Effect.gen(function* () {
    const { about, amount, eventId, type } = event
    const row = yield* lockTopUpOfPayment(sql, event.paymentId, event.topUpId)
    if (row === undefined) return yield* Effect.logWarning(`no top-up matches a payment: ${type}`)
    if (!(yield* insertNotice(sql, { eventId, topUpId: row.id, type }))) return
    yield* setAttention(sql, row.id, type)
    if (about === "refund") yield* setRefunded(sql, row.id, amount)
    yield* audit.append({
      accountId: row.account_id,
      type: about === "refund" ? "top_up.refund_reported" : "top_up.dispute_reported",
      actor: { type: "service", id: row.processor },
      resource: { type: "top_up", id: row.id },
      changes: { event: type, event_id: eventId, ...amountsOf(event) }
    })
    yield* Effect.logError(`top-up ${row.id} needs an operator: ${type}; its account keeps the credit`)
  }).pipe(sql.withTransaction)

const simulate = (deps: Deps, row: TopUpRow | undefined, id: string): Effect.Effect<TopUpRow, Failure | Unavailable> =>
  Effect.gen(function* () {
    const { processor, sql } = deps
    if (row === undefined || processor?.pay === undefined || row.processor !== "simulated" || row.session_id === null) {
      return yield* failure({ _tag: "NotFound", what: "simulated payment", id })
    }
    if (row.status !== "open" && row.status !== "paid") {
      return yield* conflict(`This top-up is ${row.status}`)
    }
    const { raw, signature } = processor.pay({ ...row, session_id: row.session_id })
    yield* receive(deps, raw, signature).pipe(
      Effect.catchTag("NotSigned", (error) =>
        Effect.die(new Error(`the signature of the event is not valid: ${error.detail}`))
      )
    )
    return yield* topUpOrNotFound(yield* storeErrors(topUpById(sql, row.account_id, row.id)), row.id)
  })

const sweep = (deps: Deps, processor: Processor): Effect.Effect<number, Unavailable> =>
  Effect.gen(function* () {
    const due = yield* storeErrors(
      takeDue(deps.sql, {
        processor: processor.name,
        limit: SWEEP_BATCH,
        leastMs: MIN_ASK_MS,
        mostMs: MAX_ASK_MS,
        lifeMs: LIFE_MS
      })
    )
    yield* Effect.forEach(due, (row) => look(deps, processor, row), { concurrency: SWEEP_CONCURRENCY, discard: true })
    return due.length
  })

const look = (deps: Deps, processor: Processor, { id, old, session_id: sessionId }: DueRow) =>
  Effect.gen(function* () {
    // The customer never received a checkout address. A checkout that was opened anyway has expired by itself.
    if (sessionId === null) return old ? yield* Effect.asVoid(storeErrors(expireUnopened(deps.sql, id))) : undefined
    const state = yield* processor.ask(sessionId)
    const last = state._tag === "Open" && old ? yield* processor.expire(sessionId) : state
    yield* storeErrors(settle(deps, last, id))
  }).pipe(
    // A top-up whose processor does not answer must not hold up the others.
    Effect.catchTag("Failure", ({ log }) =>
      Effect.logWarning(`the gateway cannot query the state of top-up ${id}`, log)
    )
  )
