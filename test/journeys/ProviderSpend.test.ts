import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { operating } from "../http/handlers/operator/scene.ts"
import { json, post, type Service, startService } from "../support/Service.ts"
import { spendSeenBy } from "../support/ProviderSpend.ts"
import { eventually } from "../support/Eventually.ts"

const body = {
  model: "gpt-4o-mini",
  messages: [{ role: "user", content: "Hello!" }],
  max_tokens: 100,
  routing: { allow_fallbacks: false, providers: { only: ["openai"] } }
}

/** Waits until both nodes have exchanged their sums twice after both had published theirs, so that each knows the other. */
const knownToEachOther = ({ sql }: Service) =>
  Effect.gen(function* () {
    const published = sql<{ at: Date }>`SELECT at FROM provider_spend WHERE provider = '-'`
    yield* eventually(published, (rows) => rows.length === 2)
    for (let exchange = 0; exchange < 2; exchange++) {
      const [moment] = yield* sql<{ now: Date }>`SELECT clock_timestamp() AS now`
      yield* eventually(published, (rows) => rows.every(({ at }) => at > moment!.now))
    }
  })

describe("a provider's daily spend limit", () => {
  it.live(
    "is never exceeded by two nodes under load; further requests use another provider, or get 503 without a charge",
    () =>
      Effect.gen(function* () {
        const one = yield* startService()
        const two = yield* startService({ DATABASE_URL: one.databaseUrl })
        const { account, inferenceKey } = yield* one.account(10)
        const operate = operating(one, yield* one.operatorKey)
        // A request costs 0.0000099 USD and at most some 0.00007.
        const limit = 0.0008
        const set = yield* operate("PATCH", "/spend/openai", { limit_usd: limit })
        assert.deepStrictEqual(set.body.data, { object: "provider_spend", provider: "openai", limit_usd: limit })
        for (const node of [one, two]) {
          yield* eventually(spendSeenBy(node, "openai"), (seen) => seen.limit === limit * 1e9)
        }
        yield* knownToEachOther(one)
        const statuses: Array<number> = []
        const ask = (node: Service) =>
          Effect.map(post(`${node.api}/chat/completions`, inferenceKey, body), (response) => {
            statuses.push(response.status)
            return response
          })
        // Without a pause, until the nodes know that most of the limit is spent, so that the load lasts for several exchanges.
        do {
          yield* Effect.forEach(
            Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? one : two)),
            ask,
            { concurrency: 20 }
          )
        } while ((yield* spendSeenBy(one, "openai")).spend <= limit * 1e9 * 0.7 || !statuses.includes(503))
        assert.include(statuses, 200)
        assert.include(statuses, 503)
        assert.deepStrictEqual([...new Set(statuses)].toSorted(), [200, 503])
        const spent = 10_000_000_000 - Number((yield* one.balance(account.id)).posted)
        assert.isAtMost(spent, limit * 1e9)
        assert.isAbove(spent, limit * 1e9 * 0.5)
        // A refused request leaves no charge and no hold.
        assert.strictEqual((yield* one.balance(account.id)).held, 0n)
        const refused = yield* post(`${two.api}/chat/completions`, inferenceKey, { ...body, max_tokens: 2_000 })
        const { error } = yield* json(refused)
        assert.deepStrictEqual([refused.status, error.code], [503, "no_provider_available"])
        assert.match(error.message, /take no further requests today/)
        const wait = Number(refused.headers.get("retry-after"))
        assert.isTrue(wait > 0 && wait <= 86_400)
        // Another provider of the model serves it.
        const { routing: _, ...free } = body
        const elsewhere = yield* post(`${one.api}/chat/completions`, inferenceKey, { ...free, max_tokens: 2_000 })
        const { routing } = yield* json(elsewhere)
        assert.deepStrictEqual([elsewhere.status, routing.provider === "openai"], [200, false])
        // Both nodes have the same figure, and the operator sees it.
        const { body: list } = yield* eventually(
          operate("GET", "/spend"),
          ({ body }) => body.data[0].reserved_usd === 0 && Math.abs(body.data[0].settled_usd - spent / 1e9) < 1e-9
        )
        assert.deepInclude(list.data[0], { object: "provider_spend", provider: "openai", limit_usd: limit })
        yield* operate("PATCH", "/spend/openai", { limit_usd: null })
        yield* eventually(ask(two), ({ status }) => status === 200)
        const events = yield* one.sql<{ type: string }>`SELECT type FROM operator_event
          WHERE resource_type = 'provider' ORDER BY id COLLATE "C"`
        assert.deepStrictEqual(
          events.map(({ type }) => type),
          ["provider_spend.limited", "provider_spend.limited"]
        )
        assert.deepStrictEqual(yield* one.faults, [])
      }).pipe(Effect.scoped)
  )
})
