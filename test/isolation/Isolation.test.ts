/**
 * No account learns from any answer what another has. ISOLATION_REQUESTS says how many are asked for, ISOLATION_SEED repeats a run.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Random } from "../ledger/Random.ts"
import { upstream } from "../providers/upstream.ts"
import { answerOf } from "../support/Answers.ts"
import { bearer, send } from "../support/Calls.ts"
import { type Service, startService } from "../support/Service.ts"
import { thingsOf } from "../support/Things.ts"
import { eventually } from "../support/WebhookRooms.ts"
import { nextPair } from "./Attack.ts"

const REQUESTS = Number(process.env["ISOLATION_REQUESTS"] ?? 2_000)
const SEED = Number(process.env["ISOLATION_SEED"] ?? Math.floor(Math.random() * 2 ** 31))

const CONCURRENCY = 16

/** All that the database has of an account, as digests by table. */
const everythingOf = (service: Service, accountId: string) =>
  Effect.gen(function* () {
    const tables = yield* service.sql<{ name: string }>`SELECT table_name AS name FROM information_schema.columns
      WHERE table_schema = 'public' AND column_name = 'account_id' ORDER BY 1`
    return yield* Effect.forEach(tables, ({ name }) =>
      Effect.map(
        service.sql<{ digest: string | null }>`SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) AS digest
          FROM ${service.sql(name)} AS t WHERE account_id = ${accountId}`,
        ([row]) => `${name} ${row?.digest}`
      )
    )
  })

/** Until nothing of the account's is under way. */
const atRest = (service: Service, accountId: string) =>
  Effect.gen(function* () {
    const look = everythingOf(service, accountId)
    const twice = Effect.map(Effect.all([look, Effect.delay(look, "1 second")]), ([a, b]) => a.join() === b.join())
    yield* eventually(twice, (same) => same)
  })

describe("accounts", () => {
  it.live(
    "learn nothing of what others have, and change nothing of it",
    () =>
      Effect.gen(function* () {
        console.log(`isolation: ${REQUESTS} requests, seed ${SEED}`)
        const receiver = yield* upstream((_, response) => response.writeHead(204).end())
        const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1", RATE_LIMIT_SCALE: "1000000" })
        const [attacker, victim] = [yield* service.account(), yield* service.account()]
        const known = {
          own: yield* thingsOf(service, attacker, receiver.origin),
          theirs: yield* thingsOf(service, victim, receiver.origin)
        }
        const credentials = {
          "inference key": bearer(attacker.inferenceKey),
          "management key": bearer(attacker.managementKey),
          session: yield* service.signedIn(attacker.account.id),
          none: {}
        }
        yield* atRest(service, victim.account.id)
        const before = yield* everythingOf(service, victim.account.id)
        const random = new Random(SEED)
        const revealing: Array<string> = []
        const one = Effect.gen(function* () {
          const { asked, credential, nobodys, theirs, what } = nextPair(random, known)
          const ask = (call: typeof theirs) =>
            Effect.flatMap(send(service.api, call, credentials[credential]), (response) => answerOf(response, asked))
          const [first, second] = yield* Effect.all([ask(theirs), ask(nobodys)])
          if (first !== second || !first.startsWith("[4")) {
            revealing.push(`${what} ${theirs.method} ${theirs.path}\n${first}\n${second}`)
          }
        })
        yield* Effect.forEach(Array.from({ length: REQUESTS / 2 }), () => one, {
          concurrency: CONCURRENCY,
          discard: true
        })
        assert.deepStrictEqual(revealing.slice(0, 5), [], `${revealing.length} answers reveal something`)
        assert.deepStrictEqual(yield* everythingOf(service, victim.account.id), before)
      }).pipe(Effect.scoped),
    1_200_000
  )
})
