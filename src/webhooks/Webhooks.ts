import { Context, Data, Effect, Layer, type Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomBytes } from "node:crypto"
import { type Actor, Audit } from "../account/Audit.ts"
import { differences } from "../account/Differences.ts"
import { lockAccount } from "../account/KeysSql.ts"
import { conflict, type Failure, failure, invalid } from "../domain/Failure.ts"
import { secondsOf } from "../domain/UnixTime.ts"
import { newResourceId } from "../platform/Ids.ts"
import { PublicFetch } from "../platform/outbound/PublicFetch.ts"
import { Secrets } from "../platform/Secrets.ts"
import { type Page, readPage } from "../platform/database/Page.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { openSecrets, Outbox, purposeOf } from "./Outbox.ts"
import { DELAYS_MS, isDelivered } from "./Schedule.ts"
import { type Attempt, Sender } from "./Sender.ts"
import { SECRET_BYTES, secretOf } from "./Signature.ts"
import {
  type AttemptRow,
  attemptsOf,
  countEndpoints,
  deliveriesOf,
  deliveryById,
  type DeliveryRow,
  endpointById,
  type EndpointRow,
  endpointsOf,
  makeDueNow,
  insertEndpoint,
  insertEvent,
  lockEndpoint,
  removeEndpoint,
  reopen,
  replaceSecret,
  secretsOf,
  updateEndpoint
} from "./WebhooksSql.ts"

/** The event types that endpoints can subscribe to. */
export type EventType = "video.completed" | "video.failed" | "budget.threshold"

/** The maximum number of webhook endpoints of an account. */
export const MAX_ENDPOINTS_PER_ACCOUNT = 20

/** How long the previous secret still signs after a rotation. */
const OVERLAP_MS = 24 * 3_600_000

/** How many attempts a delivery shows: the whole schedule and a few manual ones. */
const MAX_ATTEMPTS_SHOWN = 20

/** An event concerning something that an account owns. */
export interface WebhookEvent {
  /** `evt_…`. Publishing the same ID again has no effect. */
  readonly id: string
  readonly accountId: string
  readonly type: EventType
  /** The affected object, in the form of the API. It must be small, because the gateway sends it whole. */
  readonly data: object
  readonly createdAt: Date
}

/** A delivery with its last attempts, at most 20, oldest first. */
export interface Delivery extends DeliveryRow {
  readonly log: ReadonlyArray<AttemptRow>
}

/** A URL in its stored form that has passed the address check. */
export class Address extends Data.Class<{ readonly href: string }> {}

/** An endpoint, its account, and the actor that changes it. */
interface EndpointChange {
  readonly accountId: string
  readonly id: string
  readonly actor: Actor
}

interface PageRequest {
  readonly limit: number
  readonly cursor: string | undefined
}

/** An endpoint and its secret, which the gateway shows only once. */
interface WithSecret {
  readonly endpoint: EndpointRow
  readonly secret: Redacted.Redacted
}

/**
 * Notifies the endpoints that accounts have registered about events of their work. Delivery is at least once, and all attempts
 * carry the same ID. An account has at most 20 endpoints. Each method treats an endpoint of another account as not found.
 */
