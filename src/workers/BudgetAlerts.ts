import { Effect, Layer, Schedule } from "effect"
import { BudgetAlerts } from "../webhooks/BudgetAlerts.ts"

/** How late an alert is at most, on an idle node; looking costs a read of an empty index. */
const POLL = "2 seconds"

/** Has what is spent of budgets told, for as long as the layer lives; any number of nodes may. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const alerts = yield* BudgetAlerts
    const all: Effect.Effect<void, Effect.Error<typeof alerts.tell>> = Effect.flatMap(alerts.tell, (told) =>
      told === 0 ? Effect.void : all
    )
    yield* all.pipe(
      // Inside the repeat: one bad look must not be the last.
      Effect.catchCause((cause) => Effect.logWarning("what is spent of budgets is not told at present", cause)),
      Effect.repeat(Schedule.spaced(POLL).pipe(Schedule.jittered)),
      Effect.forkScoped
    )
  })
)
