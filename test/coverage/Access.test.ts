/**
 * Every operation of the contract, called with every kind of credential that it must refuse. `gaps.txt` lists the failures, one
 * line for each operation and case. It may only get shorter.
 *
 * And every operation that changes an account and is free, with its line in the audit log. Paid operations have receipts instead.
 * Sign-in and payment notifications have no credential, so their own tests check their lines. `unaudited` lists the writes of
 * inference keys that have no line.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import type { CredentialKind } from "../../schemas/Access.ts"
import { allows, scopes } from "../../src/auth/Scopes.ts"
import { upstream } from "../providers/upstream.ts"
import { absentThings, answerOf } from "../support/Answers.ts"
import { bearer, type Call, callsOf, type Credential, noThings, send, type Things } from "../support/Calls.ts"
import { operations, type PublishedOperation } from "../support/Published.ts"
import { json, type Service, startService } from "../support/Service.ts"
import { textOf } from "../support/Sources.ts"
import { createResources } from "../support/Things.ts"
import { type Twilio, twilio } from "../support/Twilio.ts"

const actor = { type: "operator", id: "test" } as const

const codeOf = (response: Response) =>
  Effect.map(
    Effect.promise(() => response.json()),
    (body) => `${response.status} ${body.error?.code ?? body.code} ${body.error?.param ?? "-"}`
  )

interface Stage {
  readonly service: Service
  /** Valid credentials of an account. */
  readonly good: Readonly<Record<CredentialKind, Credential>>
  /** Revoked or ended credentials of the same account. */
  readonly revoked: Readonly<Record<CredentialKind, Credential>>
  /** Things of another account. */
  readonly theirs: Things
  readonly withScopes: (granted: ReadonlyArray<string>) => Effect.Effect<Credential, unknown>
}

const makeStage = Effect.gen(function* () {
  const receiver = yield* upstream((_, response) => response.writeHead(204).end())
  const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
  const mine = yield* service.account()
  const accountId = mine.account.id
  const withScopes = (granted: ReadonlyArray<string>) =>
    Effect.map(
      service.keys.create({ accountId, kind: "management", name: "some", scopes: granted, actor }),
      ({ key }) => bearer(key)
    )
  const spare = (kind: "inference" | "management") =>
    Effect.gen(function* () {
      const { id, key } = yield* service.keys.create({ accountId, kind, name: "spare", scopes, actor })
      yield* service.keys.revoke(id, actor)
      return bearer(key)
    })
  const session = yield* service.signedIn(accountId)
  const ended = yield* service.signedIn(accountId)
  assert.strictEqual((yield* send(service.api, callsOf().get("console.session.delete")!, ended)).status, 200)
  const lost = yield* service.operatorKeys.create({ name: "lost", expiresAt: null })
  // Revoking its key ends the session.
  const over = yield* service.operatorSignedIn(lost.id)
  assert.isTrue(yield* service.operatorKeys.revoke(lost.id))
  return {
    service,
    good: {
      "inference key": bearer(mine.inferenceKey),
      "management key": bearer(mine.managementKey),
      session,
      "operator key": bearer(yield* service.operatorKey),
      "operator session": yield* service.operatorSignedIn(),
      none: {}
    },
    revoked: {
      "inference key": yield* spare("inference"),
      "management key": yield* spare("management"),
      session: ended,
      "operator key": bearer(lost.key),
      "operator session": over,
      none: {}
    },
    theirs: yield* createResources(service, yield* service.account(), receiver.origin),
    withScopes
  }
})

/** Every operation with each kind of credential that it accepts. */
const ways: ReadonlyArray<PublishedOperation> = operations.flatMap((operation) =>
  operation.credentials.map((credential) => ({ ...operation, credential }))
)

const nameOf = ({ credential, credentials, id }: PublishedOperation): string =>
  credential === credentials[0] ? id : `${id} by ${credential}`

const isSession = ({ credential }: PublishedOperation): boolean =>
  credential === "session" || credential === "operator session"

