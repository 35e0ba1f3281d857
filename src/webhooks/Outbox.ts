import { Clock, Context, Effect, Latch, Layer, Random, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../account/Audit.ts"
import { newResourceId } from "../platform/Ids.ts"
import { Secrets } from "../platform/Secrets.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import {
  anyPending,
  type AttemptNote,
  claimDue,
  type ClaimedRow,
  countSealedElsewhere,
  deliver,
  disableEndpoint,
  endpointFails,
  forgetDeliveries,
  forgetEndpoints,
  forgetEvents,
  giveUp,
  giveUpUnwanted,
  hasMoved,
  insertAttempt,
  postpone,
  releaseClaim
} from "./OutboxSql.ts"
import { LONGEST_GAP_MS, type Verdict, verdictOf } from "./Schedule.ts"
import type { Attempt, Message } from "./Sender.ts"
import type { SealedSecrets } from "./WebhooksSql.ts"

/** Deliveries to one endpoint under way at a time, on all nodes; two that claim at the same moment may exceed it once. */
export const MOST_PER_ENDPOINT = 4

/** Longer than any attempt takes, so that none is made twice while its node lives. */
const LEASE_MS = 60_000

/** How long an endpoint may do nothing but fail, again and again throughout. */
const FAILING_MS = 5 * 24 * 3_600_000

/** How long a delivery waits for an endpoint that is disabled. */
const WAITING_MS = 5 * 24 * 3_600_000

/** How long what was told can be read and told again. */
const RETENTION_MS = 30 * 24 * 3_600_000

/** Rows that one statement of a sweep touches. */
const SWEEP_BATCH = 1_000

/** A delivery that this node has taken upon itself. */
export interface Claimed {
  readonly id: string
  readonly endpointId: string
  /** How often it failed before. */
  readonly step: number
  /** It arrived once, and is sent again on demand. */
  readonly again: boolean
  readonly claim: string
  readonly message: Message
}

/** What is still to be told, and to whom. */
export class Outbox extends Context.Service<
  Outbox,
  {
    /**
     * Takes deliveries that are due, at most `limit`: no other node has them until they are noted or released, or a minute is
     * over, as it is when this one dies. However many wait for one endpoint, none waits behind them for another.
     */
    readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<Claimed>, Unavailable>
    /** Whether anything is still to be told, now or later; costs less than a claim. */
    readonly isPending: Effect.Effect<boolean, Unavailable>
    /** Writes down what came of an attempt, and what follows for the delivery and its endpoint, in one transaction. */
    readonly note: (claimed: Claimed, attempt: Attempt) => Effect.Effect<void, Unavailable>
    /** Gives back what was not tried to its end, to be tried at once. */
    readonly release: (claimed: Claimed) => Effect.Effect<void, Unavailable>
    /** Something may be due now. */
    readonly wake: Effect.Effect<void>
    /** Returns as soon as this process was told that something may be due, since it last returned. */
    readonly woken: Effect.Effect<void>
    /** Forgets what ended 30 days ago and what belongs to nobody, a batch of it; answers how much there was. */
    readonly sweep: Effect.Effect<number, Unavailable>
    /** How many endpoints this node cannot sign for, because another key sealed their secrets. */
    readonly sealedElsewhere: Effect.Effect<number, Unavailable>
  }