export class Webhooks extends Context.Service<
  Webhooks,
  {
    /**
     * Writes an event and one delivery per enabled endpoint of the account that subscribes to its type. Call it in the transaction
     * of the change that the event reports, so that both commit together. Publishing the same `id` again has no effect.
     */
    readonly publish: (event: WebhookEvent) => Effect.Effect<void, SqlError.SqlError>
    /**
     * Checks an address, which may take as long as a name server does. Fails with `ValidationError` when the gateway must not call
     * it.
     */
    readonly address: (url: string) => Effect.Effect<Address, Failure>
    /**
     * Fails with `ValidationError` when the gateway must not call the address, and with `Conflict` when the account has 20
     * endpoints.
     */
    readonly register: (input: {
      /** Generated when absent. */
      readonly id?: string
      readonly accountId: string
      readonly url: string | Address
      readonly events: ReadonlyArray<EventType>
      readonly actor: Actor
    }) => Effect.Effect<WithSecret, Failure | Unavailable>
    readonly list: (accountId: string, page: PageRequest) => Effect.Effect<Page<EndpointRow>, Unavailable>
    /** Fails with `NotFound`, as the methods below do. */
    readonly find: (accountId: string, id: string) => Effect.Effect<EndpointRow, Failure | Unavailable>
    /**
     * Changes the given fields. Enabling an endpoint sends its pending deliveries at once and clears its failure record. Fails with
     * `ValidationError` as `register` does.
     */
    readonly update: (
      change: EndpointChange & {
        readonly status?: "enabled" | "disabled"
        readonly url?: string | Address
        readonly events?: ReadonlyArray<EventType>
      }
    ) => Effect.Effect<EndpointRow, Failure | Unavailable>
    readonly remove: (change: EndpointChange) => Effect.Effect<void, Failure | Unavailable>
    /** Replaces the secret. The previous one also signs for 24 hours. */
    readonly rotateSecret: (change: EndpointChange) => Effect.Effect<WithSecret, Failure | Unavailable>
    readonly deliveries: (
      accountId: string,
      id: string,
      page: PageRequest
    ) => Effect.Effect<Page<Delivery>, Failure | Unavailable>
    /**
     * Sends a delivery again, at once and with the same ID. A pending delivery keeps its schedule. Fails with `Conflict` when the
     * endpoint is disabled or an attempt is running.
     */
    readonly redeliver: (
      change: EndpointChange & { readonly deliveryId: string }
    ) => Effect.Effect<Delivery, Failure | Unavailable>
    /** Sends one event of type `webhook.test`, waits for the result, and stores nothing. */
    readonly test: (accountId: string, id: string) => Effect.Effect<TestResult, Failure | Unavailable>
  }
>()("tollgate/webhooks/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const deps: Deps = {
        sql: yield* SqlClient.SqlClient,
        audit: yield* Audit,
        outbox: yield* Outbox,
        publicFetch: yield* PublicFetch,
        secrets: yield* Secrets,
        sender: yield* Sender
      }
      return Webhooks.of({
        publish: (event) => publish(deps, event),
        address: (url) => addressOf(deps, url),
        register: (input) => storeErrors(register(deps, input)),
        list: (accountId, page) =>
          storeErrors(readPage(requestOf(page), (request) => endpointsOf(deps.sql, accountId, request))),
        find: (accountId, id) => storeErrors(find(deps, accountId, id)),
        update: (input) => storeErrors(update(deps, input)),
        remove: (change) => storeErrors(remove(deps, change)),
        rotateSecret: (change) => storeErrors(rotateSecret(deps, change)),
        deliveries: (accountId, id, page) => storeErrors(deliveries(deps, accountId, id, page)),
        redeliver: (input) => storeErrors(redeliver(deps, input)),
        test: (accountId, id) => storeErrors(test(deps, accountId, id))
      })
    })
  )
}

/** The result of testing an endpoint. */
export interface TestResult extends Pick<Attempt, "durationMs" | "error" | "status"> {
  readonly delivered: boolean
}

interface Deps {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
  readonly outbox: Outbox["Service"]
  readonly publicFetch: PublicFetch["Service"]
  readonly secrets: Secrets["Service"]
  readonly sender: Sender["Service"]
}

const requestOf = ({ cursor, limit }: PageRequest) => ({ limit, cursor: cursor ?? null })

const notFound = (what: string, id: string): Failure => failure({ _tag: "NotFound", what, id })

/** Returns the request body: the fields that Standard Webhooks requires, and those of OpenAI's events. */
const bodyOf = (event: Pick<WebhookEvent, "createdAt" | "data" | "id"> & { readonly type: string }) =>
  JSON.stringify({
    id: event.id,
    object: "event",
    type: event.type,
    created_at: secondsOf(event.createdAt),
    timestamp: event.createdAt.toISOString(),
    data: event.data
  })