/** Returns whether an operation accepts a key as well. */
const isEither = ({ credentials }: PublishedOperation): boolean => credentials.length > 1

/** A way to call an operation that the gateway must refuse. */
interface Case {
  readonly arises: (operation: PublishedOperation) => boolean
  /** Makes the call. Returns undefined if the gateway refuses it as expected, or the wrong answer. */
  readonly fault: (operation: PublishedOperation, stage: Stage) => Effect.Effect<string | undefined, unknown>
}

const answers = (
  { service }: Stage,
  call: Call,
  credential: Credential,
  expected: string
): Effect.Effect<string | undefined> =>
  Effect.map(Effect.flatMap(send(service.api, call, credential), codeOf), (code) =>
    code === expected ? undefined : code
  )

const callOf = ({ id }: PublishedOperation, things: Partial<Things> = {}): Call => callsOf(things).get(id)!

const isKeyed = ({ credential }: PublishedOperation): boolean => credential !== "none"

/** Returns the prefix of the key that an operation accepts as an alternative to the session. */
const wrongKey = ({ credential }: PublishedOperation): string =>
  credential === "operator session" ? "svc_ok" : "svc_mk"

/** Ids that no account has. They show whether a call names a thing. */
const marks = Object.fromEntries(Object.keys(noThings).map((name) => [name, `a-${name}`]))

const namesThings = (operation: PublishedOperation): boolean =>
  JSON.stringify(callOf(operation)) !== JSON.stringify(callOf(operation, marks))

const cases: Readonly<Record<string, Case>> = {
  "no key": {
    arises: isKeyed,
    fault: (operation, stage) =>
      answers(
        stage,
        callOf(operation),
        {},
        isSession({ ...operation, credential: operation.credentials[0] })
          ? "401 not_signed_in -"
          : "401 missing_api_key -"
      )
  },
  "an unknown key": {
    arises: isKeyed,
    fault: (operation, stage) => {
      const token = randomBytes(32).toString("base64url")
      const made = {
        "inference key": bearer(`svc_sk_${token}`),
        "management key": bearer(`svc_mk_${token}`),
        session: { cookie: `svc_session=${token}`, "x-csrf-token": token },
        "operator key": bearer(`svc_ok_${token}`),
        "operator session": { cookie: `svc_operator=${token}`, "x-csrf-token": token },
        none: {}
      }[operation.credential]
      const code = isSession(operation) ? "not_signed_in" : "invalid_api_key"
      return answers(stage, callOf(operation), made, `401 ${code} -`)
    }
  },
  "a key of the wrong kind": {
    arises: (operation) => isKeyed(operation) && !(isSession(operation) && isEither(operation)),
    fault: (operation, stage) => {
      const { credential } = operation
      const other = stage.good[credential === "management key" ? "inference key" : "management key"]
      const code = isSession(operation) ? "401 not_signed_in -" : "403 wrong_key_kind -"
      return answers(stage, callOf(operation), other, code)
    }
  },
  "an operator's key": {
    arises: ({ credential, ...operation }) =>
      isKeyed({ credential, ...operation }) &&
      credential !== "operator key" &&
      !isSession({ credential, ...operation }),
    fault: (operation, stage) => answers(stage, callOf(operation), stage.good["operator key"], "403 wrong_key_kind -")
  },
  "a revoked credential": {
    arises: isKeyed,
    fault: (operation, stage) => {
      const code = isSession(operation) ? "not_signed_in" : "invalid_api_key"
      return answers(stage, callOf(operation), stage.revoked[operation.credential], `401 ${code} -`)
    }
  },
  "a request from another site": {
    arises: (operation) => isSession(operation) && operation.method !== "GET",
    fault: (operation, stage) =>
      answers(
        stage,
        callOf(operation),
        { ...stage.good[operation.credential], origin: "https://evil.example" },
        "403 cross_site_request Origin"
      )
  },
  "no CSRF token": {
    arises: (operation) => isSession(operation) && operation.method !== "GET",
    fault: (operation, stage) =>
      answers(
        stage,
        callOf(operation),
        { ...stage.good[operation.credential], "x-csrf-token": "" },
        "403 cross_site_request X-CSRF-Token"
      )
  },
  "a wrong key beside the session": {
    arises: (operation) => isSession(operation) && isEither(operation),
    fault: (operation, stage) =>
      answers(
        stage,
        callOf(operation),
        {
          ...stage.good[operation.credential],
          ...bearer(`${wrongKey(operation)}_${randomBytes(32).toString("base64url")}`)
        },
        "401 invalid_api_key -"
      )
  },
  "the other kind of session": {
    arises: isSession,
    fault: (operation, stage) => {
      const isOperators = operation.credential === "operator session"
      const [own, other] = isOperators ? ["svc_operator", "svc_session"] : ["svc_session", "svc_operator"]
      const theirs = stage.good[isOperators ? "session" : "operator session"]
      // The cookie has the session under its own name and under the name that this operation reads.
      const cookie = `${theirs["cookie"]}; ${theirs["cookie"]?.replace(other, own)}`
      return answers(stage, callOf(operation), { ...theirs, cookie }, "401 not_signed_in -")
    }
  },
  "a key without the scope": {
    arises: ({ credential }) => credential === "management key",
    fault: (operation, stage) =>
      Effect.gen(function* () {
        const { scope } = operation
        if (scope === undefined) return "no scope"
        const credential = yield* stage.withScopes(scopes.filter((one) => !allows([one], scope)))
        return yield* answers(stage, callOf(operation), credential, `403 insufficient_scope ${scope}`)
      })
  },
  "a thing of another account": {
    // An operator's key reaches every account.
    arises: (operation) =>
      isKeyed(operation) && !operation.credential.startsWith("operator ") && namesThings(operation),
    fault: (operation, stage) =>
      Effect.gen(function* () {
        const credential = stage.good[operation.credential]
        const ask = (things: Things) =>
          Effect.flatMap(send(stage.service.api, callOf(operation, things), credential), (response) =>
            answerOf(response, Object.values(things))
          )
        const [theirs, absent] = [
          yield* ask(stage.theirs),
          yield* ask(absentThings(stage.theirs, () => randomBytes(6).toString("hex")))
        ]
        return theirs === absent && theirs.startsWith("[4") ? undefined : `${theirs} instead of ${absent}`
      })
  }
}

