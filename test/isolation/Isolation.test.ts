/**
 * No answer shows an account what another account has. ISOLATION_REQUESTS is the number of requests, and ISOLATION_SEED repeats a run.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { NewCustomer } from "../../src/billing/Customers.ts"
import { Random } from "../ledger/Random.ts"
import { upstream } from "../providers/upstream.ts"
import { answerOf } from "../support/Answers.ts"
import { bearer, send, type Things } from "../support/Calls.ts"
import { get, json, type Service, startService } from "../support/Service.ts"
import { createResources } from "../support/Things.ts"
import { eventually } from "../support/Eventually.ts"
import { nextPair } from "./Attack.ts"

const REQUESTS = Number(process.env["ISOLATION_REQUESTS"] ?? 2_000)
const SEED = Number(process.env["ISOLATION_SEED"] ?? Math.floor(Math.random() * 2 ** 31))

const CONCURRENCY = 16

/** Tables derived from request rows, which the gateway fills later in the background. */
const DERIVED = [
  ...["attempt_cost", "key_usage", "ledger_checkpoint_sum", "margin_day", "model_usage"],
  ...["usage_pending", "usage_rollup"]
]

/** Returns a digest of an account's rows for each table of the database. */
const everythingOf = (service: Service, accountId: string) =>
  Effect.gen(function* () {
    const tables = yield* service.sql<{ name: string }>`SELECT table_name AS name FROM information_schema.columns
      WHERE table_schema = 'public' AND column_name = 'account_id' AND table_name <> ALL (${DERIVED}) ORDER BY 1`
    return yield* Effect.forEach(tables, ({ name }) =>
      Effect.map(
        service.sql<{ digest: string | null }>`SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) AS digest
          FROM ${service.sql(name)} AS t WHERE account_id = ${accountId}`,
        ([row]) => `${name} ${row?.digest}`
      )
    )
  })

/** Waits until the video and the batch of an account have ended, and its rows no longer change. */
const atRest = (service: Service, { account, inferenceKey }: NewCustomer, { batch, video }: Things) =>
  Effect.gen(function* () {
    const look = (path: string) => Effect.flatMap(get(`${service.api}${path}`, inferenceKey), json)
    yield* eventually(look(`/videos/${video}`), ({ status }) => status === "completed")
    yield* eventually(look(`/batches/${batch}`), ({ status }) => status === "completed")
    const everything = everythingOf(service, account.id)
    const twice = Effect.all([everything, Effect.delay(everything, "1 second")])
    yield* eventually(twice, ([earlier, later]) => earlier.join() === later.join())
  })

describe("an account", () => {
  it.live(
    "gets the same answers for another account's things as for absent ones, and cannot change them",
    () =>
      Effect.gen(function* () {
        console.log(`isolation: ${REQUESTS} requests, seed ${SEED}`)
        const receiver = yield* upstream((_, response) => response.writeHead(204).end())
        const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1", RATE_LIMIT_SCALE: "1000000" })
        const [attacker, victim] = [yield* service.account(), yield* service.account()]
        const known = {
          own: yield* createResources(service, attacker, receiver.origin),
          theirs: yield* createResources(service, victim, receiver.origin)
        }
        const owner = yield* service.signedIn(attacker.account.id)
        const credentials = {
          "inference key": bearer(attacker.inferenceKey),
          "management key": bearer(attacker.managementKey),
          session: owner,
          // No account has an operator key. Its strongest key must not reach an operator's operation.
          "operator key": bearer(attacker.managementKey),
          // No account has an operator session. An owner's session under that name must not work.
          "operator session": {
            cookie: owner.cookie.replace("svc_session", "svc_operator"),
            "x-csrf-token": owner["x-csrf-token"]
          },
          none: {}
        }
        yield* atRest(service, attacker, known.own)
        yield* atRest(service, victim, known.theirs)
        const before = yield* everythingOf(service, victim.account.id)
        const random = new Random(SEED)
        const revealing: Array<string> = []
        const one = Effect.gen(function* () {
          const { asked, credential, absent, refused, theirs, what } = nextPair(random, known)
          const ask = (call: typeof theirs) =>
            Effect.flatMap(send(service.api, call, credentials[credential]), (response) => answerOf(response, asked))
          const [first, second] = yield* Effect.all([ask(theirs), ask(absent)])
          if (first !== second || (refused && !first.startsWith("[4"))) {
            revealing.push(`${what} ${theirs.method} ${theirs.path}\n${first}\n${second}`)
          }
        })
        yield* Effect.forEach(Array.from({ length: REQUESTS / 2 }), () => one, {
          concurrency: CONCURRENCY,
          discard: true
        })
        assert.deepStrictEqual(revealing.slice(0, 5), [], `${revealing.length} answers differ`)
        assert.deepStrictEqual(yield* everythingOf(service, victim.account.id), before)
      }).pipe(Effect.scoped),
    1_200_000
  )
})