const publish = ({ outbox, sql }: Deps, event: WebhookEvent) =>
  Effect.gen(function* () {
    const inserted = yield* insertEvent(sql, { ...event, body: bodyOf(event) })
    // Before the commit, workers cannot see the deliveries.
    if (inserted > 0) yield* sql.afterCommit(outbox.wake)
  })

const append = ({ audit }: Deps, { accountId, actor, id }: EndpointChange, type: string, changes: object) =>
  audit.append({ accountId, type: `webhook.${type}`, actor, resource: { type: "webhook_endpoint", id }, changes })

/** Generates a secret for an endpoint and the sealed form to store. */
const newSecret = ({ secrets }: Deps, id: string) => {
  const secret = secretOf(randomBytes(SECRET_BYTES))
  return { secret, sealed: { secret: secrets.seal(secret, purposeOf(id)), sealedWith: secrets.keyId } }
}

/**
 * Returns the address in the form that the gateway stores and calls. URL parsing silently drops some control characters, so any
 * control character is refused.
 */
const addressOf = ({ publicFetch }: Deps, url: string | Address): Effect.Effect<Address, Failure> =>
  Effect.gen(function* () {
    if (url instanceof Address) return url
    const href = URL.parse(url)?.href ?? url
    const why = /\p{Cc}/u.test(url) ? "must not contain control characters" : yield* publicFetch.judge(href)
    return why === undefined ? new Address({ href }) : yield* invalid("url", why)
  })

const register = (deps: Deps, { accountId, actor, events, ...asked }: Parameters<Webhooks["Service"]["register"]>[0]) =>
  Effect.gen(function* () {
    const { sql } = deps
    const { href: url } = yield* addressOf(deps, asked.url)
    const { id = newResourceId() } = asked
    const { sealed, secret } = newSecret(deps, id)
    return yield* Effect.gen(function* () {
      yield* lockAccount(sql, accountId)
      if ((yield* countEndpoints(sql, accountId)) >= MAX_ENDPOINTS_PER_ACCOUNT) {
        return yield* conflict(`An account has at most ${MAX_ENDPOINTS_PER_ACCOUNT} webhook endpoints.`)
      }
      const distinct = [...new Set(events)]
      const endpoint = yield* insertEndpoint(sql, { id, accountId, url, events: distinct, ...sealed })
      // The path or query may contain a credential, so the audit log gets only the origin.
      yield* append(deps, { accountId, actor, id }, "created", { origin: new URL(url).origin, events: distinct })
      return { endpoint, secret }
    }).pipe(sql.withTransaction)
  })

const find = ({ sql }: Deps, accountId: string, id: string) =>
  Effect.flatMap(endpointById(sql, accountId, id), (row): Effect.Effect<EndpointRow, Failure> =>
    row === undefined ? Effect.fail(notFound("webhook", id)) : Effect.succeed(row)
  )

/**
 * Returns the changes for the audit log. The path or query may contain a credential, so a changed address appears as its origins.
 */
const changesOf = (before: EndpointRow, after: EndpointRow) => ({
  ...differences({ status: before.status, events: before.events }, { status: after.status, events: after.events }),
  ...(before.url === after.url ? {} : { origin: { from: new URL(before.url).origin, to: new URL(after.url).origin } })
})

