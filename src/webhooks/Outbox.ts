import { Clock, Context, Duration, Effect, Latch, Layer, Random, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../account/Audit.ts"
import { newResourceId } from "../platform/Ids.ts"
import { Secrets } from "../platform/Secrets.ts"
import { Metrics } from "../platform/telemetry/Metrics.ts"
import { insertNotification } from "../notifications/NotificationsSql.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { wakeupsOf } from "../platform/database/Wakeups.ts"
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

/** The maximum concurrent deliveries to one endpoint, across all nodes. Two nodes that claim at the same moment may exceed it once. */
export const MAX_PER_ENDPOINT = 4

/** Longer than any attempt takes, so that a living node's attempt is never repeated. */
const LEASE_MS = 60_000

/** How long an endpoint may do nothing but fail before it is disabled. */
const FAILING_MS = 5 * 24 * 3_600_000

/** How long a delivery waits for a disabled endpoint. */
const WAITING_MS = 5 * 24 * 3_600_000

/** How long ended deliveries can be listed and sent again by default. */
const RETENTION = Duration.days(30)

/** The maximum number of rows that one statement of a sweep changes. */
const SWEEP_BATCH = 1_000

/** A delivery that this node has claimed. */
export interface ClaimedDelivery {
  readonly id: string
  readonly endpointId: string
  /** The number of earlier failures. */
  readonly step: number
  /** Whether the delivery succeeded before and was requested again. */
  readonly again: boolean
  readonly claim: string
  readonly message: Message
}

/** The pending deliveries of all endpoints. */
export class Outbox extends Context.Service<
  Outbox,
  {
    /**
     * Claims at most `limit` due deliveries. No other node gets them until they are recorded or released, or one minute has passed,
     * for instance because this node died. Deliveries waiting for one endpoint never delay those of another.
     */
    readonly claim: (limit: number) => Effect.Effect<ReadonlyArray<ClaimedDelivery>, Unavailable>
    /** Reports whether any delivery is pending, now or later. It costs less than a claim. */
    readonly isPending: Effect.Effect<boolean, Unavailable>
    /** Records an attempt and its consequences for the delivery and the endpoint, in one transaction. */
    readonly note: (claimed: ClaimedDelivery, attempt: Attempt) => Effect.Effect<void, Unavailable>
    /** Gives back a delivery without a finished attempt, so that a node attempts it at once. */
    readonly release: (claimed: ClaimedDelivery) => Effect.Effect<void, Unavailable>
    /** Signals that a delivery may be due now. */
    readonly wake: Effect.Effect<void>
    /** Returns as soon as this process has been signaled since the last return. */
    readonly woken: Effect.Effect<void>
    /** How long to wait for that before this node looks by itself: `poll`, or longer while the database's notifications reach it. */
    readonly patience: (poll: Duration.Input) => Duration.Duration
    /**
     * Deletes one batch of deliveries and events that ended longer ago than the retention, and of rows without an owner. Returns how
     * many there were.
     */
    readonly sweep: Effect.Effect<number, Unavailable>
    /** Counts the endpoints that this node cannot sign for, because another key sealed their secrets. */
    readonly sealedElsewhere: Effect.Effect<number, Unavailable>
  }
>()("tollgate/webhooks/Outbox") {
  /** Keeps ended deliveries for this long. */
  static readonly layerKeeping = (retention: Duration.Duration) =>
    Layer.effect(
      Outbox,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [audit, secrets, latch] = [yield* Audit, yield* Secrets, yield* Latch.make()]
        const { keyId: sealedWith } = secrets
        const wakeups = wakeupsOf(sql)
        yield* wakeups.on("webhooks", () => latch.openUnsafe())
        return Outbox.of({
          claim: (limit) =>
            Effect.suspend(() => {
              const claim = newResourceId()
              const options = { claim, limit, each: MAX_PER_ENDPOINT, leaseMs: LEASE_MS, sealedWith }
              return Effect.map(storeErrors(claimDue(sql, options)), (rows) =>
                rows.map((row) => claimedDeliveryOf(row, claim, secrets))
              )
            }),
          isPending: storeErrors(anyPending(sql)),
          note: (claimed, attempt) => note(sql, audit, claimed, attempt),
          release: ({ claim, id }) => Effect.asVoid(storeErrors(releaseClaim(sql, id, claim))),
          wake: Effect.asVoid(latch.open),
          woken: Effect.andThen(latch.await, latch.close),
          patience: wakeups.waitAtMost,
          sweep: storeErrors(
            Effect.gen(function* () {
              const unwanted = yield* giveUpUnwanted(sql, WAITING_MS, SWEEP_BATCH)
              const deliveries = yield* forgetDeliveries(sql, Duration.toMillis(retention), SWEEP_BATCH)
              const events = yield* forgetEvents(sql, Duration.toMillis(retention), SWEEP_BATCH)
              return unwanted + deliveries + events + (yield* forgetEndpoints(sql))
            })
          ),
          sealedElsewhere: storeErrors(countSealedElsewhere(sql, sealedWith))
        })
      })
    )

  static readonly layer = this.layerKeeping(RETENTION)
}

/** Returns the purpose that binds a sealed secret to its endpoint. */
export const purposeOf = (endpointId: string): string => `webhook_endpoint ${endpointId}`

/** Returns the endpoint's secrets that this node can open. */
export const openSecrets = (
  secrets: Secrets["Service"],
  endpointId: string,
  { previous_secret, secret }: SealedSecrets
): ReadonlyArray<Redacted.Redacted> =>
  [secret, previous_secret].flatMap((sealed) => {
    const opened = sealed === null ? undefined : secrets.open(sealed, purposeOf(endpointId))
    return opened === undefined ? [] : [opened]
  })

const claimedDeliveryOf = (row: ClaimedRow, claim: string, secrets: Secrets["Service"]): ClaimedDelivery => ({
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

const note = (sql: SqlClient.SqlClient, audit: Audit["Service"], claimed: ClaimedDelivery, attempt: Attempt) =>
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
    else yield* sql.withTransaction(noteFailure(sql, audit, claimed, noted, verdict))
    ;(yield* Metrics).webhooks.attempted(verdict._tag)
  }).pipe(storeErrors)

const noteFailure = (
  sql: SqlClient.SqlClient,
  audit: Audit["Service"],
  { again, claim, endpointId, id, message: { url } }: ClaimedDelivery,
  noted: AttemptNote,
  verdict: Exclude<Verdict, { readonly _tag: "Delivered" }>
) =>
  Effect.gen(function* () {
    yield* insertAttempt(sql, noted)
    const isGone = verdict._tag === "Gone"
    // The receiver reported only the old address as gone.
    if (isGone && (yield* hasMoved(sql, endpointId, url))) return yield* postpone(sql, id, claim, 0)
    if (verdict._tag === "Retry") yield* postpone(sql, id, claim, verdict.afterMs)
    else yield* giveUp(sql, id, claim)
    // The receiver may refuse a repeated delivery simply because it is a repeat.
    if (again && !isGone) return
    yield* endpointFails(sql, endpointId, url, LONGEST_GAP_MS)
    const accountId = yield* disableEndpoint(sql, endpointId, url, isGone ? 0 : FAILING_MS)
    if (accountId === undefined) return
    const reason = isGone ? "it answered 410" : "it failed for 5 days"
    yield* audit.append({
      accountId,
      type: "webhook.disabled",
      actor: { type: "service", id: "webhooks" },
      resource: { type: "webhook_endpoint", id: endpointId },
      changes: { reason }
    })
    yield* insertNotification(sql, { accountId, kind: "webhook_disabled", data: { url, reason } })
  })
