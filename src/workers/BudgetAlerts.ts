import { Effect, Layer, Schedule } from "effect"
import { BudgetAlerts } from "../webhooks/BudgetAlerts.ts"

/** The longest delay of an alert on an idle node. Each poll costs one read of an empty index. */
const POLL = "2 seconds"

/** Sends budget alerts while the layer lives. Any number of nodes may run it. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const alerts = yield* BudgetAlerts
    const all: Effect.Effect<void, Effect.Error<typeof alerts.tell>> = Effect.flatMap(alerts.tell, (told) =>
      told === 0 ? Effect.void : all
    )
    yield* all.pipe(
      // Caught inside the loop, because one failed poll must not end the polling.
      Effect.catchCause((cause) => Effect.logWarning("the gateway cannot send budget alerts at present", cause)),
      Effect.repeat(Schedule.spaced(POLL).pipe(Schedule.jittered)),
      Effect.forkScoped
    )
  })
)
