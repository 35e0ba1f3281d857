/** Work charged up front in two processes: one is killed during the provider call, the other one continues. */
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Keys } from "../../src/account/Keys.ts"
import { Auth } from "../../src/auth/Auth.ts"
import { Customers } from "../../src/billing/Customers.ts"
import { Catalogue } from "../../src/catalogue/Catalogue.ts"
import { everyProvider } from "../support/Providers.ts"
import { noChanges } from "../../src/catalogue/Changes.ts"
import { LiveFigures } from "../../src/catalogue/LiveFigures.ts"
import { defaultPolicy } from "../../src/domain/Plan.ts"
import { Work, type WorkRequest } from "../../src/inference/Work.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import type { Provider } from "../../src/providers/Provider.ts"
import { ProviderPool } from "../../src/providers/pool/ProviderPool.ts"
import type { SearchResults } from "../../src/domain/Work.ts"
import { Router } from "../../src/router/Router.ts"
import { Requests } from "../../src/usage/Requests.ts"

export const found: SearchResults = {
  results: [{ title: "t", url: "https://example.com/", snippet: "s", queryIndex: 0 }]
}

/** Eight thousandths of a dollar. */
export const PRICE = 8_000_000n
export const BALANCE = 10n * PRICE

const unasked = () => Effect.die(new Error("a chat was requested"))

/** All services that work needs, over the given client, with one search provider. */
export const rooms = (sql: SqlClient.SqlClient, search: Effect.Effect<SearchResults>) => {
  const tavily: Provider = {
    id: "tavily",
    stopsBillingOnAbort: true,
    chat: unasked,
    chatStream: unasked,
    search: () => search
  }
  const clocks = { connectMs: 60_000, firstTokenMs: 60_000, idleMs: 60_000, totalMs: 60_000 }
  const changes = { load: Effect.succeed(noChanges), version: Effect.succeed("") }
  const minute = Duration.minutes(1)
  return Work.layerFrom({
    holdTtl: minute,
    chargeTtl: minute,
    delivery: minute,
    drain: minute,
    shutdownGrace: minute
  }).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        ProviderPool.layerFrom({ providers: [tavily], clocks, observe: () => undefined }),
        Router.layer,
        Requests.layer
      )
    ),
    Layer.provideMerge(
      Layer.mergeAll(
        Catalogue.layerFrom({ sandbox: true, keyed: everyProvider, hosts: [], changes }),
        LiveFigures.layer
      )
    ),
    Layer.provideMerge(Layer.mergeAll(Auth.layer, Customers.layer)),
    Layer.provideMerge(Layer.mergeAll(Ledger.layer, Accounts.layer, Keys.layer)),
    Layer.provideMerge(Audit.layer),
    Layer.provide(Layer.succeed(SqlClient.SqlClient, sql))
  )
}

/** Runs the same two queries under one idempotency key, with this API key; one of the queries finds a result. */
export const asked = (apiKey: string, requestId = newRequestId()) =>
  Effect.gen(function* () {
    const request: WorkRequest<SearchResults> = {
      requestId,
      principal: yield* (yield* Auth).authenticate(`Bearer ${apiKey}`, "inference"),
      policy: defaultPolicy,
      claim: { idempotencyKey: "k", claim: "POST /search k", fingerprint: "f" },
      charge: true,
      steering: undefined,
      arrivedAt: performance.now(),
      operation: "search",
      model: "tavily-search",
      modality: "search",
      bound: { kind: "units", units: 2 },
      ask: (one, call) => one.search?.(call, {} as never),
      used: ({ results }) => results.length,
      counted: () => 2,
      keep: (answer) => answer
    }
    return yield* (yield* Work).run(request)
  })
