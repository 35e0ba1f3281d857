import { Context, Effect, type Scope } from "effect"
import { ActiveSet } from "../platform/ActiveSet.ts"
import type { StreamItem } from "../domain/Answer.ts"

/**
 * Receives the items that have arrived, in order and never an empty list, synchronously within the writer's call. Returns whether it
 * can take more at once. If not, it calls `more` when it can.
 */
export type TakeItems = (items: ReadonlyArray<StreamItem>, more: () => void) => boolean

/** The maximum number of items that wait for a slow reader. Beyond it, the provider is slowed down. */
const MAX_WAITING = 256

/** A reader that takes nothing for this long counts as disconnected. */
const READER_PATIENCE = "1 minute"

/**
 * How long a stream may be silent before the gateway writes a comment, in milliseconds. Proxies and clients close silent connections
 * after 15 to 60 seconds. Tests provide less.
 */
export const KeepAliveInterval = Context.Reference<number>("tollgate/inference/KeepAliveInterval", {
  defaultValue: () => 10_000
})

/** The number of checks per interval. A comment is at most a twentieth of the interval late. */
const LOOKS_PER_INTERVAL = 20

const KEEP_ALIVE: ReadonlyArray<StreamItem> = [{ _tag: "KeepAlive" }]

/**
 * The queue between the flow, which writes, and one reader; either may leave first. An item for which the reader is ready goes to it
 * directly within the write, without waking a fiber.
 */
export class Pipe {
  #waiting: Array<StreamItem> = []
  #take: TakeItems | undefined
  /** Ends the reading. */
  #resume: ((end: Effect.Effect<void>) => void) | undefined
  /** Wakes a writer that waits for space. */
  #room: (() => void) | undefined
  /** Whether the reader can take more. Then no item waits. */
  #ready = false
  #left = false
  #ended = false
  /** The number of checks since the last item. */
  #looks = 0
  /** Opens the stream for its reader although nothing of it has arrived. */
  #openSilent: (() => void) | undefined

  get readerLeft(): boolean {
    return this.#left
  }

  /** Whether the last item has been written. */
  get ended(): boolean {
    return this.#ended
  }

  /** Writes an item. Returns false when there is no space for another; the writer must then wait for `room`. */
  push(item: StreamItem): boolean {
    if (this.#left) return true
    this.#looks = 0
    if (this.#ready) this.#give([item])
    else this.#waiting.push(item)
    return this.#waiting.length < MAX_WAITING
  }

  /** Writes the last item, for which there is always space. */
  end(item: StreamItem): void {
    this.#ended = true
    this.push(item)
  }

  /** Waits for space. After a minute without any, the reader counts as disconnected. */
  get room(): Effect.Effect<void> {
    const waited = Effect.callback<void>((resume) => {
      if (this.#left || this.#waiting.length < MAX_WAITING) return resume(Effect.void)
      const room = () => resume(Effect.void)
      this.#room = room
      return Effect.sync(() => (this.#room = undefined))
    })
    return Effect.interruptible(waited).pipe(
      Effect.timeoutOption(READER_PATIENCE),
      Effect.map((room) => {
        if (room._tag === "None") this.#fail(new Error("the reader took nothing for too long"))
      })
    )
  }

  /** Sets the function that opens the stream when its start has been silent for the interval. */
  onSilence(open: () => void): void {
    this.#openSilent = open
  }

  /**
   * Checks for silence: writes a comment when nothing has arrived for the interval, unless the reader has unread items. A stream
   * without a reader is opened first.
   */
  look(): void {
    this.#looks += 1
    if (this.#looks <= LOOKS_PER_INTERVAL) return
    const open = this.#openSilent
    if (open === undefined && !this.#ready) return
    this.#looks = 1
    if (open === undefined) return this.#give(KEEP_ALIVE)
    this.#openSilent = undefined
    this.#waiting.push(...KEEP_ALIVE)
    open()
  }

  /** Passes all items to a reader until the last one. An exception of the reader, or a failed pipe, is a defect. */
  read(take: TakeItems): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      this.#openSilent = undefined
      this.#take = take
      this.#resume = resume
      this.#more()
    })
  }

  /** The reader leaves: waiting items are dropped, and later ones are not accepted. */
  leave(): void {
    this.#left = true
    this.#ready = false
    this.#waiting = []
    this.#tellRoom()
  }

  readonly #more = (): void => {
    if (this.#left || this.#take === undefined) return
    this.#ready = true
    if (this.#waiting.length === 0) return
    const items = this.#waiting
    this.#waiting = []
    this.#give(items)
    this.#tellRoom()
  }

  #tellRoom(): void {
    const room = this.#room
    this.#room = undefined
    room?.()
  }

  #give(items: ReadonlyArray<StreamItem>): void {
    try {
      this.#ready = this.#take?.(items, this.#more) === true
    } catch (defect) {
      return this.#fail(defect)
    }
    if (!this.#ended) return
    this.#ready = false
    this.#resume?.(Effect.void)
  }

  #fail(defect: unknown): void {
    this.leave()
    this.#resume?.(Effect.die(defect))
  }
}

/** The pipes that must not be silent. One fiber checks all of them, because most timers per stream would never fire. */
export const makeOpenPipes: Effect.Effect<ActiveSet<Pipe>, never, Scope.Scope> = Effect.gen(function* () {
  const open = new ActiveSet<Pipe>()
  const look = Effect.sync(() => {
    for (const pipe of open.members) pipe.look()
  })
  const pause = Effect.sleep((yield* KeepAliveInterval) / LOOKS_PER_INTERVAL)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(pause, look)))
  return open
})