>()("tollgate/webhooks/Outbox") {
  static readonly layer = Layer.effect(
    Outbox,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [audit, secrets, latch] = [yield* Audit, yield* Secrets, yield* Latch.make()]
      const { keyId: sealedWith } = secrets
      return Outbox.of({
        claim: (limit) =>
          Effect.suspend(() => {
            const claim = newResourceId()
            const options = { claim, limit, each: MOST_PER_ENDPOINT, leaseMs: LEASE_MS, sealedWith }
            return Effect.map(storeErrors(claimDue(sql, options)), (rows) =>
              rows.map((row) => claimedOf(row, claim, secrets))
            )
          }),
        isPending: storeErrors(anyPending(sql)),
        note: (claimed, attempt) => note(sql, audit, claimed, attempt),
        release: ({ claim, id }) => Effect.asVoid(storeErrors(releaseClaim(sql, id, claim))),
        wake: Effect.asVoid(latch.open),
        woken: Effect.andThen(latch.await, latch.close),
        sweep: storeErrors(
          Effect.gen(function* () {
            const unwanted = yield* giveUpUnwanted(sql, WAITING_MS, SWEEP_BATCH)
            const deliveries = yield* forgetDeliveries(sql, RETENTION_MS, SWEEP_BATCH)
            const events = yield* forgetEvents(sql, RETENTION_MS, SWEEP_BATCH)
            return unwanted + deliveries + events + (yield* forgetEndpoints(sql))
          })
        ),
        sealedElsewhere: storeErrors(countSealedElsewhere(sql, sealedWith))
      })
    })
  )
}

/** Where the secret of an endpoint may be opened. */
export const purposeOf = (endpointId: string): string => `webhook_endpoint ${endpointId}`

/** The secrets that sign for an endpoint, those that can be opened. */
export const openSecrets = (
  secrets: Secrets["Service"],
  endpointId: string,
  { previous_secret, secret }: SealedSecrets
): ReadonlyArray<Redacted.Redacted> =>
  [secret, previous_secret].flatMap((sealed) => {
    const opened = sealed === null ? undefined : secrets.open(sealed, purposeOf(endpointId))
    return opened === undefined ? [] : [opened]
  })

const claimedOf = (row: ClaimedRow, claim: string, secrets: Secrets["Service"]): Claimed => ({
  id: row.id,
  endpointId: row.endpoint_id,
  step: row.step,
  again: row.again,
  claim,
  message: {
    url: row.url,
    secrets: openSecrets(secrets, row.endpoint_id, row),
    eventId: row.event_id,
    body: row.body
  }
})

const note = (sql: SqlClient.SqlClient, audit: Audit["Service"], claimed: Claimed, attempt: Attempt) =>
  Effect.gen(function* () {
    const verdict = verdictOf(claimed.step, attempt, yield* Clock.currentTimeMillis, yield* Random.next)
    const noted: AttemptNote = {
      deliveryId: claimed.id,
      startedAt: attempt.startedAt,
      durationMs: attempt.durationMs,
      statusCode: attempt.status ?? null,
      error: attempt.error ?? null,
      response: attempt.response ?? null
    }
    const to = { endpointId: claimed.endpointId, url: claimed.message.url }
    if (verdict._tag === "Delivered") yield* deliver(sql, to, noted)
    else yield* sql.withTransaction(missed(sql, audit, claimed, noted, verdict))
  }).pipe(storeErrors)

const missed = (
  sql: SqlClient.SqlClient,
  audit: Audit["Service"],
  { again, claim, endpointId, id, message: { url } }: Claimed,
  noted: AttemptNote,
  verdict: Exclude<Verdict, { readonly _tag: "Delivered" }>
) =>
  Effect.gen(function* () {
    yield* insertAttempt(sql, noted)
    const gone = verdict._tag === "Gone"
    // Only the address that it was sent to is gone.
    if (gone && (yield* hasMoved(sql, endpointId, url))) return yield* postpone(sql, id, claim, 0)
    if (verdict._tag === "Retry") yield* postpone(sql, id, claim, verdict.afterMs)
    else yield* giveUp(sql, id, claim)
    // What is sent for the second time may be refused for just that.
    if (again && !gone) return
    yield* endpointFails(sql, endpointId, url, LONGEST_GAP_MS)
    const accountId = yield* disableEndpoint(sql, endpointId, url, gone ? 0 : FAILING_MS)
    if (accountId === undefined) return
    yield* audit.append({
      accountId,
      type: "webhook.disabled",
      actor: { type: "service", id: "webhooks" },
      resource: { type: "webhook_endpoint", id: endpointId },
      changes: { reason: gone ? "it answered 410" : "it failed for 5 days" }
    })
  })
