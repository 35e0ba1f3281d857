import { Effect, Layer } from "effect"
import { BudgetAlerts } from "../webhooks/BudgetAlerts.ts"

/** The longest delay of an alert on a node that cannot listen to the database, and the pause after a failure. */
const POLL = "2 seconds"

/** Sends budget alerts while the layer lives. Any number of nodes may run it. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const alerts = yield* BudgetAlerts
    const all: Effect.Effect<void, Effect.Error<typeof alerts.publish>> = Effect.flatMap(alerts.publish, (published) =>
      published === 0 ? Effect.void : all
    )
    yield* Effect.andThen(all, alerts.rest(POLL)).pipe(
      // Caught inside the loop, because one failed poll must not end the worker.
      Effect.catchCause((cause) =>
        Effect.andThen(Effect.logWarning("the gateway cannot send budget alerts", cause), Effect.sleep(POLL))
      ),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
