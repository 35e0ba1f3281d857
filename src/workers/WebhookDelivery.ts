import { type Duration, Effect, Fiber, FiberSet, Layer, Option, Schedule } from "effect"
import { repeatForever } from "../platform/RepeatForever.ts"
import { type ClaimedDelivery, Outbox } from "../webhooks/Outbox.ts"
import { type Attempt, Sender } from "../webhooks/Sender.ts"
import { seldomWhenIdle } from "./Idle.ts"

/**
 * The maximum number of deliveries that a node sends at once. It is high enough that endpoints which time out, each with a few
 * deliveries, leave room for others.
 */
const MAX_UNDER_WAY = 512

/** How soon a node notices deliveries that became due, or that other nodes wrote, while any delivery is pending. */
const POLL = "250 millis"

/**
 * How soon a node notices deliveries that other nodes wrote while none was pending and it cannot listen to the database. A service
 * without webhooks runs only this query.
 */
const IDLE_POLL = "2 seconds"

/** How often a node retries recording an attempt, as long as its claim lasts. */
const NOTING = Schedule.spaced("1 second").pipe(Schedule.upTo({ duration: "20 seconds" }))

/** How long running deliveries may take when the service stops. The node gives back the rest, and another node sends them again. */
const DRAIN = "5 seconds"

/**
 * Delivers pending webhooks while the layer lives. Any number of nodes may run it, because each delivery is claimed by one node.
 * When a node dies between sending and recording, another node sends the delivery again after the claim ends, with the same ID.
 */
export const layer = ({ sweepInterval }: { readonly sweepInterval: Duration.Input }) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const outbox = yield* Outbox
      const sender = yield* Sender
      yield* warnOfForeignKeys(outbox)
      const underWay = yield* FiberSet.make<void>()

      const deliver = (claimed: ClaimedDelivery) =>
        sender.send(claimed.message).pipe(
          Effect.flatMap((attempt) => Effect.uninterruptible(recordAttempt(outbox, claimed, attempt))),
          Effect.onInterrupt(() => Effect.ignore(outbox.release(claimed))),
          Effect.ensuring(outbox.wake)
        )

      const turn = Effect.gen(function* () {
        const room = MAX_UNDER_WAY - (yield* FiberSet.size(underWay))
        // Claiming and starting are not interruptible. An interruption between the two would leave a claimed delivery unsent until
        // its lease ends.
        const claimed =
          room === 0
            ? []
            : yield* Effect.uninterruptible(
                Effect.tap(outbox.claim(room), (all) =>
                  Effect.forEach(all, (one) => FiberSet.run(underWay, Effect.interruptible(deliver(one))), {
                    discard: true
                  })
                )
              )
        if (claimed.length === 0) yield* rest(outbox)
      })

      const claiming = yield* turn.pipe(
        Effect.catchCause((cause) =>
          Effect.andThen(Effect.logWarning("the gateway cannot deliver webhooks", cause), Effect.sleep("1 second"))
        ),
        Effect.forever,
        Effect.forkScoped
      )
      yield* sweeping(outbox, sweepInterval)
      yield* Effect.addFinalizer(() =>
        Effect.andThen(Fiber.interrupt(claiming), Effect.timeoutOption(FiberSet.awaitEmpty(underWay), DRAIN))
      )
    })
  )

/** Waits until a delivery may be due. */
const rest = Effect.fnUntraced(function* (outbox: Outbox["Service"]) {
  let woken = yield* Effect.timeoutOption(outbox.woken, POLL)
  while (Option.isNone(woken) && !(yield* outbox.isPending))
    woken = yield* Effect.timeoutOption(outbox.woken, outbox.patience(IDLE_POLL))
})

const recordAttempt = (outbox: Outbox["Service"], claimed: ClaimedDelivery, attempt: Attempt) =>
  outbox.note(claimed, attempt).pipe(
    Effect.retry(NOTING),
    Effect.catchCause((cause) =>
      Effect.logWarning("the gateway could not record a webhook delivery and will send it again", cause)
    )
  )

const sweeping = Effect.fnUntraced(function* (outbox: Outbox["Service"], interval: Duration.Input) {
  const all: Effect.Effect<void, Effect.Error<typeof outbox.sweep>> = Effect.flatMap(outbox.sweep, (done) =>
    done === 0 ? Effect.void : all
  )
  yield* repeatForever(yield* seldomWhenIdle(all), { every: interval, warning: "a sweep of webhooks failed" })
})

const warnOfForeignKeys = (outbox: Outbox["Service"]) =>
  outbox.sealedElsewhere.pipe(
    Effect.flatMap((count) =>
      count === 0
        ? Effect.void
        : Effect.logWarning(
            `this node cannot open the secrets of ${count} webhooks and delivers nothing to them. Give all nodes the same SECRETS_KEY`
          )
    ),
    Effect.ignore
  )