const listed = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line !== "")

describe("every operation", () => {
  it.live("is refused with the right status and code to every credential that may not use it", () =>
    Effect.gen(function* () {
      const stage = yield* makeStage
      const gaps: Array<string> = []
      const faults: Array<string> = []
      for (const operation of ways) {
        for (const [name, { arises, fault }] of Object.entries(cases)) {
          if (!arises(operation)) continue
          const found = yield* fault(operation, stage)
          if (found === undefined) continue
          gaps.push(`${nameOf(operation)}: ${name}`)
          faults.push(`${nameOf(operation)}: ${name}: ${found}`)
        }
      }
      assert.deepStrictEqual(gaps, [...listed(textOf("test/coverage/gaps.txt"))], faults.join("\n"))
    }).pipe(Effect.scoped)
  )

  it.live("gets 429 beyond its rate limit, except the video status", () =>
    Effect.gen(function* () {
      const service = yield* startService({ RATE_LIMIT_SCALE: "0.0001" })
      const { account, inferenceKey, managementKey } = yield* service.account(1)
      const good = {
        "inference key": bearer(inferenceKey),
        "management key": bearer(managementKey),
        session: yield* service.signedIn(account.id),
        "operator key": bearer(yield* service.operatorKey),
        "operator session": yield* service.operatorSignedIn(),
        none: {}
      }
      const unrefused: Array<string> = []
      for (const operation of ways) {
        const { credential, limit } = operation
        const [ask, twice] = [callOf(operation), [1, 2]]
        const [, second] = yield* Effect.forEach(twice, () => send(service.api, ask, good[credential]))
        if ((second?.status === 429) === (limit === "video_status"))
          unrefused.push(`${nameOf(operation)}: ${second?.status}`)
      }
      assert.deepStrictEqual(unrefused, [])
    }).pipe(Effect.scoped)
  )
})

