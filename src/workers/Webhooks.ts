import { type Duration, Effect, Fiber, FiberSet, Layer, Option, Schedule } from "effect"
import { type Claimed, Outbox } from "../webhooks/Outbox.ts"
import { type Attempt, Sender } from "../webhooks/Sender.ts"

/** How many deliveries a node has under way at most: so many that endpoints which hang, with a few each, leave room for others. */
const MOST_UNDER_WAY = 512

/** How soon a node finds what has become due, and what other nodes wrote while there was something to be told. */
const POLL = "250 millis"

/**
 * How soon it finds what other nodes wrote while there was nothing to be told. It is all that a service without webhooks does for
 * them, and is only a look.
 */
const IDLE_POLL = "2 seconds"

/** How often an attempt that cannot be written down is tried to be, for as long as nobody else has it. */
const NOTING = Schedule.spaced("1 second").pipe(Schedule.upTo({ duration: "20 seconds" }))

/** For what is under way when the service stops; what takes longer is given back, and sent again by whoever is there. */
const DRAIN = "5 seconds"

/**
 * Delivers what is in the outbox, for as long as the layer lives. Any number of nodes may: each delivery is claimed by one. One that
 * dies between sending and noting has it sent again when its claim ends, with the same id.
 */
export const layer = ({ sweepInterval }: { readonly sweepInterval: Duration.Input }) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const outbox = yield* Outbox
      const sender = yield* Sender
      yield* warnOfForeignKeys(outbox)
      const underWay = yield* FiberSet.make<void>()

      const deliver = (claimed: Claimed) =>
        sender.send(claimed.message).pipe(
          Effect.flatMap((attempt) => Effect.uninterruptible(noted(outbox, claimed, attempt))),
          Effect.onInterrupt(() => Effect.ignore(outbox.release(claimed))),
          Effect.ensuring(outbox.wake)
        )

      const turn = Effect.gen(function* () {
        const room = MOST_UNDER_WAY - (yield* FiberSet.size(underWay))
        // Claimed is started: an interruption between the two would leave what nobody delivers until its lease ends.
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
          Effect.andThen(Effect.logWarning("webhooks are not delivered at present", cause), Effect.sleep("1 second"))
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

/** Until something may be due. */
const rest = Effect.fnUntraced(function* (outbox: Outbox["Service"]) {
  let woken = yield* Effect.timeoutOption(outbox.woken, POLL)
  while (Option.isNone(woken) && !(yield* outbox.isPending))
    woken = yield* Effect.timeoutOption(outbox.woken, IDLE_POLL)
})

const noted = (outbox: Outbox["Service"], claimed: Claimed, attempt: Attempt) =>
  outbox.note(claimed, attempt).pipe(
    Effect.retry(NOTING),
    Effect.catchCause((cause) => Effect.logWarning("a webhook could not be noted, and will be sent again", cause))
  )

const sweeping = (outbox: Outbox["Service"], interval: Duration.Input) => {
  const all: Effect.Effect<void, Effect.Error<typeof outbox.sweep>> = Effect.flatMap(outbox.sweep, (done) =>
    done === 0 ? Effect.void : all
  )
  return all.pipe(
    // Inside the repeat: one bad sweep must not be the last.
    Effect.catchCause((cause) => Effect.logWarning("a sweep of webhooks failed", cause)),
    Effect.repeat(Schedule.spaced(interval).pipe(Schedule.jittered)),
    Effect.forkScoped
  )
}

const warnOfForeignKeys = (outbox: Outbox["Service"]) =>
  outbox.sealedElsewhere.pipe(
    Effect.flatMap((count) =>
      count === 0
        ? Effect.void
        : Effect.logWarning(
            `${count} webhooks have secrets that this node cannot open; it delivers nothing to them. Give all nodes the same SECRETS_KEY`
          )
    ),
    Effect.ignore
  )
