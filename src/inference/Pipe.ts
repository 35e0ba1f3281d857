import { Context, Effect, type Scope } from "effect"
import { Roster } from "../platform/Roster.ts"
import type { StreamItem } from "./StreamFlow.ts"

/**
 * Is given what has come of a stream, in its order and never nothing, in the midst of the call that has it. Answers whether it can
 * take more at once; if not, it calls `more` when it can.
 */
export type Take = (items: ReadonlyArray<StreamItem>, more: () => void) => boolean

/** Pieces that wait for a slow reader; more slow the provider down. */
const MOST_WAITING = 256

/** A reader who takes nothing for this long has gone. */
const READER_PATIENCE = "1 minute"

/**
 * How long a stream may be silent before the gateway writes a comment, in milliseconds. Proxies and clients give up on a silent
 * connection after 15 to 60 seconds. Tests provide less.
 */
export const KeepAliveInterval = Context.Reference<number>("tollgate/inference/KeepAliveInterval", {
  defaultValue: () => 10_000
})

/** Looks for silence in one interval, which bounds how late a comment goes out: by a twentieth of the interval. */
const LOOKS_PER_INTERVAL = 20

const KEEP_ALIVE: ReadonlyArray<StreamItem> = [{ _tag: "KeepAlive" }]

/**
 * The near end of a stream: the flow writes, one reader is given what it writes, and either may leave first. A piece for which the
 * reader is ready is given to it by whoever writes it: no fiber wakes for it.
 */
export class Pipe {
  #waiting: Array<StreamItem> = []
  #take: Take | undefined
  /** Ends the reading. */
  #resume: ((end: Effect.Effect<void>) => void) | undefined
  /** Tells a writer that waits for room. */
  #room: (() => void) | undefined
  /** The reader can take more; then nothing waits. */
  #ready = false
  #left = false
  #ended = false
  /** Looks for silence since the last piece. */
  #looks = 0
  /** Has the stream read, although nothing of it has come. */
  #openSilent: (() => void) | undefined

  get readerLeft(): boolean {
    return this.#left
  }

  /** Whether the last piece has been written. */
  get ended(): boolean {
    return this.#ended
  }

  /** Writes a piece. False when there is no room for another: then `room` is to be waited for. */
  push(item: StreamItem): boolean {
    if (this.#left) return true
    this.#looks = 0
    if (this.#ready) this.#give([item])
    else this.#waiting.push(item)
    return this.#waiting.length < MOST_WAITING
  }

  /** Writes the last piece, for which there is always room. */
  end(item: StreamItem): void {
    this.#ended = true
    this.push(item)
  }

  /** Waits for room; without any for a minute, the reader has left. */
  get room(): Effect.Effect<void> {
    const waited = Effect.callback<void>((resume) => {
      if (this.#left || this.#waiting.length < MOST_WAITING) return resume(Effect.void)
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

  /** Sets what has the stream read when its beginning has been silent for the interval. */
  onSilence(open: () => void): void {
    this.#openSilent = open
  }

  /**
   * Looks for silence: writes a comment when nothing has come for the interval, unless the reader is slow to take what there is.
   * A stream that is not read yet is opened first.
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

  /** Gives a reader all there is until the last piece. What it throws, or the flow's giving it up, is a defect. */
  read(take: Take): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      this.#openSilent = undefined
      this.#take = take
      this.#resume = resume
      this.#more()
    })
  }

  /** The reader goes: what waits is let go, what would come is not taken. */
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

/** The pipes that are not to fall silent. One fiber looks at all of them: a timer for each stream would mostly be in vain. */
export const makeOpenPipes: Effect.Effect<Roster<Pipe>, never, Scope.Scope> = Effect.gen(function* () {
  const open = new Roster<Pipe>()
  const look = Effect.sync(() => {
    for (const pipe of open.members) pipe.look()
  })
  const pause = Effect.sleep((yield* KeepAliveInterval) / LOOKS_PER_INTERVAL)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(pause, look)))
  return open
})
