/** Memory for the long answers of providers, which are held until they are passed on. */
import { Context, Effect, type Scope } from "effect"
import { PoolError } from "./PoolError.ts"

const MEBIBYTE = 1_048_576

/** What a node has for them, and the part of it that one account can take. */
export const usualRoom = { mebibytes: 512, shareMebibytes: 128 }

/** Answers are at most as long as they may be, and as a rule a quarter of that: bounds are for numbers written most widely. */
const USUAL_PART = 4

/** Answers that cannot be longer than this take none of it. */
const SHORT_BYTES = 4 * MEBIBYTE

/** One answer takes at most so much, so that two of an account fit beside each other. */
const MOST_BYTES = 64 * MEBIBYTE

/** Whether answers of at most so many bytes take none of it. */
export const isShort = (maxBodyBytes: number): boolean => maxBodyBytes <= SHORT_BYTES

/** What is kept for an answer of at most so many bytes. */
export const roomBytes = (maxBodyBytes: number): number => Math.min(MOST_BYTES, maxBodyBytes / USUAL_PART)

const overloaded = new PoolError({ reason: { _tag: "Overloaded" }, attempts: [], failures: [] })

/** For whom room is taken, and how much. */
export interface RoomAsked {
  readonly accountId: string
  /** The longest that the answer can be. */
  readonly maxBodyBytes: number
  /** How long it is waited for. */
  readonly waitMs: number
}

/** Room that was taken, or is waited for. It is given back when the last who holds it lets go. */
class Place {
  readonly accountId: string
  readonly mebibytes: number
  readonly #giveBack: () => void
  isTaken = false
  resume: (() => void) | undefined
  #holders = 0

  constructor(accountId: string, mebibytes: number, giveBack: () => void) {
    this.accountId = accountId
    this.mebibytes = mebibytes
    this.#giveBack = giveBack
  }

  /** Keeps it until what this answers is called. */
  hold(): () => void {
    this.#holders += 1
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#holders -= 1
      if (this.#holders === 0) this.#giveBack()
    }
  }
}

export type { Place }

/** The room of a node. Who waits for more than the share of an account waits for none but its own. */
export class Room {
  readonly #shareMebibytes: number
  #free: number
  readonly #taken = new Map<string, number>()
  readonly #waiting = new Set<Place>()

  constructor({ mebibytes, shareMebibytes } = usualRoom) {
    this.#free = mebibytes
    this.#shareMebibytes = shareMebibytes
  }

  /** Mebibytes that nobody has. */
  get free(): number {
    return this.#free
  }

  /** Takes room until a scope ends, and whoever holds it beyond that lets go; `Overloaded` where there is none for too long. */
  take({ accountId, maxBodyBytes, waitMs }: RoomAsked): Effect.Effect<Place, PoolError, Scope.Scope> {
    const mebibytes = Math.ceil(roomBytes(maxBodyBytes) / MEBIBYTE)
    return Effect.uninterruptibleMask((restore) => {
      const place = new Place(accountId, mebibytes, () => this.#giveBack(place))
      const letGo = place.hold()
      const taken = Effect.suspend(() => {
        this.#waiting.add(place)
        this.#grant()
        if (place.isTaken) return Effect.void
        return restore(
          Effect.timeoutOrElse(granted(place), { duration: waitMs, orElse: () => Effect.fail(overloaded) })
        )
      })
      return Effect.as(
        Effect.andThen(
          Effect.addFinalizer(() => Effect.sync(letGo)),
          taken
        ),
        place
      )
    })
  }

  #takenBy(accountId: string): number {
    return this.#taken.get(accountId) ?? 0
  }

  /** In their order, but for those who wait for their own. */
  #grant(): void {
    for (const place of this.#waiting) {
      const { accountId, mebibytes } = place
      const taken = this.#takenBy(accountId) + mebibytes
      if (taken > this.#shareMebibytes) continue
      if (mebibytes > this.#free) return
      this.#waiting.delete(place)
      this.#free -= mebibytes
      this.#taken.set(accountId, taken)
      place.isTaken = true
      place.resume?.()
    }
  }

  #giveBack(place: Place): void {
    const { accountId, isTaken, mebibytes } = place
    this.#waiting.delete(place)
    if (isTaken) {
      const left = this.#takenBy(accountId) - mebibytes
      this.#free += mebibytes
      if (left === 0) this.#taken.delete(accountId)
      else this.#taken.set(accountId, left)
    }
    this.#grant()
  }
}

const granted = (place: Place): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const taken = () => resume(Effect.void)
    place.resume = taken
  })

/** The room of this node. */
export const AnswerRoom = Context.Reference<Room>("tollgate/providers/AnswerRoom", { defaultValue: () => new Room() })
