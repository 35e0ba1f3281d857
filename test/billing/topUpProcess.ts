// A process of its own that takes an event, or opens a checkout, and goes no further than the point that is asked for. It says when
// it is there.
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { makeStripe } from "../../src/billing/StripePayments.ts"
import { TopUps } from "../../src/billing/TopUps.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import type { Operation } from "../../src/ledger/Operation.ts"
import { STRIPE_KEY, STRIPE_SECRET } from "../support/Stripe.ts"
import { node } from "./TopUpScene.ts"

const [url = "", origin = "", point = "", first = "", second = ""] = process.argv.slice(2)

const here = (name: string) => (name === point ? Effect.andThen(Console.log(name), Effect.never) : Effect.void)

const ledger = Layer.effect(
  Ledger,
  Effect.map(Ledger, (real) =>
    Ledger.of({
      ...real,
      within: <Op extends Operation>(transaction: SqlClient.SqlClient, operation: Op) =>
        here("before_credit").pipe(
          Effect.andThen(real.within(transaction, operation)),
          Effect.tap(() => here("before_commit"))
        )
    })
  )
).pipe(Layer.provide(Ledger.layer))

const stripe = makeStripe({
  secretKey: Redacted.make(STRIPE_KEY),
  webhookSecret: Redacted.make(STRIPE_SECRET),
  baseUrl: new URL(origin)
})

const program = Effect.gen(function* () {
  const topUps = yield* TopUps
  if (point === "checkout") return yield* topUps.checkout(first, second)
  yield* topUps.receive(Buffer.from(first), second)
  return yield* here("after_commit")
})

NodeRuntime.runMain(program.pipe(Effect.provide(node(url, stripe, ledger))))