/**
 * Writes of inference keys without an audit line. They are as frequent as requests and do not change the account's setup, and
 * `/batches`, `/files` and `/sessions/{id}/export` show them.
 */
const unaudited: ReadonlyArray<string> = [
  "batches.create",
  "batches.cancel",
  "files.create",
  "files.delete",
  "sessions.create"
]

/** The free operations that change an account. */
const mutations = ways.filter(
  ({ charge, credential, idempotent, method }) =>
    charge === "free" && method !== "GET" && idempotent !== "safe" && credential !== "none"
)

/** Adds the code that was sent to a phone number or an email address, if the call needs one. */
const withCode = (service: Service, phones: Twilio, call: Call, credential: Credential) =>
  Effect.gen(function* () {
    // The name of a plan is unique.
    if (call.path === "/operator/plans") return { ...call, body: { name: `gold ${randomBytes(6).toString("hex")}` } }
    if (call.path === "/console/phone/verify") {
      const { phone } = call.body as { readonly phone: string }
      yield* send(service.api, { method: "POST", path: "/console/phone", body: { phone } }, credential)
      return { ...call, body: { phone, code: phones.codeFor(phone) } }
    }
    if (call.path === "/console/email/verify") {
      const { email } = call.body as { readonly email: string }
      const sent = yield* send(service.api, { method: "POST", path: "/console/email", body: { email } }, credential)
      const { data } = yield* json(sent)
      return { ...call, body: { email, code: data.sandbox_code } }
    }
    return call
  })

describe("every mutation", () => {
  it.live("has a line in the audit log with its actor, its request and its outcome", () =>
    Effect.gen(function* () {
      const receiver = yield* upstream((_, response) => response.writeHead(204).end())
      const phones = yield* twilio
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1", ...phones.settings })
      const without: Array<string> = []
      const unexpected: Array<string> = []
      for (const operation of mutations) {
        const customer = yield* service.account()
        const { account, inferenceKey, managementKey } = customer
        const things = yield* createResources(service, customer, receiver.origin)
        const credential = {
          "inference key": bearer(inferenceKey),
          "management key": bearer(managementKey),
          "operator key": bearer(yield* service.operatorKey),
          "operator session": yield* service.operatorSignedIn(),
          session: yield* service.signedIn(account.id),
          none: {}
        }[operation.credential]
        // A bound that another credential has set already would not change.
        yield* service.sql`DELETE FROM provider_spend_limit`
        const call = yield* withCode(service, phones, callOf(operation, things), credential)
        const response = yield* send(service.api, call, credential)
        const requestId = response.headers.get("x-request-id")
        const lines = yield* service.sql`SELECT e.actor_type, c.outcome FROM audit_event e
          LEFT JOIN audit_completion c ON c.event_id = e.id
          WHERE e.account_id IN (${account.id}, ${things.spareAccount}, ${things.suspendedAccount})
            AND e.request_id = ${requestId}
          UNION ALL SELECT 'operator', 'succeeded' FROM operator_event WHERE request_id = ${requestId}`
        const actorType =
          operation.credential === "session"
            ? "owner"
            : operation.credential.startsWith("operator ")
              ? "operator"
              : "key"
        const told = lines.some((line) => line["actor_type"] === actorType && line["outcome"] === "succeeded")
        const seen = `${response.status} ${JSON.stringify(lines)}`
        if (response.status !== 200) unexpected.push(`${nameOf(operation)}: ${seen}`)
        else if (lines.length === 0) without.push(nameOf(operation))
        else if (!told) unexpected.push(`${nameOf(operation)}: ${seen}`)
      }
      assert.deepStrictEqual(unexpected, [])
      assert.deepStrictEqual(without, unaudited)
    }).pipe(Effect.scoped)
  )
})