const update = (
  deps: Deps,
  { accountId, actor, events, id, status, ...asked }: Parameters<Webhooks["Service"]["update"]>[0]
) =>
  Effect.gen(function* () {
    const { outbox, sql } = deps
    const found = yield* find(deps, accountId, id)
    const url = asked.url === undefined ? undefined : (yield* addressOf(deps, asked.url)).href
    const distinct = events === undefined ? undefined : [...new Set(events)]
    return yield* Effect.gen(function* () {
      // Locks deliveries before their endpoint, in the same order as recording an attempt does.
      if (status === "enabled" && found.status === "disabled") yield* makeDueNow(sql, id)
      const before = yield* lockEndpoint(sql, accountId, id)
      const endpoint = yield* updateEndpoint(sql, { accountId, id, status, url, events: distinct })
      if (before === undefined || endpoint === undefined) return yield* notFound("webhook", id)
      yield* append(deps, { accountId, actor, id }, "updated", changesOf(before, endpoint))
      if (status === "enabled") yield* sql.afterCommit(outbox.wake)
      return endpoint
    }).pipe(sql.withTransaction)
  })

const remove = (deps: Deps, change: EndpointChange) =>
  Effect.gen(function* () {
    if (!(yield* removeEndpoint(deps.sql, change.accountId, change.id))) return yield* notFound("webhook", change.id)
    yield* append(deps, change, "removed", {})
  }).pipe(deps.sql.withTransaction)

const rotateSecret = (deps: Deps, change: EndpointChange) =>
  Effect.gen(function* () {
    const { accountId, id } = change
    const { sealed, secret } = newSecret(deps, id)
    const endpoint = yield* replaceSecret(deps.sql, { accountId, id, ...sealed, overlapMs: OVERLAP_MS })
    if (endpoint === undefined) return yield* notFound("webhook", id)
    yield* append(deps, change, "secret_rotated", {})
    return { endpoint, secret }
  }).pipe(deps.sql.withTransaction)

const withLog = ({ sql }: Deps, rows: ReadonlyArray<DeliveryRow>) =>
  Effect.map(
    attemptsOf(
      sql,
      rows.map(({ id }) => id),
      MAX_ATTEMPTS_SHOWN
    ),
    (attempts) => rows.map((row) => ({ ...row, log: attempts.filter(({ delivery_id }) => delivery_id === row.id) }))
  )

const deliveries = (deps: Deps, accountId: string, id: string, page: PageRequest) =>
  Effect.gen(function* () {
    yield* find(deps, accountId, id)
    const { next, rows } = yield* readPage(requestOf(page), (request) => deliveriesOf(deps.sql, id, request))
    return { rows: yield* withLog(deps, rows), next }
  })

const redeliver = (deps: Deps, { deliveryId, ...change }: Parameters<Webhooks["Service"]["redeliver"]>[0]) =>
  Effect.gen(function* () {
    const { outbox, sql } = deps
    const { accountId, id } = change
    const endpoint = yield* find(deps, accountId, id)
    if (endpoint.status === "disabled") return yield* conflict("This webhook is disabled. Enable it first.")
    const found = yield* deliveryById(sql, id, deliveryId)
    if (found === undefined) return yield* notFound("delivery of this webhook", deliveryId)
    // The last step of the schedule, so that a failure is final.
    const reopened = yield* reopen(sql, deliveryId, DELAYS_MS.length - 1)
    if (!reopened) return yield* conflict("An attempt at this delivery is running. Try again later.")
    yield* append(deps, change, "redelivered", { delivery_id: deliveryId })
    yield* sql.afterCommit(outbox.wake)
    const [delivery] = yield* withLog(deps, [{ ...found, status: "pending", next_at: new Date(), ended_at: null }])
    return delivery!
  }).pipe(deps.sql.withTransaction)

const test = (deps: Deps, accountId: string, id: string) =>
  Effect.gen(function* () {
    const { secrets, sender, sql } = deps
    const { url } = yield* find(deps, accountId, id)
    const sealed = yield* secretsOf(sql, id, secrets.keyId)
    const eventId = `evt_${newResourceId()}`
    const body = bodyOf({ id: eventId, type: "webhook.test", createdAt: new Date(), data: { endpoint_id: id } })
    const signing = sealed === undefined ? [] : openSecrets(secrets, id, sealed)
    const { durationMs, error, status } = yield* sender.send({ url, secrets: signing, eventId, body })
    return { delivered: isDelivered(status), status, durationMs, error }
  })
